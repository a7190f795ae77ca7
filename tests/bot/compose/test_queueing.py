"""Questions a day become a busiest hour: what arrives, how many run at once, how long people wait."""

from __future__ import annotations

import math

import pytest

from bot.answer import Answer
from bot.conversation import respond
from bot.thread import Context, ThreadState
from bot.understand.read import read
from bot.understand.specs import specs_of


def asked(text: str) -> Answer:
    return respond(text, ThreadState(), Context())[0]


def told(answer: Answer) -> str:
    titles = ("Vollste Stunde:", "Busiest hour:")
    return next((part.text for part in answer.paragraphs if part.title in titles), "").replace("\xa0", " ")


@pytest.mark.parametrize(
    ("text", "daily"),
    [
        ("200 Leute, 15 Fragen am Tag, L40S mit Qwen3-32B FP8", 3000.0),
        ("Llama 3.1 8B on an L4 for 400 employees, 20 questions a day each", 8000.0),
        ("40.000 Anfragen am Tag auf 2x L40S mit Qwen3-14B FP8", 40000.0),
        ("5,000 requests per day on an L4 with Llama 3.1 8B for 50 users", 5000.0),
        ("Llama 3.1 8B on an L4 for 400 employees", None),
    ],
)
def test_questions_a_day_are_read(text: str, daily: float | None) -> None:
    assert specs_of(read(text))[0].get("load", {}).get("requests_per_day") == daily


def test_the_requests_in_flight_by_hand() -> None:
    """8,000 a day, a fifth in one hour, 300 tokens at 20 tokens/s: 0.444 x 15 s = 6.7, with 1.645 roots 10.9."""
    answer = asked("Llama 3.1 8B on an L4, 400 employees, 20 questions a day each, 1k in 300 out, p95 wait at peak?")
    mean = 8000 * 0.2 / 3600 * 300 / 20
    assumed = {one["field"]: one["value"] for one in answer.estimates[0]["assumptions"]}
    assert assumed["concurrency"] == math.ceil(mean + 1.645 * math.sqrt(mean))
    assert "8,000 questions a day, 20% of them in the busiest hour: 26.7 a minute" in told(answer)
    assert answer.headline.startswith("In the busiest hour the first token")
    assert answer.unverified_numbers == ()


def test_too_much_is_told_to_be_too_much() -> None:
    answer = asked(
        "300.000 Anfragen am Tag auf einer L4 mit Llama 3.1 8B FP8, 1k Eingabe, 300 Ausgabe: Wartezeit in der Spitze?"
    )
    assert "mehr, als diese Hardware schafft" in told(answer)


def test_a_target_bounds_the_largest_load() -> None:
    loose = asked("Llama 3.1 8B on an L4, 8000 requests per day, 1k in 300 out, peak?")
    strict = asked("Llama 3.1 8B on an L4, 8000 requests per day, 1k in 300 out, TTFT under 0.6 s, peak?")
    assert "does not carry more than" in told(loose) and "the target for the first token holds" in told(strict)


def test_nothing_is_told_of_a_peak_where_nobody_asks() -> None:
    assert told(asked("Does Llama 3.1 8B fit on an L4 for 40 users?")) == ""
