"""The second reader in the pipeline: asked once a message and only for what is unread, kept with the turn, never trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.language_model import ModelUnavailable
from bot.surroundings import context_for
from bot.testing import Conversation
from bot.thread import Context
from bot.understand.llm import Label, Reader, reader_for
from bot.understand.request import Request

_TEXT = "Qwen3-14B fp8 on an L4 for our little crowd of 35, give or take, 8k context"


@dataclass
class Pointing:
    """A reader that points to the same words every time, and counts how often it was asked."""

    said: tuple[Label, ...] = ()
    asked: list[str] = field(default_factory=list)

    def for_question(self) -> Pointing:
        return self

    def labels(self, request: Request) -> Sequence[Label]:
        self.asked.append(request.text)
        return self.said if request.text == _TEXT else ()


def test_what_the_reader_points_to_reaches_the_spec_and_stays_in_the_thread() -> None:
    reader = Pointing((Label(field="users", quote="35"),))
    talk = Conversation(context=Context(reader=reader))
    first = talk.say(_TEXT).expect(spec__users=35)
    assert [view.value for view in first.answer.assumptions if view.field == "users"] == [
        "“35” (pointed out by the language model)"
    ]
    talk.say("and with 16k?").expect(spec__users=35, spec__context_tokens=16384)
    assert reader.asked == [_TEXT, "and with 16k?"]  # the first message is not asked about again


@pytest.mark.parametrize(
    "label", [Label(field="users", quote="3500"), Label(field="models", quote="Llama 3.1 405B"), Label(field="context_tokens", quote="8k")]
)  # fmt: skip
def test_a_label_that_the_message_does_not_bear_out_changes_nothing(label: Label) -> None:
    plain = Conversation().say(_TEXT)
    labelled = Conversation(context=Context(reader=Pointing((label,)))).say(_TEXT)
    assert labelled.answer.specs == plain.answer.specs
    assert labelled.answer.headline == plain.answer.headline


def test_the_model_is_asked_for_the_form_where_its_provider_can() -> None:
    class Formed:
        def with_structured_output(self, form: type[Any], *, include_raw: bool) -> Formed:
            assert include_raw
            self.form = form
            return self

        def invoke(self, _: Any) -> dict[str, Any]:
            return {"parsed": self.form.model_validate({"readings": [{"field": "users", "quote": "35"}]}), "raw": ""}

    from bot.understand.read import read

    model: Any = Formed()
    assert Reader(model).complete(read(_TEXT)).users == 35


def test_an_unknown_model_is_told_to_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelUnavailable, match="SIZEWISE_LLM"):
        reader_for("nonsense:model")
    monkeypatch.delenv("SIZEWISE_LLM", raising=False)
    assert context_for("en", sources=False).reader is None
