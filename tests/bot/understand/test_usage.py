"""How something is run and paid for, from the words of a message to the spec's `usage`."""

from __future__ import annotations

from typing import Any

import pytest

from bot.understand.read import read, read_thread
from bot.understand.specs import specs_of
from sizing.spec import parse_spec


def eur(amount: float) -> dict[str, Any]:
    return {"amount": amount, "currency": "EUR"}


def usd(amount: float) -> dict[str, Any]:
    return {"amount": amount, "currency": "USD"}


@pytest.mark.parametrize(
    ("text", "usage"),
    [
        ("Was kostet ein 70B auf 2x L40S bei 8 h am Tag und 32 ct/kWh?", {"hours_per_day": 8, "electricity": eur(0.32)}),
        ("$/M tokens on a rented H100 at 30 % utilization? Llama 3.1 8B FP8", {"utilisation": 0.3}),
        ("70B auf 1x H200: was kostet eine Million Tokens bei 40 % Auslastung?", {"utilisation": 0.4}),
        (
            "Die API kostet 0,60 $ pro Million Tokens bei 500 Mio Tokens im Monat, lohnt sich eine RTX PRO 6000 für Qwen3-32B?",
            {"api": usd(0.6), "tokens_per_month": 5e8},
        ),
        ("2x RTX 3090 at 6 hours a day and $0.15/kWh, Qwen3-32B q4", {"hours_per_day": 6, "electricity": usd(0.15)}),
        ("8x H100 bei PUE 1,3 und 0,22 €/kWh, Stromkosten?", {"pue": 1.3, "electricity": eur(0.22)}),
        ("TCO over 4 years for 4x L40S, 0.25 EUR/kWh, PUE 1.4", {"years": 4, "pue": 1.4, "electricity": eur(0.25)}),
        ("cost of 2x L40S with Qwen3-32B over 36 months", {"years": 3}),
        ("Was kosten 2 Mio Tokens am Tag auf einer L40S mit Qwen3-14B?", {"tokens_per_month": 2e6 * 30.4}),
        (
            "Angebot über 18.500 € netto für 2x L40S, Mo-Fr 10 h am Tag, Strompreis 28 Cent, Llama 3.3 70B FP8: lohnt das?",
            {
                "quote": eur(18500), "gross": False, "hours_per_day": 10, "days_per_week": 5, "electricity": eur(0.28),
            },
        ),
        ("2x RTX PRO 6000 kosten 8.900 € je Karte, 5 Jahre, Llama 3.3 70B FP8", {"quote": eur(17800), "years": 5}),
        ("2x H100 for $1.80 per GPU-hour with Llama 3.3 70B, cost?", {"rent_per_hour": usd(3.6)}),
        ("what does a 2x H100 instance at $5/h cost per month for Llama 3.3 70B", {"rent_per_hour": usd(5)}),
        ("gemietete H100 für 1,99 $/h, 12 Stunden täglich, gpt-oss-120b", {"rent_per_hour": usd(1.99), "hours_per_day": 12}),
        ("cost of an L4 around the clock with Llama 3.1 8B", {"hours_per_day": 24}),
        ("L40S nur zu Bürozeiten, was kostet Qwen3-14B?", {"hours_per_day": 10, "days_per_week": 5}),
        ("cost of Qwen3-14B on an L40S, 5 days a week", {"days_per_week": 5}),
        ("Was kosten 2x L40S brutto für Qwen3-32B?", {"gross": True}),
        ("Reicht eine RTX 4090 für Llama 3.3 70B mit 32k Kontext für 10 Leute?", {}),
        ("70B on 2x RTX 3090 with gpu_memory_utilization 0.95?", {}),
    ],
)  # fmt: skip
def test_the_figures_of_use_reach_the_spec(text: str, usage: dict[str, Any]) -> None:
    (found,) = specs_of(read(text))
    assert without_currency(found) == usage
    assert parse_spec(found).usage.model_dump(exclude_none=True, exclude={"currency"}) == usage


def without_currency(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.get("usage", {}).items() if name != "currency"}


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("What is our $/M tokens on a rented H100? Llama 3.1 8B FP8", "USD"),
        ("Was kostet eine H100 mit Llama 3.1 8B FP8 bei 0,30 €/kWh?", "EUR"),
        ("API für 2 $ je Million oder L40S bei 30 ct/kWh, Qwen3-14B?", None),
        ("Was kostet Qwen3-14B auf einer L40S?", None),
    ],
)
def test_the_answer_counts_in_the_currency_of_the_question(text: str, currency: str | None) -> None:
    assert specs_of(read(text))[0].get("usage", {}).get("currency") == currency


def test_reserved_capacity_is_told_from_on_demand() -> None:
    (spec,) = specs_of(read("Reserved 2x H100 at $1.80 per GPU-hour for Llama 3.3 70B fp8, 8 hours a day, cost?"))
    assert spec["usage"]["reserved"] is True


def test_each_side_is_paid_its_own_way() -> None:
    """The rate an hour is that of the rented side; the years are those of both."""
    bought, rented = specs_of(
        read("buy 2x RTX PRO 6000 or rent an H100 at $2.20/h for 3 years, Llama 3.3 70B fp8, 10 users")
    )
    assert bought["constraints"]["cloud"] is False and rented["constraints"]["cloud"] is True
    assert without_currency(bought) == {"years": 3}
    assert without_currency(rented) == {"years": 3, "rent_per_hour": usd(2.2)}


def test_asking_for_both_ways_wishes_for_neither() -> None:
    (spec,) = specs_of(read("2x L40S kaufen oder mieten für Llama 3.3 70B FP8?"))
    assert "cloud" not in spec.get("constraints", {})


def test_a_tariff_does_not_make_a_question_of_cost_one_of_power() -> None:
    assert read("Was kostet ein 70B auf 2x L40S bei 32 ct/kWh?").intent == "cost"
    assert read("Wie viel Strom ziehen 2x L40S bei 32 ct/kWh?").intent == "power"


def test_a_thread_keeps_what_was_said_and_changes_one_figure() -> None:
    turns = ["Was kostet Qwen3-32B FP8 auf einer L40S bei 8 h am Tag und 32 ct/kWh?", "und bei 12 h am Tag?"]
    assert without_currency(specs_of(read_thread(turns)[-1])[0]) == {"hours_per_day": 12, "electricity": eur(0.32)}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("Welche Karte für ein 7B-Modell für 500 EUR?", 500.0),
        ("best GPU for a 14B around $700", 700.0),
        ("was bekomme ich für 2000 € für Qwen3-32B?", 2000.0),
        ("Eine RTX 4090 für 1800 €, reicht die für Qwen3-32B?", None),
    ],
)
def test_a_sum_for_hardware_that_is_asked_for_is_a_budget(text: str, amount: float | None) -> None:
    assert specs_of(read(text))[0].get("targets", {}).get("budget") == amount


def test_a_vendor_that_is_ruled_out_takes_no_model_back() -> None:
    (spec,) = specs_of(read("70B on-prem for 20 people, no NVIDIA"))
    assert spec["model"] == {"params_b": 70.0} and spec["constraints"]["exclude_vendor"] == "nvidia"
