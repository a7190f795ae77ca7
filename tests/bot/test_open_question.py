"""One question back at most, and only where its answer would turn the verdict; else an assumption with its alternatives."""

from __future__ import annotations

import pytest

from bot.testing import Conversation, Said


def _questions(said: Said) -> list[str]:
    return [paragraph.text for paragraph in said.answer.paragraphs if paragraph.kind == "clarify"]


def _alternatives(said: Said, field: str) -> list[str]:
    return [other.label for view in said.answer.assumptions if view.field == field for other in view.alternatives]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Läuft Llama 3.3 70B in FP8 auf einer A100?", "A100 SXM 40 GB"),
        ("Is an A100 enough for Llama 3.3 70B in FP8?", "A100 SXM 40 GB"),
        ("does Llama 3.3 70B awq fit on 2x 4090, one user?", "How long are the requests"),
    ],
)
def test_what_would_turn_the_verdict_is_asked(text: str, question: str) -> None:
    (asked,) = _questions(Conversation().say(text))
    assert question in asked


@pytest.mark.parametrize(
    "text",
    [
        "Qwen3-14B in FP8 auf einer L40S, reicht das?",  # neither a longer context nor more people would turn it
        "Is an A100 80GB SXM enough for Qwen3-8B in fp8 with 8k and 4 parallel requests?",
        "Does Llama 3.1 405B in fp16 fit on a 4090?",  # hopeless whatever else is meant
        "Which card for Qwen3-14B?",
    ],
)
def test_what_would_not_is_not(text: str) -> None:
    assert _questions(Conversation().say(text)) == []


def test_an_answer_to_the_question_leaves_none() -> None:
    talk = Conversation()
    first = talk.say("Is an A100 enough for Llama 3.3 70B in FP8, 8k, one request at a time?")
    assert len(_questions(first)) == 1
    view = next(view for view in first.answer.assumptions if view.field == "hardware")
    other = next(other for other in view.alternatives if "40 GB" in other.label)
    then = talk.click("change", delta=other.delta)
    assert then.answer.estimates[0]["fits"] is False
    assert _questions(then) == []
    assert _alternatives(then, "hardware") == []


def test_a_name_without_its_version_can_be_changed_by_a_button() -> None:
    talk = Conversation()
    first = talk.say("Mistral Small 24B fp8 auf einer L40S, 8k, 4 parallel?")
    assert any("3.2" in label for label in _alternatives(first, "model"))
    view = next(view for view in first.answer.assumptions if view.field == "model")
    other = next(other for other in view.alternatives if "3.2" in other.label)
    then = talk.click("change", delta=other.delta)
    then.expect(spec__model__id="mistralai/Mistral-Small-3.2-24B-Instruct-2506")


def test_the_assumption_stays_open_when_another_is_changed() -> None:
    talk = Conversation()
    first = talk.say("Mistral Small 24B fp8 auf einer L40S?")
    view = next(view for view in first.answer.assumptions if view.field == "context_tokens")
    then = talk.click("change", delta=view.alternatives[0].delta)
    assert _alternatives(then, "model") == _alternatives(first, "model")


def test_a_word_for_several_cards_is_taken_for_the_usual_one_where_all_agree() -> None:
    said = Conversation().say("Reicht eine 6000 für Qwen3 8B in fp8?")
    assert said.answer.estimates[0]["fits"] is True
    assert said.answer.intent == "fits"
    assert _alternatives(said, "hardware") != []


@pytest.mark.parametrize(
    ("text", "count"), [("Llama 3.3 70B fp8, 8k, reicht eine 6000?", 1), ("Llama 3.1 405B int4 auf 4 6000er?", 4)]
)
def test_where_they_differ_it_is_asked_with_a_button_for_each(text: str, count: int) -> None:
    talk = Conversation()
    first = talk.say(text)
    assert (first.answer.intent, first.answer.estimates) == ("clarify", ())
    assert len(_alternatives(first, "hardware")) >= 2
    (view,) = first.answer.assumptions
    other = next(other for other in view.alternatives if "PRO 6000" in other.label)
    then = talk.click("change", delta=other.delta)
    assert then.answer.estimates[0]["fits"] is not None
    assert then.spec["hardware"][0]["count"] == count
