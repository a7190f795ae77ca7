"""What a fit leaves behind: the calibration file with the rows behind each offset, what is unknown of the factors, and 80 % ranges."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.speed.problem import Param, Problem
from bench.speed.solve import Linear
from sizing.speed.factors import FACTORS
from sizing.speed.ranges import scenarios

OUT = Path("sizing/speed/data/calibration.json")
DOUBT = Path("sizing/speed/data/doubt.npz")
LEFT_OUT = Path("bench/speed/left_out.json")
_FEWEST = 15
# How often a question is of that kind: a deployment measured as it is, one near those measured, a model new on a known machine, and
# something that only others have measured in part.
WEIGHTS = {"inside": 2, "row": 2, "model": 1, "source": 1}
# Directions of the factors' space that measurements say something of; those beyond change no deviation by 1 %.
_DIRECTIONS = 300
_FREEDOM = 4.0  # of Student's t: residuals have far outliers, which must not widen every range
_SCATTERS = np.geomspace(0.01, 2.0, 120)
_SHARES = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5)


@dataclass(frozen=True)
class Kind:
    """By items: log(measured / predicted) by one kind of fits, and the variance that those fits leave to the prediction."""

    logs: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True)
class Residuals:
    """Of the fit to all, and of fits that left out an item's row, its source's rows of that model, its whole source."""

    inside: Kind
    row: Kind
    model: Kind
    source: Kind

    def weighted(self) -> Iterator[tuple[Kind, int]]:
        """Each kind with how often it counts."""
        for name, times in WEIGHTS.items():
            yield getattr(self, name), times


def write(problem: Problem, values: np.ndarray, line: Linear, left: Residuals) -> None:
    """The calibration file: every factor with the rows behind each offset and their median residual, source left out."""
    made = {"factors": factors(problem, values, left), "widths": problem.priors.widths, "ranges": ranges(problem, left)}
    OUT.write_text(json.dumps(made, indent=0) + "\n", encoding="utf-8")
    names, vectors = taken(problem, line)
    np.savez_compressed(DOUBT, names=np.array("\n".join(names)), vectors=vectors)


def taken(problem: Problem, line: Linear) -> tuple[list[str], np.ndarray]:
    """What measurements took of the priors' variance: vectors of parameters whose sums' squares are subtracted.

    With A = J P^(1/2) / noise = U S V', the posterior covariance is P - P^(1/2) V (S^2 / (1 + S^2)) V' P^(1/2).
    """
    slopes = line.slope * problem.prior / np.sqrt(line.variance)[:, None]
    _, strength, directions = np.linalg.svd(slopes, full_matrices=False)
    share = strength[:_DIRECTIONS] ** 2 / (1 + strength[:_DIRECTIONS] ** 2)
    vectors = (np.sqrt(share)[:, None] * directions[:_DIRECTIONS]).T * problem.prior[:, None]
    bears = np.flatnonzero(np.abs(vectors).max(axis=1) > 1e-4)
    return ["/".join(problem.params[n]) for n in bears], vectors[bears].astype(np.float16)


def factors(problem: Problem, values: np.ndarray, left: Residuals) -> dict[str, Any]:
    """Bases and offsets."""
    behind: dict[Param, list[float]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        for param in problem.keys[item.row]:
            behind[param].append(left.source.logs[n])
    made: dict[str, Any] = {}
    for name, factor in FACTORS.items():
        offsets = {
            key: {
                "log": round(float(value), 4),
                "rows": len(behind[name, key]),
                "residual": round(float(np.median(np.abs(behind[name, key]))), 3),
            }
            for (owner, key), value in zip(problem.params, values, strict=True)
            if owner == name and key and abs(value) >= 0.0005
        }
        base = factor.value(factor.base() + values[problem.index[name, ""]])
        made[name] = {"base": round(base, 5), "offsets": offsets}
    return made


def keep_left_out(problem: Problem, left: Residuals) -> None:
    """What the fits without the source, without its rows of that model and without the row say, and each one's variance, for the table."""
    said: dict[str, dict[str, list[list[float]]]] = defaultdict(dict)
    for n, item in enumerate(problem.items):
        said[problem.rows[item.row].data["id"]][item.figure] = [
            [float(f"{math.exp(problem.truth[n] - kind.logs[n]):.4g}"), float(f"{kind.variance[n]:.3g}")]
            for kind in (left.source, left.model, left.row)
        ]
    lines = [f"{json.dumps(ident)}: {json.dumps(figures)}" for ident, figures in said.items()]
    LEFT_OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def ranges(problem: Problem, left: Residuals) -> dict[str, Any]:
    """Scatter and ends of log(measured / predicted) by scenario and figure, with one share of the fit's own variance for all."""
    groups: dict[str, list[int]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        for name in {*scenarios(problem.rows[item.row].drivers), "any"}:
            groups[f"{name}/{item.figure}"].append(n)
    held = {
        name: np.array(members)
        for name, members in sorted(groups.items())
        if len(members) >= _FEWEST or name.startswith("any/")
    }
    share = min(_SHARES, key=lambda tried: sum(len(m) * _scatter(left, m, tried)[0] for m in held.values()))
    stated = np.array([problem.rows[item.row].drivers.axes["stated"] for item in problem.items])
    return {name: _range_of(left, members, stated, share) for name, members in held.items()}


def _scatter(left: Residuals, members: np.ndarray, share: float) -> tuple[float, float]:
    """(the least negative log-likelihood of an item, the scatter that gives it)."""
    return min((_surprise(left, members, scatter, share), float(scatter)) for scatter in _SCATTERS)


def _surprise(left: Residuals, members: np.ndarray, scatter: float, share: float) -> float:
    """Negative log-likelihood of an item under Student's t, but for a constant."""
    total = 0.0
    for kind, times in left.weighted():
        spread = scatter**2 + share**2 * kind.variance[members]
        far = np.log1p(kind.logs[members] ** 2 / spread / _FREEDOM)
        total += times * float(np.mean(0.5 * np.log(spread) + (_FREEDOM + 1) / 2 * far))
    return total / sum(WEIGHTS.values())


def _range_of(left: Residuals, members: np.ndarray, stated: np.ndarray, share: float) -> dict[str, Any]:
    _, scatter = _scatter(left, members, share)
    apart = {
        kind: _ends(left, numbers, scatter, share)
        for kind in ("all", "part")
        if len(numbers := members[stated[members] == kind]) >= _FEWEST
    }
    return {"scatter": round(scatter, 4), "share": share, **_ends(left, members, scatter, share), "stated": apart}


def _ends(left: Residuals, members: np.ndarray, scatter: float, share: float) -> dict[str, Any]:
    """10 % and 90 % of the residuals in units of their spread."""
    units = [
        np.tile(kind.logs[members] / np.sqrt(scatter**2 + share**2 * kind.variance[members]), times)
        for kind, times in left.weighted()
    ]
    low, high = np.quantile(np.concatenate(units), [0.1, 0.9])
    return {"low": round(min(-0.1, float(low)), 4), "high": round(max(0.1, float(high)), 4), "rows": len(members)}
