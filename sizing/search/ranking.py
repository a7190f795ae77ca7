"""The order of options: cost of meeting the workload first, then simplicity; and what each option is best at."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sizing.catalogue.entries import Accelerator
from sizing.search.candidates import MOST_LOCAL_AUDIENCE
from sizing.search.lacks import lack
from sizing.search.trial import Trial

_SHOWN = 6
_MOST_USED = 2
# An option that is best at something is shown beside the cheapest ones up to this many times their cost.
MOST_TIMES_THE_CHEAPEST = 4.0
_LONG_WAIT_MS = 10_000

# What a price does not say, as a factor on the cost that options are ordered by (costs that are shown are never touched). They are
# judgements, kept in one place: offers of marketplaces and undated rates may be gone tomorrow; a deployment without its reserve needs
# the next size sooner, and one that may be short within the range of its estimate perhaps at once; a card more is a thing more to fail;
# 4 bit must be worth its loss; the first token's wait costs patience; engines meet Arc and Radeon cards later and less tested than
# CUDA's.
_RENT_RISK = {"offer": 1.0, "undated": 1.15, "marketplace": 1.5, "doubtful": 1.5}
_RISK = {
    "tight": 1.25, "uncertain": 1.6,
    "barely_fast_enough": 1.2, "plugin": 1.5, "old_generation": 1.5, "discontinued": 1.1, "used": 1.1, "used_service": 1.3,
    "geforce_service": 1.15, "four_bit": 1.35, "five_bit": 1.1, "narrow_kv": 1.05, "pipeline": 1.1, "slow_tensor": 1.05,
    "local_service": 1.6, "local_pair": 1.2, "intel": 1.4, "radeon": 1.1,
}  # fmt: skip
_DOUBLED_CARDS = 1.08
_DOUBLED_WAIT = 0.12
_CURRENT_CAPABILITY = 8.0


def planning_cost(cost: dict[str, Any]) -> float | None:
    """The cheaper way a month with the risk of a rent that may not be had; None without any price."""
    rented, bought = cost["monthly"]["rent"], cost["monthly"]["buy"]
    amounts = [] if bought is None else [bought]
    if rented is not None:
        amounts.append(rented * _RENT_RISK[cost["rent_per_hour"]["trust"]])
    return float(min(amounts)) if amounts else None


def family(device: Accelerator, memory_gb: float | None) -> object:
    """Variants of a card that differ in cooling or form only are one proposal (for each class of precision)."""
    return (device.architecture, memory_gb or device.memory_gb, device.bandwidth_gb_s)


def order(one: Trial) -> tuple[float, ...]:
    """Sort key: cost with its risks, then few devices, few kinds of parallelism, speed. Unpriced options come last."""
    cost = planning_cost(one.cost)
    return (
        float("inf") if cost is None else max(cost, 0.01) * risk(one),
        risk(one),
        one.candidate.machine.count,
        kinds_of_parallelism(one),
        -rate(one),
    )


def risk(one: Trial) -> float:
    """The product of what a price does not say."""
    factors = [_RISK[code] for code in _risks(one)]
    first = one.speed.ttft_ms.expected / 1000 if one.speed and one.speed.ttft_ms else 0.0
    cards: float = _DOUBLED_CARDS ** math.log2(one.candidate.machine.count)
    return math.prod(factors) * cards * (1 + _DOUBLED_WAIT * math.log2(1 + first))


def _risks(one: Trial) -> Iterable[str]:
    candidate, device = one.candidate, one.candidate.machine.accelerator
    if one.verdict == "tight":
        yield "uncertain" if one.margin is not None and one.margin.low < 0 else "tight"
    if one.barely_fast_enough:
        yield "barely_fast_enough"
    if one.candidate.setup.local and one.question.audience > 1:
        yield "local_service" if one.question.audience > 2 else "local_pair"
    if any(warning.code == "engine_needs_plugin" for warning in one.warnings):
        yield "plugin"
    yield from _device_risks(one, device)
    if candidate.setup.bits < min(one.least_loss_bits, 7.9):
        yield "four_bit" if candidate.setup.bits < 5 else "five_bit"
    if candidate.setup.kv_cache is not None:
        yield "narrow_kv"
    if candidate.pipeline > 1:
        yield "pipeline"
    if candidate.tensor > 1 and device.interconnect["type"] == "pcie":
        yield "slow_tensor"


def _device_risks(one: Trial, device: Accelerator) -> Iterable[str]:
    if one.candidate.machine.owned:
        return
    many = one.question.audience > MOST_LOCAL_AUDIENCE
    if device.vendor == "intel" or (device.vendor == "amd" and device.kind in ("consumer", "workstation")):
        yield "intel" if device.vendor == "intel" else "radeon"
    if device.vendor == "nvidia" and float(device.compute_capability or 99) < _CURRENT_CAPABILITY:
        yield "old_generation"
    if is_used(one):
        yield "used_service" if many else "used"
    elif device.status == "discontinued" and one.cost["way"] == "buy":
        yield "discontinued"
    if many and device.vendor == "nvidia" and device.kind == "consumer":
        yield "geforce_service"


def waits_long(one: Trial) -> bool:
    """Whether the first token is expected after more than ten seconds."""
    first = one.speed.ttft_ms if one.speed else None
    return first is not None and first.expected > _LONG_WAIT_MS


def kinds_of_parallelism(one: Trial) -> int:
    """How many kinds of splitting a layout needs."""
    return sum(degree > 1 for degree in (one.candidate.tensor, one.candidate.pipeline, one.candidate.data))


def rate(one: Trial) -> float:
    """Expected tokens/s of one user; 0 where unknown."""
    found = one.speed.decode_tok_s_per_user if one.speed else None
    return found.expected if found else 0.0


def total_rate(one: Trial) -> float:
    """Expected tokens/s of all users; 0 where unknown."""
    found = one.speed.output_tok_s_total if one.speed else None
    return found.expected if found else 0.0


def is_used(one: Trial) -> bool:
    """Whether the price is that of a used part."""
    return bool(one.cost["way"] == "buy" and one.cost["buy"] and one.cost["buy"]["condition"] == "used")


def chosen(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """The options to show, in order: owned hardware first, one of each family, a few used ones, and the best at each thing."""
    ordered = sorted(_best_of_family(trials), key=lambda one: (not one.candidate.machine.owned, *order(one)))
    kept = _with_few_used(ordered)
    shown = kept[:_SHOWN]
    affordable = [one for one in kept if one.per_month is not None and one.per_month <= _most_per_month(kept)]
    for best in _BEST.values():
        top = max(affordable, key=best, default=None)
        if top is not None and top not in shown and best(top) > max(best(one) for one in shown) * 1.25:
            shown = [*shown[: _SHOWN - 1], top]
    return tuple(sorted(shown, key=lambda one: (not one.candidate.machine.owned, *order(one))))


def _most_per_month(trials: Iterable[Trial]) -> float:
    return MOST_TIMES_THE_CHEAPEST * min((one.per_month for one in trials if one.per_month), default=0.0)


def _best_of_family(trials: Iterable[Trial]) -> list[Trial]:
    best: dict[object, Trial] = {}
    for one in sorted(trials, key=order):
        machine = one.candidate.machine
        wide = one.candidate.setup.bits >= 7.9
        best.setdefault((machine.owned, wide, family(machine.accelerator, machine.memory_gb)), one)
    return list(best.values())


def _with_few_used(ordered: Sequence[Trial]) -> list[Trial]:
    kept: list[Trial] = []
    for one in ordered:
        if not is_used(one) or sum(map(is_used, kept)) < _MOST_USED:
            kept.append(one)
    return kept


def _headroom(one: Trial) -> float:
    return one.margin.expected * one.candidate.machine.count if one.margin else 0.0


_BEST: dict[str, Callable[[Trial], float]] = {
    "fewest_cards": lambda one: 1.0 / one.candidate.machine.count,
    "fastest": rate,
    "most_throughput": total_rate,
    "highest_precision": lambda one: min(one.candidate.setup.bits, 8.0),
    "most_headroom": _headroom,
    "no_investment": lambda one: float(
        one.cost["way"] == "rent" and one.cost["rent_per_hour"]["trust"] in ("offer", "undated")
    ),
    "least_power": lambda one: 1.0 / (one.cost["wall_w"] or 1e9),
}


def labels(options: Sequence[Trial]) -> tuple[tuple[dict[str, Any], ...], ...]:
    """For each option what it is best at among those shown, and what it loses to the first."""
    if not options:
        return ()
    return tuple((*_strengths(one, options), *_weaknesses(one, options[0])) for one in options)


def _strengths(one: Trial, options: Sequence[Trial]) -> Iterable[dict[str, Any]]:
    if one.candidate.machine.owned:
        yield lack("owned")
    priced = [cost for other in options if (cost := planning_cost(other.cost)) is not None]
    if one.per_month is not None and (planning_cost(one.cost) or 0.0) <= min(priced):
        yield lack("cheapest", per_month=one.per_month)
    if len(options) == 1:
        return
    for code, best in _BEST.items():
        values = [best(other) for other in options]
        if best(one) >= max(values) and values.count(max(values)) == 1 and max(values) > 0:
            yield lack(code)


def _weaknesses(one: Trial, first: Trial) -> Iterable[dict[str, Any]]:
    """Why it does not stand first."""
    if one is first:
        return
    if one.per_month is None:
        yield lack("no_price")
    elif first.per_month and one.per_month > first.per_month * 1.05:
        yield lack("costs_more", share=one.per_month / first.per_month - 1)
    if one.verdict == "tight" and first.verdict == "fits":
        yield lack("little_reserve")
    if min(one.candidate.setup.bits, 8.0) < min(first.candidate.setup.bits, 8.0) - 0.5:
        yield lack("lower_precision", bits=one.candidate.setup.bits)
    if one.candidate.machine.count > first.candidate.machine.count:
        yield lack("more_cards", count=one.candidate.machine.count)
    if rate(one) < rate(first) * 0.8:
        yield lack("slower", got=rate(one), wanted=rate(first))
    if is_used(one) and not is_used(first):
        yield lack("used_part")


def tiers(options: Sequence[Trial]) -> dict[str, int]:
    """Good, better, best as ranks (from 1): the first; a dearer one that adds precision, reserve or speed; the fastest of all."""
    priced = [place for place, one in enumerate(options, start=1) if one.per_month is not None]
    if not priced:
        return {}
    found = {"good": priced[0]}
    first = options[priced[0] - 1]
    better = [
        place
        for place in priced[1:]
        if _gains(options[place - 1], first) and (options[place - 1].per_month or 0.0) >= (first.per_month or 0.0)
    ]
    if better:
        found["better"] = better[0]
    best = max(
        priced,
        key=lambda place: (
            options[place - 1].verdict == "fits",
            total_rate(options[place - 1]) or rate(options[place - 1]),
        ),
    )
    if best not in found.values():
        found["best"] = best
    return found


def _gains(one: Trial, first: Trial) -> bool:
    wider = min(one.candidate.setup.bits, 8.0) > min(first.candidate.setup.bits, 8.0) + 0.5
    roomier = one.verdict == "fits" and first.verdict != "fits"
    return wider or roomier or rate(one) > 1.3 * rate(first) or total_rate(one) > 1.3 * total_rate(first)
