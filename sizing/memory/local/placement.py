"""Where the layers of a GGUF model lie: which device computes which layer, and what stays in RAM."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sizing.devices import Device, is_cpu

HOST = -1


@dataclass(frozen=True, slots=True)
class Placement:
    """`owner` gives for every repeating layer the position of its device among `devices`, or HOST; `output` likewise."""

    owner: tuple[int, ...]
    output: int

    @property
    def all_on_devices(self) -> bool:
        """Whether nothing but embeddings stays in RAM."""
        return self.output != HOST and HOST not in self.owner

    @property
    def layers_on_devices(self) -> int:
        """As `-ngl` counts: repeating layers plus the output layer."""
        return sum(1 for device in self.owner if device != HOST) + (self.output != HOST)


def computing(devices: Sequence[Device]) -> tuple[Device, ...]:
    """The devices that compute: accelerators, or the processors where there are none."""
    cards = tuple(device for device in devices if not is_cpu(device.accelerator))
    return cards or tuple(devices)


def place(layers: int, gpu_layers: int | None, free: Sequence[float], *, output_first: bool) -> Placement:
    """llama.cpp's layer split: the last layers go to devices in order, in proportion to their free memory.

    `gpu_layers` None or above `layers` means all; before `output_first` the output layer followed last of all.
    """
    return _place(layers, layers + 1 if gpu_layers is None else min(gpu_layers, layers + 1), tuple(free), output_first)


@lru_cache(maxsize=2048)
def _place(layers: int, wanted: int, free: tuple[float, ...], output_first: bool) -> Placement:
    if wanted == 0:
        return Placement((HOST,) * layers, HOST)
    start = max(0, layers + 1 - wanted if output_first else layers - wanted)
    bounds = _bounds(free)
    owner = tuple(HOST if n < start else _device(bounds, (n - start) / wanted) for n in range(layers))
    with_output = wanted > layers or output_first
    return Placement(owner, _device(bounds, (layers - start) / wanted) if with_output else HOST)


def _bounds(free: Sequence[float]) -> list[float]:
    total, reached, bounds = sum(free) or 1.0, 0.0, []
    for share in free:
        reached += share / total
        bounds.append(reached)
    return bounds


def _device(bounds: Sequence[float], position: float) -> int:
    return min(bisect_right(bounds, position), len(bounds) - 1)
