"""Observation against Estimate: which bottleneck, what next, what helps."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.diagnose import Bottleneck, diagnose
from sizing.engine import estimate
from sizing.estimate import Estimate
from sizing.observation import Observation, SeenDevice, merged
from sizing.spec import parse_spec


def on_a_4090() -> Estimate:
    return estimate(
        parse_spec(
            {
                "model": "Llama 3.1 8B",
                "weights": "q4_k_m",
                "engine": {"name": "llama.cpp"},
                "context_tokens": 8192,
                "hardware": [{"accelerator": "RTX 4090"}],
            }
        )
    )


@pytest.mark.parametrize(
    ("seen", "bottleneck", "code"),
    [
        ({"gpu_utilization": 0.99, "vram_share": 0.70}, "compute", "busy_with_room"),
        ({"gpu_utilization": 0.60, "vram_share": 0.99}, "vram", "full_but_not_busy"),
        ({"gpu_utilization": 0.20, "cpu_utilization": 1.0}, "cpu", "cpu_busy_gpu_waits"),
        ({"gpu_utilization": 0.15, "cpu_utilization": 0.2}, "unknown", "nothing_busy"),
        ({"layers_on_gpu": 30, "layers_total": 81}, "ram_bandwidth", "layers_in_ram"),
        ({"gpu_share": 0.6}, "ram_bandwidth", "share_in_ram"),
        ({"kv_usage": 0.98, "waiting": 12, "running": 37}, "vram", "cache_full_and_waiting"),
        ({"kv_usage": 0.30, "waiting": 12, "running": 256}, "queue", "requests_wait"),
        ({"ttft_ms": 9626.0, "tpot_ms": 77.9, "concurrency": 825.0}, "queue", "first_token_long_against_steps"),
        ({"ttft_ms": 5000.0, "concurrency": 64.0, "max_concurrency": 20.0}, "queue", "more_than_the_cache_holds"),
        ({"fault": "out_of_memory", "missing_gib": 2.0}, "vram", "out_of_memory"),
        ({"fault": "cache_too_small", "missing_gib": 0.75}, "vram", "cache_too_small"),
        ({"link_width": 1, "link_gen": 3, "tensor_parallel": 2, "gpu_utilization": 0.5}, "pcie", "narrow_link"),
        ({"load_seconds": 400.0, "file_gib": 40.0}, "disk", "slow_loading"),
        ({"engine": "vllm", "vram_share": 0.97}, "none", "memory_reserved"),
        ({"vram_share": 0.97}, "vram", "memory_full"),
        ({"engine": "vllm", "kv_capacity_tokens": 31200.0}, "none", "started_well"),
        ({}, "unknown", "too_little_seen"),
    ],
)
def test_readings_become_a_bottleneck(seen: dict[str, Any], bottleneck: str, code: str) -> None:
    found = diagnose(Observation(**seen))
    assert (found.bottleneck, found.findings[0].code) == (bottleneck, code)
    assert found.next_measurement


def test_twelve_tokens_where_a_hundred_are_normal() -> None:
    found = diagnose(Observation(decode_tok_s=12.0), on_a_4090())
    assert (found.bottleneck, found.sure) == ("ram_bandwidth", False)
    assert found.compared[0].judgement == "below"
    assert found.findings[0].params["share"] < 0.15


@pytest.mark.parametrize(
    ("context", "seen", "code"),
    [
        (32768, {"decode_tok_s": 12.0, "gpu_utilization": 0.4}, "does_not_fit_the_card"),
        (32768, {"decode_tok_s": 30.0, "layers_on_gpu": 65, "layers_total": 65}, "as_fast_as_it_gets"),
        (8192, {"decode_tok_s": 30.0}, "as_fast_as_it_gets"),
    ],
)
def test_a_model_too_large_for_the_card_is_named_before_its_speed(
    context: int, seen: dict[str, Any], code: str
) -> None:
    spec = {"model": "Qwen3-32B", "weights": "q4_k_m", "engine": {"name": "ollama"}, "context_tokens": context}
    found = diagnose(Observation(**seen), estimate(parse_spec(spec | {"hardware": [{"accelerator": "RTX 3090"}]})))
    assert found.findings[0].code == code
    assert ("shorter_context" in found.changes, "kv_cache_8bit" in found.changes) == (
        code == "does_not_fit_the_card",
    ) * 2


def test_normal_speed_is_called_normal() -> None:
    expected = on_a_4090()
    assert expected.speed is not None and expected.speed.decode_tok_s_per_user is not None
    found = diagnose(Observation(decode_tok_s=expected.speed.decode_tok_s_per_user.expected), expected)
    assert (found.bottleneck, found.sure, found.findings[0].code) == ("bandwidth", True, "as_fast_as_it_gets")


def test_a_figure_alone_is_a_hint_and_a_log_is_proof() -> None:
    assert not diagnose(Observation(gpu_utilization=0.6, vram_share=0.99)).sure
    assert diagnose(Observation(layers_on_gpu=5, layers_total=62)).sure


def test_notes_explain_surprises() -> None:
    devices = (
        SeenDevice(utilization=0.9, memory_used_gib=23.0, memory_total_gib=24.0, power_w=349, power_limit_w=350, temperature_c=86),
        SeenDevice(utilization=0.3), SeenDevice(utilization=0.5),
    )  # fmt: skip
    codes = {note.code for note in diagnose(Observation(engine="vllm", devices=devices)).notes}
    assert codes == {"server_fills_memory", "hot", "at_power_limit", "cards_take_turns"}


def test_observations_merge_by_what_was_seen_first() -> None:
    found = merged(
        [Observation(sources=("a",), engine="vllm"), Observation(sources=("b",), engine="llama.cpp", waiting=3)]
    )
    assert (found.engine, found.waiting, found.sources) == ("vllm", 3, ("a", "b"))


FIELDS = [
    name
    for name in Observation.model_fields
    if name not in ("sources", "devices", "engine", "engine_version", "model", "fault", "preempted")
]


@given(st.dictionaries(st.sampled_from(FIELDS), st.integers(0, 100), max_size=8))
def test_anything_seen_gets_a_diagnosis(seen: dict[str, int]) -> None:
    found = diagnose(Observation(**seen))  # type: ignore[arg-type]
    assert found.bottleneck in get_args(Bottleneck)
    assert found.findings
    assert found.data()["next_measurement"]
