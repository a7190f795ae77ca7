"""Comparisons name who is ahead and by which measure, and what makes the difference."""

from __future__ import annotations

import pytest

from bot.answer import Answer
from bot.conversation import respond
from bot.thread import Context, ThreadState


def asked(text: str) -> Answer:
    return respond(text, ThreadState(), Context())[0]


def told(answer: Answer, title: str) -> str:
    return next((part.text for part in answer.paragraphs if part.title == title), "")


@pytest.mark.parametrize(
    ("text", "headline", "difference"),
    [
        ("L40S vs H200 for Qwen3-32B fp8", "H200 SXM 141 GB is faster", "times the memory bandwidth"),
        ("Qwen3-32B fp8 on L40S | Llama 3.3 70B fp8 on H200", "tokens/s per user", "times the parameters"),
        (
            "2x L40S mit TP 2 gegen zwei Replikate für Qwen3-14B, 20 gleichzeitige Anfragen",
            "Tokens/s gesamt",
            "Kopien des Modells",
        ),
        ("Mac Studio M3 Ultra 512GB vs 2x RTX 3090 for Qwen3-32B q4", "is faster", "processor|memory of its own"),
        ("2x RTX 3090 vs 1x RTX 4090 for Llama 3.3 70B q4", "Only 2 × RTX 3090", "times less memory"),
        ("Was ist günstiger: eine L40S oder eine H200 für Qwen3-32B fp8?", "kostet weniger", "Speicherbandbreite"),
    ],
)
def test_who_is_ahead_by_what_and_why(text: str, headline: str, difference: str) -> None:
    answer = asked(text)
    assert headline in answer.headline
    why = told(answer, "What makes the difference:") or told(answer, "Was den Unterschied macht:")
    assert any(part in why for part in difference.split("|")), why
    assert answer.unverified_numbers == ()


def test_the_winner_is_the_one_with_the_better_figure() -> None:
    answer = asked("L40S vs H200 vs RTX PRO 6000 for Qwen3-32B fp8, which is faster?")
    rates = [one["speed"]["decode_tok_s_per_user"]["expected"] for one in answer.estimates]
    names = ("L40S", "H200", "RTX PRO 6000")
    assert answer.headline.startswith(names[rates.index(max(rates))])


def test_buying_one_against_renting_another_counts_the_years() -> None:
    answer = asked("buy 2x RTX PRO 6000 vs rent 2x H100 for 3 years, Llama 3.3 70B fp8, 10 users")
    costs = told(answer, "Cost:")
    assert "bought" in costs and "rented" in costs and costs.count("over 3 years") == 2
    months = [one["cost"]["monthly"] for one in answer.estimates]
    assert months[0]["rent"] is None and months[1]["buy"] is None
    cheaper = "2 × RTX PRO 6000" if months[0]["buy"] < months[1]["rent"] else "2 × H100"
    assert answer.headline.find(cheaper) >= 0 and "costs less" in answer.headline


def test_where_none_fits_the_closest_is_the_one_that_is_least_too_small() -> None:
    """Two cards of 24 GiB need thrice what they have, one of 80 not twice, though more GiB are missing there on one card."""
    answer = asked("2x RTX 4090 vs 1x H100 SXM for Llama 3.3 70B q4, 32k context, 10 concurrent requests, vLLM")
    cards = [max(one["memory"]["per_device"], key=lambda card: card["total_gib"]) for one in answer.estimates]
    assert [round(card["total_gib"] / card["usable_gib"]) for card in cards] == [3, 2]
    assert answer.headline == "None of them fits; H100 SXM 80 GB comes closest."
    assert "short on each card. H100 SXM 80 GB: " in answer.lead
    assert "the same load on both" not in " ".join(part.text for part in answer.paragraphs)


def test_why_after_a_comparison_is_about_the_one_that_fits() -> None:
    _, thread = respond("Does Qwen3 32B in fp8 fit on one L40S, 16k, 5 concurrent requests?", ThreadState(), Context())
    _, thread = respond("compare that with 2x L40S", thread, Context())
    for _ in range(2):
        answer, thread = respond("why?", thread, Context())
        assert "2 × L40S" in answer.lead
        assert len(answer.estimates[0]["memory"]["per_device"]) == 2
        assert answer.unverified_numbers == ()


def test_two_that_are_as_good_as_each_other_lead_together() -> None:
    answer = asked("vLLM oder llama.cpp oder SGLang für Qwen3 32B auf 2x RTX 3090, 10 Nutzer?")
    rates = [one["speed"]["decode_tok_s_per_user"]["expected"] for one in answer.estimates]
    assert rates[1] < min(rates[0], rates[2]) / 1.1 and max(rates[0], rates[2]) < 1.1 * min(rates[0], rates[2])
    assert "SGLang" in answer.headline and "vLLM" in answer.headline and "sind schneller" in answer.headline


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("2x RTX 3090 or 1x RTX 4090 for a 70B at 4 bit?", "net with the machine"),
        ("2x H100 SXM vs 2x L40S for Llama 3.3 70B fp8", "from €"),
    ],
)
def test_prices_side_by_side_are_of_one_kind(text: str, way: str) -> None:
    answer = asked(text)
    assert answer.table is not None and all(way in row[-1] for row in answer.table.rows)
