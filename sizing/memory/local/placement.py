"""Where the layers of a GGUF model lie: which device computes which layer, and what stays in RAM."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from sizing.devices import Device, is_cpu

HOST = -1


@dataclass(frozen=True, slots=True)
class Placement:
    """Runs of repeating layers: (position of the device among those that compute, or HOST; first layer; layer after the last).

    `output` is the place of the output layer.
    """

    runs: tuple[tuple[int, int, int], ...]
    output: int

    @property
    def all_on_devices(self) -> bool:
        """Whether nothing but embeddings stays in RAM."""
        return self.output != HOST and not self.layers_on(HOST)

    @property
    def layers_on_devices(self) -> int:
        """As `-ngl` counts: repeating layers plus the output layer."""
        return sum(stop - start for owner, start, stop in self.runs if owner != HOST) + (self.output != HOST)

    def layers_on(self, owner: int) -> int:
        """Repeating layers there."""
        return sum(stop - start for who, start, stop in self.runs if who == owner)


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
        return Placement(((HOST, 0, layers),), HOST)
    start = max(0, layers + 1 - wanted if output_first else layers - wanted)
    bounds = _bounds(free)
    owners = [HOST] * start + [_device(bounds, (n - start) / wanted) for n in range(start, layers)]
    with_output = wanted > layers or output_first
    return Placement(_runs(owners), _device(bounds, (layers - start) / wanted) if with_output else HOST)


def _runs(owners: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    runs, start = [], 0
    for owner, group in groupby(owners):
        stop = start + len(list(group))
        runs.append((owner, start, stop))
        start = stop
    return tuple(runs)


def _bounds(free: Sequence[float]) -> list[float]:
    total, reached, bounds = sum(free) or 1.0, 0.0, []
    for share in free:
        reached += share / total
        bounds.append(reached)
    return bounds


def _device(bounds: Sequence[float], position: float) -> int:
    return min(bisect_right(bounds, position), len(bounds) - 1)
