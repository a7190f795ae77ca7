"""Calibrated factors: a base and small offsets (in logarithms) for whatever is known of a deployment.

A device, engine or format never measured has no offset of its own and falls back to its class, then to the base. The file
`data/calibration.json` is written by `bench/speed/fit.py`, with the rows and the residual behind every offset.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor: where it starts, its upper bound if it is a share of a peak, and the axes that may move it.

    A share lives on a logistic scale between 0 and its bound, a price on a logarithmic one: no value is impossible, none is stuck.
    """

    start: float
    bound: float | None
    axes: tuple[str, ...]

    def base(self) -> float:
        """The start on the factor's own scale."""
        return self.scale(self.start)

    def scale(self, value: float) -> float:
        """A value on the factor's own scale."""
        return math.log(value) if self.bound is None else math.log(value / (self.bound - value))

    def value(self, scaled: float) -> float:
        """The factor from its own scale."""
        if self.bound is None:
            return math.exp(min(20.0, scaled))
        return self.bound / (1 + math.exp(-max(-20.0, min(20.0, scaled))))


FACTORS: dict[str, Factor] = {
    "weight_rate": Factor(0.78, 0.98, (
        "class", "arch", "device", "engine", "engine-class", "format-class", "format-engine", "moe-class", "moe-format", "backend",
        "era", "era-class", "routing")),
    "kv_rate": Factor(0.6, 1.0, ("class", "engine", "era-class", "kv-engine")),
    "block_us": Factor(60.0, None, (
        "class", "arch", "engine", "engine-class", "engine-arch", "moe-class", "moe-engine", "era", "era-class", "backend",
        "routing", "mixer", "mixer-engine")),
    "step_us": Factor(300.0, None, ("class", "engine", "engine-class", "era-class")),
    "sequence_us": Factor(15.0, None, (
        "class", "engine", "era-class", "moe-engine", "mixer", "mixer-engine", "pattern", "pattern-engine")),
    "decode_compute": Factor(0.45, 0.9, (
        "class", "arch", "engine", "engine-class", "format-class", "moe-class", "moe-engine", "era-class", "routing")),
    "prefill_compute": Factor(0.42, 0.9, (
        "class", "arch", "device", "engine", "engine-class", "format-class", "format-engine", "moe-class", "moe-engine", "moe-format",
        "backend", "era", "era-class", "routing", "mixer", "mixer-engine")),
    "attention_compute": Factor(0.3, 0.9, ("class", "engine")),
    "prefill_half_tokens": Factor(64.0, None, ("class", "engine", "moe-class")),
    "prompt_ms": Factor(8.0, None, ("class", "engine", "engine-class", "era-class")),
    "collective_us": Factor(18.0, None, ("link", "link-class", "engine", "era-class")),
    "link_rate": Factor(0.6, 0.95, ("link", "link-class")),
    "interference": Factor(1.0, None, ("pattern", "engine", "class", "pattern-engine", "routing")),
    "seen": Factor(0.8, None, ("pattern", "engine", "pattern-engine")),
    "queue": Factor(0.3, None, ("pattern", "engine", "pattern-engine")),
    "tail": Factor(0.5, None, ("pattern", "engine", "pattern-engine")),
    "routing_spread": Factor(0.8, 1.0, ()),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The factors of one deployment: shares of a peak, microseconds, milliseconds, tokens, multiples."""

    weight_rate: float
    kv_rate: float
    block_us: float
    step_us: float
    sequence_us: float
    decode_compute: float
    prefill_compute: float
    attention_compute: float
    prefill_half_tokens: float
    prompt_ms: float
    collective_us: float
    link_rate: float
    interference: float
    seen: float
    queue: float
    tail: float
    routing_spread: float


Table = Mapping[str, tuple[float, Mapping[str, float]]]


def coefficients(axes: Mapping[str, str], table: Table) -> Coefficients:
    """The factors under these axes; `table` maps a factor to its log base and log offsets by "axis:value"."""
    keys = {axis: f"{axis}:{value}" for axis, value in axes.items()}
    return Coefficients(**{name: _value(name, spec, keys, table) for name, spec in FACTORS.items()})


def shipped(axes: Mapping[str, str]) -> Coefficients:
    """The factors of the packaged calibration under these axes."""
    return _shipped(tuple(axes.items()))


@lru_cache(maxsize=4096)
def _shipped(axes: tuple[tuple[str, str], ...]) -> Coefficients:
    return coefficients(dict(axes), table())


def _value(name: str, factor: Factor, keys: Mapping[str, str], table: Table) -> float:
    total, offsets = table[name]
    for axis in factor.axes:
        key = keys.get(axis)
        if key is not None:
            total += offsets.get(key, 0.0)
    return factor.value(total)


@lru_cache(maxsize=1)
def calibration() -> dict[str, Any]:
    """The calibration file as it stands."""
    text = resources.files("sizing.speed").joinpath("data/calibration.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@lru_cache(maxsize=1)
def table() -> Table:
    """Log bases and offsets of the packaged calibration."""
    return {
        name: (FACTORS[name].scale(entry["base"]), {key: offset["log"] for key, offset in entry["offsets"].items()})
        for name, entry in calibration()["factors"].items()
    }
