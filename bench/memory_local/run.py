"""Accuracy of local engines' memory against the buffers that their start-up logs print.

usage: python -m bench.memory_local.run [--by engine] [--worst N] [--check]

The error of a figure is max(p/t, t/p) - 1. Rows marked `fresh` were read after the formulas stood and changed nothing. "source left
out" predicts each source without the rules that it alone speaks for (`left_out.py`).
`--check` exits 1 where a median or 90th percentile over the rows with every driver known is above its bound.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.memory_local.left_out import own_rules, without
from sizing.engine import estimate_data
from sizing.estimate import Estimate

Case = Mapping[str, Any]
Row = tuple[str, Case, float | None, float]

# (median, 90th percentile); None where single logs of unknown builds decide.
BOUNDS: dict[str, tuple[float, float | None]] = {
    "weights on devices": (0.02, 0.08), "KV cache": (0.01, 0.05), "recurrent state": (0.01, 0.05), "compute buffer": (0.10, 0.35),
}  # fmt: skip
_NAMES = {"weights on devices": "gpu_weights_gib", "compute buffer": "compute_buffer_gib", "KV cache": "kv_gib"}


def cases() -> list[Case]:
    """The measured cases with their sources."""
    text = (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def error(predicted: float | None, measured: float) -> float:
    """max(p/t, t/p) - 1; 1.0 where nothing was predicted, 10 at most."""
    if predicted is None:
        return 1.0
    return 10.0 if predicted <= 0 else min(10.0, max(predicted / measured, measured / predicted) - 1)


def figures(case: Case, made: Estimate) -> Iterator[tuple[str, float | None, float | None]]:
    """(figure, predicted GiB, measured GiB)."""
    measured, memory = case["measured"], made.memory
    devices = memory.per_device if memory else ()
    host_kv = memory.host.kv_cache_gib if memory else 0.0
    sequences = case["spec"].get("concurrency") or 1
    yield "weights on devices", sum(d.weights_gib for d in devices), _gib(measured.get("gpu_model_buffer_mib"))
    yield "KV cache", sum(d.kv_cache_gib or 0.0 for d in devices) + host_kv, _gib(measured.get("kv_mib_total"))
    yield "compute buffer", sum(d.activations_gib for d in devices), _gib(measured.get("compute_buffer_gpu_mib"))
    state = memory.kv_bytes_per_sequence if memory else None
    yield (
        "recurrent state",
        None if state is None else state / 2**30 * sequences,
        _gib(measured.get("recurrent_state_mib")),
    )


def _gib(value: float | list[float] | None) -> float | None:
    values = value if isinstance(value, list) else [value] if value is not None else []
    return sum(values) / 1024 if values else None


def rows(only: str | None = None) -> list[Row]:
    """Every figure of every case that its placement determines, or of those of one source."""
    found: list[Row] = []
    for case in cases():
        if only not in (None, case["source"]):
            continue
        made = estimate_data(case["spec"])
        for name, predicted, measured in figures(case, made):
            if measured and _NAMES.get(name) not in case.get("undetermined", ()):
                found.append((name, case, predicted, measured))
    return found


def rows_left_out(found: list[Row]) -> list[Row]:
    """The same rows in the same order, each source predicted without what only it taught."""
    own = own_rules([row[1]["source"] for row in found], lambda: [row[2] for row in rows()])
    again: dict[str, list[Row]] = {}
    for source, rules in own.items():
        with without(rules):
            again[source] = rows(source)
    return [again[row[1]["source"]].pop(0) if row[1]["source"] in again else row for row in found]


def summary(name: str, group: str, part: list[tuple[Row, Row]]) -> str:
    """One line of the table, in sample and with the source left out."""
    cells = []
    for which in (0, 1):
        errors = sorted(error(pair[which][2], pair[which][3]) for pair in part)
        p90 = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
        within = sum(e <= 0.05 for e in errors) / len(errors)
        cells.append(f"{statistics.median(errors):7.2%} {p90:8.2%} {within:5.0%}")
    return f"{name:20s} {group:20s} n {len(part):3d}  {cells[0]}   {cells[1]}"


def table(found: list[Row], left_out: list[Row], by: str | None) -> list[str]:
    """The lines of the table: all rows, those with every driver known, fresh ones, and each value of `by`."""
    lines = [f"{'':48s}{'as it stands':>22s}   {'source left out':>22s}", f"{'':48s}" + "  median      p90  <5 %  " * 2]
    for name in BOUNDS:
        mine = [pair for pair in zip(found, left_out, strict=True) if pair[0][0] == name]
        groups: dict[str, list[tuple[Row, Row]]] = {
            "all": mine,
            "every driver known": [pair for pair in mine if pair[0][1]["stratum"] == "known"],
            "fresh": [pair for pair in mine if pair[0][1]["fresh"]],
        }
        for pair in mine if by else []:
            groups.setdefault(f"{by}={pair[0][1]['spec']['engine'].get('name')}", []).append(pair)
        lines += [summary(name, group, part) for group, part in groups.items() if part]
    return lines


def failures(found: list[Row]) -> list[str]:
    """Bounds that the rows with every driver known exceed."""
    faults = []
    for name, (median, p90) in BOUNDS.items():
        errors = sorted(error(p, t) for n, case, p, t in found if n == name and case["stratum"] == "known")
        if errors and statistics.median(errors) > median:
            faults.append(f"{name}: median {statistics.median(errors):.2%} is above {median:.0%}")
        if errors and p90 is not None and errors[min(len(errors) - 1, int(0.9 * len(errors)))] > p90:
            faults.append(f"{name}: 90th percentile is above {p90:.0%}")
    return faults


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by", choices=["engine"])
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    asked, found = parser.parse_args(), rows()
    print("\n".join(table(found, rows_left_out(found), asked.by)))
    for name, case, predicted, measured in sorted(found, key=lambda row: -error(row[2], row[3]))[: asked.worst]:
        shown = "nothing" if predicted is None else f"{predicted:.3f}"
        print(f"  {name:20s} {case['id']}: {shown} against {measured:.3f} GiB ({case['source']})")
    faults = failures(found) if asked.check else []
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
