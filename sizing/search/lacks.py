"""What an option lacks: memory, speed, power, money, each as a code with its figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sizing.cost import monthly, once, with_vat
from sizing.defaults import Defaults
from sizing.estimate import Range, Speed, Verdict
from sizing.prices import in_currency
from sizing.spec import Targets, WorkloadSpec
from sizing.speed.load import demand

Lack = dict[str, Any]

# Below this a sum "once" is a private person's, who has a PC and pays VAT: the card alone is held against it, gross.
_PRIVATE_MOST_EUR = 2500.0
# A queue whose service rate is this share of what arrives grows without end; the bisection behind it is no finer.
_SERVED = 0.98


def lack(code: str, **params: Any) -> Lack:
    """A code with its figures."""
    return {"code": code, "params": params}


def memory_lacks(verdict: Verdict | None, margin: Range | None) -> Iterator[Lack]:
    """Missing memory; a margin that is more likely negative than not counts as missing."""
    if margin is not None and margin.expected < 0:
        yield lack("memory_missing", missing_gib=-margin.expected)
    elif verdict == "no":
        yield lack("cannot_run")


def speed_lacks(spec: WorkloadSpec, speed: Speed | None, defaults: Defaults, busiest: float = 1.0) -> Iterator[Lack]:
    """Targets of speed that the expected figures miss, and requests that arrive faster than they are served; `busiest` is how much of
    what is served at most may arrive."""
    if speed is None:
        return
    targets, arriving = spec.targets, arriving_rps(spec)
    if arriving and speed.requests_s and speed.requests_s.expected < arriving * _SERVED / busiest:
        yield lack("target_missed", target="requests_s", wanted=arriving, got=speed.requests_s.expected)
    wanted_rate = targets.tokens_s_per_user or defaults.min_tokens_s_per_user
    rates = (
        ("tokens_s_per_user", wanted_rate, speed.decode_tok_s_per_user),
        ("tokens_s_total", targets.tokens_s_total, speed.output_tok_s_total),
    )
    for name, wanted, got in rates:
        if wanted and got and got.expected < wanted:
            yield lack("target_missed", target=name, wanted=wanted, got=got.expected)
    if targets.ttft_s and speed.ttft_ms and speed.ttft_ms.expected > targets.ttft_s * 1000:
        yield lack("target_missed", target="ttft_s", wanted=targets.ttft_s, got=speed.ttft_ms.expected)


def arriving_rps(spec: WorkloadSpec) -> float | None:
    """What arrives where that is said; of a finite number of requests the last one always ends."""
    said = (spec.load.rate_rps or spec.load.requests_per_day) and spec.load.requests is None
    asked = demand(spec) if said else None
    return asked.rate_rps if asked else None


def limit_lacks(spec: WorkloadSpec, cost: dict[str, Any], defaults: Defaults) -> Iterator[Lack]:
    """Limits of power and money; known before any estimate."""
    power = cost["power_w"]
    if spec.targets.power_w and power and power > spec.targets.power_w:
        yield lack("too_much_power", power_w=power, limit_w=spec.targets.power_w)
    limit = budget_of(spec.targets, defaults)
    if limit is None:
        return
    period = spec.targets.budget_period or "once"
    amount = budget_for(spec, cost, defaults)
    if amount is None:
        yield lack("no_price_for_budget", period=period)
        return
    if amount > limit:
        yield lack("over_budget", amount=round(amount, 2), limit=limit, currency=defaults.currency, period=period)


def budget_for(spec: WorkloadSpec, cost: dict[str, Any], defaults: Defaults) -> float | None:
    """What a deployment takes of a budget as the spec means one: its period, net or gross; None without such a price."""
    amount = amount_for(spec.targets.budget_period or "once", cost, private=is_private(spec, defaults))
    return with_vat(amount, defaults) if amount is not None and counts_gross(spec, defaults) else amount


def budget_of(targets: Targets, defaults: Defaults) -> float | None:
    """The budget in the team's currency; None where none was said."""
    if not targets.budget:
        return None
    return in_currency(
        targets.budget, (targets.budget_currency or defaults.currency).upper(), defaults.currency, defaults.eur_per_usd
    )


def counts_gross(spec: WorkloadSpec, defaults: Defaults) -> bool:
    """Whether a budget is meant with VAT: as said, else where it is a private person's."""
    said = spec.targets.budget_gross
    return is_private(spec, defaults) if said is None else said


def is_private(spec: WorkloadSpec, defaults: Defaults) -> bool:
    """One person with a small sum to spend once."""
    limit = budget_of(spec.targets, defaults)
    small = limit is not None and limit <= in_currency(
        _PRIVATE_MOST_EUR, "EUR", defaults.currency, defaults.eur_per_usd
    )
    alone = (spec.concurrency or 1) <= 1 and (spec.users or 1) <= 1
    return small and alone and (spec.targets.budget_period or "once") == "once"


def amount_for(period: str, cost: dict[str, Any], *, private: bool = False) -> float | None:
    """What is paid in a period: rent by the hour or day, the cheaper way by the month or year, devices and machine at once.

    `private`: the card alone, since a private person has the PC it goes into.
    """
    hourly = (cost["rent_per_hour"] or {}).get("amount")
    if period in ("hour", "day"):
        return None if hourly is None else hourly * (24 if period == "day" else 1)
    if period in ("month", "year"):
        per_month = monthly(cost)
        return None if per_month is None else per_month * (12 if period == "year" else 1)
    return once(cost | {"machine": 0.0} if private else cost)
