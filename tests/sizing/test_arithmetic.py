"""Sums written out are worked out from their own text, and from nothing else."""

from __future__ import annotations

import pytest

from sizing.arithmetic import worked


@pytest.mark.parametrize(
    ("formula", "inputs", "value"),
    [
        ("price_eur / (rate_tok_s * 3600 * load_share) * 1e6", {"price_eur": 4.0, "rate_tok_s": 100.0, "load_share": 0.5}, 22.2222),
        ("budget_gib - weights_gib - pool_gib", {"budget_gib": 21.7, "weights_gib": 13.1, "pool_gib": 7.2}, 1.4),
        ("once_price + month_price * months", {"once_price": 100.0, "month_price": 10.0, "months": 36}, 460.0),
    ],
)  # fmt: skip
def test_a_step_holds_what_its_formula_says(formula: str, inputs: dict[str, float], value: float) -> None:
    step = worked("sum", formula, "EUR", **inputs)
    assert (step.formula, step.inputs, step.value) == (formula, inputs, pytest.approx(value, rel=1e-4))


@pytest.mark.parametrize("formula", ["__import__('os')", "a ** a", "max(a, a)", "'a'", "a if a else a"])
def test_only_arithmetic_is_worked_out(formula: str) -> None:
    with pytest.raises(ValueError, match="not arithmetic"):
        worked("sum", formula, "", a=2.0)


def test_a_name_without_an_input_is_refused() -> None:
    with pytest.raises(KeyError):
        worked("sum", "a + b", "", a=2.0)
