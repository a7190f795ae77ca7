"""What money buys: break-even of buying, renting and an API, price of a million tokens by utilisation, tokens a joule, power limits.

Everything works on the cost of a deployment (`sizing.cost.cost_of`) and its Estimate; prices of reserved capacity and of managed APIs
are the asker's. Amounts are net, in the currency of the cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sizing.arithmetic import worked
from sizing.cost import Way, electricity_per_month, once
from sizing.defaults import Defaults
from sizing.estimate import DerivationStep, Estimate
from sizing.prices import HOURS_PER_MONTH
from sizing.system.power import gold_efficiency, limit_at

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

    `invested` is what is planned with: devices and machine. `months` until it is paid back by what is saved (None: never);
    `hours_per_month` above which owning, written down, costs less than renting by the hour (None: an hour's power costs more than
    the rent); `utilisation` the same as a share of all hours (above 1: renting always costs less).
    """

    invested: float
    running_per_month: float
    other_per_month: float
    months: float | None
    hours_per_month: float | None
    utilisation: float | None


@dataclass(frozen=True, slots=True)
class Total:
    """What a way costs over some months: once, each month, and together."""

    way: Way
    months: int
    once: float
    per_month: float
    together: float


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
    """EUR or USD for a million output tokens (`million_step`). Half idle, a token costs twice as much."""
    return tuple(
        PerMillion(share, _of(cost, "buy", tokens_s, share), _of(cost, "rent", tokens_s, share))
        for share in utilisations
    )


def _of(cost: Mapping[str, Any], way: Way, tokens_s: float, share: float) -> float | None:
    step = million_step(cost, way, tokens_s, share)
    return None if step is None else step.value


def million_step(cost: Mapping[str, Any], way: Way, tokens_s: float, utilisation: float) -> DerivationStep | None:
    """The price of a million output tokens as a sum: cost an hour / tokens of that hour; None where the way has no price."""
    month, currency = cost["monthly"][way], str(cost["currency"])
    if month is None:
        return None
    amount = f"month_{currency.lower()}"
    return worked(
        f"{way}_per_million_tokens",
        f"{amount} / hours_per_month / (rate_tok_s * utilisation * 3600) * 1e6",
        currency,
        **{
            amount: month,
            "hours_per_month": cost["hours_per_month"],
            "rate_tok_s": tokens_s,
            "utilisation": utilisation,
        },
    )


def hourly_million_step(price: float, currency: str, tokens_s: float, utilisation: float) -> DerivationStep:
    """As `million_step`, at a price of the asker's by the hour."""
    inputs = {"hour_price": price, "rate_tok_s": tokens_s, "utilisation": utilisation}
    formula = "hour_price / (rate_tok_s * utilisation * 3600) * 1e6"
    return worked("price_per_million_tokens", formula, currency, **inputs)


def break_even(cost: dict[str, Any], defaults: Defaults, rent_per_hour: float | None = None) -> BreakEven | None:
    """Buying against renting in the hours of the cost, at its own rent or at another rate an hour; None without both prices."""
    hourly = rent_per_hour if rent_per_hour is not None else (cost["rent_per_hour"] or {}).get("amount")
    invested = once(cost)
    if hourly is None or invested is None:
        return None
    running = _running(cost, defaults)
    other = hourly * cost["hours_per_month"] if rent_per_hour is not None else cost["monthly"]["rent"]
    saved = other - running
    hours = _even_hours(cost, hourly)
    months = invested / saved if saved > 0 else None
    return BreakEven(invested, running, other, months, hours, None if hours is None else hours / HOURS_PER_MONTH)


def _even_hours(cost: dict[str, Any], hourly: float) -> float | None:
    """Hours a month at which owning costs what the rent does; power is paid for those hours, all else whatever they are."""
    owned, power = cost["monthly"]["buy"], float(cost["electricity_per_month"] or 0.0)
    if owned is None:
        return None
    power_per_hour = power / cost["hours_per_month"]
    return None if hourly <= power_per_hour else (owned - power) / (hourly - power_per_hour)


def _running(cost: dict[str, Any], defaults: Defaults) -> float:
    support = cost["buy"]["planning_amount"] * defaults.support_share_per_year / 12 if cost["buy"] else 0.0
    return float((cost["electricity_per_month"] or 0.0) + defaults.staff_per_month + support)


def totals(cost: dict[str, Any], defaults: Defaults, months: int) -> tuple[Total, ...]:
    """What each way that has a price costs over so many months; what is bought is sold for the team's resale share at the end."""
    found = []
    invested, running = once(cost), _running(cost, defaults)
    if invested is not None:
        resale = float(cost["buy"]["planning_amount"]) * defaults.resale_share if cost["buy"] else 0.0
        found.append(Total("buy", months, invested - resale, running, invested - resale + running * months))
    if cost["monthly"]["rent"] is not None:
        setup, month = float(cost["rent_per_hour"]["setup"] or 0.0), float(cost["monthly"]["rent"])
        found.append(Total("rent", months, setup, month, setup + month * months))
    return tuple(found)


def against_api(
    cost: dict[str, Any], tokens_s: float, tokens_per_month: float, price_per_million: float
) -> ApiCase | None:
    """A deployment against an API billed by the million tokens; None where the deployment has no price."""
    known = [float(month) for month in cost["monthly"].values() if month is not None]
    if not known or price_per_million <= 0:
        return None
    even = min(known) / price_per_million * 1e6
    capacity = tokens_s * _SECONDS_PER_HOUR * cost["hours_per_month"]
    return ApiCase(tokens_per_month / 1e6 * price_per_million, min(known), even, even <= capacity)


def energy_step(tokens_s: float, wall_w: float) -> DerivationStep:
    """Energy at the wall for a million output tokens under full load, as a sum; 1 kWh is 3.6 million joules."""
    drawn = {"wall_w": wall_w, "rate_tok_s": tokens_s}
    return worked("energy_per_million_tokens", "wall_w / rate_tok_s * 1e6 / 3.6e6", "kWh", **drawn)


def kwh_per_million(tokens_s: float, wall_w: float) -> float:
    """The kWh of `energy_step`."""
    return energy_step(tokens_s, wall_w).value


def joule_step(tokens_s: float, wall_w: float) -> DerivationStep:
    """Output tokens for each joule drawn at the wall under full load, as a sum."""
    return worked("tokens_per_joule", "rate_tok_s / wall_w", "tokens/J", rate_tok_s=tokens_s, wall_w=wall_w)


def tokens_per_joule(tokens_s: float, wall_w: float) -> float:
    """The tokens of `joule_step`."""
    return joule_step(tokens_s, wall_w).value


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
        less_w = cards * (1 - share) / gold_efficiency(None)
        watts = wall - less_w
        saved = electricity_per_month(less_w, defaults)
        steps.append(
            PowerStep(share, cards * share, decode, prefill, saved, rate and tokens_per_joule(rate * decode, watts))
        )
    return tuple(steps)
