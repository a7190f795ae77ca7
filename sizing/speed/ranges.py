"""80 % ranges from the residuals of fits that never saw the row, its source's rows of the model, or its source."""

from __future__ import annotations

import math
from typing import Literal

from sizing.speed.drivers import Drivers
from sizing.speed.factors import calibration

# What the spread depends on beside the scenario: some machines, experts, hybrids and splits are known worse than others.
SPREAD_BY = ("class", "routing", "mixer", "link")

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
    return (work.measured_as, "concurrent")


def spread(known: Drivers, figure: str) -> tuple[float, float]:
    """(low, high) as multiples of the expected figure; a class of device never measured counts as worse known than the others.

    A load or a version that nobody stated has a spread of its own. Under load the pace of one user scatters as that of all does.
    """
    if figure == "decode_tok_s_per_user" and "single" not in scenarios(known):
        figure = "output_tok_s_total"
    ranges = calibration()["ranges"]
    entry = next(ranges[key] for name in (*scenarios(known), "any") if (key := f"{name}/{figure}") in ranges)
    keys = [f"{axis}:{known.axes[axis]}" for axis in SPREAD_BY if axis in known.axes]
    scale = math.prod(entry["scales"][key]["scale"] for key in keys if key in entry["scales"])
    if f"class:{known.machine.kind}" not in entry["scales"]:
        scale *= entry["unknown"]
    ends = entry["stated"].get(known.axes["stated"], entry)
    return math.exp(ends["low"] * scale), math.exp(ends["high"] * scale)
