"""Specs at the edge of what may be said: figures stay figures, and every range holds what is expected between its ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.engine import estimate_data

_DENSE_10 = {"params_b": 10, "active_params_b": 0.3}
_APART = {"name": "vllm", "prefill_replicas": 1}


def _faults(part: object, path: str = "") -> Iterator[str]:
    if isinstance(part, float) and not math.isfinite(part):
        yield f"{path} is {part}"
    elif isinstance(part, dict):
        ends = part.get("low"), part.get("expected"), part.get("high")
        if {"low", "expected", "high"} <= part.keys() and None not in ends and not ends[0] <= ends[1] <= ends[2]:
            yield f"{path} is {ends}"
        for name, value in part.items():
            yield from _faults(value, f"{path}.{name}")
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _faults(value, f"{path}[]")


def _negative(speed: dict[str, Any]) -> list[str]:
    return [name for name, range_ in speed.items() if isinstance(range_, dict) and range_["low"] < 0]


def _sized_cleanly(spec: dict[str, Any]) -> bool:
    found = estimate_data(spec).model_dump()
    assert list(_faults(found)) == []
    assert _negative(found["speed"] or {}) == []
    return bool(found["ok"])


@pytest.mark.parametrize(
    "changed",
    [
        {"output_tokens": 0, "load": {"rate_rps": 0.95}},
        {"output_tokens": 0, "input_tokens": 0, "load": {"rate_rps": 0.01}},
        {"output_tokens": 0, "input_tokens": 12, "load": {"rate_rps": 14, "shared_prefix_tokens": 20965}},
        {"engine": _APART, "parallel": {"data": 3}, "load": {"rate_rps": 3e-6}},
        {"engine": _APART, "parallel": {"data": 3}, "load": {"rate_rps": 1e12}},
        {"parallel": {"data": 3}, "load": {"rate_rps": 0.1}},
        {"load": {"rate_rps": 1e-15}},
        {"task": "reranking", "model": {"params_b": 0.014}},
        {"task": "reranking", "model": _DENSE_10},
        {"task": "embedding", "model": {"params_b": 1e-4}, "work": {"documents": 1000}},
        {"model": "Wan-AI/Wan2.1-T2V-1.3B", "engine": {"name": "vllm"}},
        {
            "model": "Nemotron-3-Nano-30B-A3B", "weights": "q8_0", "engine": {"name": "llama.cpp"}, "parallel": {"data": 3},
            "host": {"ram_gb": 128},
        },
    ],
)  # fmt: skip
def test_figures_at_the_edge(changed: dict[str, Any]) -> None:
    hardware = [{"accelerator": "RTX 4090", "count": (changed.get("parallel") or {}).get("data", 1)}]
    assert _sized_cleanly({"model": "Llama 3.1 8B", "weights": "fp8", "hardware": hardware, **changed})


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["Llama 3.1 8B", "Qwen3-30B-A3B", "Nemotron-3-Nano-30B-A3B"]),
    st.sampled_from(["vllm", "sglang", "llama.cpp", "tensorrt-llm"]),
    st.sampled_from(["closed", "poisson", "burst", "offline"]),
    st.floats(1e-12, 1e12),
    st.integers(0, 4000),
    st.integers(0, 4000),
    st.integers(1, 4),
)
def test_figures_of_any_load(
    model: str, engine: str, pattern: str, rate_rps: float, given_: int, made: int, data: int
) -> None:
    _sized_cleanly(
        {
            "model": model, "engine": {"name": engine}, "hardware": [{"accelerator": "H100", "count": data}],
            "parallel": {"data": data}, "input_tokens": given_, "output_tokens": made,
            "load": {"pattern": pattern, "rate_rps": rate_rps},
        }
    )  # fmt: skip


@pytest.mark.parametrize(("billions", "most_gib"), [(0.022, 0.08), (0.135, 0.4), (0.5, 1.1), (7, 14)])
def test_a_small_bare_size_takes_the_memory_of_its_size(billions: float, most_gib: float) -> None:
    """16 bits: two bytes a parameter, with a vocabulary that may be wider than that of the size said."""
    found = estimate_data(
        {"model": {"params_b": billions}, "weights": "bf16", "hardware": [{"accelerator": "RTX 4090"}]}
    )
    assert found.memory is not None
    assert found.memory.per_device[0].weights_gib <= most_gib


@pytest.mark.parametrize(("count", "several"), [(1, False), (2, True)])
def test_only_several_cards_are_not_one_memory(count: int, several: bool) -> None:
    found = estimate_data(
        {
            "model": "Llama 3.1 8B", "engine": {"name": "llama.cpp"}, "parallel": {"tensor": 2},
            "hardware": [{"accelerator": "RTX 4090", "count": count}],
        }
    )  # fmt: skip
    assert found.ok
    assert ("cards_are_not_one_memory" in {each.code for each in found.reasons}) is several
