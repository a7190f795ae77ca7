"""A team's own documents: first where they are asked, beside a verdict where they bear on it, refuted where the engine disagrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.answer import Answer
from bot.testing import Conversation
from bot.thread import Context
from knowledge.service import Knowledge
from knowledge.settings import Settings

POLICY = """# Betriebsrichtlinie KI-Systeme

## Grafikkarten am Arbeitsplatz
Die RTX 4090 darf nur mit einer Leistungsgrenze von 350 W betrieben werden. Pro Arbeitsplatz ist höchstens eine RTX 4090 erlaubt.

## Server
Produktive Modelle laufen auf L40S im Rechenzentrum Fürth. Llama 3.3 70B ist nur in FP8 freigegeben.

## Wartung
Ansprechpartner ist das Team Plattform. Updates werden jeden zweiten Dienstag eingespielt.
"""
HANDBOOK = """# GPU handbook

## Desks
No H100 may stand under a desk. The Mac Studio is for designers.

## Sizing
{claims}
"""


def _talk(folder: Path, **documents: str) -> Conversation:
    folder.mkdir(exist_ok=True)
    knowledge = Knowledge(Settings(folder, f"sqlite:///{folder / 'knowledge.db'}", embeddings="off"))
    for name, text in documents.items():
        (folder / f"{name}.md").write_text(text)
        list(knowledge.add([folder / f"{name}.md"]))
    return Conversation(Context(knowledge=knowledge))


def _documents(answer: Answer) -> list[str]:
    return [cited.title for cited in answer.citations if cited.kind == "document"]


@pytest.mark.parametrize(
    ("question", "said", "section"),
    [
        (
            "Was sagt unsere Betriebsrichtlinie zur RTX 4090?",
            "Leistungsgrenze von 350 W",
            "Grafikkarten am Arbeitsplatz",
        ),
        ("Was steht in der Betriebsrichtlinie zur L40S?", "Rechenzentrum Fürth", "Server"),
        ("What does our policy say about Llama 3.3 70B?", "nur in FP8 freigegeben", "Server"),
        ("Wer ist unser Ansprechpartner für GPU-Systeme?", "Team Plattform", "Wartung"),
        ("What does our GPU handbook say about the H100?", "No H100 may stand under a desk", "Desks"),
    ],
)
def test_a_document_that_is_asked_answers_first(question: str, said: str, section: str, tmp_path: Path) -> None:
    answer = _talk(tmp_path, policy=POLICY, handbook=HANDBOOK.format(claims="-")).say(question).answer
    assert said in answer.headline
    assert "[1]" in answer.headline
    assert answer.citations[0].kind == "document"
    assert answer.citations[0].section.endswith(section)
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Reicht eine RTX 4090 für Llama 3.1 8B mit 8k Kontext?", "350 W"),
        ("Are two L40S enough for Qwen3 32B in FP8?", "Rechenzentrum Fürth"),
        ("Passt Llama 3.3 70B in FP8 laut unserer Richtlinie auf eine H200?", "nur in FP8 freigegeben"),
    ],
)
def test_beside_a_verdict_documents_that_name_its_parts_are_quoted(question: str, said: str, tmp_path: Path) -> None:
    with_documents, without = _talk(tmp_path / "a", policy=POLICY), _talk(tmp_path / "b")
    answer, plain = with_documents.say(question).answer, without.say(question).answer
    assert _documents(answer).count("Betriebsrichtlinie KI-Systeme") == 1
    assert any(said in paragraph.text for paragraph in answer.paragraphs)
    assert (answer.headline, answer.table, answer.estimates) == (plain.headline, plain.table, plain.estimates)
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    "question",
    ["Reicht eine RTX 3090 für Qwen3 14B?", "Does Mistral Small 24B in FP8 fit an A100?", "Was ist der KV-Cache?"],
)
def test_and_no_document_that_speaks_of_others(question: str, tmp_path: Path) -> None:
    answer = _talk(tmp_path, policy=POLICY).say(question).answer
    assert "Betriebsrichtlinie KI-Systeme" not in _documents(answer)


@pytest.mark.parametrize(
    ("claim", "question", "told"),
    [
        ("An RTX 4090 has 32 GB of memory.", "Is an RTX 4090 enough for Llama 3.1 8B?", r"32 GB of memory, the data sheet 24 GB"),
        ("Eine RTX 4090 hat 32 GB VRAM.", "Reicht eine RTX 4090 für Llama 3.1 8B?", r"nennt 32 GB Speicher .* Datenblatt 24 GB"),
        ("Llama 3.3 70B in FP8 runs on one RTX 4090.", "Llama 3.3 70B in FP8 on an RTX 4090?", r"lets Llama 3.3 70B run .* missing"),
        ("Llama 3.1 8B läuft nicht auf einer H100.", "Läuft Llama 3.1 8B auf einer H100?", r"bleiben dort .* frei"),
        ("Llama 3.1 8B needs 3 GB in BF16.", "What does our handbook say about Llama 3.1 8B?", r"its weights alone need 15 GiB in BF16"),
    ],
)  # fmt: skip
def test_what_the_engine_refutes_is_told(claim: str, question: str, told: str, tmp_path: Path) -> None:
    said = _talk(tmp_path, handbook=HANDBOOK.format(claims=claim)).say(question)
    said.expect(claim.rstrip("."), r"A source disagrees:|Widerspruch zu einer Quelle:", told)
    assert said.answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        ("An RTX 4090 has 24 GB of memory.", "Is an RTX 4090 enough for Llama 3.1 8B?"),
        ("An RTX 3060 comes with 8 GB or with 12 GB of memory.", "Is an RTX 3060 enough for Llama 3.1 8B in Q4_K_M?"),
        ("Llama 3.3 70B läuft auf einer RTX 4090 nur mit Offloading.", "Passt Llama 3.3 70B in FP8 auf eine RTX 4090?"),
        ("Llama 3.1 8B runs on one RTX 4090.", "Does Llama 3.1 8B fit an RTX 4090 with 200 users and 32k context?"),
        ("Llama 3.1 8B needs 16 GB in BF16.", "What does our handbook say about Llama 3.1 8B?"),
    ],
)
def test_what_holds_is_quoted_and_not_disputed(claim: str, question: str, tmp_path: Path) -> None:
    said = _talk(tmp_path, handbook=HANDBOOK.format(claims=claim)).say(question)
    said.expect(claim.rstrip(".")).never(r"A source disagrees:|Widerspruch zu einer Quelle:")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Reicht eine RTX 3090 für Qwen3 14B nach unserer Richtlinie?", "sagen dazu nichts"),
        ("Does Qwen3 14B fit an RTX 3090 under our policy?", "say nothing on this"),
    ],
)
def test_documents_that_are_asked_and_silent_are_said_to_be(question: str, told: str, tmp_path: Path) -> None:
    _talk(tmp_path / "a", policy=POLICY).say(question).expect(told)
    _talk(tmp_path / "b").say(question).expect("sizewise knowledge add")


@pytest.mark.parametrize("filler", ["a-", "our ", "laut der ", "x"])
def test_a_long_question_is_looked_through_once(filler: str, tmp_path: Path) -> None:
    question = f"What does our policy say about the RTX 4090? {filler * (12_000 // len(filler))}"
    assert _talk(tmp_path, policy=POLICY).say(question).answer.headline
