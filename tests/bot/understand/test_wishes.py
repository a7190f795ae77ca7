"""Place, shape and draw of a card, as they reach the engine's constraints."""

from __future__ import annotations

from typing import Any

import pytest

from bot.understand.read import read
from bot.understand.specs import specs_of


@pytest.mark.parametrize(
    ("text", "constraints"),
    [
        ("Llama 3.3 70B FP8 for 20 users, EU only", {"location": "eu"}),
        ("70B für 10 Leute, DSGVO-konform in Deutschland gemietet", {"location": "deutschland", "cloud": True}),
        ("GDPR-compliant hosting of Mistral Small for 30 users", {"location": "eu"}),
        ("Qwen3 8B on a single slot card, max 75 W per card", {"form": "single slot", "card_power_w": 75.0}),
        ("gpt-oss-120b für 40 Leute im 2 HE Rack, Karten bis 300 W", {"form": "rack", "card_power_w": 300.0}),
        ("Is a 4090 enough for 70B in 4 bit?", {}),
        ("Qwen3 32B, mindestens 8 Bit, welche Karte?", {"min_bits": 8.0}),
        ("which card for Qwen3 32B, nothing below Q6", {"min_bits": 6.0}),
        ("Qwen3 32B, q5 or better", {"min_bits": 5.0}),
        ("Qwen3 32B for at least 8 users", {}),
        ("Llama 3.3 70B on a Mac, which one?", {"vendor": "apple"}),
        (
            "Wir haben schon 2x 3090, was brauchen wir für Llama 3.3 70B?",
            {"owned": [{"accelerator": "nvidia-rtx-3090", "count": 2}]},
        ),
        ("I have 2x 3090, enough for Llama 3.3 70B?", {}),
    ],
)
def test_wishes_become_constraints(text: str, constraints: dict[str, Any]) -> None:
    assert [spec.get("constraints", {}) for spec in specs_of(read(text))] == [constraints]


def test_gross_and_net_budgets_are_told_apart() -> None:
    spec = specs_of(read("gpt-oss 120b for 40 people, budget 15.000 € brutto"))[0]
    assert spec["targets"] == {
        "budget": 15000.0,
        "budget_currency": "EUR",
        "budget_period": "once",
        "budget_gross": True,
    }


@pytest.mark.parametrize(
    ("text", "amount", "currency", "period"),
    [
        ("Budget 15k, was kriegen wir für Qwen3-32B?", 15000, "EUR", "once"),
        ("budget of 20k for qwen3-32b, 8k ctx", 20000, "USD", "once"),
        ("budget max 30.000 für Llama 3.3 70B", 30000, "EUR", "once"),
        ("we can spend 12k on qwen3-32b", 12000, "USD", "once"),
        ("10k budget per month, llama 3.3 70b", 10000, "USD", "month"),
    ],
)
def test_a_budget_without_currency_takes_that_of_the_language_and_says_so(
    text: str, amount: float, currency: str, period: str
) -> None:
    got = read(text)
    assert got.budget is not None
    assert (got.budget.amount, got.budget.currency, got.budget.period) == (amount, currency, period)
    assert [one.value for one in got.assumptions if one.field == "budget"] == [currency]
    assert got.context_tokens in (None, 8192)


@pytest.mark.parametrize("text", ["qwen3 32b, thinking budget 8k", "Qwen3-32B mit Token-Budget 8k"])
def test_a_budget_of_tokens_is_no_money(text: str) -> None:
    assert read(text).budget is None


@pytest.mark.parametrize(
    ("text", "part", "read_as"),
    [
        ("höchstens 200 W für die Karten, was läuft für ein 8B-Modell?", "targets", {"power_w": 200.0}),
        ("an 8B model, at most 300 W for all cards", "targets", {"power_w": 300.0}),
        ("Qwen3 32B in FP8, 4 Kopien auf H100", "parallel", {"data": 4}),
        (
            "Was kostet eine L40S mit Qwen3 8B bei 28 Cent pro kWh?",
            "usage",
            {"electricity": {"amount": 0.28, "currency": "EUR"}},
        ),
        (
            "What does an L40S with Qwen3 8B cost at 28 cents per kWh?",
            "usage",
            {"electricity": {"amount": 0.28, "currency": "USD"}},
        ),
    ],
)
def test_figures_beside_the_workload_reach_its_spec(text: str, part: str, read_as: dict[str, Any]) -> None:
    found = specs_of(read(text))[0][part]
    assert {name: found.get(name) for name in read_as} == read_as
