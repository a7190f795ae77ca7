"""What must hold for every deployment."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.architecture.lookup import architecture
from sizing.catalogue.load import catalogue
from sizing.memory.plan import MemoryPlan
from sizing.memory.serving.layout import Layout, stage_sizes
from sizing.memory.serving.plan import plan_serving
from sizing.memory.serving.sharding import rank_weights
from sizing.memory.weights import weights_by_class
from sizing.resolve import resolve
from sizing.spec import parse_spec

MODELS = (
    "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-30B-A3B", "google/gemma-3-27b-it", "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3.6-27B",
    "openai/gpt-oss-20b", "tiiuae/Falcon-H1-3B-Instruct", "meta-llama/Llama-4-Scout-17B-16E-Instruct", "deepseek-ai/DeepSeek-V4-Flash",
)  # fmt: skip
ENGINES = ("vllm", "sglang", "tensorrt-llm", "lmdeploy", "tgi")
FORMATS = ("bf16", "fp8", "awq", "gptq-int8")
models, engines, formats = st.sampled_from(MODELS), st.sampled_from(ENGINES), st.sampled_from(FORMATS)
contexts, users = st.integers(1, 300_000), st.integers(1, 500)


def plan(model: str | dict[str, Any], **spec: Any) -> MemoryPlan:
    """The plan on eight H200, tensor-parallel."""
    data = {
        "model": model,
        "weights": "fp8",
        "engine": {"name": "vllm", "version": "0.26.0"},
        "context_tokens": 8192,
    }
    hardware = {"hardware": [{"accelerator": "H200", "count": 8}], "parallel": {"tensor": 8}}
    return plan_serving(resolve(parse_spec({**data, **hardware, **spec})))


def needed(found: MemoryPlan) -> float:
    """Bytes of weights and cache over all devices."""
    return sum(device.weights_bytes + device.kv_bytes for device in found.devices)


@settings(max_examples=60, deadline=None)
@given(model=models, engine=engines, context=contexts, more=st.integers(1, 100_000))
def test_more_context_never_needs_less(model: str, engine: str, context: int, more: int) -> None:
    one, other = (plan(model, engine={"name": engine}, context_tokens=tokens) for tokens in (context, context + more))
    assert needed(other) >= needed(one)
    assert (other.max_concurrency_at_context or 0) <= (one.max_concurrency_at_context or 0)


@settings(max_examples=60, deadline=None)
@given(model=models, engine=engines, count=users)
def test_more_users_never_need_less(model: str, engine: str, count: int) -> None:
    one, other = (plan(model, engine={"name": engine}, concurrency=sequences) for sequences in (count, count + 1))
    assert needed(other) > needed(one)
    assert other.margin_bytes and one.margin_bytes
    assert other.margin_bytes[1] <= one.margin_bytes[1]


@settings(max_examples=60, deadline=None)
@given(
    model=models,
    engine=engines,
    pair=st.sampled_from([("awq", "fp8"), ("fp8", "bf16"), ("awq", "gptq-int8"), ("gptq-int8", "bf16")]),
)
def test_more_bits_never_need_less(model: str, engine: str, pair: tuple[str, str]) -> None:
    narrow, wide = (plan(model, engine={"name": engine}, weights=chosen, kv_cache="bf16") for chosen in pair)
    assert needed(wide) >= needed(narrow)
    assert (wide.kv_capacity_tokens or 0) <= (narrow.kv_capacity_tokens or 0)


@settings(max_examples=40, deadline=None)
@given(layers=st.integers(1, 200), engine=engines, pair=st.sampled_from([("fp8", "bf16"), ("q8_0", "bf16")]))
def test_more_layers_and_wider_caches_never_need_less(layers: int, engine: str, pair: tuple[str, str]) -> None:
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
    }  # fmt: skip
    one, more = (
        plan({"id": "own", "config": {**config, "num_hidden_layers": count}}, engine={"name": engine})
        for count in (layers, layers + 1)
    )
    assert needed(more) > needed(one)
    narrow, wide = (plan(MODELS[0], engine={"name": engine}, kv_cache=chosen) for chosen in pair)
    assert needed(wide) > needed(narrow)


@settings(max_examples=60, deadline=None)
@given(model=models, chosen=formats, degree=st.sampled_from([2, 4, 8]))
def test_tensor_parallelism_repeats_only_what_it_must(model: str, chosen: str, degree: int) -> None:
    shape, form = architecture(model), resolve(parse_spec({"model": model, "weights": chosen})).weights
    whole, part = (rank_weights(shape, form, Layout(n, n, n, 1, 1, 1, False))[0] for n in (1, degree))
    repeated_heads = weights_by_class(shape, form).get("kv_projection", 0.0) * degree
    assert part.sharded_bytes * degree <= whole.sharded_bytes + repeated_heads + 1
    assert part.replicated_bytes == whole.replicated_bytes


@settings(max_examples=40, deadline=None)
@given(
    model=st.sampled_from(["Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3"]),
    degree=st.sampled_from([2, 4, 8]),
    spare=st.integers(0, 64),
)
def test_experts_are_dealt_and_copies_add_up(model: str, degree: int, spare: int) -> None:
    shape, form = architecture(model), resolve(parse_spec({"model": model, "weights": "fp8"})).weights
    plain, more = (rank_weights(shape, form, Layout(1, 1, degree, 1, degree, 1, True, n))[0] for n in (0, spare))
    assert shape.moe is not None
    experts = weights_by_class(shape, form)["expert"]
    assert (more.sharded_bytes - plain.sharded_bytes) * degree == pytest.approx(
        experts * spare / shape.moe.experts, rel=1e-6, abs=1
    )


@settings(max_examples=60, deadline=None)
@given(model=models, chosen=formats, stages=st.integers(1, 8))
def test_pipeline_stages_sum_to_the_whole(model: str, chosen: str, stages: int) -> None:
    shape, form = architecture(model), resolve(parse_spec({"model": model, "weights": chosen})).weights
    whole = rank_weights(shape, form, Layout(1, 1, 1, 1, 1, 1, False))[0]
    parts = rank_weights(shape, form, Layout(1, 1, 1, stages, 1, 1, False))
    twice = weights_by_class(shape, form)["embedding"] * (shape.tied_embeddings and stages > 1)
    total = sum(part.sharded_bytes for part in parts)
    assert total == pytest.approx(whole.sharded_bytes + twice, rel=1e-3)


@settings(max_examples=60, deadline=None)
@given(
    model=models,
    engine=st.sampled_from(["vllm", "sglang", "tensorrt-llm"]),
    context=contexts,
    each=st.integers(1, 50),
    ranks=st.sampled_from([2, 4, 8]),
)
def test_attention_apart_never_caches_more_on_a_device(
    model: str, engine: str, context: int, each: int, ranks: int
) -> None:
    """Ranks that each keep the cache of their own sequences: never more on a device than a tensor group would hold there."""
    fields: dict[str, Any] = {"context_tokens": context, "concurrency": each * ranks}
    chosen = {"name": engine, "data_parallel_attention": True}
    together = plan(model, engine={"name": engine}, **fields)
    apart = plan(model, engine=chosen, parallel={"tensor": 8 // ranks, "data": ranks}, **fields)
    assert {blocker.code for blocker in apart.blockers} <= {"heads_not_divisible"} and len(apart.devices) == 8
    assert apart.devices[0].kv_bytes <= together.devices[0].kv_bytes * (1 + 1e-9)
    if architecture(model).mla is not None:
        assert apart.devices[0].kv_bytes == pytest.approx(together.devices[0].kv_bytes / ranks)


@settings(max_examples=60, deadline=None)
@given(model=models, engine=engines, context=contexts, pair=st.sampled_from([(1, 2), (2, 4), (4, 8)]))
def test_cutting_finer_never_loses_bytes_nor_burdens_a_device(
    model: str, engine: str, context: int, pair: tuple[int, int]
) -> None:
    """Over all devices a finer cut holds at least as much (some parts repeat), on each at most as much."""
    coarse, fine = (
        plan(model, engine={"name": engine}, context_tokens=context, parallel={"tensor": degree},
             hardware=[{"accelerator": "H200", "count": degree}]) for degree in pair
    )  # fmt: skip
    for name in ("weights_bytes", "kv_bytes"):
        one, other = (sum(getattr(device, name) for device in found.devices) for found in (coarse, fine))
        assert other >= one * (1 - 1e-3)
        assert getattr(fine.devices[0], name) <= getattr(coarse.devices[0], name) * (1 + 1e-9)


@given(layers=st.integers(1, 200), stages=st.integers(1, 64))
def test_stages_share_the_layers(layers: int, stages: int) -> None:
    sizes = stage_sizes(layers, stages)
    assert (sum(sizes), len(sizes)) == (layers, stages)
    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=60, deadline=None)
@given(model=models, engine=engines, context=contexts)
def test_capacity_is_concurrency_times_context(model: str, engine: str, context: int) -> None:
    found = plan(model, engine={"name": engine}, context_tokens=context)
    assert found.kv_capacity_tokens == pytest.approx((found.max_concurrency_at_context or 0) * context)
    low, expected, high = found.margin_bytes or (0, 0, 0)
    assert low <= expected <= high


def test_every_catalogue_model_can_be_planned() -> None:
    text = [m.id for m in catalogue().models.values() if m.modality in ("text", "vision-text", "embedding", "reranker")]
    for model in text:
        found = plan(model, context_tokens=2048)
        assert needed(found) > 0
        assert found.derivation()
