"""A conversation helper for tests: say this, expect that.

talk = Conversation()
talk.say("Passt Qwen3-32B in FP8 auf eine L40S?").expect("Ja", verdict="fits")
talk.say("und mit 64k Kontext?").expect("Geändert")
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from bot.answer import Answer
from bot.conversation import act, respond
from bot.reply.plain import text as plain_text
from bot.thread import Context, ThreadState


@dataclass(frozen=True)
class Said:
    """One answer with what a test may expect of it."""

    answer: Answer

    @property
    def text(self) -> str:
        """Everything the answer says, white space joined."""
        return " ".join(plain_text(self.answer, width=400).split())

    @property
    def spec(self) -> dict[str, Any]:
        return self.answer.specs[0] if self.answer.specs else {}

    def expect(self, *patterns: str, **fields: Any) -> Said:
        """Every pattern is found in the text (case does not matter) and every named field of the answer is as given.

        `verdict` is that of the first estimate; `spec__context_tokens` reads the first spec.

        Raises:
            AssertionError: names what was not found, with the whole text.
        """
        for pattern in patterns:
            assert re.search(pattern, self.text, re.IGNORECASE), f"{pattern!r} not in:\n{self.text}"
        for name, wanted in fields.items():
            found = self._field(name)
            assert found == wanted, f"{name} is {found!r}, not {wanted!r}, in:\n{self.text}"
        return self

    def never(self, *patterns: str) -> Said:
        """No pattern is found in the text."""
        for pattern in patterns:
            assert not re.search(pattern, self.text, re.IGNORECASE), f"{pattern!r} in:\n{self.text}"
        return self

    def _field(self, name: str) -> Any:
        if name == "verdict":
            return self.answer.estimates[0]["verdict"] if self.answer.estimates else None
        if name.startswith("spec__"):
            value: Any = self.spec
            for part in name.removeprefix("spec__").split("__"):
                value = value.get(part) if isinstance(value, dict) else None
            return value
        return getattr(self.answer, name)


@dataclass
class Conversation:
    """A thread that a test talks to. State goes through JSON after every turn, as it does in the store."""

    context: Context = field(default_factory=Context)
    thread: ThreadState = field(default_factory=ThreadState)

    def say(self, text: str) -> Said:
        answer, thread = respond(text, self.thread, self.context)
        return self._keep(answer, thread)

    def click(self, action: str, **payload: Any) -> Said:
        answer, thread = act(action, payload, self.thread, self.context)
        return self._keep(answer, thread)

    def _keep(self, answer: Answer, thread: ThreadState) -> Said:
        self.thread = ThreadState.model_validate_json(thread.model_dump_json())
        return Said(Answer.model_validate_json(answer.model_dump_json()))
