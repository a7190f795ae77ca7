"""Estimates side by side: what differs between specs, and what that does to the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sizing.estimate import Estimate
from sizing.spec import WorkloadSpec


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of the spec that differs: dotted name and its value in each spec."""

    field: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Specs with their estimates, the fields that differ, and the index of the best of them (None if none fits)."""

    specs: tuple[WorkloadSpec, ...]
    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    best: int | None


def compare(specs: Sequence[WorkloadSpec], estimates: Sequence[Estimate]) -> Comparison:
    """Compare specs that were estimated; both sequences run in the same order."""
    return Comparison(tuple(specs), tuple(estimates), differences(specs), _best(estimates))


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


def _best(estimates: Sequence[Estimate]) -> int | None:
    """Fits before tight; then the faster for one user; then the larger margin."""
    ranked = [(n, one) for n, one in enumerate(estimates) if one.fits]
    if not ranked:
        return None
    return max(ranked, key=lambda pair: _merit(pair[1]))[0]


def _merit(one: Estimate) -> tuple[bool, float, float]:
    rate = one.speed.decode_tok_s_per_user.expected if one.speed and one.speed.decode_tok_s_per_user else 0.0
    return one.verdict == "fits", rate, one.margin_gib.expected if one.margin_gib else 0.0
