"""A bot as a process of its own that a test may kill: settings from the environment, a responder that takes its time."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from bot.answer import Answer
from bot.settings import Settings
from bot.slack.serve import main
from bot.thread import Context, ThreadState, Turn


class Slow:
    """Says what was asked, after a while."""

    def warm(self) -> None:
        """There is nothing to load."""

    def respond(self, text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
        time.sleep(0.05)
        said = " | ".join([turn.text for turn in thread.turns] + [text])
        answer = Answer(id=context.answer_id or "", lang="en", intent="fits", headline=said)
        return answer, thread.add(Turn(text=text, intent="fits"), "en")

    def act(
        self, action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context
    ) -> tuple[Answer, ThreadState]:
        del payload
        return self.respond(action, thread, context)


if __name__ == "__main__":
    sys.exit(main(Settings(_env_file=None), Slow()))
