"""Sums that an answer carries, done again: only what comes out the same, from inputs that are traced themselves, counts as a figure."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bench.grounding.facts import Fact, figure, in_unit
from bench.grounding.numbers import Pool, Shown

# Units into one another and nothing else: 3,600 s an hour, 8 bits a byte, hours of a day and a year, months, prefixes, percent, one.
_CONVERSIONS: Final = frozenset({1, 2, 8, 12, 24, 60, 100, 1000, 3600, 8760, 86_400, 1e6, 1e9, 3.6, 3.6e6, 2**30})
_FORMULA: Final = re.compile(r"[\w\s.+*/()-]+")
_SAME: Final = 1e-6


def results(steps: Sequence[Mapping[str, Any]], pools: Sequence[Pool]) -> list[Fact]:
    """The results of the steps that hold; a step may build on those before it."""
    found: list[Fact] = []
    for step in steps:
        if not _is_arithmetic(str(step["formula"])) or not all(
            _is_traced(key, value, [*pools, Pool(found)]) for key, value in step["inputs"].items()
        ):
            continue
        # Names, numbers and + - * / alone (see below), and nothing built in.
        again = eval(step["formula"], {"__builtins__": {}}, dict(step["inputs"]))
        if math.isclose(again, step["value"], rel_tol=_SAME):
            found.append(in_unit(again, str(step["unit"]), f"calculation.{step['quantity']}"))
    return found


def _is_arithmetic(formula: str) -> bool:
    if not _FORMULA.fullmatch(formula):
        return False
    numbers = (node.value for node in ast.walk(ast.parse(formula, mode="eval")) if isinstance(node, ast.Constant))
    return set(numbers) <= _CONVERSIONS


def _is_traced(key: str, value: float, pools: Sequence[Pool]) -> bool:
    """Whether an input is a figure of the estimates, the message, a source, the catalogue, the engine or an earlier step, as exactly."""
    fact = figure(float(value), key)
    shown = Shown(key, abs(fact.value), abs(fact.value) * _SAME, fact.dimension)
    return any(pool.holds(shown) or pool.holds_in_any_unit(shown) for pool in pools)
