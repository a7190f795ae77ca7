"""Fit the factors of the speed model to the carried measurements and write `sizing/speed/data/calibration.json`.

Every factor is a base with small offsets for class, engine, format and so on (`sizing.speed.factors`). Offsets are held near zero by
a prior whose width depends on the axis: a cause measured once moves little, one never measured not at all; outliers
count linearly (Huber). Ranges come from residuals of fits that left the row's whole source out.

    python -m bench.speed.fit            # fit, leave-one-source-out, write
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bench.speed.rows import Row, items, predicted, rows
from sizing.speed.factors import FACTORS, Table, coefficients
from sizing.speed.ranges import scenarios
from sizing.speed.serving import Rates, rates

Param = tuple[str, str]
PRIOR = {
    "class": 0.35, "arch": 0.15, "device": 0.08, "engine": 0.3, "engine-class": 0.2, "engine-arch": 0.15, "format-class": 0.18,
    "format-engine": 0.15, "era": 0.25, "era-class": 0.2, "kv-engine": 0.6, "link": 0.5, "link-class": 0.4, "pattern": 0.4,
    "pattern-engine": 0.3, "routing": 0.2, "moe-class": 0.25, "moe-engine": 0.25, "moe-format": 0.2, "backend": 0.12,
}  # fmt: skip
BASE_PRIOR = 0.4
# Where a factor is known beforehand, as a multiple of its base: per-layer prices of engines and classes read off published serving
# tables at batch 1 to 16 (TensorRT-LLM 32-80 us a dense layer on H100, vLLM 46-85, SGLang about 76; experts 90-150; vLLM of 2024 on
# MI300X 210-420, on MI250 and Max 1550 300-490), fixed prices per token of llama.cpp (2.2 ms on GeForce, 3.9 on HBM, 5.6 on Apple),
# shares of the bandwidth it reaches (0.5 on HBM, 0.6 on CPUs).
KNOWN: dict[Param, float] = {
    ("block_us", "class:apple"): 2.5, ("block_us", "class:radeon"): 0.8, ("block_us", "class:nvidia-gddr"): 0.8,
    ("block_us", "class:apu"): 1.2, ("block_us", "class:nvidia-soc"): 1.2, ("block_us", "class:cpu"): 1.7,
    ("block_us", "engine:exllama"): 0.5, ("block_us", "engine:mlx"): 0.55, ("block_us", "engine:tensorrt-llm"): 0.75,
    ("block_us", "engine:sglang"): 1.2, ("block_us", "engine-class:llama.cpp@nvidia-hbm"): 1.8,
    ("block_us", "moe-engine:moe@vllm"): 1.6, ("block_us", "moe-engine:moe@sglang"): 1.6, ("block_us", "moe-engine:moe@tensorrt-llm"): 1.9,
    ("block_us", "era-class:vllm@2024@instinct"): 4.0, ("block_us", "era-class:vllm@2025@instinct"): 1.4,
    ("block_us", "era-class:vllm@2024@max"): 6.0, ("weight_rate", "class:geforce"): 1.8, ("weight_rate", "class:rtx"): 1.8,
    ("weight_rate", "class:apple"): 1.7, ("weight_rate", "class:cpu"): 0.45, ("weight_rate", "engine-class:llama.cpp@nvidia-hbm"): 0.35,
    ("weight_rate", "class:nvidia-soc"): 1.5, ("weight_rate", "class:apu"): 1.5,
}  # fmt: skip
NOISE = {
    ("single_stream", "decode_tok_s_per_user"): 0.10, ("single_stream", "tpot_ms"): 0.12, ("single_stream", "output_tok_s_total"): 0.12,
    ("prefill", "prefill_tok_s"): 0.2, ("offline_max", "output_tok_s_total"): 0.22, ("concurrent", "output_tok_s_total"): 0.22,
    ("concurrent", "tpot_ms"): 0.22,
}  # fmt: skip
_OTHER_NOISE = 0.45
_HUBER = 1.5
_STEP = 0.02
OUT = Path("sizing/speed/data/calibration.json")
LEFT_OUT = Path("bench/speed/left_out.json")


class Problem:
    """The rows, and the parameters that any of them depends on."""

    def __init__(self, measured: list[Row]) -> None:
        self.rows = measured
        self.items = items(measured)
        self.keys: list[list[Param]] = [_keys(row) for row in measured]
        offsets = sorted({key for keys in self.keys for key in keys if key[1]})
        self.params: list[Param] = [(name, "") for name in FACTORS] + offsets
        self.index = {param: n for n, param in enumerate(self.params)}
        self.prior = np.array([_width(name, key) for name, key in self.params])
        self.mean = np.array([math.log(KNOWN.get(param, 1.0)) for param in self.params])
        self.noise = np.array([NOISE.get((item.scenario, item.figure), _OTHER_NOISE) for item in self.items])
        self.truth = np.array([math.log(item.measured) for item in self.items])
        self.of_row: dict[int, list[int]] = defaultdict(list)
        for n, item in enumerate(self.items):
            self.of_row[item.row].append(n)

    def table(self, values: np.ndarray) -> dict[str, tuple[float, dict[str, float]]]:
        """The parameters as the model reads them."""
        made: dict[str, tuple[float, dict[str, float]]] = {
            name: (factor.base() + values[self.index[name, ""]], {}) for name, factor in FACTORS.items()
        }
        for (name, key), value in zip(self.params, values, strict=True):
            if key:
                made[name][1][key] = float(value)
        return made

    def predict(self, table: Table, only: Iterable[int] | None = None) -> np.ndarray:
        """Logarithms of the predicted figures."""
        out = np.array(self.truth)
        for n in range(len(self.rows)) if only is None else only:
            said = self.said(n, table)
            for number in self.of_row[n]:
                value = predicted(self.rows[n], self.items[number].figure, said)
                out[number] = math.log(value) if value and value > 0 else self.truth[number] - 1
        return out

    def said(self, n: int, table: Table) -> Rates:
        """The model's answer for a row."""
        row = self.rows[n]
        return rates(row.drivers, coefficients(row.drivers.axes, table))

    def jacobian(self, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Derivative of every figure by every parameter, by forward differences on the rows that depend on it."""
        found = np.zeros((len(self.items), len(self.params)))
        table = self.table(values)
        for n, keys in enumerate(self.keys):
            numbers = self.of_row[n]
            for name in FACTORS:
                slope = self._slope(n, name, table, at)
                for param in keys:
                    if param[0] == name:
                        found[numbers, self.index[param]] = slope
        return found

    def _slope(self, n: int, name: str, table: dict[str, tuple[float, dict[str, float]]], at: np.ndarray) -> np.ndarray:
        """All offsets of a factor act alike on a row: one difference a factor serves them all."""
        base, offsets = table[name]
        moved = {**table, name: (base + _STEP, offsets)}
        numbers = self.of_row[n]
        change: np.ndarray = self.predict(moved, (n,))[numbers] - at[numbers]
        return change / _STEP


def _width(name: str, key: str) -> float:
    """Prior width; on the logistic scale of a share the same cause moves further."""
    width = PRIOR[key.split(":")[0]] if key else BASE_PRIOR
    return width * (1.5 if FACTORS[name].bound else 1.0)


def _keys(row: Row) -> list[Param]:
    axes = row.drivers.axes
    found: list[Param] = []
    for name, factor in FACTORS.items():
        found.append((name, ""))
        found += [(name, f"{axis}:{axes[axis]}") for axis in factor.axes if axis in axes]
    return found


def fit(problem: Problem, turns: int = 14) -> np.ndarray:
    """Gauss-Newton over all items with a line search, the Jacobian anew every turn."""
    values, everything = problem.mean.copy(), np.arange(len(problem.items))
    at = problem.predict(problem.table(values))
    loss = _loss(problem, values, at)
    for _ in range(turns):
        move = _step(problem, values, at, everything, problem.jacobian(values, at)) - values
        share, tried, new = 1.0, math.inf, at
        while tried > loss and share > 0.02:
            new = problem.predict(problem.table(values + share * move))
            tried, share = _loss(problem, values + share * move, new), share / 2
        if tried > loss * 0.9995:
            break
        values, at, loss = values + 2 * share * move, new, tried
        print(f"  loss {loss:.1f}", file=sys.stderr)
    return values


def _loss(problem: Problem, values: np.ndarray, at: np.ndarray) -> float:
    residual = np.abs(problem.truth - at) / problem.noise
    huber = np.where(residual < _HUBER, residual**2 / 2, _HUBER * (residual - _HUBER / 2))
    return float(np.sum(huber) + np.sum(((values - problem.mean) / problem.prior) ** 2) / 2)


def _step(
    problem: Problem,
    values: np.ndarray,
    at: np.ndarray,
    held: np.ndarray,
    slope: np.ndarray,
    kernel: np.ndarray | None = None,
) -> np.ndarray:
    """One weighted ridge step in its dual form: there are fewer items than parameters."""
    if kernel is None:
        kernel = (slope * problem.prior**2) @ slope.T
    residual = (problem.truth - at)[held]
    weight = np.minimum(1.0, _HUBER / np.maximum(1e-9, np.abs(residual / problem.noise[held])))
    left = kernel[np.ix_(held, held)] + np.diag(problem.noise[held] ** 2 / weight)
    solved = np.linalg.solve(left, residual + slope[held] @ (values - problem.mean))
    move = problem.mean + problem.prior**2 * (slope[held].T @ solved) - values
    moved: np.ndarray = values + move * min(1.0, 0.7 / max(1e-9, float(np.abs(move).max())))
    return moved


def leave_out(problem: Problem, values: np.ndarray, groups: list[str], turns: int) -> np.ndarray:
    """Predictions for every item from a fit that never saw its group."""
    at = problem.predict(problem.table(values))
    slope = problem.jacobian(values, at)
    out, kernel = np.array(at), (slope * problem.prior**2) @ slope.T
    for group in sorted(set(groups)):
        mine = np.array([groups[item.row] == group for item in problem.items])
        fitted, now = values, at
        for turn in range(turns):
            now = problem.predict(problem.table(fitted)) if turn else at
            fitted = _step(problem, fitted, now, np.flatnonzero(~mine), slope, kernel)
        touched = sorted({problem.items[n].row for n in np.flatnonzero(mine)})
        out[mine] = problem.predict(problem.table(fitted), touched)[mine]
    return out


def summary(problem: Problem, logs: np.ndarray, known: bool | None = None) -> list[tuple[str, str, int, float, float]]:
    """(scenario, figure, rows, median error, p90) with errors max(p/t, t/p) - 1."""
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        if known is None or problem.rows[item.row].known == known:
            groups[item.scenario, item.figure].append(min(10.0, math.exp(abs(logs[n] - problem.truth[n])) - 1))
    return [
        (
            scenario,
            figure,
            len(errors),
            float(np.median(errors)),
            sorted(errors)[min(len(errors) - 1, int(0.9 * len(errors)))],
        )
        for (scenario, figure), errors in sorted(groups.items())
    ]


Summary = tuple[str, str, int, float, float]


def _line(inside: Summary, outside: Summary, near: Summary) -> str:
    parts = [f"{one[3]:.3f}/{one[4]:.2f}" for one in (inside, outside, near)]
    return f"{inside[0]:14s} {inside[1]:22s} n={inside[2]:4d} in {parts[0]}  source out {parts[1]}  source+model out {parts[2]}"


def main() -> None:
    """Fit, judge, write."""
    problem = Problem(rows())
    print(len(problem.rows), "rows", len(problem.items), "figures", len(problem.params), "parameters", file=sys.stderr)
    values = fit(problem)
    inside = problem.predict(problem.table(values))
    outside = leave_out(problem, values, [row.source for row in problem.rows], 2)
    near = leave_out(problem, values, [row.source + str(row.data["model"]) for row in problem.rows], 1)
    for known in (True, False):
        print("known" if known else "partial")
        for a, b, c in zip(
            summary(problem, inside, known),
            summary(problem, outside, known),
            summary(problem, near, known),
            strict=True,
        ):
            print(_line(a, b, c))
    write(problem, values, outside, near)
    keep_left_out(problem, outside, near)
    if len(sys.argv) > 1:
        np.savez(sys.argv[1], values=values, inside=inside, outside=outside, near=near)


def write(problem: Problem, values: np.ndarray, outside: np.ndarray, near: np.ndarray) -> None:
    """The calibration file: every factor with the rows behind each offset and their median residual."""
    counted: dict[Param, list[float]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        for param in problem.keys[item.row]:
            counted[param].append(outside[n] - problem.truth[n])
    made: dict[str, Any] = {"factors": {}, "ranges": {}}
    for name, factor in FACTORS.items():
        base = factor.value(factor.base() + values[problem.index[name, ""]])
        offsets = {
            key: {
                "log": round(float(value), 4),
                "rows": len(counted[name, key]),
                "residual": round(float(np.median(np.abs(counted[name, key]))), 3),
            }
            for (owner, key), value in zip(problem.params, values, strict=True)
            if owner == name and key and abs(value) >= 0.0005
        }
        made["factors"][name] = {"base": round(base, 5), "offsets": offsets}
    made["ranges"] = ranges(problem, outside, near)
    OUT.write_text(json.dumps(made, indent=0) + "\n", encoding="utf-8")


def keep_left_out(problem: Problem, outside: np.ndarray, near: np.ndarray) -> None:
    """What fits without the row's source, and without its source's rows of that model, say of every figure; for the accuracy table."""
    said: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for n, item in enumerate(problem.items):
        said[problem.rows[item.row].data["id"]][item.figure] = [
            float(f"{math.exp(logs[n]):.4g}") for logs in (outside, near)
        ]
    lines = [f"{json.dumps(ident)}: {json.dumps(figures)}" for ident, figures in said.items()]
    LEFT_OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def ranges(problem: Problem, outside: np.ndarray, near: np.ndarray) -> dict[str, Any]:
    """Quantiles of log(measured / predicted) by scenario and figure, scaled by how well each device class is known.

    A third of the weight lies on fits without the row's source, two thirds on fits without its source's rows of that model: a new
    question is mostly a known kind of machine with a model that nobody measured on it.
    """
    groups: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for n, item in enumerate(problem.items):
        known = problem.rows[item.row].drivers
        for logs in (outside, near, near):
            for name in {*scenarios(known), "any"}:
                groups[f"{name}/{item.figure}"].append((known.machine.kind, float(problem.truth[n] - logs[n])))
    return {
        name: _range_of(values)
        for name, values in sorted(groups.items())
        if len(values) >= 45 or name.startswith("any")
    }


def _range_of(values: list[tuple[str, float]]) -> dict[str, Any]:
    by_class: dict[str, list[float]] = defaultdict(list)
    for kind, value in values:
        by_class[kind].append(abs(value))
    spreads = {kind: float(np.quantile(found, 0.8)) for kind, found in by_class.items()}
    centre = float(np.median([spreads[kind] for kind, _ in values]))
    scales = {
        kind: (spreads[kind] * len(found) + centre * 12) / (len(found) + 12) / centre
        for kind, found in by_class.items()
    }
    scaled = [value / scales[kind] for kind, value in values]
    low, high = np.quantile(scaled, [0.1, 0.9])
    return {
        "low": round(min(-0.02, float(low)), 4), "high": round(max(0.02, float(high)), 4), "rows": len(values) // 3, "unknown": 1.5,
        "class": {kind: {"scale": round(scale, 3), "rows": len(by_class[kind]) // 3} for kind, scale in scales.items()},
    }  # fmt: skip


if __name__ == "__main__":
    main()
