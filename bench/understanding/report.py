"""Accuracy of reading, by field, kind and language: `python -m bench.understanding.report [FOLDER] [--worst N]`."""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.understanding.judge import FIELDS, cases, exact, forbidden, judge, turns

_CASES = Path(__file__).parents[2] / "tests" / "bot" / "understand" / "cases"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=_CASES)
    parser.add_argument("--worst", type=int, default=0, help="also print up to N turns that were not read exactly")
    arguments = parser.parse_args()
    groups: dict[str, Counter[bool]] = defaultdict(Counter)
    fields: dict[str, Counter[str]] = defaultdict(Counter)
    missed: list[str] = []
    for case in cases(arguments.folder):
        for number, (text, gold, got) in enumerate(turns(case)):
            outcomes = judge(gold, got)
            traps = list(forbidden(case, got))
            for group in ("all turns", f"kind {case['kind']}", f"language {case['lang']}"):
                groups[group][exact(outcomes)] += 1
            if case.get("forbid"):
                groups["traps avoided"][not traps] += 1
            for name, outcome in outcomes.items():
                fields[name][outcome] += 1
            if not exact(outcomes) or traps:
                faults = [f"{name} {outcome}" for name, outcome in outcomes.items() if outcome not in ("right", "none")]
                missed.append(f"{case['id']}[{number}] {text[:110]!r}: {', '.join(faults + traps)}")
    _show(groups, fields, missed[: arguments.worst])


def _show(groups: dict[str, Counter[bool]], fields: dict[str, Counter[str]], missed: list[str]) -> None:
    console = Console()
    table = Table("group", "turns", "exact", "share")
    for name, counts in groups.items():
        table.add_row(name, str(counts.total()), str(counts[True]), f"{counts[True] / counts.total():.3f}")
    console.print(table)
    table = Table("field", "right", "wrong", "missed", "invented")
    for name in FIELDS:
        table.add_row(name, *(str(fields[name][outcome]) for outcome in ("right", "wrong", "missed", "invented")))
    console.print(table)
    for line in missed:
        console.print(line, markup=False, highlight=False)


if __name__ == "__main__":
    main()
