"""A published claim that the engine refutes is told as a contradiction, in the answers it concerns and in no others."""

from pathlib import Path

import pytest

from bot.testing import Conversation
from bot.thread import Context
from knowledge.claims import claims
from knowledge.service import Knowledge
from knowledge.settings import Settings

NOTE = ("Wo die Quellen sich widersprechen", "Where the sources disagree")
TOLD = r"A source disagrees:|Widerspruch zu einer Quelle:"
CONCERNED = [
    ("C20", "Does Falcon 180B in bf16 fit on one B200?"),
    ("C20", "Stimmt es, dass ein 180B-Modell ohne Verlust auf eine B200 passt?"),
    ("C55", "Volles Finetuning von Llama 3.1 8B auf 4 x H100, wie viel Speicher?"),
    ("C13", "Passt RoBERTa-large auf eine RTX 3060?"),
    ("C59", "Llama 3.1 8B on one Gaudi 3, does it fit?"),
]
OTHERS = [
    "Passt Qwen3 32B in FP8 auf eine L40S?",
    "Does Llama 3.1 8B in bf16 fit on one B200?",
    "LoRA for Llama 3.1 8B on an RTX 4090",
    "Was ist der KV-Cache?",
    "What is a B200?",
    "GTX 1080 Ti 11GB, is it even worth trying 8B models? 5 tok/s is ok for me",
]


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    knowledge = Knowledge(Settings(tmp_path, f"sqlite:///{tmp_path / 'knowledge.db'}", embeddings="off"))
    return Conversation(Context(knowledge=knowledge))


@pytest.mark.parametrize(("claim", "question"), CONCERNED)
def test_a_refuted_claim_is_told_where_it_is_concerned(claim: str, question: str, talk: Conversation) -> None:
    said = talk.say(question).expect(TOLD)
    told = next(each for each in claims() if each.id == claim).told[said.answer.lang]
    assert told.rstrip(".") in said.text
    assert {cited.title for cited in said.answer.citations} & set(NOTE)
    assert said.answer.unverified_numbers == ()


@pytest.mark.parametrize("question", OTHERS)
def test_and_nowhere_else(question: str, talk: Conversation) -> None:
    talk.say(question).never(TOLD)


def test_a_document_that_repeats_it_is_quoted_with_the_contradiction(talk: Conversation, tmp_path: Path) -> None:
    guide = tmp_path / "guide.md"
    guide.write_text(
        "# Offloading, rules of the house\n\nFor offloading the lagoon rule holds: all data must lie in VRAM.\n"
    )
    list(talk.context.knowledge.add([guide]))
    talk.say("Explain offloading").expect("the lagoon rule holds: all data must lie in VRAM", TOLD, "only slower")


def test_every_contradicted_claim_can_be_told() -> None:
    refuted = [claim for claim in claims() if claim.holds == "contradicted"]
    assert all(set(claim.told) == {"de", "en"} and claim.about.terms for claim in refuted)
    assert not any(claim.told for claim in claims() if claim.holds != "contradicted")
