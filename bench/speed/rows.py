"""The carried measurements as workloads: what was measured, and what the model says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizing.memory.inference import plan_inference
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.speed.drivers import Drivers, drivers
from sizing.speed.measured import load_rows, spec_of
from sizing.speed.serving import Rates

FIGURES = ("decode_tok_s_per_user", "output_tok_s_total", "prefill_tok_s", "ttft_ms", "tpot_ms")


@dataclass(frozen=True)
class Row:
    """A measurement and the drivers of its speed."""

    data: Mapping[str, Any]
    drivers: Drivers

    @property
    def source(self) -> str:
        """The table it comes from: rows of one table share an author, a machine room and a method."""
        return str(self.data["collection"])

    @property
    def known(self) -> bool:
        """Whether everything the figures depend on was stated."""
        return bool(self.data["stratum"] == "known")


@dataclass(frozen=True)
class Item:
    """One measured figure of a row."""

    row: int
    figure: str
    measured: float
    scenario: str


def rows() -> list[Row]:
    """All carried measurements."""
    found = []
    for data in load_rows():
        resolved = resolve(parse_spec(spec_of(data)))
        found.append(Row(data, drivers(resolved, plan_inference(resolved))))
    return found


def items(measured: list[Row]) -> list[Item]:
    """One item for every figure."""
    return [
        Item(n, figure, row.data["measured"][figure], row.data["scenario"])
        for n, row in enumerate(measured)
        for figure in FIGURES
        if row.data["measured"].get(figure)
    ]


def predicted(row: Row, figure: str, said: Rates) -> float | None:
    """What the model says of a figure as it was measured: decode-only totals leave the prompts out."""
    known = figure_said(row, figure)
    value: float | None = getattr(said, known)
    if known != figure and value is not None:
        return value * float(row.data["concurrency"])
    return value


def figure_said(row: Row, figure: str) -> str:
    """The model's figure that a measured one is held against."""
    decode_only = figure == "output_tok_s_total" and row.data.get("basis") == "decode_only"
    return "decode_tok_s_per_user" if decode_only else figure
