"""`python -m bench.memory`: accuracy of the memory engine on the public measurements it carries, as a table and a picture."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.memory.refit import as_without, constants_table, source_of
from sizing.architecture.lookup import architecture
from sizing.measured import Case, cases
from sizing.memory.inference import plan_inference
from sizing.memory.plan import DevicePlan, MemoryPlan
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.units import gib
from sizing.verdict import verdict

FIGURES = ("weights", "KV for a length", "KV capacity", "concurrency", "activations + overhead")
_CAP = 10.0
# Fewer points are no picture; the table has them.
_FEWEST_DRAWN = 5


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of one case, predicted and measured, in the same unit."""

    case: Case
    figure: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """max(p/t, t/p) - 1: twice as much and half as much are the same error."""
        return error(self.predicted, self.measured)


@dataclass(frozen=True, slots=True)
class Summary:
    """Errors of a group of points."""

    count: int
    median: float
    p90: float


def error(predicted: float, measured: float) -> float:
    """The symmetric error, capped at 10."""
    return _CAP if predicted <= 0 else min(_CAP, max(predicted / measured, measured / predicted) - 1)


def points(known_only: bool = True) -> tuple[Point, ...]:
    """Every comparable figure of the carried cases; by default of those whose logs state every driver."""
    return tuple(point for case in cases() if case.known or not known_only for point in _points(case, answer(case)))


def answer(case: Case) -> MemoryPlan:
    """The memory plan of a case."""
    return plan_inference(resolve(parse_spec(case.spec)))


def _points(case: Case, plan: MemoryPlan) -> Iterable[Point]:
    measured, devices = case.measured, plan.devices
    need = measured.get("kv_gib_for_len") or {}
    rest = [measured.get("non_torch_gib"), measured.get("activation_peak_gib")]
    pairs: tuple[tuple[str, float | None, float | None], ...] = (
        ("weights", _most(devices, "weights_bytes"), measured.get("weights_gib_per_gpu")),
        ("KV for a length", _most(devices, "kv_bytes"), need.get("gib")),
        ("KV capacity", plan.kv_capacity_tokens, measured.get("kv_cache_tokens")),
        ("concurrency", plan.max_concurrency_at_context, measured.get("max_concurrency_x")),
        ("activations + overhead", _most(devices, "activations_bytes", "overhead_bytes"), _sum(rest)),
    )
    for figure, predicted, true in pairs:
        if predicted is not None and true is not None and true > 0:
            yield Point(case, figure, predicted, true)


def _most(devices: Sequence[DevicePlan], *names: str) -> float | None:
    return max((gib(sum(getattr(device, name) for name in names)) for device in devices), default=None)


def _sum(values: Sequence[float | None]) -> float | None:
    return None if any(value is None for value in values) else sum(value for value in values if value is not None)


def summary(found: Sequence[Point]) -> Summary:
    """Median and 90th percentile."""
    errors = sorted(point.error for point in found)
    return Summary(len(errors), statistics.median(errors), errors[min(len(errors) - 1, int(0.9 * len(errors)))])


def left_out(found: Sequence[Point], apart: Mapping[tuple[str, str], Point]) -> Summary:
    """Errors of the same points with every source judged by constants fitted without it."""
    return summary([apart[point.case.id, point.figure] for point in found])


def points_left_out(known_only: bool = True) -> Mapping[tuple[str, str], Point]:
    """Every point again, by case and figure, as the engine would have it had the case's source never been read."""
    found: dict[tuple[str, str], Point] = {}
    chosen = [case for case in cases() if case.known or not known_only]
    for source in sorted({source_of(case) for case in chosen}):
        with as_without(source):
            of_source = [case for case in chosen if source_of(case) == source]
            found |= {(p.case.id, p.figure): p for case in of_source for p in _points(case, answer(case))}
    return found


def _collection(case: Case) -> str:
    """The large collections by name, everybody else together."""
    return next((name for name in ("llm-d-planner", "amd-r9700-vllm-toolboxes") if name in case.source), "others")


def attention_of(case: Case) -> str:
    """How the case's model attends, as the table groups it."""
    return {
        "mha": "MHA, GQA", "gqa": "MHA, GQA", "mqa": "MHA, GQA", "mla": "MLA", "mla-compressed": "compressed MLA",
        "hybrid-linear": "hybrid", "hybrid-mamba": "hybrid", "hybrid-conv": "hybrid", "cross": "encoder-decoder",
    }.get(architecture(case.model).attention_type, "other")  # fmt: skip


def verdicts(known_only: bool = False) -> Mapping[str, tuple[int, int]]:
    """(right, all) for runs that worked (said to fit or tight) and runs that failed (refused or tight)."""
    right: dict[str, list[bool]] = {"worked": [], "failed": []}
    for case in cases():
        outcome = case.measured.get("outcome")
        if outcome is None or (known_only and not case.known):
            continue
        said = verdict(answer(case), 0.0)
        if outcome == "ok":
            right["worked"].append(said in ("fits", "tight"))
        else:
            right["failed"].append(said in ("no", "tight"))
    return {name: (sum(entries), len(entries)) for name, entries in right.items()}


def rows(found: Sequence[Point], apart: Mapping[tuple[str, str], Point]) -> list[tuple[str, str, Summary, Summary]]:
    """(group, figure, as fitted, leave one source out): over all, by engine, by attention."""
    groups: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in found:
        for group in (
            "all",
            f"source {_collection(point.case)}",
            f"engine {point.case.engine}",
            f"attention {attention_of(point.case)}",
        ):
            groups[group, point.figure].append(point)
    order = sorted(groups, key=lambda key: (key[0] != "all", key[0], FIGURES.index(key[1])))
    return [
        (group, figure, summary(groups[group, figure]), left_out(groups[group, figure], apart))
        for group, figure in order
    ]


def table(found: Sequence[Point], apart: Mapping[tuple[str, str], Point]) -> str:
    """The table as Markdown."""
    lines = [
        "| group | figure | cases | median | p90 | median, source left out | p90, source left out |",
        "|---|---|---|---|---|---|---|",
    ]
    for group, figure, fitted, unread in rows(found, apart):
        cells = (
            group,
            figure,
            str(fitted.count),
            *map(_percent, (fitted.median, fitted.p90, unread.median, unread.p90)),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def draw(found: Sequence[Point], path: Path) -> None:
    """Predicted over measured, one panel a figure, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    drawn = {name: [point for point in found if point.figure == name and point.predicted > 0] for name in FIGURES}
    drawn = {name: points for name, points in drawn.items() if len(points) >= _FEWEST_DRAWN}
    figure, axes = plt.subplots(-(-len(drawn) // 2), 2, figsize=(9, 8.6), squeeze=False)
    for axis in axes.flat[len(drawn) :]:
        axis.remove()
    for axis, (name, points) in zip(axes.flat, drawn.items(), strict=False):
        _panel(axis, name, points)
    figure.suptitle("Serving memory: predicted over measured,\npublic start-up logs whose drivers are all stated")
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _panel(axis: Any, name: str, found: Sequence[Point]) -> None:
    values = [value for point in found for value in (point.predicted, point.measured)]
    low, high = min(values) * 0.8, max(values) * 1.25
    for group in sorted({attention_of(point.case) for point in found}):
        here = [point for point in found if attention_of(point.case) == group]
        axis.scatter([p.measured for p in here], [p.predicted for p in here], s=16, label=group)
    axis.plot((low, high), (low, high), linewidth=0.8, color="grey")
    axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), xlabel="measured", ylabel="predicted")
    axis.set_title(f"{name}\nmedian {_percent(summary(found).median)}, {len(found)} cases")
    axis.legend(fontsize="x-small")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; with --png also draw it."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--all", action="store_true", help="also cases whose logs leave a driver open")
    parser.add_argument(
        "--constants", action="store_true", help="also every constant, as each source left out would have it"
    )
    parser.add_argument("--png", type=Path, help="where to write the picture")
    options = parser.parse_args(arguments)
    found = points(known_only=not options.all)
    apart = points_left_out(known_only=not options.all)
    sys.stdout.write(table(found, apart) + "\n\n")
    if options.constants:
        sys.stdout.write(constants_table() + "\n\n")
    for name, (right, total) in verdicts().items():
        sys.stdout.write(f"runs that {name}: {right} of {total} judged right\n")
    if options.png:
        draw(found, options.png)
    return 0


if __name__ == "__main__":
    sys.exit(main())
