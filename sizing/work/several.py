"""Several models on one machine: side by side, one per device, or taking turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sizing.system.facts import number

Arrangement = Literal["together", "one_each", "turns", "too_large"]
_ENGINE_START_S = (20.0, 90.0)


@dataclass(frozen=True, slots=True)
class Several:
    """How models share devices. `device_of` names the device of each model by index (None where they take turns), `swap_s` the seconds a
    change costs, from NVMe, without and with the engine's start."""

    arrangement: Arrangement
    device_of: tuple[int | None, ...]
    left_gib: tuple[float, ...]
    swap_s: tuple[float, float] | None


def arrange(needs_gib: Sequence[float], devices_gib: Sequence[float]) -> Several:
    """Places the largest model first on the device with most room; where one finds none, models take turns on the largest device.

    First fit decreasing: at most 11/9 of the devices an optimal packing needs, and exact for the handful that people run.
    """
    left = list(devices_gib)
    place: list[int | None] = [None] * len(needs_gib)
    for model in sorted(range(len(needs_gib)), key=lambda one: -needs_gib[one]):
        roomy = max(range(len(left)), key=lambda one: left[one], default=None)
        if roomy is None or left[roomy] < needs_gib[model]:
            return _turns(needs_gib, devices_gib)
        place[model], left[roomy] = roomy, left[roomy] - needs_gib[model]
    shared = len(set(place)) < len(place)
    return Several("together" if shared else "one_each", tuple(place), tuple(left), None)


def _turns(needs_gib: Sequence[float], devices_gib: Sequence[float]) -> Several:
    largest, room = max(needs_gib), max(devices_gib, default=0.0)
    if largest > room:
        return Several("too_large", (None,) * len(needs_gib), tuple(devices_gib), None)
    read = largest * 2**30 / 1e9 / number("nvme-sequential-read", "gen4_x4")
    return Several("turns", (None,) * len(needs_gib), tuple(devices_gib), (read, read + _ENGINE_START_S[1]))
