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
