"""What is left, and what settings that nobody asked for could still give."""

from typing import Any

import pytest

from sizing.memory.plan import MemoryPlan, Slack
from sizing.memory.serving.plan import plan_serving
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.verdict import verdict


def plan(model: str, card: str, count: int = 1, **spec: Any) -> MemoryPlan:
    data = {"model": model, "engine": {"name": "vllm", "version": "0.19.0"}, "parallel": {"tensor": count}}
    return plan_serving(resolve(parse_spec({**data, "hardware": [{"accelerator": card, "count": count}], **spec})))


def codes(found: MemoryPlan) -> set[str]:
    return {warning.code for warning in found.warnings}


def test_a_higher_share_of_the_card_is_named_where_it_decides() -> None:
    """52,000 tokens miss the default 0.90 of a 4090 by 0.7 GiB and fit 0.95."""
    data: dict[str, Any] = {"weights": "bf16", "context_tokens": 52_000}
    engine = {"name": "vllm", "version": "0.19.0", "max_num_seqs": 4}
    found = plan("meta-llama/Llama-3.1-8B-Instruct", "RTX 4090", engine=engine, **data)
    asked = plan(
        "meta-llama/Llama-3.1-8B-Instruct", "RTX 4090", engine={**engine, "gpu_memory_utilization": 0.9}, **data
    )
    assert (verdict(found, 0.0), verdict(found, 0.0, as_set=True)) == ("tight", "no")
    assert found.slack.utilization == 0.95 and "raise_utilization" in codes(found)
    assert (verdict(asked, 0.0), asked.slack) == ("no", Slack())


def test_the_whole_context_of_a_model_is_no_reason_to_refuse_it() -> None:
    """Qwen3-VL-30B-A3B takes 58 of 80 GiB; its 262,144 tokens would take 24 more."""
    default = plan("Qwen/Qwen3-VL-30B-A3B-Instruct", "A100 80GB", weights="bf16")
    asked = plan("Qwen/Qwen3-VL-30B-A3B-Instruct", "A100 80GB", weights="bf16", context_tokens=262144)
    assert (verdict(default, 0.0), verdict(asked, 0.0)) == ("tight", "no")
    tokens = default.slack.context_tokens or 0
    within = plan("Qwen/Qwen3-VL-30B-A3B-Instruct", "A100 80GB", weights="bf16", context_tokens=tokens)
    assert 65_536 < tokens < 262_144 and verdict(within, 0.0) in ("tight", "fits")
    assert "shorten_context" in codes(default)


def test_weights_too_large_stay_refused() -> None:
    found = plan("meta-llama/Llama-3.3-70B-Instruct", "RTX 4090", weights="bf16")
    assert (verdict(found, 0.0), found.slack) == ("no", Slack())


def test_a_sequence_of_v0_stays_in_one_virtual_engine() -> None:
    """Two pipeline stages hold twice a sequence's cache, and yet neither of V0's virtual engines holds the sequence."""
    layout: dict[str, Any] = {
        "hardware": [{"accelerator": "RTX 5090", "count": 2}],
        "parallel": {"tensor": 1, "pipeline": 2},
    }
    spec = {"weights": "gptq-int4", "context_tokens": 100_000, **layout}
    old, new = (
        plan(
            "Qwen/QwQ-32B",
            "RTX 5090",
            engine={"name": "vllm", "version": "0.8.5", "mode": mode, "max_num_seqs": 64},
            **spec,
        )
        for mode in ("v0", "v1")
    )
    assert old.max_concurrency_at_context and old.max_concurrency_at_context > 1.3
    assert (verdict(old, 0.0), verdict(new, 0.0)) == ("no", "fits")


def test_checkpoints_of_meta_keep_attention_wide() -> None:
    """57.8 GiB a card were loaded of Llama 3.1 405B FP8 on eight; an 8-bit figure of every layer is 47.8."""
    own, other = (
        plan(ident, "H100", 8, weights="fp8").devices[0].weights_bytes / 2**30
        for ident in ("meta-llama/Meta-Llama-3.1-405B-Instruct-FP8", "RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8")
    )
    assert own == pytest.approx(57.8, rel=0.03)
    assert other == pytest.approx(47.8, rel=0.01)


def test_a_profile_that_leaves_no_cache_is_no_reason_to_refuse_either() -> None:
    """Llama 3.1 70B in 4 bit takes 37.2 of the 39.5 GiB of an A100 and ran there: the sampler of 256 sequences takes the rest, that of
    16 does not."""
    data: dict[str, Any] = {
        "weights": "gptq-int4",
        "engine": {"name": "vllm", "version": "0.9.1", "mode": "v0", "enforce_eager": True},
    }
    data["hardware"] = [{"accelerator": "A100 40GB", "count": 1, "engine_visible_gib": 39.49}]
    default = plan("meta-llama/Llama-3.1-70B-Instruct", "A100 40GB", **data)
    asked = {**data, "engine": {**data["engine"], "max_num_seqs": 256}}
    assert verdict(default, 0.0) == "tight"
    assert {"raise_utilization", "lower_max_num_seqs", "shorten_context"} <= codes(default)
    assert verdict(plan("meta-llama/Llama-3.1-70B-Instruct", "A100 40GB", **asked), 0.0) == "no"


@pytest.mark.parametrize(
    ("version", "step_tokens", "charged"), [("0.25.0", 8192, 0.0), ("0.26.0", 2048, 0.0), ("0.26.0", 8192, 0.2)]
)
def test_a_range_is_wider_where_the_profile_charges_a_step(version: str, step_tokens: int, charged: float) -> None:
    """Qwen3.8-27B with its recurrent layers: the pool may come out a fifth smaller."""
    engine = {
        "name": "vllm",
        "version": version,
        "max_num_batched_tokens": step_tokens,
        "max_num_seqs": 16,
        "gpu_memory_utilization": 0.5,
    }
    found = plan("Qwen/Qwen3.8-27B", "H200", weights="fp8", context_tokens=131072, concurrency=3, engine=engine)
    assert found.margin_bytes is not None
    low, expected, high = found.margin_bytes
    assert (expected - low) - (high - expected) == pytest.approx(charged * (found.devices[0].pool_bytes or 0), abs=1)
