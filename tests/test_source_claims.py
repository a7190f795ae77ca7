"""Every checkable claim of the three guides: its sum recomputed, and its figure held against the engine, contradictions included."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from knowledge.claims import Claim, Computed, claims
from sizing.architecture.lookup import architecture
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.engine import estimate_data
from sizing.estimate import Estimate
from sizing.memory.training.run import resolve_run
from sizing.memory.training.states import states
from sizing.memory.weights import weights_bytes
from sizing.resolve import resolve_format
from sizing.spec import parse_spec
from sizing.units import GB, GIB

_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv, ast.USub: operator.neg,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
}


def evaluate(expr: str, names: Mapping[str, Any]) -> float:
    """Arithmetic only: numbers, names, + - * / ** // and a few functions."""

    def value(node: ast.AST) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.Name(id=name):
                return float(names[name])
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](value(left), value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return _OPERATORS[type(op)](value(operand))
            case ast.Call(func=ast.Name(id=name), args=args):
                return _FUNCTIONS[name](*map(value, args))
        raise AssertionError(f"{ast.dump(node)} has no place in the arithmetic of a claim")

    return value(ast.parse(expr, mode="eval").body)


@pytest.mark.parametrize(
    ("claim", "computed"),
    [pytest.param(claim, one, id=f"{claim.id}-{n}") for claim in claims() for n, one in enumerate(claim.computed)],
)
def test_every_sum_is_recomputed(claim: Claim, computed: Computed) -> None:
    assert evaluate(computed.expr, claim.inputs) == pytest.approx(computed.value, rel=0.01, abs=0.01)


def test_every_claim_is_judged_and_answered() -> None:
    assert len(claims()) == 60
    assert all(claim.say and claim.topic and claim.claim for claim in claims())
    assert {claim.document for claim in claims()} == {"hosting", "lokal", "jenseits"}
    assert sum(claim.holds == "contradicted" for claim in claims()) == 10


def gib_of(model: str, weights: str) -> float:
    ident = find(model, "model").id
    assert ident is not None
    return weights_bytes(architecture(ident), resolve_format(weights)) / GIB


def ask(**spec: Any) -> Estimate:
    result = estimate_data(spec)
    assert result.ok, result.error
    return result


def on(accelerator: str, model: str, weights: str, **more: Any) -> Estimate:
    return ask(model=model, weights=weights, hardware=[{"accelerator": accelerator}], **more)


def kv_gib(tokens: int, concurrency: int = 1) -> float:
    result = on("H200", "Llama 3.1 8B", "bf16", context_tokens=tokens, concurrency=concurrency)
    assert result.memory is not None
    return sum(device.kv_cache_gib or 0 for device in result.memory.per_device)


def full_training_bytes_per_param() -> float:
    run = resolve_run(parse_spec({
        "task": "training", "model": "Llama 3.1 8B", "hardware": [{"accelerator": "H200"}],
        "training": {"method": "full", "precision": "bf16-mixed", "sharding": "none"},
    }))  # fmt: skip
    held = states(run)
    return (held.weights + held.gradients + held.optimizer) / run.architecture.params_total


# What the engine itself says to a claim: (claim, the engine's figure, low, high).
ENGINE: list[tuple[str, Callable[[], float], float, float]] = [
    ("C02", lambda: gib_of("Llama 2 7B", "fp16"), 12.4, 12.7),
    ("C05", lambda: gib_of("Llama 3.1 8B", "bf16") * GIB / GB, 16.0, 16.2),
    ("C06", lambda: gib_of("Llama 3.1 8B", "q8_0") * GIB / GB, 8.4, 8.7),
    ("C07", lambda: gib_of("Llama 3.1 8B", "q4_k_m") * GIB / GB, 4.8, 5.1),
    ("C08", lambda: gib_of("Llama 3.3 70B", "awq") / gib_of("Llama 3.3 70B", "bf16"), 0.26, 0.30),
    ("C11", lambda: gib_of("Llama 3 8B", "bf16"), 14.9, 15.0),
    ("C12", lambda: gib_of("Phi-3-medium", "bf16"), 25.9, 26.1),
    ("C13", lambda: architecture("FacebookAI/roberta-large").params_total / 1e6, 355, 356),
    ("C17", lambda: gib_of("Llama 3.3 70B", "q4_k_m"), 39.0, 40.5),
    ("C18", lambda: catalogue().accelerators["nvidia-h200-sxm-141gb"].memory_gb or 0, 141, 141),
    ("C21", lambda: catalogue().accelerators["nvidia-b300-sxm"].memory_gb or 0, 288, 288),
    ("C30", lambda: kv_gib(128000) / kv_gib(8000), 15.9, 16.1),
    ("C31", lambda: kv_gib(8000, 20), 19.4, 19.7),
    ("C33", lambda: kv_gib(100000), 12.1, 12.4),
    ("C54", full_training_bytes_per_param, 18, 18),
]


@pytest.mark.parametrize(("claim", "figure", "low", "high"), ENGINE, ids=[row[0] for row in ENGINE])
def test_the_engine_agrees_with_our_sum(claim: str, figure: Callable[[], float], low: float, high: float) -> None:
    assert low <= figure() <= high, claim


# Verdicts: (claim, card, model, format, verdict the engine gives).
VERDICTS = [
    ("C04", "RTX 4060 Ti 16GB", "Llama 2 7B", "fp16", {"fits", "tight"}),
    ("C19", "H200", "GPT-3 175B", "bf16", {"no"}),
    ("C19", "H200", "Falcon 180B", "bf16", {"no"}),
    ("C20", "B200", "GPT-3 175B", "bf16", {"no"}),  # contradicts the guide
    ("C20", "B200", "Falcon 180B", "bf16", {"no"}),  # contradicts the guide
    ("C42", "RTX 4060 Ti 16GB", "Qwen3-32B", "awq", {"no"}),
]


@pytest.mark.parametrize(("claim", "card", "model", "weights", "verdicts"), VERDICTS)
def test_the_engine_judges(claim: str, card: str, model: str, weights: str, verdicts: set[str]) -> None:
    assert on(card, model, weights, context_tokens=2048).verdict in verdicts, claim


def test_training_factor_of_the_guide_is_contradicted_both_ways() -> None:
    """C55: "four to six times" gives 60-90 GB for 8B; mixed precision with AdamW needs more, LoRA far less."""

    def peak(method: str) -> float:
        result = ask(
            task="training", model="Llama 3 8B", hardware=[{"accelerator": "H200"}], training={"method": method, "sequence_tokens": 2048}
        )  # fmt: skip
        assert result.memory is not None
        return result.memory.per_device[0].total_gib * GIB / GB

    assert peak("full") > 90 > 60 > peak("lora")


def test_two_cards_hold_more_but_are_not_one() -> None:
    """C42, C46: a split model leaves each card its own overhead; replicas do not shrink the need of one card."""
    split = ask(
        model="Qwen3-32B",
        weights="awq",
        context_tokens=2048,
        hardware=[{"accelerator": "RTX 4060 Ti 16GB", "count": 2}],
    )
    assert split.memory is not None
    first, second = split.memory.per_device
    assert first.overhead_gib > 0
    assert second.overhead_gib > 0
    replicas = ask(
        model="Llama 3.1 8B", weights="fp8", context_tokens=2048, parallel={"tensor": 1, "data": 2},
        hardware=[{"accelerator": "RTX 4090", "count": 2}],
    )  # fmt: skip
    single = on("RTX 4090", "Llama 3.1 8B", "fp8", context_tokens=2048)
    assert replicas.memory is not None
    assert single.memory is not None
    assert replicas.memory.per_device[0].weights_gib == pytest.approx(single.memory.per_device[0].weights_gib)
