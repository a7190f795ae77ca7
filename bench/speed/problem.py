"""The fit as a problem: rows, figures, parameters, how far each parameter may move, and what sources have in common.

Every factor is a base with small offsets for class, engine, format and so on (`sizing.speed.factors`), held near zero by a prior
whose width depends on the axis and the factor: a cause measured once moves little, one never measured not at all. The widths are those
under which the measurements together are likeliest (`bench.speed.tune`), not those that meet the rows most closely.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.speed.rows import Row, items, predicted
from sizing.speed.factors import FACTORS, Table, coefficients
from sizing.speed.serving import Rates, rates

Param = tuple[str, str]
PRIORS = Path("bench/speed/priors.json")
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
    # Transformers launches every kernel from Python: 25 to 30 ms a token for 32 layers, whatever the card.
    ("block_us", "engine:transformers"): 10.0,
    # GeForce cards have no peer-to-peer: each all-reduce goes through the host's memory, twice over PCIe.
    ("link_rate", "link:pcie-consumer"): 0.3, ("collective_us", "link:pcie-consumer"): 2.0,
    # Servers answer over HTTP: one process turns every token of every sequence into text and sends it, some 5,000 to 8,000 a second;
    # work without users (offline) is not streamed.
    ("sequence_us", "pattern:burst"): 6.0, ("sequence_us", "pattern:poisson"): 6.0, ("sequence_us", "pattern:closed"): 3.0,
    # A request that is there with all others waits for half of them on average, and for what comes between.
    ("queue", "pattern:burst"): 2.0, ("queue", "pattern:poisson"): 2.0,
}  # fmt: skip
_STEP = 0.02


@dataclass(frozen=True)
class Priors:
    """How far offsets are expected to move by factor and axis ("" is the base), on the factor's scale; how much figures scatter, in
    logarithms, by "scenario/figure"."""

    widths: Mapping[str, Mapping[str, float]]
    scatter: Mapping[str, float]

    @staticmethod
    def load(path: Path = PRIORS) -> Priors:
        """As tuned (`bench.speed.tune`)."""
        return Priors(**json.loads(path.read_text(encoding="utf-8")))

    def save(self, path: Path = PRIORS) -> None:
        """For the next fit."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    def width(self, name: str, key: str) -> float:
        """Of one offset ("" is the base)."""
        return self.widths[name][key.split(":")[0]]


class Problem:
    """The rows, and the parameters that any of them depends on."""

    def __init__(self, measured: list[Row], priors: Priors) -> None:
        self.rows = measured
        self.items = items(measured)
        self.keys: list[list[Param]] = [_keys(row) for row in measured]
        offsets = sorted({key for keys in self.keys for key in keys if key[1]})
        self.params: list[Param] = [(name, "") for name in FACTORS] + offsets
        self.index = {param: n for n, param in enumerate(self.params)}
        self.mean = np.array([math.log(KNOWN.get(param, 1.0)) for param in self.params])
        self.noise = np.array([priors.scatter[f"{item.scenario}/{item.figure}"] for item in self.items])
        self.truth = np.array([math.log(item.measured) for item in self.items])
        self.of_row: dict[int, list[int]] = defaultdict(list)
        for n, item in enumerate(self.items):
            self.of_row[item.row].append(n)
        self.priors = priors
        self.prior = np.array([priors.width(name, key) for name, key in self.params])
        self._live: dict[int, tuple[str, ...]] = {}

    def table(self, values: np.ndarray) -> dict[str, tuple[float, dict[str, float]]]:
        """The parameters as the model reads them."""
        made: dict[str, tuple[float, dict[str, float]]] = {
            name: (factor.base() + values[self.index[name, ""]], {}) for name, factor in FACTORS.items()
        }
        for (name, key), value in zip(self.params, values, strict=True):
            if key:
                made[name][1][key] = float(value)
        return made

    def predict(self, values: np.ndarray, only: Iterable[int] | None = None) -> np.ndarray:
        """Logarithms of the figures as the model says them."""
        return self.of_table(self.table(values), only)

    def of_table(self, table: Table, only: Iterable[int] | None = None) -> np.ndarray:
        """The same for a table of factors."""
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

    def jacobian(self, values: np.ndarray) -> np.ndarray:
        """Derivative of every figure by every parameter, by forward differences on the rows that depend on it."""
        found = np.zeros((len(self.items), len(self.params)))
        table = self.table(values)
        at = self.of_table(table)
        for n, keys in enumerate(self.keys):
            numbers = self.of_row[n]
            for name in self._moving(n, table, at):
                slope = self._slope(n, name, table, at)
                for param in keys:
                    if param[0] == name:
                        found[numbers, self.index[param]] = slope
        return found

    def _moving(self, n: int, table: dict[str, tuple[float, dict[str, float]]], at: np.ndarray) -> tuple[str, ...]:
        """The factors that a row's figures depend on at all: a lone stream knows no queue."""
        if n not in self._live:
            self._live[n] = tuple(name for name in FACTORS if np.any(self._slope(n, name, table, at)))
        return self._live[n]

    def _slope(self, n: int, name: str, table: dict[str, tuple[float, dict[str, float]]], at: np.ndarray) -> np.ndarray:
        """All offsets of a factor act alike on a row: one difference a factor serves them all."""
        base, offsets = table[name]
        moved = {**table, name: (base + _STEP, offsets)}
        numbers = self.of_row[n]
        change: np.ndarray = self.of_table(moved, (n,))[numbers] - at[numbers]
        return change / _STEP


def _keys(row: Row) -> list[Param]:
    axes = row.drivers.axes
    found: list[Param] = []
    for name, factor in FACTORS.items():
        found.append((name, ""))
        found += [(name, f"{axis}:{axes[axis]}") for axis in factor.axes if axis in axes]
    return found
