"""Search over hardware x layout x format: options ranked by what meeting the workload costs, rejections explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from sizing.candidates import Candidate, Rejection, expand, machines, may_fit, may_reach, need_of
from sizing.catalogue.load import catalogue
from sizing.cost import (
    AMORTISATION_MONTHS,
    HOURS_PER_MONTH,
    Price,
    electricity_per_month,
    in_currency,
    machine,
    purchase,
    rent,
)
from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.engine import estimate, failed
from sizing.errors import UserError
from sizing.estimate import Estimate, Failure
from sizing.memory.inference import plan_inference
from sizing.resolve import resolve
from sizing.spec import EngineRef, HardwareRef, Parallel, WorkloadSpec, parse_spec

_FULL_ESTIMATES = 160
_SHOWN = 6
_ALMOST = 3
_PROBE = "nvidia-h200-sxm-141gb"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Option(_Part):
    """A proposal: the spec with its hardware, what the engine says of it, and why it stands where it does."""

    rank: int
    spec: dict[str, Any]
    estimate: Estimate
    why: tuple[dict[str, Any], ...] = ()
    needs_quote: bool = False


class Recommendation(_Part):
    """Options in order, those that almost work with what they lack, and why the rest was rejected."""

    id: str | int | None = None
    ok: bool
    options: tuple[Option, ...] = ()
    almost: tuple[Option, ...] = ()
    rejected: tuple[dict[str, Any], ...] = ()
    searched: int = 0
    error: Failure | None = None


def recommend(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> Recommendation:
    """Options for a spec without hardware."""
    try:
        return _recommend(spec, defaults)
    except UserError as fault:
        return Recommendation(id=spec.id, ok=False, error=failed(spec.id, fault).error)


def recommend_data(data: object, defaults: Defaults = ENGINE_DEFAULTS) -> Recommendation:
    """`recommend` for plain data as it comes from JSON."""
    ident = data.get("id") if isinstance(data, dict) and isinstance(data.get("id"), str | int) else None
    try:
        return recommend(parse_spec(data), defaults)
    except UserError as fault:
        return Recommendation(id=ident, ok=False, error=failed(ident, fault).error)


def _recommend(spec: WorkloadSpec, defaults: Defaults) -> Recommendation:
    probe = resolve(spec.model_copy(update={"hardware": (HardwareRef(accelerator=_PROBE, count=1),)}), defaults)
    model = probe.architecture
    kv_bytes = sum(device.kv_bytes for device in plan_inference(probe).devices)
    devices, barred = machines(spec.constraints, defaults)
    floor = spec.constraints.min_bits or defaults.min_bits
    candidates = list(expand(devices, spec, model, floor))
    need = need_of(model, sorted({one.weights for one in candidates}), kv_bytes, probe.concurrency)
    large = [one for one in candidates if may_fit(one, need)]
    quick = [
        one for one in large if may_reach(one, need, spec.targets.tokens_s_per_user or defaults.min_tokens_s_per_user)
    ]
    tried = [_option(spec, one, defaults) for one in _shortlist(quick, defaults)]
    good = [one for one in tried if one.estimate.fits and not _misses(spec, one, defaults)]
    options = _ranked(good)
    near = [one for one in tried if not (one.estimate.fits and not _misses(spec, one, defaults))]
    return Recommendation(
        id=spec.id,
        ok=True,
        options=options,
        almost=_almost(spec, near, options, defaults),
        rejected=_rejected(barred, len(candidates) - len(large), len(large) - len(quick)),
        searched=len(candidates),
    )


def _shortlist(candidates: Sequence[Candidate], defaults: Defaults) -> list[Candidate]:
    """Per machine the widest formats and each layout, cheapest machines first."""
    priced = sorted(candidates, key=lambda one: (_candidate_cost(one, defaults), one.count, -one.bits))
    return priced[:_FULL_ESTIMATES]


def _candidate_cost(candidate: Candidate, defaults: Defaults) -> float:
    return monthly(costs(candidate.accelerator.id, candidate.count, defaults)) or 1e12


def _option(spec: WorkloadSpec, candidate: Candidate, defaults: Defaults) -> Option:
    proposal = spec.model_copy(
        update={
            "hardware": (HardwareRef(accelerator=candidate.accelerator.id, count=candidate.count),),
            "weights": candidate.weights,
            "engine": spec.engine if spec.engine.name else EngineRef(name=candidate.engine),
            "parallel": Parallel(tensor=candidate.tensor, pipeline=candidate.pipeline, data=candidate.data),
        }
    )
    result = estimate(proposal, defaults, derivation=False)
    cost = costs(candidate.accelerator.id, candidate.count, defaults)
    return Option(
        rank=0,
        spec=proposal.model_dump(mode="json", exclude_none=True),
        estimate=result.model_copy(update={"cost": cost}),
        needs_quote=monthly(cost) is None,
    )


def costs(accelerator_id: str, count: int, defaults: Defaults) -> dict[str, Any]:
    """Buying and renting `count` devices, and the electricity of owned ones, in the team's currency."""
    to_buy, to_rent = purchase(accelerator_id), rent(accelerator_id, count, defaults)
    device = catalogue().accelerators[accelerator_id]
    power = (device.tdp_w or 0.0) * count
    return {
        "currency": defaults.currency,
        "buy": _view(to_buy, defaults, count),
        "rent_per_hour": _view(to_rent, defaults, 1),
        "machine": round(machine(device, count, defaults), 2) if to_buy else None,
        "electricity_per_month": round(electricity_per_month(power, defaults), 2) if power else None,
        "power_w": power or None,
        "amortisation_months": AMORTISATION_MONTHS,
        "eur_per_usd": defaults.eur_per_usd,
    }


def _view(price: Price | None, defaults: Defaults, count: int) -> dict[str, Any] | None:
    if price is None:
        return None
    amount = in_currency(price, defaults.currency, defaults.eur_per_usd) * count
    return {
        "amount": round(amount, 2), "basis": price.basis, "as_of": price.as_of, "provider": price.provider,
        "country": price.country, "condition": price.condition, "net": price.net, "source": price.source,
    }  # fmt: skip


def monthly(cost: dict[str, Any]) -> float | None:
    """The cheaper of renting around the clock and buying over three years with electricity; None without any price."""
    rented = cost["rent_per_hour"]["amount"] * HOURS_PER_MONTH if cost["rent_per_hour"] else None
    bought = None
    if cost["buy"]:
        bought = (cost["buy"]["amount"] + (cost["machine"] or 0)) / AMORTISATION_MONTHS + (
            cost["electricity_per_month"] or 0
        )
    return min((amount for amount in (rented, bought) if amount is not None), default=None)


def _misses(spec: WorkloadSpec, option: Option, defaults: Defaults) -> list[dict[str, Any]]:
    """Targets and limits that an option does not meet."""
    found: list[dict[str, Any]] = []
    speed, targets = option.estimate.speed, spec.targets
    checks = (
        (
            "tokens_s_per_user",
            targets.tokens_s_per_user or defaults.min_tokens_s_per_user,
            speed and speed.decode_tok_s_per_user,
            1,
        ),
        ("tokens_s_total", targets.tokens_s_total, speed and speed.output_tok_s_total, 1),
        ("ttft_s", targets.ttft_s, speed and speed.ttft_ms, -1000),
    )
    for name, wanted, got, sign in checks:
        if wanted and got and (got.expected < wanted if sign > 0 else got.expected > wanted * 1000):
            found.append({"code": "target_missed", "params": {"target": name, "wanted": wanted, "got": got.expected}})
    power = (option.estimate.cost or {}).get("power_w")
    if targets.power_w and power and power > targets.power_w:
        found.append({"code": "too_much_power", "params": {"power_w": power, "limit_w": targets.power_w}})
    return found + _over_budget(spec, option, defaults)


def _over_budget(spec: WorkloadSpec, option: Option, defaults: Defaults) -> list[dict[str, Any]]:
    targets, cost = spec.targets, option.estimate.cost or {}
    if not targets.budget:
        return []
    hourly = (cost.get("rent_per_hour") or {}).get("amount")
    amounts = {
        "hour": hourly,
        "day": hourly and hourly * 24,
        "month": monthly(cost),
        "year": (monthly(cost) or 0) * 12 or None,
        "once": (cost["buy"]["amount"] + (cost["machine"] or 0)) if cost.get("buy") else None,
    }
    amount = amounts[targets.budget_period or "once"]
    limit = in_currency(
        Price(targets.budget, targets.budget_currency or defaults.currency, "list", None, ""),
        defaults.currency,
        defaults.eur_per_usd,
    )
    if amount is None or amount <= limit:
        return (
            []
            if amount is not None
            else [{"code": "no_price_for_budget", "params": {"period": targets.budget_period or "once"}}]
        )
    return [{"code": "over_budget", "params": {"amount": amount, "limit": limit, "currency": defaults.currency}}]


def _ranked(options: Iterable[Option]) -> tuple[Option, ...]:
    """One option per kind of device, the cheapest that meets everything; among equals the widest format, the fewest devices."""
    best: dict[str, Option] = {}
    for option in sorted(options, key=_order):
        best.setdefault(_accelerator(option), option)
    ordered = sorted(best.values(), key=lambda one: (one.needs_quote, *_order(one)))[:_SHOWN]
    return tuple(option.model_copy(update={"rank": n}) for n, option in enumerate(ordered, start=1))


def _accelerator(option: Option) -> str:
    return str(option.spec["hardware"][0]["accelerator"])


def _order(option: Option) -> tuple[float, int, int, float]:
    cost = monthly(option.estimate.cost or {}) or 1e12
    rate = option.estimate.speed.decode_tok_s_per_user if option.estimate.speed else None
    return (
        round(cost, 2),
        option.estimate.verdict != "fits",
        option.spec["hardware"][0]["count"],
        -(rate.expected if rate else 0.0),
    )


def _almost(
    spec: WorkloadSpec, options: Sequence[Option], chosen_already: Sequence[Option], defaults: Defaults
) -> tuple[Option, ...]:
    """The cheapest of the other devices that lack least, each with what it lacks."""
    shown = {_accelerator(option) for option in chosen_already}
    lacking = [
        option.model_copy(update={"why": (*_shortfall(option), *_misses(spec, option, defaults))})
        for option in options
        if _accelerator(option) not in shown
    ]
    best: dict[str, Option] = {}
    for option in sorted(lacking, key=lambda one: (len(one.why), *_order(one))):
        if option.why and option.estimate.ok:
            best.setdefault(_accelerator(option), option)
    chosen = sorted(best.values(), key=_order)[:_ALMOST]
    return tuple(option.model_copy(update={"rank": n}) for n, option in enumerate(chosen, start=1))


def _shortfall(option: Option) -> list[dict[str, Any]]:
    margin = option.estimate.margin_gib
    if option.estimate.fits or margin is None:
        return []
    return [{"code": "memory_missing", "params": {"missing_gib": -margin.expected}}]


def _rejected(barred: Sequence[Rejection], too_small: int, too_slow: int) -> tuple[dict[str, Any], ...]:
    """Rejections by reason, with how many candidates each took out and a few names."""
    counts = Counter(one.code for one in barred)
    rows: list[dict[str, Any]] = [
        {
            "candidate": ", ".join(one.candidate for one in barred if one.code == code)[:300],
            "reasons": [{"code": code, "count": n}],
        }
        for code, n in counts.most_common()
    ]
    for code, n in (("cannot_hold_weights_and_kv", too_small), ("below_roofline", too_slow)):
        if n:
            rows.append({"candidate": f"{n} layouts", "reasons": [{"code": code, "count": n}]})
    return tuple(rows)
