"""80 % ranges: the scatter of measurements like it, and what is unknown of the factors behind a figure.

log(measured / predicted) has the spread sqrt(scatter^2 + share^2 x variance): `scatter` by scenario and figure is what remains where
everything was measured, the variance is what the fit leaves open (`sizing.speed.doubt`), and `share` says by how much fits that left rows,
models and sources out erred more than their own variance says. The ends are the 10 % and 90 % of residuals in units of that spread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

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
    return (work.measured_as, "concurrent")


def spread(known: Drivers, figure: str, variance: float) -> tuple[float, float]:
    """(low, high) as multiples of the expected figure, from the variance of its logarithm that the fit leaves.

    A load or a version that nobody stated has ends of its own. Under load the pace of one user scatters as that of all does.
    """
    if figure == "decode_tok_s_per_user" and "single" not in scenarios(known):
        figure = "output_tok_s_total"
    ranges, known_as = calibration()["ranges"], scenarios(known)
    if figure == "prefill_tok_s" and known.work.pattern != "offline":
        known_as = ("prefill",)  # of one prompt on an idle replica, whatever the load
    entry = next(ranges[key] for name in (*known_as, "any") if (key := f"{name}/{figure}") in ranges)
    return ends(entry, known.axes["stated"], variance)


def ends(entry: Mapping[str, Any], stated: str, variance: float) -> tuple[float, float]:
    """The two ends under an entry of the calibration's ranges."""
    width = math.sqrt(entry["scatter"] ** 2 + entry["share"] ** 2 * variance)
    chosen = entry["stated"].get(stated, entry)
    return math.exp(chosen["low"] * width), math.exp(chosen["high"] * width)
