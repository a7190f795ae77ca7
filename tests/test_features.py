"""docs/features.md: every row of the three guides names a test, and each of them exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (TESTS.parent / "docs/features.md").read_text("utf-8").splitlines()
    if line.startswith("| S")
]


def test_every_row_is_there_once() -> None:
    assert [ident for ident, _, _ in ROWS] == [f"S{number:03}" for number in range(1, 121)]


@pytest.mark.parametrize(("tests"), [tests for _, _, tests in ROWS], ids=[ident for ident, _, _ in ROWS])
def test_its_tests_exist(tests: str) -> None:
    named = re.findall(r"`([\w/.]+\.py)(?:::(\w+)|\[(\w+)\])`", tests)
    assert named and len(named) == tests.count("`") // 2
    for path, function, case in named:
        source = (TESTS / path).read_text("utf-8")
        functions = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
        assert function in functions if function else f'"{case}": (' in source
