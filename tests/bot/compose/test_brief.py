"""An answer says what was asked, shows few assumptions and ends in something to do; an export has the rest."""

from __future__ import annotations

import re

import pytest

from bot.answer import MOST_ASSUMPTIONS, Answer
from bot.conversation import act, respond
from bot.reply.export import export
from bot.reply.plain import text
from bot.reply.wording import wording
from bot.thread import Context, ThreadState

QUESTIONS = (
    "Reicht eine RTX 4090 für Llama 3.3 70B mit 32k Kontext für 10 Leute?",
    "Does Llama 3.1 8B in fp8 fit on an RTX 4090, 8k, 4 users?",
    "Which GPU for Qwen3-32B in FP8, 50 concurrent users with 8k?",
    "Compare an L40S with an RTX 4090 for Qwen3-32B in fp8",
    "QLoRA on Llama 3.1 8B with a 24 GB card?",
    "Kann ich auf 4x V100 32GB Gemma 3 27B mit LoRA trainieren?",
    "Was läuft auf einem Mac Studio mit 128 GB?",
    "wie viel Watt zieht eine Workstation mit 2x 5090",
    "RAG über 80.000 PDFs für 420 Leute, 20 gleichzeitig, 2x L40S?",
    "can I cap 4090 to 300W without losing inference speed? running 27B q4 single stream",
)
# The words of an answer beside its table, chart and sources; the longest of those above has half as many.
_MOST_WORDS = 260


def _titles(answer: Answer) -> set[str]:
    return {paragraph.title for paragraph in answer.paragraphs}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text[:30])
def test_every_answer_ends_in_something_to_do(question: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    words = wording(answer.lang)
    steps = {words.text("ui", key) for key in ("next", "next_step")}
    assert steps & _titles(answer) or answer.commands
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text[:30])
def test_an_answer_is_short(question: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    prose = [answer.headline, answer.lead, *(part.text for part in answer.paragraphs)]
    shown = [f"{view.label} {view.value}" for view in answer.told_assumptions]
    assert len(shown) <= MOST_ASSUMPTIONS
    assert len(" ".join([*prose, *shown]).split()) <= _MOST_WORDS


def test_an_export_has_what_the_answer_leaves_out() -> None:
    answer, _ = respond("Kann ich auf 4x V100 32GB Gemma 3 27B mit LoRA trainieren?", ThreadState(), Context())
    assert len(answer.assumptions) > len(answer.told_assumptions)
    hidden = answer.assumptions[-1]
    assert f"{hidden.label}: {hidden.value}" not in text(answer, width=10_000)
    whole = export(answer, "markdown")
    assert hidden.label in whole and "Datenlader" in whole and "Datenlader" not in text(answer)


def test_the_line_to_copy_is_the_deployment_asked_about() -> None:
    answer, _ = respond("Does Llama 3.1 8B in fp8 fit on an RTX 4090 with vLLM, 8k, 4 users?", ThreadState(), Context())
    (command,) = answer.commands
    assert command.code.startswith("vllm serve meta-llama/Llama-3.1-8B-Instruct")
    assert "--max-model-len 8192" in command.code


@pytest.mark.parametrize("question", ["What is the weather in Berlin?", "help", "new"])
def test_nothing_is_added_where_there_is_nothing_to_do(question: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert not answer.commands
    assert wording("en").text("ui", "next_step") not in _titles(answer)


def test_why_goes_deeper_without_a_new_task() -> None:
    _, thread = respond("Does Llama 3.1 8B in fp8 fit on an RTX 4090, 8k, 4 users?", ThreadState(), Context())
    answer, _ = act("why", {}, thread, Context())
    assert not answer.commands


HINTED = (
    "Reicht eine RTX 4090 für Llama 3.3 70B mit 32k Kontext für 10 Leute?",
    "Does Qwen3 32B AWQ fit on a 4090 with 16k context?",
    "Passt Llama 3.3 70B in fp8 auf eine RTX 6000 Ada bei 8k?",
    "Unser 13B in fp16, Kontext 4096, Batch 16, vllm. Passt das auf eine A10?",
    "Llama 3.1 8B bf16 on an L4 with vLLM, 32k context, 8 concurrent requests, ok?",
)


@pytest.mark.parametrize("question", HINTED, ids=lambda text: text[:30])
def test_what_a_no_proposes_to_write_turns_it(question: str) -> None:
    answer, thread = respond(question, ThreadState(), Context())
    assert answer.estimates[0]["fits"] is False
    words = wording(answer.lang)
    step = next(part.text for part in answer.paragraphs if part.title == words.text("ui", "next_step"))
    hint = re.findall("[“„]([^“”„]+)[”“]", step)[0]
    after, _ = respond(hint, thread, Context())
    assert after.estimates[0]["fits"], f"{hint}: {after.headline}"
