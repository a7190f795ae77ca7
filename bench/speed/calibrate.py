"""What a fit leaves behind: the calibration file with the rows behind each offset, and 80 % ranges from rows left out."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.speed.problem import Param, Problem
from sizing.speed.factors import FACTORS
from sizing.speed.ranges import SPREAD_BY, scenarios

OUT = Path("sizing/speed/data/calibration.json")
LEFT_OUT = Path("bench/speed/left_out.json")
_FEWEST = 15
# A group's spread counts as if this many sources of the common spread stood beside its own.
_PRIOR_SOURCES = 3.0
# How often a question is of that kind: a machine and model near one measured, a model new on a known machine, nothing known of it.
WEIGHTS = {"row": 3, "model": 1, "source": 1}
_EACH = sum(WEIGHTS.values())


@dataclass(frozen=True)
class Residuals:
    """log(measured / predicted) of every item by fits that left out its row, its source's rows of that model, its whole source."""

    row: np.ndarray
    model: np.ndarray
    source: np.ndarray

    def weighted(self) -> Iterable[np.ndarray]:
        """Each kind as often as its weight says."""
        for kind, times in WEIGHTS.items():
            yield from [getattr(self, kind)] * times


def write(problem: Problem, values: np.ndarray, left: Residuals) -> None:
    """The calibration file: every factor with the rows behind each offset and their median residual, source left out."""
    made = {"factors": factors(problem, values, left), "ranges": ranges(problem, left)}
    OUT.write_text(json.dumps(made, indent=0) + "\n", encoding="utf-8")


def factors(problem: Problem, values: np.ndarray, left: Residuals) -> dict[str, Any]:
    """Bases and offsets."""
    behind: dict[Param, list[float]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        for param in problem.keys[item.row]:
            behind[param].append(left.source[n])
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
    """What the fits without the source, without its rows of that model and without the row say, for the accuracy table."""
    said: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for n, item in enumerate(problem.items):
        logs = problem.truth[n] - np.array([left.source[n], left.model[n], left.row[n]])
        said[problem.rows[item.row].data["id"]][item.figure] = [float(f"{math.exp(log):.4g}") for log in logs]
    lines = [f"{json.dumps(ident)}: {json.dumps(figures)}" for ident, figures in said.items()]
    LEFT_OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


@dataclass(frozen=True)
class _Value:
    """A residual with what its spread may depend on."""

    log: float
    source: str
    axes: Mapping[str, str]


def ranges(problem: Problem, left: Residuals) -> dict[str, Any]:
    """Quantiles of log(measured / predicted) by scenario and figure, wider or narrower by what is known to scatter."""
    groups: dict[str, list[_Value]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        row = problem.rows[item.row]
        for residuals in left.weighted():
            for name in {*scenarios(row.drivers), "any"}:
                groups[f"{name}/{item.figure}"].append(_Value(float(residuals[n]), row.source, row.drivers.axes))
    enough = _FEWEST * _EACH
    return {
        name: _range_of(values)
        for name, values in sorted(groups.items())
        if len(values) >= enough or name.startswith("any/")
    }


def _range_of(values: list[_Value]) -> dict[str, Any]:
    logs, scales = np.array([value.log for value in values]), {}
    for axis in SPREAD_BY:
        members: dict[str, list[int]] = defaultdict(list)
        for n, value in enumerate(values):
            if axis in value.axes:
                members[f"{axis}:{value.axes[axis]}"].append(n)
        common = float(np.quantile(np.abs(logs), 0.8))
        for key, numbers in members.items():
            own = float(np.quantile(np.abs(logs[numbers]), 0.8))
            sources = len({values[n].source for n in numbers})
            scale = math.exp(math.log(max(own, 0.02) / common) * sources / (sources + _PRIOR_SOURCES))
            scales[key] = {"scale": round(scale, 3), "rows": len(numbers) // _EACH, "sources": sources}
            logs[numbers] /= scale
    stated = {
        kind: _ends(logs[numbers])
        for kind in ("all", "part")
        if len(numbers := [n for n, value in enumerate(values) if value.axes["stated"] == kind]) >= _FEWEST * _EACH
    }
    return {**_ends(logs), "unknown": 1.5, "stated": stated, "scales": scales}


def _ends(logs: np.ndarray) -> dict[str, Any]:
    low, high = np.quantile(logs, [0.1, 0.9])
    rows = len(logs) // _EACH
    return {"low": round(min(-0.02, float(low)), 4), "high": round(max(0.02, float(high)), 4), "rows": rows}
