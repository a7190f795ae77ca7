"""What is proposed, as an expert would word it: tiers under a budget, prices with their age, hardware that was only limited."""

from __future__ import annotations

import pytest

from bot.answer import Answer
from bot.conversation import respond
from bot.thread import Context, ThreadState


def asked(text: str) -> Answer:
    return respond(text, ThreadState(), Context())[0]


def said(answer: Answer) -> str:
    return " ".join((answer.headline, answer.lead, *(part.text for part in answer.paragraphs)))


def test_a_budget_gets_good_and_better_with_their_prices() -> None:
    answer = asked("Llama 3.3 70B with 16k context for 10 concurrent users, budget 15,000 €: what should we buy?")
    choice = next(part.text for part in answer.paragraphs if part.title == "The choice:")
    assert choice.startswith("Good: ") and "; better: " in choice and choice.count("€") >= 2
    assert answer.unverified_numbers == ()


def test_old_prices_are_marked_in_the_table_and_told_beneath() -> None:
    answer = asked("Was brauchen wir für Qwen3-32B in FP8 für 8 gleichzeitige Anfragen, on-prem?")
    assert answer.table is not None and any("alt)" in row[-1] for row in answer.table.rows)
    assert "über 90 Tage alt" in said(answer)


@pytest.mark.parametrize(
    "text",
    [
        "Laptop für Qwen3-14B, mobil?",
        "Mistral Small 24B for 30 users, no NVLink, max 3 cards",
        "70B on-prem for 20 people, no NVIDIA",
    ],
)
def test_a_limit_on_hardware_asks_for_hardware(text: str) -> None:
    answer = asked(text)
    assert answer.options and answer.table is not None


def test_a_target_out_of_reach_is_answered_with_what_would_do() -> None:
    answer = asked("Which hardware runs DeepSeek-R1 for 64 concurrent users, at least 100 tok/s each?")
    assert "Nothing in the catalogue" in answer.headline
    assert "instead of 100 tokens/s per user" in said(answer)
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("text", "headline", "way"),
    [
        (
            "DeepSeek R1 671B for 10 users under 10000 EUR?",
            "for €10,000; from about €",
            "with 1 instead of 3 requests at once",
        ),
        (
            "DeepSeek R1 671B für 10 Nutzer, höchstens 10.000 Euro?",
            "Für 10.000 € reicht nichts",
            "1 statt 3",
        ),
    ],
)
def test_a_budget_that_is_too_small_is_told_what_would_do(text: str, headline: str, way: str) -> None:
    answer = respond(text, ThreadState(), Context())[0]
    assert headline in answer.headline.replace("\xa0", " ")
    assert any(way in part.text.replace("\xa0", " ") for part in answer.paragraphs)
    assert answer.table is not None and len(answer.table.rows) >= 2
    assert answer.assumptions and answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "Welche Hardware für Qwen3 32B, 20 gleichzeitige Nutzer, 16k Kontext, kein AMD, on-premises?",
            "Warum nicht die nächsten:",
        ),
        ("Which hardware for Llama 3.3 70B, 10 concurrent users at 16k?", "Why not the next:"),
    ],
)
def test_why_the_next_ones_stand_behind_the_first_is_told(text: str, title: str) -> None:
    answer = respond(text, ThreadState(), Context())[0]
    told = next(part.text for part in answer.paragraphs if part.title == title)
    second = answer.options[1]["spec"]["hardware"][0]
    assert told.count(";") >= 1 and ("%" in told or "Karten" in told or "cards" in told), second
    assert answer.unverified_numbers == ()
