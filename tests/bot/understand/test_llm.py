"""The second reader against a model that invents, misquotes, hangs, fails and writes garbage."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from bot.understand.breaker import Breaker
from bot.understand.llm import Reader, leaves_open
from bot.understand.read import read

_TEXT = "Qwen3-14B on an L4 for our little crowd of 35, give or take"


class Fake(BaseChatModel):
    """Answers with `text`; waits for `gate` first, and raises where `fails`."""

    text: str = ""
    fails: bool = False
    gate: Any = None
    asked: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.asked.append(messages)
        if self.gate is not None:
            self.gate.wait(30)
        if self.fails:
            raise ConnectionError("no route to the model")
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=self.text))])


def _answer(*readings: tuple[str, str]) -> str:
    return json.dumps({"readings": [{"field": field, "quote": quote} for field, quote in readings]})


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_the_rules_leave_a_figure_open_here() -> None:
    request = read(_TEXT)
    assert (request.users, request.concurrency, request.unread) == (None, None, ("35",))
    assert leaves_open(request)


def test_a_quoted_figure_fills_the_field_it_is_given() -> None:
    got = Reader(Fake(text="Sure! " + _answer(("users", "35")))).complete(read(_TEXT))
    assert (got.users, got.evidence["users"], "users" in got.said) == (35, "35", True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "{not json",
        '{"readings": "35"}',
        '{"readings": [{"field": "password", "quote": "35"}]}',
        '{"answer": {"readings": [{"field": "users"}]}}',
        _answer(("users", "350")),
        _answer(("users", "about thirty-five people")),
        _answer(("context_tokens", "128k")),
        _answer(("concurrency", "crowd")),
        _answer(("models", "Llama 3.1 405B")),
        _answer(("models", "Qwen3-14B")),
        _answer(("hardware", "L4")),
        _answer(("users", "14")),
        _answer(("weights", "little")),
        '{"readings": [{"field": "users", "quote": "35", "value": 9000}' * 500,
        "{" * 30_000,
    ],
)
def test_what_the_message_does_not_say_is_dropped(text: str) -> None:
    request = read(_TEXT)
    assert Reader(Fake(text=text)).complete(request) == request


def test_a_value_beside_the_quote_is_ignored() -> None:
    text = json.dumps({"readings": [{"field": "users", "quote": "35", "value": 9000}]})
    assert Reader(Fake(text=text)).complete(read(_TEXT)).users == 35


def test_a_failing_model_changes_nothing() -> None:
    request = read(_TEXT)
    assert Reader(Fake(fails=True)).complete(request) == request


def test_a_hanging_model_is_left_behind(gate: threading.Event) -> None:
    request = read(_TEXT)
    assert Reader(Fake(text=_answer(("users", "35")), gate=gate), timeout_s=0.05).complete(request) == request


def test_a_model_that_hangs_is_left_alone_until_a_try_is_answered(gate: threading.Event) -> None:
    now, model = [0.0], Fake(text=_answer(("users", "35")), gate=gate, asked=[])
    reader = Reader(model, timeout_s=0.05, breaker=Breaker(most_failures=2, pause_s=60, clock=lambda: now[0]))

    def asked_in(questions: int) -> int:
        before = len(model.asked)
        for _ in range(questions):
            reader.for_question().complete(read(_TEXT))
        return len(model.asked) - before

    assert asked_in(5) == 2
    now[0] = 60
    assert asked_in(5) == 1
    model.gate, now[0] = None, 120
    assert asked_in(5) == 5
    assert reader.for_question().complete(read(_TEXT)).users == 35


def test_a_failure_between_answers_opens_no_breaker() -> None:
    model = Fake(text="nothing", asked=[])
    reader = Reader(model, breaker=Breaker(most_failures=2))
    for fails in (True, False, True, False):
        model.fails = fails
        reader.for_question().complete(read(_TEXT))
    assert len(model.asked) == 4


def test_the_calls_of_a_question_are_counted() -> None:
    model = Fake(text="nothing", asked=[])
    reader = Reader(model)
    for _ in range(3):
        reader.complete(read(_TEXT))
    assert len(model.asked) == 1


@pytest.mark.parametrize("text", ["Qwen3-14B on an L4, 8k, 5 parallel", "thanks!", "", "How's the weather?"])
def test_a_message_that_is_read_or_declined_asks_no_model(text: str) -> None:
    model = Fake(asked=[])
    request = read(text)
    assert Reader(model).complete(request) == request
    assert model.asked == []
