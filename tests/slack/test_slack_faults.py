"""docs/slack_faults.md and docs/operating.md: every row has a test that exists, or says why it does not apply."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = {
    cells[0]: cells[1:]
    for line in (TESTS.parent / "docs/slack_faults.md").read_text("utf-8").splitlines()
    if re.match(r"\| [A-G]\d+ \|", line)
    for cells in [[cell.strip() for cell in line.strip().strip("|").split("|")]]
}
_NUMBER_OF_ROWS = {"A": 14, "B": 14, "C": 14, "D": 8, "E": 13, "F": 10, "G": 5}


def test_every_row_is_there() -> None:
    assert list(ROWS) == [f"{part}{n}" for part, most in _NUMBER_OF_ROWS.items() for n in range(1, most + 1)]


@functools.cache
def _functions(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text("utf-8"))
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def _named(cell: str) -> list[str]:
    """The tests that a cell names, each of which exists."""
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", cell)
    assert len(named) == cell.count("`") // 2
    assert [name for path, name in named if name not in _functions(path)] == []
    return [name for _, name in named]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_a_test_or_a_reason(row: str) -> None:
    _, here, tests = ROWS[row]
    assert _named(tests) or here.startswith("Does not apply:")


def test_every_fault_has_a_test() -> None:
    page = (TESTS.parent / "docs/operating.md").read_text("utf-8")
    lines = page.partition("## When something fails")[2].splitlines()
    cells = [line.strip().strip("|").split("|")[-1] for line in lines if line.startswith("| ")][1:]
    assert len(cells) == 20
    assert all(_named(cell) for cell in cells)
