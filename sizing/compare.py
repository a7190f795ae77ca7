"""Estimates side by side: what differs between specs, what that does to the figures, and what in model or machine causes it.

Causes are codes with figures, each held against the first option: two cards, two formats, tensor parallelism against replicas, Mac
against PC. The two ways to pay for one of them are `sizing.economics`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sizing.cost import monthly
from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.devices import Device, is_unified, takes_bridge
from sizing.economics import total_rate
from sizing.errors import UserError
from sizing.estimate import Estimate
from sizing.resolve import Resolved, resolve
from sizing.search.bounds import compute_flop_s
from sizing.spec import WorkloadSpec

_NOTABLE = 1.1
_FIGURES = ("need_gib", "margin_gib", "tokens_s_per_user", "tokens_s_total", "ttft_ms", "per_month", "power_w")
_LESS_IS_BETTER = frozenset({"need_gib", "ttft_ms", "per_month", "power_w"})


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of the spec that differs: dotted name and its value in each spec."""

    field: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A figure of the estimates: its value for each option, and the index of the best (None where fewer than two are known)."""

    figure: str
    values: tuple[float | None, ...]
    best: int | None


@dataclass(frozen=True, slots=True)
class Cause:
    """Why option `option` comes out differently from the first: a code and its figures (`ratio` is option / first)."""

    option: int
    code: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Specs with their estimates, what differs in them and in their figures and why, and the index of the best (None if none fits)."""

    specs: tuple[WorkloadSpec, ...]
    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    outcomes: tuple[Outcome, ...]
    causes: tuple[Cause, ...]
    best: int | None


def compare(
    specs: Sequence[WorkloadSpec], estimates: Sequence[Estimate], defaults: Defaults = ENGINE_DEFAULTS
) -> Comparison:
    """Compare specs that were estimated; both sequences run in the same order."""
    resolved = [_resolved(spec, defaults) for spec in specs]
    causes = [cause for place in range(1, len(specs)) for cause in _causes(place, resolved[0], resolved[place])]
    return Comparison(
        tuple(specs), tuple(estimates), differences(specs), tuple(_outcomes(estimates)), tuple(causes), _best(estimates)
    )


def differences(specs: Sequence[WorkloadSpec]) -> tuple[Difference, ...]:
    """Fields whose values are not the same in all specs; ids do not count."""
    flat = [_flatten(spec.model_dump(mode="json", exclude={"id"}, exclude_none=True)) for spec in specs]
    names = dict.fromkeys(name for fields in flat for name in fields)
    rows = ((name, tuple(fields.get(name) for fields in flat)) for name in names)
    return tuple(Difference(name, values) for name, values in rows if any(value != values[0] for value in values))


def _flatten(value: object, prefix: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for key, part in value.items():
            found |= _flatten(part, f"{prefix}.{key}" if prefix else str(key))
        return found
    return {prefix: value}


def _outcomes(estimates: Sequence[Estimate]) -> Iterator[Outcome]:
    for figure in _FIGURES:
        values = tuple(_figure(one, figure) for one in estimates)
        known = [(value, place) for place, value in enumerate(values) if value is not None]
        pick: Callable[..., Any] = min if figure in _LESS_IS_BETTER else max
        yield Outcome(figure, values, pick(known)[1] if len(known) > 1 else None)


def _figure(one: Estimate, figure: str) -> float | None:
    speed, cost = one.speed, one.cost or {}
    if figure == "need_gib":
        return sum(device.total_gib for device in one.memory.per_device) if one.memory else None
    if figure == "margin_gib":
        return one.margin_gib.expected if one.margin_gib else None
    if figure == "tokens_s_per_user":
        return speed.decode_tok_s_per_user.expected if speed and speed.decode_tok_s_per_user else None
    if figure == "tokens_s_total":
        return total_rate(one)
    if figure == "ttft_ms":
        return speed.ttft_ms.expected if speed and speed.ttft_ms else None
    return monthly(cost) if cost and figure == "per_month" else cost.get("power_w")


def _resolved(spec: WorkloadSpec, defaults: Defaults) -> Resolved | None:
    try:
        return resolve(spec, defaults)
    except UserError:
        return None


def _causes(place: int, first: Resolved | None, other: Resolved | None) -> Iterator[Cause]:
    if first is None or other is None or not first.devices or not other.devices:
        return
    same_cards = [device.accelerator for device in first.devices] == [device.accelerator for device in other.devices]
    for code, measure in _MEASURES.items():
        if same_cards and code in _OF_CARDS:
            continue  # the layout makes the difference, and its trait says so
        before, after = measure(first), measure(other)
        if before and after and not 1 / _NOTABLE < after / before < _NOTABLE:
            yield Cause(place, code, {"first": before, "other": after, "ratio": after / before})
    for code, holds in _TRAITS.items():
        if holds(other) != holds(first):
            yield Cause(place, code if holds(other) else f"not_{code}", {})


def _per_device(one: Resolved, measure: Callable[[Device], float | None]) -> float:
    return min((measure(device) or 0.0 for device in one.devices), default=0.0)


def _bandwidth(device: Device) -> float | None:
    return device.accelerator.bandwidth_for(device.memory_gib) if device.accelerator else None


def _peak(one: Resolved) -> float:
    """The dense peak of the operands that the format is multiplied in, of the devices that share a matrix."""
    rates = [compute_flop_s(device.accelerator, one.weights.id) for device in one.devices if device.accelerator]
    return min(rates, default=0.0) * one.tensor


_MEASURES: dict[str, Callable[[Resolved], float]] = {
    "memory_gib": lambda one: sum(device.visible_gib or 0.0 for device in one.devices),
    "bandwidth_gb_s": lambda one: _per_device(one, _bandwidth) * one.tensor,
    "peak_flop_s": _peak,
    "bits_per_weight": lambda one: one.weights.bits_per_weight or 0.0,
    "kv_bits": lambda one: one.kv_k.bits_per_element,
    "active_params": lambda one: float(one.architecture.params_active),
    "total_params": lambda one: float(one.architecture.params_total),
    "context_tokens": lambda one: float(one.context_tokens),
    "concurrency": lambda one: float(one.concurrency),
    "copies_of_the_model": lambda one: float(one.data),
}
_OF_CARDS = frozenset({"bandwidth_gb_s", "peak_flop_s"})
_TRAITS: dict[str, Callable[[Resolved], bool]] = {
    "tensor_parallel": lambda one: one.tensor > 1,
    "tensor_over_pcie": lambda one: one.tensor > 1 and not _fast_link(one),
    "layer_split": lambda one: one.pipeline > 1,
    "unified_memory": lambda one: is_unified(one.devices[0].accelerator),
    "batching_server": lambda one: one.engine.kind == "server",
}


def _fast_link(one: Resolved) -> bool:
    device = one.devices[0].accelerator
    if takes_bridge(device) and not one.spec.host.nvlink:
        return False
    return device is not None and device.interconnect["type"] not in ("pcie", "none")


def _best(estimates: Sequence[Estimate]) -> int | None:
    """Fits before tight; then the faster for one user; then the larger margin."""
    ranked = [(n, one) for n, one in enumerate(estimates) if one.fits]
    if not ranked:
        return None
    return max(ranked, key=lambda pair: _merit(pair[1]))[0]


def _merit(one: Estimate) -> tuple[bool, float, float]:
    rate = one.speed.decode_tok_s_per_user.expected if one.speed and one.speed.decode_tok_s_per_user else 0.0
    return one.verdict == "fits", rate, one.margin_gib.expected if one.margin_gib else 0.0
