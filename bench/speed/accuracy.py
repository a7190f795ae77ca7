"""How good the speed model is against the carried measurements: a table by scenario, engine and device class, and a picture.

    python -m bench.speed                 # the table
    python -m bench.speed speed.png       # and predicted against measured

"in" is the shipped model; "row out", "model out" and "source out" are fits that never saw the row, its source's rows of that model, its
whole source. Errors are max(p/m, m/p) - 1; "range" is the share of measured values inside the 80 % range laid around that fit's figure.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.speed.rows import Item, Row, figure_said, items, predicted, rows
from sizing.speed.doubt import variances
from sizing.speed.factors import coefficients, table
from sizing.speed.ranges import spread
from sizing.speed.serving import rates

LEFT_OUT = Path("bench/speed/left_out.json")
_KINDS = 4


@dataclass(frozen=True)
class Scored:
    """One figure: measured, and said by the shipped model and by the three kinds of fits that left it out, each with its range."""

    row: Row
    item: Item
    said: tuple[float, ...]
    ends: tuple[tuple[float, float], ...]

    @property
    def width(self) -> float:
        """High over low of the shipped model's range."""
        low, high = self.ends[0]
        return high / low

    def error(self, which: int) -> float:
        """max(p/m, m/p) - 1, capped at 10."""
        ratio = self.said[which] / self.item.measured
        return min(10.0, max(ratio, 1 / ratio) - 1)

    def inside(self, which: int) -> bool:
        """Whether the measured value lies in the range that this fit lays around its prediction."""
        low, high = self.ends[which]
        return low * self.said[which] <= self.item.measured <= high * self.said[which]


def scored() -> list[Scored]:
    """Every carried figure."""
    measured = rows()
    left: dict[str, dict[str, list[tuple[float, float]]]] = json.loads(LEFT_OUT.read_text(encoding="utf-8"))
    found = []
    for item in items(measured):
        row = measured[item.row]
        factor = coefficients(row.drivers.axes, table())
        said = rates(row.drivers, factor)
        value = predicted(row, item.figure, said)
        if value:
            known = figure_said(row, item.figure)
            source, model, alone = left[row.data["id"]][item.figure]
            kinds = ((value, variances(row.drivers, factor, said)[known]), alone, model, source)
            ends = tuple(spread(row.drivers, known, variance) for _, variance in kinds)
            found.append(Scored(row, item, tuple(each for each, _ in kinds), ends))
    return found


def report(found: Sequence[Scored], title: str, group: Callable[[Scored], str]) -> None:
    """One table."""
    print(
        f"\n{title:52s}     n |      in        |  row out       |  model out     |  source out    | width | range in/row/model/source"
    )
    groups: dict[str, list[Scored]] = defaultdict(list)
    for one in found:
        groups[group(one)].append(one)
    for name, members in sorted(groups.items()):
        print(f"{name:52s} {len(members):5d} | {_errors(members)} | {_coverage(members)}")


def _errors(members: Sequence[Scored]) -> str:
    parts = []
    for which in range(_KINDS):
        errors = sorted(one.error(which) for one in members)
        parts.append(
            f"{100 * statistics.median(errors):5.1f} / {100 * errors[min(len(errors) - 1, int(0.9 * len(errors)))]:6.1f}"
        )
    return " | ".join(parts)


def _coverage(members: Sequence[Scored]) -> str:
    width = statistics.median(one.width for one in members)
    shares = " ".join(
        f"{100 * sum(one.inside(which) for one in members) / len(members):3.0f}%" for which in range(_KINDS)
    )
    return f"{width:5.2f} | {shares}"


def picture(found: Sequence[Scored], path: str) -> None:
    """Predicted (source left out) against measured, one panel a scenario."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    scenarios = ("single_stream", "prefill", "concurrent", "offline_max")
    figure, panels = pyplot.subplots(2, 2, figsize=(11, 10))
    for panel, scenario in zip(panels.flat, scenarios, strict=True):
        members = [
            one for one in found if one.item.scenario == scenario and one.item.figure.endswith(("user", "total", "_s"))
        ]
        for kind in sorted({one.row.drivers.machine.kind for one in members}):
            mine = [one for one in members if one.row.drivers.machine.kind == kind]
            panel.loglog(
                [one.item.measured for one in mine], [one.said[-1] for one in mine], ".", label=kind, alpha=0.7
            )
        ends = [min(one.item.measured for one in members), max(one.item.measured for one in members)]
        panel.loglog(ends, ends, "k-", linewidth=0.7)
        panel.set(title=scenario, xlabel="measured, tokens/s", ylabel="predicted without the row's source, tokens/s")
        panel.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the tables, draw the picture where a path is given."""
    found = scored()
    known = [one for one in found if one.row.known]
    report(known, "load fully stated", lambda one: f"{one.item.scenario} {one.item.figure}")
    report(
        [one for one in found if not one.row.known],
        "load partly stated",
        lambda one: f"{one.item.scenario} {one.item.figure}",
    )
    rated = [one for one in found if not one.item.figure.endswith("_ms")]
    report(rated, "by engine", lambda one: f"{one.row.drivers.family} {one.item.scenario}")
    report(rated, "by device class", lambda one: f"{one.row.drivers.machine.kind} {one.item.scenario}")
    if len(sys.argv) > 1:
        picture(found, sys.argv[1])


if __name__ == "__main__":
    main()
