"""Plans of whole deployments: budgets, warnings, derivation."""

from typing import Any

import pytest

from sizing.memory.plan import MemoryPlan
from sizing.memory.serving.overhead import capture_sizes
from sizing.memory.serving.plan import plan_serving
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.units import GIB, gib

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def plan(model: str = LLAMA, card: str = "H100", count: int = 1, **spec: Any) -> MemoryPlan:
    data = {"model": model, "weights": "bf16", "engine": {"name": "vllm", "version": "0.19.0"}, "context_tokens": 8192}
    return plan_serving(resolve(parse_spec({**data, "hardware": [{"accelerator": card, "count": count}], **spec})))


def codes(found: MemoryPlan) -> set[str]:
    return {warning.code for warning in found.warnings}


@pytest.mark.parametrize(
    ("engine", "usable_gib"),
    [
        ({"name": "vllm", "version": "0.19.0"}, 0.90 * 79.19),
        ({"name": "vllm", "version": "0.20.0"}, 0.92 * 79.19),
        ({"name": "vllm", "version": "0.20.0", "gpu_memory_utilization": 0.5}, 0.5 * 79.19),
        ({"name": "sglang", "gpu_memory_utilization": 0.8}, 0.8 * (79.19 - 0.45)),
        ({"name": "sglang"}, (1 - 13_904 / (79.64 * 1024)) * (79.19 - 0.45)),
        ({"name": "sglang", "as_of": "2026-01"}, (1 - 13_440 / (79.64 * 1024)) * (79.19 - 0.45)),
        ({"name": "sglang", "version": "0.4.6"}, 0.88 * (79.19 - 0.45)),
        ({"name": "sglang", "as_of": "2025-02"}, 0.88 * (79.19 - 0.45)),
        ({"name": "tgi"}, 0.9 * 79.19),
        ({"name": "tgi", "gpu_memory_utilization": 0.9}, 0.9 * 0.9 * 79.19),
        ({"name": "tgi", "as_of": "2024-05", "gpu_memory_utilization": 0.9}, 0.9 * 79.19),
        ({"name": "tensorrt-llm"}, 79.19),
        ({"name": "lmdeploy"}, 79.19),
    ],
)
def test_budget_of_each_engine(engine: dict[str, Any], usable_gib: float) -> None:
    assert gib(plan(engine=engine).devices[0].usable_bytes or 0) == pytest.approx(usable_gib)


def test_parts_and_pool_make_the_budget() -> None:
    """What vLLM 0.19 prints for this model on an H100 at 0.95: 14.99 weights, 1.89 activations, 0.25 outside torch."""
    device = plan(engine={"name": "vllm", "version": "0.19.0", "gpu_memory_utilization": 0.95}).devices[0]
    assert gib(device.weights_bytes) == pytest.approx(14.99, abs=0.01)
    assert gib(device.activations_bytes) == pytest.approx(1.89, abs=0.03)
    parts = device.weights_bytes + device.activations_bytes + device.overhead_bytes + (device.pool_bytes or 0)
    assert parts == pytest.approx(device.usable_bytes)


def test_graphs_are_inside_the_budget_from_021() -> None:
    old, new = (
        plan(engine={"name": "vllm", "version": version, "gpu_memory_utilization": 0.9})
        for version in ("0.20.0", "0.21.0")
    )
    assert (old.devices[0].pool_bytes or 0) > (new.devices[0].pool_bytes or 0)


@pytest.mark.parametrize(("sequences", "sizes"), [(1024, 51), (256, 51), (64, 19), (40, 13), (32, 11), (16, 7), (8, 5)])
def test_captured_sizes(sequences: int, sizes: int) -> None:
    assert capture_sizes(sequences) == sizes


def test_a_fixed_cache_is_the_pool() -> None:
    found = plan(engine={"name": "vllm", "version": "0.29.0", "kv_cache_memory_gib": 4.0})
    assert found.devices[0].pool_bytes == 4 * GIB


def test_memory_of_others_shrinks_the_budget() -> None:
    found = plan(hardware=[{"accelerator": "H100", "count": 1, "in_use_gib": 20}])
    assert gib(found.devices[0].usable_bytes or 0) == pytest.approx(59.19)
    assert "memory_in_use" in codes(found)


def test_recurrent_layers_need_a_block_per_sequence() -> None:
    engine = {"name": "vllm", "version": "0.26.0", "gpu_memory_utilization": 0.9, "max_num_seqs": 256}
    refused = plan("Qwen/Qwen3.8-27B", "L40S", weights="fp8", engine=engine, context_tokens=131072)
    fewer = plan(
        "Qwen/Qwen3.8-27B", "L40S", weights="fp8", engine={**engine, "max_num_seqs": 16}, context_tokens=131072
    )
    assert refused.margin_bytes and fewer.margin_bytes
    assert "fewer_state_blocks" in codes(refused) and refused.margin_bytes[1] < 0
    assert "fewer_state_blocks" not in codes(fewer) and fewer.margin_bytes[1] > 0


def test_no_layout_no_plan_of_a_refused_one() -> None:
    found = plan(count=3, parallel={"tensor": 3})
    assert [blocker.code for blocker in found.blockers] == ["heads_not_divisible"]


def test_replicas_share_the_users() -> None:
    one = plan(count=1, concurrency=8)
    four = plan(count=4, concurrency=8, parallel={"tensor": 1, "data": 4})
    assert [device.kv_bytes for device in four.devices] == [one.devices[0].kv_bytes / 4] * 4
    assert four.max_concurrency_at_context == one.max_concurrency_at_context


def test_draft_models_live_in_the_same_pool() -> None:
    """Llama 70B with a 3B draft at TP 2: (163,840 + 57,344) B a token and rank; 27.0 GiB for 131,072 tokens."""
    beside = [{"role": "draft", "model": {"id": "meta-llama/Llama-3.2-3B-Instruct"}, "weights": "bf16"}]
    found = plan(
        "Llama 3.3 70B", count=2, weights="w8a8-int8", beside=beside, context_tokens=131072, parallel={"tensor": 2}
    )
    assert gib(found.devices[0].kv_bytes) == pytest.approx(27.0, rel=0.001)


def test_derivation_names_every_step() -> None:
    steps = {step.quantity: step for step in plan(count=2, parallel={"tensor": 2}).derivation()}
    assert list(steps) == [
        "weights_gib", "kv_bytes_per_token_and_device", "kv_cache_gib", "activations_gib", "overhead_gib", "graphs_gib", "usable_gib",
        "kv_pool_gib", "max_concurrency_at_context",
    ]  # fmt: skip
    assert all(step.sources and step.formula for step in steps.values())
    assert steps["kv_bytes_per_token_and_device"].value == 65_536
