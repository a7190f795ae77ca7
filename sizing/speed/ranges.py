"""80 % ranges from the residuals of fits that never saw the row's source."""

from __future__ import annotations

import math
from typing import Literal

from sizing.speed.drivers import Drivers
from sizing.speed.factors import calibration

Scenario = Literal["single", "prefill", "offline", "closed", "burst", "poisson", "concurrent", "any"]


def scenarios(known: Drivers) -> tuple[Scenario, ...]:
    """Which residuals apply, the closest first: of the same load pattern, of any load with several users, of all."""
    work = known.work
    if work.pattern == "offline":
        return ("offline",)
    if work.output_tokens <= 0:
        return ("prefill",)
    if work.pattern == "closed" and work.concurrency <= 1:
        return ("single",)
    return (work.pattern, "concurrent")


def spread(known: Drivers, figure: str) -> tuple[float, float]:
    """(low, high) as multiples of the expected figure."""
    ranges = calibration()["ranges"]
    names = (*scenarios(known), "any")
    entry = next(ranges[key] for name in names if (key := f"{name}/{figure}") in ranges)
    scale = entry["class"].get(known.machine.kind, {}).get("scale", entry["unknown"])
    return math.exp(entry["low"] * scale), math.exp(entry["high"] * scale)
