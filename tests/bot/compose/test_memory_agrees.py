"""What is used, what is free and what there is agree wherever an answer says them: table, chart, JSON and words."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bot.compose.headline import lead, verdict_headline
from bot.compose.labels import margin_cell, memory_cell
from bot.compose.options import chart
from bot.reply.wording import wording
from bot.sized import Sized, engine_defaults, size
from bot.thread import Spec, TeamDefaults

_DEFAULTS = engine_defaults(TeamDefaults())
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
# Half a unit of the coarsest number shown: three digits from 100 GiB on, tenths below.
_ROUNDING_GIB = 0.55

_SPECS = st.fixed_dictionaries(
    {
        "model": st.sampled_from(
            ["meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-32B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-R1",
             "google/gemma-3-27b-it"]
        ).map(lambda name: {"id": name}),
        "hardware": st.builds(
            lambda name, count: [{"accelerator": name, "count": count}],
            st.sampled_from(["RTX 4090", "L40S", "H100 SXM", "MI300X", "RTX 3090", "M3 Ultra 256 GB", "Gaudi 3", "T4"]),
            st.sampled_from([1, 2, 4, 8]),
        ),
        "engine": st.builds(
            lambda name, eager: {"name": name, "enforce_eager": eager} if name == "vllm" else {"name": name},
            st.sampled_from(["vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama"]),
            st.sampled_from([None, True]),
        ),
        "weights": st.sampled_from([None, "fp8", "q4_k_m", "awq-int4"]),
        "context_tokens": st.integers(512, 40_000),
        "concurrency": st.integers(1, 64),
    }
)  # fmt: skip


def _figures(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in _NUMBER.findall(text)]


def _check(sized: Sized) -> None:
    words, margin = wording("en"), sized.margin_gib
    drawn = chart([sized], words)
    assert drawn is not None and margin is not None
    bar = drawn.bars[0]
    used = bar.weights_gib + bar.kv_cache_gib + bar.activations_gib + bar.overhead_gib
    assert used + margin == pytest.approx(bar.capacity_gib, abs=1e-6)
    shown_used, shown_capacity = _figures(memory_cell(sized, words))[:2]
    shown_free = _figures(margin_cell(sized, words))[0]
    assert shown_used == pytest.approx(used, abs=_ROUNDING_GIB)
    assert shown_capacity == pytest.approx(bar.capacity_gib, abs=_ROUNDING_GIB)
    assert shown_free == pytest.approx(margin, abs=_ROUNDING_GIB)
    by_json = sized.estimate.model_dump(mode="json")
    devices = by_json["memory"]["per_device"]
    assert min(one["free_gib"] for one in devices if one["total_gib"]) == pytest.approx(
        by_json["margin_gib"]["expected"]
    )
    total = sum(one["total_gib"] for one in devices)
    room = sum(one["total_gib"] + one["free_gib"] for one in devices)
    said = lead(sized, words)
    assert words.gib(total) in said and words.gib(room) in said
    assert _says(verdict_headline(sized, words), abs(margin))


def _says(headline: str, gib: float) -> bool:
    """Sentences that name no figure of memory (it cannot run, it spills) agree with any."""
    named = [float(found.replace(",", "")) for found in re.findall(r"(\d[\d,]*(?:\.\d+)?)\xa0GiB", headline)]
    return not named or "host memory" in headline or min(abs(one - gib) for one in named) <= _ROUNDING_GIB


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(_SPECS)
def test_used_and_free_are_the_whole_everywhere(spec: Spec) -> None:
    sized = size({"task": "inference", **{key: value for key, value in spec.items() if value is not None}}, _DEFAULTS)
    assume(sized.estimate.ok and sized.margin_gib is not None)
    _check(sized)


def test_graphs_outside_the_budget_leave_no_contradiction() -> None:
    """vLLM 0.11 captures its graphs outside the budget: the table once said 57.9 of 57.8 GiB beside 0.7 GiB of headroom."""
    spec = {
        "task": "inference", "model": {"id": "Qwen/Qwen3-32B"}, "weights": "fp8", "engine": {"name": "vllm", "version": "0.11.0"},
        "hardware": [{"accelerator": "RTX 6000 Ada", "count": 1}], "context_tokens": 16384,
    }  # fmt: skip
    sized = size(spec, _DEFAULTS)
    device = sized.devices[0]
    assert device.usable_gib is not None and device.free_gib is not None
    assert device.total_gib + device.free_gib > device.usable_gib
    _check(sized)
