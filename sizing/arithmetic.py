"""Sums written out: a formula over named inputs, worked out from that very text, so that what is shown is what was computed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from sizing.estimate import DerivationStep

_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def worked(quantity: str, formula: str, unit: str, **inputs: float) -> DerivationStep:
    """The step `quantity = formula`, in `unit`. Inputs carry their unit in their name: `price_eur / (rate_tok_s * 3600)`.

    Raises:
        ValueError: the formula holds anything but numbers, inputs, brackets and + - * /.
        KeyError: it names something that is no input.
    """
    return DerivationStep(
        quantity=quantity, formula=formula, inputs=dict(inputs), value=_value(_parsed(formula), inputs), unit=unit
    )


@lru_cache(maxsize=256)
def _parsed(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def _value(node: ast.expr, inputs: Mapping[str, float]) -> float:
    match node:
        case ast.BinOp(left, sign, right) if type(sign) in _OPERATIONS:
            return _OPERATIONS[type(sign)](_value(left, inputs), _value(right, inputs))
        case ast.Name(name):
            return inputs[name]
        case ast.Constant(value) if isinstance(value, int | float):
            return value
        case _:
            raise ValueError(f"not arithmetic: {ast.unparse(node)!r}")
