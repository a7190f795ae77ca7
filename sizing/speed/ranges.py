"""80 % ranges from the residuals of fits that never saw the row's source."""

from __future__ import annotations

import math
from typing import Literal

from sizing.speed.drivers import Drivers
from sizing.speed.factors import calibration
from sizing.speed.serving import Rates

Scenario = Literal["single", "prefill", "concurrent", "offline"]


def scenario(known: Drivers, said: Rates) -> Scenario:
    """Which residuals apply."""
    work = known.work
    if work.output_tokens <= 0:
        return "offline" if work.pattern == "offline" else "prefill"
    if work.pattern == "offline":
        return "offline"
    return "single" if work.pattern == "closed" and work.concurrency <= 1 else "concurrent"


def spread(known: Drivers, said: Rates, figure: str) -> tuple[float, float]:
    """(low, high) as multiples of the expected figure."""
    ranges = calibration()["ranges"]
    here = scenario(known, said)
    entry = ranges.get(f"{here}/{figure}") or ranges[f"any/{figure}"]
    scale = entry["class"].get(known.machine.kind, {}).get("scale", entry["unknown"])
    return math.exp(entry["low"] * scale), math.exp(entry["high"] * scale)
