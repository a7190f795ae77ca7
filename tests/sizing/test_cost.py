"""Prices with their dates, boards and instances, write-down, break-even, a million tokens, and what power limits save."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.catalogue.load import catalogue
from sizing.cost import (
    Deployment,
    board_sizes,
    cost_of,
    costs,
    electricity_per_month,
    kwh_price,
    monthly,
    once,
    rent,
    with_vat,
)
from sizing.defaults import Defaults
from sizing.economics import (
    against_api,
    break_even,
    kwh_per_million,
    per_million,
    power_steps,
    tokens_per_joule,
    totals,
)
from sizing.engine import estimate
from sizing.places import ANYWHERE, Where, countries, where
from sizing.prices import Price, Rate, age_days, catalogue_prices, in_currency, is_stale
from sizing.spec import parse_spec
from sizing.system.machine import system_of
from sizing.usage import Money, Usage

EUR = Defaults(today="2026-11-30")
USD = replace(EUR, currency="USD")
H100 = "nvidia-h100-sxm-80gb"
PRO_6000 = "nvidia-rtx-pro-6000-workstation"


@pytest.mark.parametrize(
    ("ident", "memory_gb", "condition", "basis"),
    [
        ("nvidia-rtx-5090", None, "new", "street"),
        ("nvidia-rtx-3090", None, "used", "street"),
        ("nvidia-rtx-pro-4000", None, "new", "list"),
        ("apple-m3-ultra", 96.0, "new", "street"),
        ("apple-m5-ultra", 256.0, "new", "list"),
    ],
)
def test_the_price_of_one_piece(ident: str, memory_gb: float | None, condition: str, basis: str) -> None:
    price = catalogue_prices().purchase(ident, memory_gb)
    assert price is not None
    assert (price.condition, price.basis, price.memory_gb) == (condition, basis, memory_gb)


def test_a_machine_with_more_memory_has_its_own_price_or_none() -> None:
    book = catalogue_prices()
    small, large = book.purchase("apple-m5-ultra", 96.0), book.purchase("apple-m5-ultra", 256.0)
    assert small and large and small.amount < large.amount
    assert book.purchase("apple-m5-ultra", 512.0) is None


def test_a_quote_beats_every_page_and_a_newer_import_the_older_page() -> None:
    imported = Price(9000, "EUR", "imported", "2026-11-20", "shop")
    quote = Price(8000, "EUR", "quote", "2026-01-01", "offer 7")
    book = catalogue_prices().extended({PRO_6000: [imported]})
    assert costs(PRO_6000, 1, replace(EUR, prices=book.extended({PRO_6000: [quote]})))["buy"]["amount"] == 8000
    assert cost_of(Deployment(PRO_6000), replace(EUR, prices=book))["buy"]["amount"] == 9000


@pytest.mark.parametrize(
    ("as_of", "days", "stale"),
    [
        ("2026-11-01", 29, False),
        ("2026-06", 155, True),
        ("2026", 0, False),
        (None, None, True),
        ("2025/2026", 337, True),
    ],
)
def test_age(as_of: str | None, days: int | None, stale: bool) -> None:
    assert age_days(as_of, "2026-11-30") == days
    assert is_stale(as_of, "2026-11-30") is stale


def test_without_a_clock_only_what_shows_no_date_is_stale() -> None:
    assert not is_stale("2020-01", None) and is_stale(None, None)


def test_list_prices_are_planned_at_what_the_street_takes() -> None:
    bought = costs("nvidia-rtx-pro-4000", 1, EUR)["buy"]
    assert bought["planning_amount"] > bought["amount"] and bought["uplift"] > 1
    assert catalogue_prices().list_uplift("no such memory") == 1.0


@pytest.mark.parametrize(
    ("ident", "sizes"),
    [
        (H100, (4, 8, 16)),
        ("nvidia-b200-sxm", (8, 16)),
        ("amd-mi300x", (8, 16)),
        (PRO_6000, ()),
        ("nvidia-gb200", (4, 8)),
    ],
)
def test_modules_are_sold_on_boards(ident: str, sizes: tuple[int, ...]) -> None:
    assert board_sizes(catalogue().accelerators[ident]) == sizes


def test_one_module_can_be_rented_but_not_bought() -> None:
    single, board = cost_of(Deployment(H100), EUR), cost_of(Deployment(H100, 8, replica=8), EUR)
    assert single["buy"] is None and single["way"] == "rent" and once(single) is None
    assert board["buy"]["count"] == 8 and board["machine_is_planning_figure"]


def test_rents_are_trusted_before_they_are_cheap() -> None:
    found = rent(Deployment(H100), EUR)
    assert found is not None and found.rate.trust == "offer"
    everything = [rate.amount for rate in catalogue_prices().rates(H100) if rate.count == 1 and rate.currency == "USD"]
    assert min(everything) < found.rate.amount


def test_replicas_may_stand_on_several_instances_but_one_copy_may_not() -> None:
    max_q = "nvidia-rtx-pro-6000-max-q"
    apart, together = rent(Deployment(max_q, 2, replica=1), EUR), rent(Deployment(max_q, 2, replica=2), EUR)
    assert apart is not None and apart.instances == 2
    assert together is None


@pytest.mark.parametrize(
    ("location", "inside", "outside"),
    [("EU", "DE", "GB"), ("Europe", "GB", "US"), ("Deutschland", "DE", "FR"), ("fi", "FI", "SE")],
)
def test_places(location: str, inside: str, outside: str) -> None:
    found = countries(location)
    assert found is not None and inside in found and outside not in found


def test_an_unknown_country_is_not_inside() -> None:
    rate = Rate(H100, 1, 1.0, "USD", "p", "i", None, "2026-11", "", "offer", False)
    assert ANYWHERE.allows(rate) and not Where(countries=frozenset({"DE"})).allows(rate)
    assert not where(parse_spec({"constraints": {"cloud": False}}), EUR).allows(rate)


def test_own_cost_a_month_by_hand() -> None:
    """RTX PRO 6000: (11,395 street + 1,200 machine) / 36 + (0.6 + 0.23) kW / 0.92 x half load x 730 h x 0.372 = 472.4 EUR."""
    cost = costs(PRO_6000, 1, EUR)
    assert cost["buy"]["amount"] == pytest.approx(13250 * 0.86)
    expected = (13250 * 0.86 + 1200) / 36 + 0.83 / 0.92 * 0.5 * 730 * 0.372
    assert cost["monthly"]["buy"] == pytest.approx(expected, abs=0.02)


def test_what_is_owned_costs_its_power_only() -> None:
    cost = cost_of(Deployment("nvidia-rtx-3090", 2, replica=2, owned=True), EUR)
    assert cost["buy"] is None and once(cost) == 0.0
    assert cost["monthly"]["buy"] == pytest.approx(electricity_per_month((2 * 350 + 230) / 0.92, EUR), abs=0.01)


def test_resale_support_and_staff_are_the_teams() -> None:
    plain = costs(PRO_6000, 1, EUR)["monthly"]["buy"]
    resold = costs(PRO_6000, 1, replace(EUR, resale_share=0.3))["monthly"]["buy"]
    staffed = costs(PRO_6000, 1, replace(EUR, support_share_per_year=0.1, staff_per_month=500))["monthly"]["buy"]
    assert resold < plain < staffed
    assert staffed - plain == pytest.approx(500 + 13250 * 0.86 * 0.1 / 12, abs=0.05)


def test_used_parts_are_written_down_in_half_the_time() -> None:
    cost = costs("nvidia-rtx-3090", 1, EUR)
    assert cost["buy"]["condition"] == "used"
    rest = 1200 / 36 + electricity_per_month((350 + 230) / 0.92, EUR)
    assert cost["monthly"]["buy"] == pytest.approx(cost["buy"]["amount"] / 18 + rest, abs=0.05)


def test_a_german_shop_price_loses_its_vat() -> None:
    assert costs("amd-rx-9070", 1, EUR)["buy"]["amount"] == pytest.approx(599 / 1.19, abs=0.01)
    assert with_vat(100, EUR) == pytest.approx(119) and with_vat(100, replace(EUR, country="US")) == 100


def test_electricity_by_country_and_team() -> None:
    assert kwh_price(EUR) == pytest.approx(0.372)
    assert kwh_price(replace(EUR, country="US")) == pytest.approx(0.146 * 0.86)
    assert kwh_price(replace(EUR, country="DK")) == pytest.approx(0.3485)
    assert kwh_price(replace(EUR, country="FR")) == pytest.approx(
        0.2872
    )  # the EU's average, where none of its own was read
    assert kwh_price(replace(EUR, country="FR", electricity_per_kwh=0.2)) == pytest.approx(0.2)
    assert kwh_price(replace(EUR, electricity_per_kwh=0.25)) == 0.25
    assert electricity_per_month(1000, replace(EUR, pue=1.5)) == pytest.approx(1.5 * electricity_per_month(1000, EUR))


@given(amount=st.floats(0.01, 1e6), rate=st.floats(0.5, 1.5))
def test_currencies_there_and_back(amount: float, rate: float) -> None:
    assert in_currency(in_currency(amount, "USD", "EUR", rate), "EUR", "USD", rate) == pytest.approx(amount)


def test_dollars_and_euros_rank_alike() -> None:
    euros, dollars = costs(PRO_6000, 1, EUR), costs(PRO_6000, 1, USD)
    assert dollars["buy"]["amount"] * 0.86 == pytest.approx(euros["buy"]["amount"], abs=0.02)
    assert dollars["monthly"]["buy"] * 0.86 == pytest.approx(euros["monthly"]["buy"], rel=0.001)


def test_half_idle_doubles_the_price_of_a_token() -> None:
    full, half = per_million(costs(PRO_6000, 1, EUR), 1000.0, (1.0, 0.5))
    assert half.buy == pytest.approx(2 * (full.buy or 0))
    assert full.buy == pytest.approx(costs(PRO_6000, 1, EUR)["monthly"]["buy"] / (730 * 3600 * 1000) * 1e6)


def test_break_even_by_hand() -> None:
    """8 x H200 bought against 23.75 EUR/h around the clock: the rent of a month less the power, and the months to pay it back."""
    cost = cost_of(Deployment("nvidia-h200-sxm-141gb", 8, replica=8), EUR)
    found = break_even(cost, EUR)
    assert found is not None and found.months is not None and found.utilisation is not None
    saved = cost["rent_per_hour"]["amount"] * 730 - cost["electricity_per_month"]
    assert found.months == pytest.approx((once(cost) or 0) / saved, rel=0.001)
    rarely = break_even(
        cost_of(Deployment("nvidia-h200-sxm-141gb", 8, replica=8), replace(EUR, hours_per_month=20)), EUR
    )
    assert rarely is not None and (rarely.months is None or rarely.months > found.months)
    assert rarely.hours_per_month == pytest.approx(found.hours_per_month, rel=0.001)
    reserved = break_even(cost, EUR, rent_per_hour=cost["rent_per_hour"]["amount"] / 2)
    assert reserved is not None and reserved.months is not None and reserved.months > found.months


def test_at_the_even_hours_both_ways_cost_the_same() -> None:
    even = break_even(costs(PRO_6000, 1, EUR), EUR)
    assert even is not None and even.hours_per_month is not None
    cost = costs(PRO_6000, 1, replace(EUR, hours_per_month=even.hours_per_month))
    assert cost["monthly"]["buy"] == pytest.approx(cost["monthly"]["rent"], rel=0.001)


def test_the_years_in_sum() -> None:
    """Three years of one card: the purchase and 36 months of power; 36 months of rent."""
    cost = costs(PRO_6000, 1, EUR)
    buy, rented = totals(cost, EUR, 36)
    assert (buy.way, rented.way) == ("buy", "rent")
    assert buy.together == pytest.approx((once(cost) or 0) + 36 * cost["electricity_per_month"])
    assert buy.together / 36 == pytest.approx(cost["monthly"]["buy"], abs=0.02)
    assert rented.together == pytest.approx(36 * cost["monthly"]["rent"])
    resold = totals(cost, replace(EUR, resale_share=0.25), 36)[0]
    assert resold.together == pytest.approx(buy.together - 0.25 * cost["buy"]["planning_amount"])


SAID = Usage(
    hours_per_day=8, days_per_week=5, electricity=Money(amount=0.32, currency="EUR"), pue=1.4, years=4,
    rent_per_hour=Money(amount=2.0, currency="USD"), quote=Money(amount=11900, currency="EUR"), gross=True,
)  # fmt: skip


def test_the_askers_own_figures_go_before_ours() -> None:
    """Eight hours on five days are 173.8 h a month; a gross quote loses the VAT; dollars become euros."""
    cost = costs(PRO_6000, 1, EUR, SAID)
    hours = 730 * 8 / 24 * 5 / 7
    assert cost["hours_per_month"] == pytest.approx(hours)
    assert cost["per_kwh"] == 0.32
    assert cost["electricity_per_month"] == pytest.approx(cost["wall_w"] / 1000 * 0.5 * hours * 1.4 * 0.32, abs=0.01)
    assert cost["buy"]["amount"] == pytest.approx(10000) and cost["buy"]["basis"] == "quote"
    assert cost["rent_per_hour"]["amount"] == pytest.approx(1.72)
    assert cost["monthly"]["rent"] == pytest.approx(1.72 * hours, abs=0.01)
    assert cost["monthly"]["buy"] == pytest.approx(
        (10000 + cost["machine"]) / 48 + cost["electricity_per_month"], abs=0.02
    )


def test_what_is_billed_by_the_month_costs_the_whole_month() -> None:
    monthly_only = next(
        (ident, rate.count) for ident, rates in catalogue_prices().rented.items() for rate in rates if rate.per_month
    )
    always, rarely = (cost_of(Deployment(*monthly_only), replace(EUR, hours_per_month=hours)) for hours in (730, 10))
    for cost in (always, rarely):
        paid = 730 if cost["rent_per_hour"]["monthly_only"] else cost["hours_per_month"]
        assert cost["monthly"]["rent"] == pytest.approx(cost["rent_per_hour"]["amount"] * paid, rel=0.001)


@given(hours=st.floats(1, 24), more=st.floats(1, 24), share=st.floats(0.01, 1), fuller=st.floats(0.01, 1))
def test_more_use_never_makes_a_token_dearer(hours: float, more: float, share: float, fuller: float) -> None:
    """Longer days and fuller hours spread what was paid once over more tokens; the hour's rent falls on each alike."""
    low, high = sorted((hours, more))
    rarely, often = (costs(PRO_6000, 1, EUR, Usage(hours_per_day=day)) for day in (low, high))
    (few,), (many,) = (
        per_million(rarely, 500.0, (min(share, fuller),)),
        per_million(often, 500.0, (max(share, fuller),)),
    )
    assert few.buy and many.buy and few.rent and many.rent
    assert many.buy <= few.buy * 1.001 and many.rent <= few.rent * 1.001


def test_energy_of_a_million_tokens() -> None:
    """1,000 tokens/s at 500 W: a million take 1,000 s and 0.139 kWh."""
    assert kwh_per_million(1000, 500) == pytest.approx(1000 * 0.5 / 3600)


def test_an_api_is_cheaper_until_enough_tokens_flow() -> None:
    cost = costs(PRO_6000, 1, EUR)
    case = against_api(cost, 1000.0, 10e6, 0.5)
    assert case is not None and case.api_per_month == pytest.approx(5.0) and case.own_per_month == monthly(cost)
    assert case.even_tokens_per_month == pytest.approx((monthly(cost) or 0) / 0.5 * 1e6)
    assert case.within_capacity == (case.even_tokens_per_month <= 1000 * 730 * 3600)


def test_a_power_limit_saves_more_than_it_slows_writing() -> None:
    spec = parse_spec({"model": "Llama 3.1 8B", "hardware": [{"accelerator": PRO_6000}], "concurrency": 16})
    result, cost = estimate(spec, derivation=False), costs(PRO_6000, 1, EUR)
    full, *limited = power_steps(cost, result, EUR)
    assert full.decode_share == 1.0 and full.saved_per_month == 0.0
    assert [step.saved_per_month for step in limited] == sorted(step.saved_per_month for step in limited)
    assert limited[0].tokens_per_joule and full.tokens_per_joule and limited[0].tokens_per_joule > full.tokens_per_joule
    assert tokens_per_joule(1000, 500) == 2.0


def test_the_team_may_name_its_machine() -> None:
    cost = costs(PRO_6000, 1, replace(EUR, machine_price=3000.0))
    assert cost["machine"] == 3000.0 and not cost["machine_is_planning_figure"]


@pytest.mark.parametrize(
    ("countries", "per_kwh", "vat"),
    [
        (None, 0.25, 0.19),
        (frozenset({"DE"}), 0.25, 0.19),
        (frozenset({"IT"}), 0.3291, 0.22),
        (frozenset({"DE", "IT"}), 0.25, 0.19),
    ],
)
def test_one_country_that_is_named_takes_the_place_of_the_teams(
    countries: frozenset[str] | None, per_kwh: float, vat: float
) -> None:
    cost = costs("nvidia-l40s", 1, replace(EUR, electricity_per_kwh=0.25), place=Where(countries=countries))
    assert (cost["per_kwh"], cost["vat"]) == (pytest.approx(per_kwh), vat)


def test_the_price_planned_with_is_the_price_shown_and_held_against_a_budget() -> None:
    """A price of last year is lifted to the street's of today: it is one figure wherever money is spoken of."""
    cost = costs(PRO_6000, 1, EUR)
    assert cost["whole"]["amount"] == once(cost) == pytest.approx(cost["buy"]["planning_amount"] + cost["machine"])


@pytest.mark.parametrize(
    ("card", "count", "watts"),
    [
        ("nvidia-rtx-4090", 1, (450 + 230) / 0.92),
        ("nvidia-rtx-4090", 2, (900 + 230) / 0.92),
        ("nvidia-rtx-4090", 4, (1800 + 410) / 0.92),
        ("nvidia-l40s", 4, (1400 + 600) / 0.92),
        ("nvidia-h100-sxm-80gb", 8, (5600 + 2500) / 0.92),
    ],
)
def test_the_wall_draws_what_the_machine_is_planned_with(card: str, count: int, watts: float) -> None:
    """The same watts as the answer to a question for the supply."""
    cost = costs(card, count, EUR)
    assert cost["wall_w"] == pytest.approx(watts)
    spec = parse_spec({"model": "Qwen3-14B", "hardware": [{"accelerator": card, "count": count}]})
    power = system_of(spec, estimate(spec)).power
    assert power is not None and power.wall_w == pytest.approx(watts)
