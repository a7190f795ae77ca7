"""Questions of money: what was said of use and prices stands in the answer, and its sums are those of the engine."""

from __future__ import annotations

import re

import pytest

from bot.answer import Answer
from bot.conversation import respond
from bot.sized import engine_defaults
from bot.thread import Context, TeamDefaults, ThreadState
from sizing.cost import costs
from sizing.economics import break_even, per_million, total_rate
from sizing.engine import estimate
from sizing.spec import parse_spec
from sizing.usage import Money, Usage


def asked(text: str) -> Answer:
    return respond(text, ThreadState(), Context())[0]


def said(answer: Answer) -> str:
    return " ".join((answer.headline, answer.lead, *(part.text for part in answer.paragraphs))).replace("\xa0", " ")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Was kostet uns ein 70B auf 2x L40S bei 8 h am Tag und 32 ct/kWh?", ("8 h am Tag", "0,32 € je kWh", "FP8", "netto")),
        ("Our $/M tokens on a rented H100 at 30 % utilization? Llama 3.1 8B FP8", ("30% utilization", "$", "million output tokens")),
        ("Llama 3.3 70B FP8 auf 1x H200: was kostet eine Million Tokens bei 40 % Auslastung?", ("40 % Auslastung", "Million")),
        (
            "Wir zahlen der API 0,60 $ pro Million Tokens bei 500 Mio Tokens im Monat. Lohnt sich eine RTX PRO 6000 mit Qwen3-32B?",
            ("500 Mio. Tokens", "API", "gleich teuer bei"),
        ),
        ("What does a million tokens cost us on 2x H100 rented with Llama 3.3 70B FP8 at 30% utilization?", ("output tokens cost €",)),
        ("Was kosten uns 1 Mio. Tokens auf 2x H100 gemietet mit Llama 3.3 70B FP8?", ("Eine Million Ausgabe-Tokens kostet",)),
        ("What do 1M tokens cost on 2x H100 rented with Llama 3.3 70B FP8 at 30% utilization vs the API at $0.60 per million?",
         ("The API is cheaper: $0.60 per million tokens against", "even under full load")),
        ("Was kostet 1 Mio. Tokens auf 2x H100 gemietet mit Llama 3.3 70B FP8 gegenüber der API für 0,60 € pro Million?",
         ("Die API ist günstiger: 0,60 € je Million Tokens gegen", "auch voll ausgelastet")),
        ("How much electricity does 2x RTX 3090 use at 6 hours a day and $0.15/kWh with Qwen3-32B q4?", ("6 h a day", "$0.15 per kWh")),
        ("Ab wie vielen Stunden am Tag lohnt sich der Kauf einer RTX PRO 6000 gegenüber Miete? Qwen3-32B FP8", ("h Betrieb am Tag",)),
        ("Reserved 2x H100 at $1.80 per GPU-hour vs on demand, Llama 3.3 70B fp8, over 1 year", ("$3.60", "On demand", "for every hour")),
        ("Was kosten 2x L40S brutto für Qwen3-32B?", ("mit 19 % MwSt",)),
        ("TCO over 4 years for 4x L40S, Llama 3.3 70B, 0.25 EUR/kWh, PUE 1.4", ("Over 4 years", "€0.25 per kWh", "PUE of 1.4")),
        (
            "Angebot über 18.500 € netto für 2x L40S. Llama 3.3 70B FP8, Mo-Fr 10 h am Tag, Strompreis 28 Cent. Kaufen oder mieten?",
            ("18.500 €", "wie angegeben", "10 h an 5 Tagen je Woche", "0,28 € je kWh"),
        ),
        ("cost of 1B tokens per month with Qwen3-32B on 2x RTX 4090", ("million output tokens around the clock", "times that")),
        ("What does it cost per month to run Llama 3.1 8B on an L4, 24/7?", ("a month bought", "around the clock")),
        ("Was kostet eine H100 im Monat zu mieten?", ("gemietet rund", "Platinen mit 4, 8 oder 16")),
        ("Was kostet eine RTX PRO 6000 mit Qwen3-32B FP8?", ("über 90 Tage alt",)),
    ],
)  # fmt: skip
def test_what_was_said_is_counted_with(text: str, shown: tuple[str, ...]) -> None:
    answer = asked(text)
    whole = said(answer)
    assert [part for part in shown if part not in whole] == []
    assert answer.unverified_numbers == ()


def test_the_price_of_a_million_tokens_by_hand() -> None:
    """The rate of the 32 requests that a busy server is filled with, at 40 % of the hours of a month."""
    defaults = engine_defaults(TeamDefaults())
    spec = parse_spec(
        {
            "model": "Llama 3.3 70B",
            "weights": "fp8",
            "concurrency": 32,
            "hardware": [{"accelerator": "nvidia-h200-sxm-141gb"}],
        }
    )
    rate = total_rate(estimate(spec, defaults)) or 0.0
    (row,) = per_million(costs("nvidia-h200-sxm-141gb", 1, defaults), rate, (0.4,))
    answer = asked("Llama 3.3 70B FP8 on one H200: what does a million tokens cost in euros at 40 % utilization?")
    assert f"€{row.rent:.2f}" in answer.headline


def test_the_break_even_of_the_answer_is_the_engines() -> None:
    defaults = engine_defaults(TeamDefaults())
    usage = Usage(quote=Money(amount=18500, currency="EUR"))
    even = break_even(costs("nvidia-l40s", 2, defaults, usage), defaults)
    answer = asked("Quote: 18,500 € for 2x L40S with Llama 3.3 70B FP8. Buy or rent?")
    shown = re.search(r"([\d.]+) h of use a day", answer.headline)
    assert even is not None and even.utilisation is not None and shown is not None
    assert float(shown[1]) == pytest.approx(even.utilisation * 24, abs=0.05)


def test_a_bill_in_a_thread_follows_the_hours() -> None:
    first, thread = respond("Was kostet Qwen3-32B FP8 auf einer L40S bei 8 h am Tag?", ThreadState(), Context())
    second, _ = respond("und bei 16 h am Tag?", thread, Context())
    cost = [one.estimates[0]["cost"] for one in (first, second)]
    assert cost[1]["hours_per_month"] == pytest.approx(2 * cost[0]["hours_per_month"])
    assert cost[1]["monthly"]["rent"] == pytest.approx(2 * cost[0]["monthly"]["rent"], rel=0.001)
    assert "16 h am Tag" in said(second)


def test_a_team_that_counts_in_dollars_gets_dollars() -> None:
    context = Context(defaults=TeamDefaults(currency="USD"))
    answer, _ = respond("What does Qwen3-32B FP8 on an L40S cost per month?", ThreadState(), context)
    assert "$" in answer.headline and "€" not in said(answer)


def test_what_comes_out_short_is_counted_in_a_format_that_fits() -> None:
    """14B in BF16 is 1.6 GiB short of a 32 GB card; nobody would pay to run it like that."""
    answer = asked("What does an API at $3 per million tokens cost against 1x RTX 5090 with Qwen3-14B?")
    assert answer.specs[0]["weights"] == "fp8" and answer.estimates[0]["margin_gib"]["expected"] > 0
    assert "cost the same at" in answer.headline


@pytest.mark.parametrize(
    ("text", "headline", "shown"),
    [
        ("What does it cost to fine-tune Llama 3.1 8B with LoRA on 50M tokens, 3 epochs on one A100 80GB?",
         "rented: ", ("On cards of your own the run draws", "Trial runs")),
        ("Was kostet ein QLoRA-Training von Qwen3 32B auf 20 Mio Token auf einer L40S?",
         "Gemietet rund", ("Auf eigenen Karten zieht der Lauf", "Gekauft rund")),
        ("What does it cost to fine-tune Llama 3.1 8B with LoRA on one A100 80GB?",
         "for a million training tokens", ("Say how many tokens",)),
    ],
)  # fmt: skip
def test_a_training_run_on_named_cards_is_paid_for_its_hours(text: str, headline: str, shown: tuple[str, ...]) -> None:
    answer = asked(text)
    whole = " ".join(part.text for part in answer.paragraphs)
    assert headline in answer.headline
    assert all(part in whole for part in shown)
    assert "a month" not in whole and "im Monat" not in whole
    assert answer.unverified_numbers == ()


def test_the_rent_of_a_run_by_hand() -> None:
    answer = asked("What does it cost to fine-tune Llama 3.1 8B with LoRA on 50M tokens, 3 epochs on one A100 80GB?")
    hours, rent = answer.estimates[0]["training"]["hours"], answer.estimates[0]["cost"]["rent_per_hour"]["amount"]
    for end in ("low", "high"):
        assert f"€{hours[end] * rent:.2f}" in answer.headline


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            "How many tokens per joule does a 4090 give for Llama 3.1 8B, and what if I limit it to 250 W?",
            "tokens per joule",
        ),
        (
            "Wie viele Token pro Joule schafft eine L40S mit Qwen3 14B FP8 bei 10 gleichzeitigen Anfragen?",
            "Tokens je Joule",
        ),
    ],
)
def test_tokens_for_energy_lead_where_they_are_asked(text: str, headline: str) -> None:
    answer = asked(text)
    limits = next(part.text for part in answer.paragraphs if part.text.count("Joule") + part.text.count("joule") > 1)
    assert headline in answer.headline
    assert limits.count("W") >= 2
    assert answer.unverified_numbers == ()


def test_electricity_is_told_for_each_country_that_is_named() -> None:
    answer = asked(
        "Stromkosten im Monat für 2x RTX 4090 mit Qwen3 32B, 8 Stunden am Tag, in Deutschland und in Frankreich?"
    )
    told = next(part.text for part in answer.paragraphs if part.text.startswith("Nach Land"))
    assert "Deutschland" in told and "Frankreich" in told
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (
            "Buy or rent 2x H100 for Llama 3.3 70B FP8, 10 hours a day, 3 years?",
            "Renting costs less over 3 years at 10 h a day",
        ),
        (
            "2x H100 kaufen oder mieten für Llama 3.3 70B FP8, 8 Stunden am Tag, 3 Jahre?",
            "Mieten ist über 3 Jahre bei 8 h am Tag günstiger",
        ),
    ],
)
def test_modules_are_held_against_the_smallest_board_that_is_sold(text: str, headline: str) -> None:
    answer = asked(text)
    assert answer.headline.startswith(headline)
    board = costs("nvidia-h100-sxm-80gb", 4, engine_defaults(TeamDefaults()))["whole"]["amount"]
    assert f"{round(board):,}" in answer.headline or f"{round(board):,}".replace(",", ".") in answer.headline


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        (
            "Cost per million tokens of Llama 3.3 70B FP8 on 4x L40S at 10, 30 and 60 % utilization?",
            ("10%", "30%", "60%"),
        ),
        (
            "Was kostet eine Million Tokens von Qwen3 14B FP8 auf einer L40S bei 20 und 70 % Auslastung?",
            ("20 %", "70 %"),
        ),
    ],
)
def test_every_utilisation_that_is_asked_about_is_answered(text: str, shares: tuple[str, ...]) -> None:
    answer = asked(text)
    assert [share for share in shares if share not in answer.headline.replace("\xa0", " ")] == []
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("text", "verdict", "price"),
    [
        ("What do 2x RTX 4090 for Llama 3.3 70B BF16 cost per month?", "No: ", "a month"),
        ("Was kosten 2x RTX 4090 für Llama 3.3 70B BF16 im Monat?", "Nein: ", "im Monat"),
    ],
)
def test_what_does_not_fit_has_a_price_all_the_same(text: str, verdict: str, price: str) -> None:
    answer = asked(text)
    assert answer.headline.startswith(verdict) and price in answer.headline
    assert answer.lead.count(verdict) == 0
    assert "Million" not in " ".join(part.title for part in answer.paragraphs)
