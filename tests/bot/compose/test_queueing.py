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
        ("Llama 3.1 8B on an L4 for 400 employees, 30 questions each per day", 12000.0),
        ("Llama 3.1 8B on an L4 for 400 employees", None),
    ],
)
def test_questions_a_day_are_read(text: str, daily: float | None) -> None:
    assert specs_of(read(text))[0].get("load", {}).get("requests_per_day") == daily


@pytest.mark.parametrize(
    "text",
    [
        "Llama 3.1 8B on an L4, 400 employees, 20 questions a day each, 1k in 300 out, p95 wait at peak?",
        "Llama 3.1 8B FP8 auf einer L40S, 2 Anfragen pro Sekunde, 1000 Token rein, 300 raus: TTFT p95?",
        "Qwen3 32B FP8 on 2x H100 at 300 requests per minute, 1k in 300 out: p50 and p95 latency?",
    ],
)
def test_requests_in_flight_follow_from_arrivals_and_pace(text: str) -> None:
    """Little's law: what arrives times how long it stays; planned is for 19 of 20 moments, never for fewer than run on average."""
    answer = asked(text)
    spec, estimate = answer.specs[0], answer.estimates[0]
    arrives = spec["load"].get("rate_rps") or spec["load"]["requests_per_day"] * 0.2 / 3600
    per_user = estimate["speed"]["tpot_ms"]["expected"] / 1000 * spec["output_tokens"]
    mean = arrives * (per_user + estimate["speed"]["ttft_ms"]["expected"] / 1000)
    planned = {one["field"]: one["value"] for one in estimate["assumptions"]}["concurrency"]
    assert mean < planned <= math.ceil(1.25 * (mean + 1.645 * math.sqrt(mean)))
    assert answer.unverified_numbers == ()


def test_the_busiest_hour_by_hand() -> None:
    """8,000 a day, a fifth of them in one hour: 1,600 in 60 minutes."""
    answer = asked(
        "Llama 3.1 8B on an L4, 400 employees, 20 questions a day each, 1k in 300 out, how long is the wait at peak?"
    )
    assert "8,000 questions a day, 20% of them in the busiest hour: 26.7 requests a minute" in told(answer)
    assert answer.headline.startswith("In the busiest hour the first token")
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("Llama 3.1 8B on an L4 at 5 requests per second", 5.0),
        ("Llama 3.1 8B auf einer L4 bei 120 Anfragen pro Minute", 2.0),
        ("Llama 3.1 8B on an L4, 0.5 rps", 0.5),
        ("Llama 3.1 8B auf einer L4, 1.800 Anfragen pro Stunde", 0.5),
        ("Llama 3.1 8B on an L4, 2,5 Anfragen/s", 2.5),
        ("Llama 3.1 8B on an L4: how many requests per second?", None),
        ("Llama 3.1 8B on an L4, it manages only 3 requests per second", None),
        ("Llama 3.1 8B on an L4, 40 tokens per second", None),
    ],
)
def test_rates_are_read(text: str, rate: float | None) -> None:
    assert specs_of(read(text))[0].get("load", {}).get("rate_rps") == rate


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            "Llama 3.1 8B FP8 on one L40S, 3 requests per second, 1000 in, 300 out: TTFT and TPOT p50 and p95?",
            "With 3 requests a second",
        ),
        (
            "Llama 3.1 8B FP8 auf einer L40S, 3 Anfragen pro Sekunde, 1000 rein, 300 raus: TTFT und TPOT p50/p95?",
            "Bei 3 Anfragen je Sekunde",
        ),
        (
            "Qwen3 32B FP8 on 2x H100, 32 concurrent requests: p95 latency of the first token?",
            "With 32 requests at once",
        ),
        ("Llama 3.1 8B on an L4, 60 requests per second, 1k in 300 out", "L4 is overloaded with 60 requests a second"),
        ("Wie viele Anfragen pro Minute schafft eine L40S mit Qwen3 14B FP8?", "L40S trägt bis zu"),
        ("What is the most requests per second Qwen3 32B FP8 sustains on 2x H100 at 30 tok/s per user?", "Up to"),
    ],
)
def test_what_is_asked_of_the_load_leads(text: str, start: str) -> None:
    answer = asked(text)
    assert answer.headline.startswith(start)
    assert answer.unverified_numbers == ()


def test_an_overload_names_what_carries_it() -> None:
    answer = asked("Llama 3.1 8B FP8 on an L40S, 20 requests per second, 1000 in 300 out: TTFT?")
    told_of_load = " ".join(part.text for part in answer.paragraphs if part.title == "Under this load:")
    assert "the queue grows" in told_of_load and "It takes 4 × L40S" in told_of_load


def test_a_recommendation_carries_what_arrives() -> None:
    answer = asked("Which GPU for Llama 3.1 8B at 20 requests per second, 1000 in 300 out?")
    assert answer.options
    for one in answer.options:
        assert one["estimate"]["speed"]["requests_s"]["expected"] >= 0.98 * 20


def test_too_much_is_told_to_be_too_much() -> None:
    answer = asked(
        "300.000 Anfragen am Tag auf einer L4 mit Llama 3.1 8B FP8, 1k Eingabe, 300 Ausgabe: Wartezeit in der Spitze?"
    )
    assert "mehr, als diese Hardware schafft" in told(answer)


def test_a_target_bounds_the_largest_load() -> None:
    loose = asked("Llama 3.1 8B on an L4, 8000 requests per day, 1k in 300 out, peak?")
    strict = asked("Llama 3.1 8B on an L4, 8000 requests per day, 1k in 300 out, TTFT under 0.6 s, peak?")
    assert "does not carry more than" in told(loose) and "he target for the first token holds" in told(strict)


def test_nothing_is_told_of_a_peak_where_nobody_asks() -> None:
    assert told(asked("Does Llama 3.1 8B fit on an L4 for 40 users?")) == ""


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Zwei Server mit je 4x L40S, Qwen3 32B FP8, 60 gleichzeitige Nutzer: was passiert, wenn ein Server ausfällt?",
         ("Fällt ein Server aus, bedient 1 von 2", "50 %", "Das ist schon N+1")),
        ("Three nodes with 2x H100 each, Qwen3 32B FP8, 40 concurrent users at 8k: what happens when one node fails?",
         ("If one server fails, 2 of 3 keep serving", "67%", "N+1 already")),
        ("Two nodes with 2x L40S each, Qwen3 14B FP8, 60 concurrent requests at 8k: what if a server dies?",
         ("If one server fails, 1 of 2 keeps serving", "For N+1 it takes 6 × L40S, 3 copies")),
    ],
)  # fmt: skip
def test_a_server_that_fails_leaves_the_copies_of_the_others(text: str, parts: tuple[str, ...]) -> None:
    answer = asked(text)
    told_first = f"{answer.headline} {answer.lead}".replace("\xa0", " ")
    assert [part for part in parts if part not in told_first] == []
    assert answer.unverified_numbers == ()


def test_how_many_cards_is_searched_where_the_plain_layout_does_not_do() -> None:
    """One split over all cards is not the only way: copies and a narrower cache serve more people on fewer cards."""
    answer = asked("How many RTX 4090 do I need for Llama 3.1 8B, 150 concurrent chats of 8k?")
    assert answer.estimates[0]["fits"] and answer.specs[0]["hardware"][0]["count"] > 1


def test_a_service_with_retrieval_tells_its_waits() -> None:
    answer = asked(
        "RAG chatbot for 400 employees, 30 questions each per day, Mistral Small 24B FP8 on one H100: how long is the wait at peak?"
    )
    assert answer.headline.startswith("In the busiest hour the first token")
    assert told(answer).startswith("12,000 questions a day")
    assert "documents" in answer.lead
