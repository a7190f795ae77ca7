"""Accuracy of training memory against public peaks: `python -m bench.training`. Error = max(p/t, t/p) - 1.

"as fitted" uses every constant; "framework withheld" predicts each framework with the default constants alone, as for one
that was never measured: the honest figure for a framework the engine does not know.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sizing.engine import estimate_data
from sizing.measured_training import rows

MEDIAN_AT_MOST, P90_AT_MOST = 0.10, 0.35


def predicted_gib(spec: dict[str, Any]) -> float:
    """The total of the fullest device."""
    found = estimate_data(spec)
    if found.memory is None:
        raise SystemExit(f"{spec}: {found.error}")
    return max(device.total_gib for device in found.memory.per_device)


def error(row: dict[str, Any], *, withheld: bool) -> float:
    """The symmetric error of one row."""
    spec = row["spec"]
    if withheld:
        spec = {**spec, "engine": {**spec.get("engine", {}), "name": "unmeasured"}}
    predicted, measured = predicted_gib(spec), row["peak_gib"]
    return float(max(predicted / measured, measured / predicted) - 1)


def line(name: str, group: Iterable[dict[str, Any]]) -> str:
    """Count, median and 90th percentile of both ways."""
    found = list(group)
    cells = []
    for withheld in (False, True):
        errors = sorted(error(row, withheld=withheld) for row in found)
        cells.append(f"{statistics.median(errors):6.1%} {errors[min(len(errors) - 1, int(0.9 * len(errors)))]:6.1%}")
    return f"{name:24} {len(found):4}   {cells[0]}   {cells[1]}"


def main() -> int:
    """Print the table; exit 1 where the gate on known rows is missed."""
    carried = rows()
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in carried:
        groups[row["spec"].get("engine", {}).get("name", "")].append(row)
        groups["method " + row["spec"]["training"]["method"]].append(row)
    print(f"{'':24} {'n':>4}   {'as fitted':>13}   framework withheld\n{'':29}   median    p90   median    p90")
    print(line("all", carried))
    known = [row for row in carried if row["known"]]
    print(line("every setting known", known))
    for name in sorted(groups):
        print(line(name, groups[name]))
    errors = sorted(error(row, withheld=False) for row in known)
    return int(statistics.median(errors) > MEDIAN_AT_MOST or errors[int(0.9 * len(errors))] > P90_AT_MOST)


if __name__ == "__main__":
    sys.exit(main())
