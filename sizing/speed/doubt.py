"""How well a deployment's figures are known: the variance that the fit leaves to its factors, as far as each figure hangs on them.

The factors were fitted with priors (Bayesian linear regression around the fitted values), so what remains unknown of them is their
posterior covariance C = P - P J' K^-1 J P with P the priors' variances, J the slopes of the measured figures and K = J P J' + noise. The
variance of log(figure) is g' C g, with g the figure's own slopes. Causes measured often and by several add nearly nothing; one never
measured (an engine on a new class of device) adds its prior. `data/doubt.npz` holds the part of C that measurements took away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources

import numpy as np

from sizing.speed.drivers import Drivers
from sizing.speed.factors import FACTORS, Coefficients, calibration
from sizing.speed.serving import Rates, rates

STEP = 0.02
FIGURES = ("decode_tok_s_per_user", "output_tok_s_total", "prefill_tok_s", "ttft_ms", "tpot_ms")
_OF_STEPS = ("decode_tok_s_per_user", "output_tok_s_total", "tpot_ms")
_OF_PROMPTS = frozenset(
    {"weight_rate", "block_us", "prefill_compute", "attention_compute", "prefill_half_tokens", "prompt_ms"}
)
_OF_LINKS = frozenset({"collective_us", "link_rate"})
_OF_COMPANY = frozenset({"sequence_us", "interference", "seen", "queue", "tail"})

# Rows of CPUs are missed by 0.3 to 0.5 in the middle where their table is left out (`calibration.json`: weight_rate, class:cpu).
_HOST_RATE_LOG = 0.4
# 0.7 of drafts right is assumed; 0.55 to 0.85, as published runs have it, is 0.76 to 1.34 times the tokens of a step with four drafts.
_DRAFTS_LOG = 0.2

Slopes = Mapping[str, Mapping[str, float]]
_Vector = np.ndarray


def variances(drivers: Drivers, coefficient: Coefficients, said: Rates) -> dict[str, float]:
    """Of log(figure), by figure, from what is not known of the factors; the scatter of measurements themselves comes on top."""
    names = _live(drivers)
    covariance = _open(tuple((name, tuple(keys(name, drivers.axes))) for name in names))
    slope = np.array([list(one.values()) for one in slopes(drivers, coefficient, said, names).values()])
    spread = np.einsum("ij,ik,kj->j", slope, covariance, slope)
    unmeasured = _unmeasured(drivers, coefficient, said)
    return {
        figure: max(0.0, float(variance)) + unmeasured[figure]
        for figure, variance in zip(FIGURES, spread, strict=True)
        if getattr(said, figure)
    }


def _unmeasured(drivers: Drivers, coefficient: Coefficients, said: Rates) -> dict[str, float]:
    """Of what no row with a known setting calibrates: the rate at which a CPU reads weights in RAM, the share of drafts that is right."""
    made = dict.fromkeys(FIGURES, 0.0)
    if drivers.host_share > 0:
        without = rates(replace(drivers, host_share=0.0), coefficient)
        for figure in FIGURES:
            slower, faster = sorted((getattr(said, figure) or 1.0, getattr(without, figure) or 1.0))
            made[figure] += ((1 - slower / faster) * _HOST_RATE_LOG) ** 2
    if drivers.drafts.proposed:
        for figure in _OF_STEPS:
            made[figure] += _DRAFTS_LOG**2
    return made


def slopes(drivers: Drivers, coefficient: Coefficients, said: Rates, names: Sequence[str]) -> Slopes:
    """d log(figure) / d factor on the factor's own scale, by factor and figure, by forward differences."""
    found: dict[str, dict[str, float]] = {}
    values = {name: getattr(coefficient, name) for name in FACTORS}
    for name in names:
        factor = FACTORS[name]
        value = factor.value(factor.scale(getattr(coefficient, name)) + STEP)
        moved = rates(drivers, Coefficients(**{**values, name: value}))
        found[name] = {figure: _slope(getattr(said, figure), getattr(moved, figure)) for figure in FIGURES}
    return found


def keys(name: str, axes: Mapping[str, str]) -> Iterator[str]:
    """The offsets that bear on a factor under these axes; "" is its base."""
    yield ""
    for axis in FACTORS[name].axes:
        if axis in axes:
            yield f"{axis}:{axes[axis]}"


def _slope(before: float | None, after: float | None) -> float:
    return math.log(after / before) / STEP if before and after and after != before else 0.0


def _live(drivers: Drivers) -> list[str]:
    """The factors that can bear on a deployment at all: one device has no links, a lone user no company."""
    work = drivers.work
    names = set(FACTORS)
    if work.output_tokens <= 0:
        names &= _OF_PROMPTS | _OF_LINKS
    if drivers.tensor <= 1:
        names -= _OF_LINKS
    if not drivers.weights.experts:
        names.discard("routing_spread")
    if work.pattern == "closed" and work.concurrency <= drivers.replicas:
        names -= _OF_COMPANY
    if work.pattern != "burst":
        names.discard("tail")
    return sorted(names)


@lru_cache(maxsize=4096)
def _open(factors: tuple[tuple[str, tuple[str, ...]], ...]) -> _Vector:
    """Posterior covariance of factors with the offsets that bear on each."""
    known = [_known(name, offsets) for name, offsets in factors]
    taken = np.array([vector for _, vector in known])
    covariance: _Vector = np.diag([prior for prior, _ in known]) - taken @ taken.T
    return covariance


@lru_cache(maxsize=8192)
def _known(name: str, offsets: tuple[str, ...]) -> tuple[float, _Vector]:
    """(prior variance of a factor under these offsets, what measurements took of it as a vector whose square is subtracted)."""
    widths, (index, vectors) = calibration()["widths"][name], _taken()
    prior = sum(widths[offset.split(":")[0]] ** 2 for offset in offsets)
    rows = [number for offset in offsets if (number := index.get(f"{name}/{offset}")) is not None]
    return prior, vectors[rows].sum(axis=0)


@lru_cache(maxsize=1)
def _taken() -> tuple[Mapping[str, int], _Vector]:
    with resources.files("sizing.speed").joinpath("data/doubt.npz").open("rb") as file, np.load(file) as held:
        names = str(held["names"]).split("\n")
        return {name: n for n, name in enumerate(names)}, held["vectors"].astype(np.float64)
