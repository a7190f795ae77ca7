"""What money buys: break-even of buying, renting and an API, price of a million tokens by utilisation, tokens a joule, power limits.

Everything works on the cost of a deployment (`sizing.cost.cost_of`) and its Estimate; prices of reserved capacity and of managed APIs
are the asker's. Amounts are net, in the currency of the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sizing.cost import electricity_per_month, once
from sizing.defaults import Defaults
from sizing.estimate import Estimate
from sizing.prices import HOURS_PER_MONTH
from sizing.system.power import limit_at

UTILISATIONS = (0.05, 0.1, 0.25, 0.5, 1.0)
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class PerMillion:
    """The price of a million output tokens at a share of the full rate, by way; None where that way has no price."""

    utilisation: float
    buy: float | None
    rent: float | None


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Buying against what is paid each month otherwise.

    `months` until the purchase is paid back by what is saved (None: never); `hours_per_month` above which owning costs less than
    renting by the hour; `utilisation` the same as a share of all hours (above 1: renting always costs less).
    """

    invested: float
    running_per_month: float
    other_per_month: float
    months: float | None
    hours_per_month: float | None
    utilisation: float | None


@dataclass(frozen=True, slots=True)
class ApiCase:
    """A managed API at the asker's price against a deployment: cost of the month's tokens, and how many would make both cost the same."""

    api_per_month: float
    own_per_month: float
    even_tokens_per_month: float
    within_capacity: bool


@dataclass(frozen=True, slots=True)
class PowerStep:
    """A power limit of the cards: watts, speed that remains, what a month saves and a token costs in energy."""

    share_of_tdp: float
    watts: float
    decode_share: float
    prefill_share: float
    saved_per_month: float
    tokens_per_joule: float | None


def total_rate(estimate: Estimate) -> float | None:
    """Output tokens/s of all users together, as deployed."""
    rate = estimate.speed.output_tok_s_total if estimate.speed else None
    return rate.expected if rate and rate.expected > 0 else None


def per_million(
    cost: dict[str, Any], tokens_s: float, utilisations: Sequence[float] = UTILISATIONS
) -> tuple[PerMillion, ...]:
    """EUR or USD for a million output tokens: cost an hour / tokens in that hour. Half idle, a token costs twice as much."""
    return tuple(
        PerMillion(share, _of(cost, "buy", tokens_s * share), _of(cost, "rent", tokens_s * share))
        for share in utilisations
    )


def _of(cost: dict[str, Any], way: str, tokens_s: float) -> float | None:
    month = cost["monthly"][way]
    return None if month is None else float(month) / HOURS_PER_MONTH / (tokens_s * _SECONDS_PER_HOUR) * 1e6


def break_even(
    cost: dict[str, Any],
    defaults: Defaults,
    hours_per_month: float = HOURS_PER_MONTH,
    rent_per_hour: float | None = None,
) -> BreakEven | None:
    """Buying against renting for so many hours a month, at the cost's own rent or at a reserved rate an hour; None without both prices."""
    hourly = rent_per_hour if rent_per_hour is not None else (cost["rent_per_hour"] or {}).get("amount")
    invested = once(cost)
    if hourly is None or invested is None:
        return None
    running = _running(cost, defaults)
    other = hourly * hours_per_month
    saved = other - running
    owned = cost["monthly"]["buy"]
    hours = None if owned is None else owned / hourly
    return BreakEven(
        invested,
        running,
        other,
        invested / saved if saved > 0 else None,
        hours,
        None if hours is None else hours / HOURS_PER_MONTH,
    )


def _running(cost: dict[str, Any], defaults: Defaults) -> float:
    support = cost["buy"]["planning_amount"] * defaults.support_share_per_year / 12 if cost["buy"] else 0.0
    return float((cost["electricity_per_month"] or 0.0) + defaults.staff_per_month + support)


def against_api(
    cost: dict[str, Any], tokens_s: float, tokens_per_month: float, price_per_million: float
) -> ApiCase | None:
    """A deployment against an API billed by the million tokens; None where the deployment has no price."""
    known = [float(month) for month in cost["monthly"].values() if month is not None]
    if not known or price_per_million <= 0:
        return None
    even = min(known) / price_per_million * 1e6
    capacity = tokens_s * _SECONDS_PER_HOUR * HOURS_PER_MONTH
    return ApiCase(tokens_per_month / 1e6 * price_per_million, min(known), even, even <= capacity)


def tokens_per_joule(tokens_s: float, wall_w: float) -> float:
    """Output tokens for each joule drawn at the wall under full load; 1 kWh is 3.6 million joules."""
    return tokens_s / wall_w


def power_steps(
    cost: dict[str, Any], estimate: Estimate, defaults: Defaults, shares: Sequence[float] = (1.0, 0.85, 0.7, 0.55)
) -> tuple[PowerStep, ...]:
    """What lower power limits of the cards save and cost (the measured curve of `sizing.system.power`); () without a known power."""
    cards, wall, rate = cost["power_w"], cost["wall_w"], total_rate(estimate)
    if not cards or not wall:
        return ()
    steps = []
    for share in shares:
        decode, prefill = limit_at(share)
        watts = wall - cards * (1 - share)
        saved = electricity_per_month(cards * (1 - share), defaults)
        steps.append(
            PowerStep(share, cards * share, decode, prefill, saved, rate and tokens_per_joule(rate * decode, watts))
        )
    return tuple(steps)
