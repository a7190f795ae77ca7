"""Laws that hold for every deployment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.memory.inference import plan_inference
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.speed.drivers import Drivers, drivers
from sizing.speed.factors import FACTORS, Coefficients, coefficients, table
from sizing.speed.serving import Rates, rates
from sizing.speed.timing import decode_step, touched_share

Deploy = Callable[..., Any]
MODELS = (
    "Llama-3.1-8B",
    "Llama-3.3-70B",
    "Qwen3-30B-A3B",
    "gpt-oss-120b",
    "DeepSeek-V3",
    "Gemma-4-31B",
    "Nemotron-3-Nano-30B-A3B",
)
HARDWARE = (("RTX 4090", 1), ("H100", 8), ("Apple M4 Max", 1), ("MI300X", 4), ("DGX Spark", 1), ("CPU", 1))
ENGINES = ("vllm", "llama.cpp", "tensorrt-llm", "sglang")


def known(model: str, card: tuple[str, int], engine: str, **more: Any) -> tuple[Drivers, Coefficients]:
    spec = {
        "model": model, "engine": {"name": engine}, "hardware": [{"accelerator": card[0], "count": card[1]}],
        "input_tokens": 512, "output_tokens": 256, **more,
    }  # fmt: skip
    resolved = resolve(parse_spec(spec))
    found = drivers(resolved, plan_inference(resolved))
    return found, coefficients(found.axes, table())


deployments = st.builds(known, st.sampled_from(MODELS), st.sampled_from(HARDWARE), st.sampled_from(ENGINES))
few = settings(max_examples=60, deadline=None)


def with_work(found: Drivers, **changes: Any) -> Drivers:
    return replace(found, work=replace(found.work, **changes))


def decode(said: Rates) -> float:
    assert said.decode_tok_s_per_user is not None
    return said.decode_tok_s_per_user


@few
@given(deployments, st.floats(1.05, 4))
def test_more_bandwidth_is_never_slower(found: tuple[Drivers, Coefficients], more: float) -> None:
    one, factor = found
    faster = replace(one, machine=replace(one.machine, bandwidth_gb_s=one.machine.bandwidth_gb_s * more))
    assert decode(rates(faster, factor)) > decode(rates(one, factor))


@few
@given(deployments, st.integers(0, 60_000), st.integers(1, 60_000))
def test_a_longer_context_is_never_faster(found: tuple[Drivers, Coefficients], start: int, more: int) -> None:
    one, factor = found
    short, long = (decode_step(one, factor, 1, tokens).total for tokens in (start, start + more))
    assert long >= short


@few
@given(deployments, st.integers(1, 200), st.integers(1, 200))
def test_more_users_are_never_less_in_total_up_to_the_cap(
    found: tuple[Drivers, Coefficients], users: int, more: int
) -> None:
    one, factor = found
    room = int(min(one.capacity, one.sequences_cap))
    fewer, many = min(users, room), min(users + more, room)
    said = [rates(with_work(one, concurrency=count), factor) for count in (fewer, many)]
    assert said[1].output_tok_s_total >= 0.999 * said[0].output_tok_s_total  # type: ignore[operator]
    assert decode(said[1]) <= 1.001 * decode(said[0])


@few
@given(deployments, st.integers(1, 512))
def test_no_estimate_exceeds_the_roofline_for_the_routing_assumed(
    found: tuple[Drivers, Coefficients], users: int
) -> None:
    one, factor = found
    said = rates(with_work(one, concurrency=users), factor)
    batch = max(1.0, said.in_flight / one.replicas / (one.pipeline if one.server else 1))
    share = touched_share(one.weights.experts, one.weights.experts_per_token, batch, factor.routing_spread)
    read = one.weights.dense_bytes / one.tensor + one.weights.expert_bytes * share / one.experts_over
    assert decode(said) <= one.machine.bandwidth_gb_s * 1e9 / read / max(1e-9, 1 - one.host_share)
    flops = 2 * one.weights.active_params * (said.output_tok_s_total or 0) / one.replicas
    devices = one.tensor * one.attention_ranks * (one.pipeline if one.server else 1)
    assert flops <= max(one.machine.peak_tflops.values()) * 1e12 * devices


@few
@given(deployments, st.integers(1, 60_000))
def test_no_prompt_is_read_faster_than_the_devices_compute(found: tuple[Drivers, Coefficients], tokens: int) -> None:
    one, factor = found
    said = rates(with_work(one, input_tokens=tokens, shared_tokens=0), factor)
    head = one.weights.vocab * one.weights.hidden
    routed = one.weights.active_params - one.weights.dense_params
    multiplied = max(0.3 * one.weights.dense_params, one.weights.dense_params - head) + routed
    devices = one.tensor * one.attention_ranks * one.pipeline * one.replicas
    assert 2 * multiplied * (said.prefill_tok_s or 0) <= max(one.machine.peak_tflops.values()) * 1e12 * devices


@few
@given(deployments, st.integers(2, 200))
def test_the_first_token_comes_later_the_more_there_are(found: tuple[Drivers, Coefficients], users: int) -> None:
    one, factor = found
    alone, crowd = (rates(with_work(one, concurrency=count), factor) for count in (1, users))
    assert (crowd.ttft_ms or 0) >= 0.999 * (alone.ttft_ms or 0)


@given(st.integers(2, 512), st.integers(1, 16), st.floats(1, 1e5), st.floats(0.4, 1))
def test_touched_share_lies_between_one_token_and_all(
    experts: int, per_token: int, tokens: float, spread: float
) -> None:
    per_token = min(per_token, experts)
    share = touched_share(experts, per_token, tokens, spread)
    assert per_token / experts - 1e-9 <= share <= 1
    assert share <= touched_share(experts, per_token, tokens, 1.0) + 1e-9


@pytest.mark.parametrize("name", FACTORS)
def test_factor_scales_are_inverse(name: str) -> None:
    factor = FACTORS[name]
    assert factor.value(factor.scale(factor.start)) == pytest.approx(factor.start)


def test_an_unknown_device_and_engine_fall_back_to_the_base() -> None:
    base = coefficients({"class": "nothing", "engine": "nobody"}, table())
    assert base == coefficients({}, table())
