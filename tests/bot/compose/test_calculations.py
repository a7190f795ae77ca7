"""What an answer works out beside its Estimates is carried with it, so that anybody can do the sum again."""

from __future__ import annotations

import re

import pytest

from bench.grounding.calculations import results
from bench.grounding.facts import Fact, figure
from bench.grounding.numbers import Pool
from bot.answer import Answer
from bot.conversation import respond
from bot.reply.export import json_text, markdown
from bot.thread import Context, ThreadState


def _answer(text: str) -> Answer:
    return respond(text, ThreadState(), Context())[0]


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("Was kostet eine Million Tokens mit gpt-oss-20b auf einer 4090?", "rent_per_million_tokens"),
        ("rent is $1 per GPU-hour, 4 GPUs, llama 3.3 70b fp8 at 60% load: $ per million output tokens?", "price_per_million_tokens"),
        ("Warum zeigt vLLM bei meinem 7B 21 GB an, obwohl das Modell nur 14 GB hat?", "activations_and_overhead"),
        ("Vergleich gpt-oss-20b auf einer RTX 4090 mit einer L4", "times"),
    ],
)  # fmt: skip
def test_a_sum_is_carried_with_formula_and_inputs(text: str, quantity: str) -> None:
    answer = _answer(text)
    steps = [step for step in answer.calculations if step["quantity"] == quantity]
    assert steps and not answer.unverified_numbers
    for step in steps:
        assert set(re.findall(r"\b[a-z]\w+", step["formula"])) == set(step["inputs"])
    assert f'"quantity": "{quantity}"' in json_text(answer)
    assert f"- `{quantity} = {steps[0]['formula']} = " in markdown(answer)


_STEP = {
    "quantity": "load",
    "formula": "size_gb / rate_gb_s",
    "inputs": {"size_gb": 40.0, "rate_gb_s": 7.0},
    "value": 40 / 7,
    "unit": "s",
}
_KNOWN = [figure(40.0, "size_gb"), figure(7.0, "rate_gb_s")]


@pytest.mark.parametrize(
    ("changed", "facts"),
    [
        ({"value": 6.0}, _KNOWN),
        ({"formula": "size_gb / rate_gb_s * 1.3", "value": 40 / 7 * 1.3}, _KNOWN),
        ({}, _KNOWN[:1]),
        ({}, [_KNOWN[0], Fact(7.0, "s", "seconds")]),
    ],
)
def test_the_check_refuses_sums_that_do_not_hold(changed: dict[str, object], facts: list[Fact]) -> None:
    assert results([_STEP], [Pool(_KNOWN)]) == [Fact(pytest.approx(40 / 7), "s", "calculation.load")]
    assert results([_STEP | changed], [Pool(facts)]) == []
