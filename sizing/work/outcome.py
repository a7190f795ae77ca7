"""From bytes on a device to an Estimate, for the tasks that need no serving engine's own arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sizing.defaults import Defaults
from sizing.devices import Device, expand
from sizing.errors import UserError
from sizing.estimate import (
    Assumption,
    DerivationStep,
    DeviceMemory,
    Estimate,
    HostMemory,
    Memory,
    Range,
    Reason,
    Speed,
    Warning_,
)
from sizing.spec import WorkloadSpec
from sizing.units import GIB, gib

# 80 % of measured peaks of encoders, recognisers and pipelines lie within these shares of the sum: planning figure.
_LOW, _HIGH = 0.9, 1.2


class Parts:
    """What one device holds, in bytes; `host` is kept in RAM."""

    __slots__ = ("activations", "host", "overhead", "weights")

    def __init__(self, weights: float, activations: float, overhead: float, host: float = 0.0) -> None:
        self.weights, self.activations, self.overhead, self.host = weights, activations, overhead, host

    @property
    def total(self) -> float:
        return self.weights + self.activations + self.overhead


def devices_of(spec: WorkloadSpec) -> tuple[Device, ...]:
    """The devices named.

    Raises:
        UserError: none is named, or one is unknown.
    """
    devices = expand(spec.hardware)
    if not devices:
        raise UserError("hardware", None, "name the hardware to estimate on, or ask for a recommendation")
    return devices


def outcome(
    spec: WorkloadSpec, devices: tuple[Device, ...], parts: Parts, work: Mapping[str, Any], defaults: Defaults, *,
    assumptions: tuple[Assumption, ...] = (), warnings: tuple[Warning_, ...] = (), reasons: tuple[Reason, ...] = (),
    derivation: tuple[DerivationStep, ...] = (), speed: Speed | None = None,
) -> Estimate:  # fmt: skip
    """The Estimate of a task of which every device carries a whole copy."""
    margins = [_margin(device, parts) for device in devices]
    known = [margin for margin in margins if margin is not None]
    tightest = min(known, key=lambda margin: margin.expected, default=None)
    verdict = _verdict(tightest, devices, defaults)
    return Estimate(
        id=spec.id, ok=True, verdict=verdict, fits=None if verdict is None else verdict != "no", margin_gib=tightest,
        memory=Memory(
            per_device=tuple(_memory(device, parts) for device in devices),
            host=HostMemory(weights_gib=gib(parts.host), total_gib=gib(parts.host)),
        ),
        speed=speed, work=dict(work), assumptions=assumptions, warnings=warnings, reasons=reasons, derivation=derivation,
    )  # fmt: skip


def _usable_gib(device: Device) -> float | None:
    return None if device.visible_gib is None else device.visible_gib - device.in_use_gib


def _margin(device: Device, parts: Parts) -> Range | None:
    usable = _usable_gib(device)
    if usable is None:
        return None
    return Range(
        low=usable - gib(parts.total) * _HIGH, expected=usable - gib(parts.total), high=usable - gib(parts.total) * _LOW
    )


def _verdict(margin: Range | None, devices: tuple[Device, ...], defaults: Defaults) -> Any:
    if margin is None:
        return None
    if margin.expected < 0:
        return "tight" if margin.high >= 0 else "no"
    usable = min(_usable_gib(device) or 0.0 for device in devices)
    return "tight" if margin.low < 0 or margin.expected < defaults.reserve_share * usable else "fits"


def _memory(device: Device, parts: Parts) -> DeviceMemory:
    return DeviceMemory(
        accelerator=device.id, weights_gib=parts.weights / GIB, activations_gib=parts.activations / GIB,
        overhead_gib=parts.overhead / GIB, total_gib=parts.total / GIB, usable_gib=_usable_gib(device),
        free_gib=None if (margin := _margin(device, parts)) is None else margin.expected,
    )  # fmt: skip


def ranged(low: float, expected: float, high: float) -> dict[str, float]:
    """A range as plain data."""
    return {"low": low, "expected": expected, "high": high}
