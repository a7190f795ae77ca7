"""Parts of a server that come only when asked for: drafts, spare experts, what goes to RAM, wide checkpoints, shared attention."""

from typing import Any

import pytest

from sizing.measured import cases
from sizing.memory.plan import MemoryPlan
from sizing.memory.serving.plan import plan_serving
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.units import GIB, gib
from sizing.verdict import verdict

OLD = {"as_of": "2026-01"}  # before SGLang captured graphs of the prefill
LLAMA, DEEPSEEK = "meta-llama/Llama-3.1-8B-Instruct", "deepseek-ai/DeepSeek-V3"


def plan(model: str = LLAMA, card: str = "H100", count: int = 1, **spec: Any) -> MemoryPlan:
    engine = {"name": "vllm", "version": "0.19.0", **spec.pop("engine", {})}
    data = {"model": model, "engine": engine, "context_tokens": 8192, "parallel": {"tensor": count}}
    return plan_serving(resolve(parse_spec({**data, "hardware": [{"accelerator": card, "count": count}], **spec})))


def codes(found: MemoryPlan) -> set[str]:
    return {warning.code for warning in found.warnings}


def weights_gib(found: MemoryPlan) -> float:
    return gib(found.devices[0].weights_bytes)


def test_the_model_that_speculation_names_is_held_and_caches_in_the_same_pool() -> None:
    speculative = {"method": "draft", "tokens": 5, "model": "meta-llama/Llama-3.2-1B-Instruct"}
    alone, drafted = plan(weights="bf16"), plan(weights="bf16", engine={"speculative": speculative})
    assert weights_gib(drafted) - weights_gib(alone) == pytest.approx(2.3, abs=0.1)
    assert drafted.devices[0].kv_bytes / alone.devices[0].kv_bytes == pytest.approx(1 + 32_768 / 131_072)


@pytest.mark.parametrize(
    ("method", "params"),
    [("eagle3", 425e6), ("eagle", 4096 * (4096 + 2048) + 4096 * 4096 + 3 * 4096 * 14336 + 2 * 4096 * 4096)],
)
def test_an_eagle_head_is_a_layer_of_its_model(method: str, params: float) -> None:
    """The head published for Llama 3.1 8B has 425 million parameters; its layer caches like one of the 32."""
    alone = plan(weights="bf16")
    drafted = plan(weights="bf16", engine={"speculative": {"method": method, "tokens": 3}})
    grown = drafted.devices[0].weights_bytes - alone.devices[0].weights_bytes
    assert grown == pytest.approx(2 * params, rel=0.01)
    assert drafted.devices[0].kv_bytes / alone.devices[0].kv_bytes == pytest.approx(33 / 32)


def test_a_draft_nobody_knows_is_named() -> None:
    with pytest.raises(Exception, match="unknown model") as fault:
        plan(engine={"speculative": {"method": "draft", "model": "no such model"}})
    assert getattr(fault.value, "field", None) == "engine.speculative.model"


def test_the_derivation_names_what_came_on_request() -> None:
    engine = {"redundant_experts": 32, "cpu_offload_gib": 2.0, "speculative": {"method": "mtp", "tokens": 1}}
    found = plan(DEEPSEEK, "H200", 8, weights="fp8", parallel={"tensor": 8, "expert": 8}, engine=engine)
    step = next(step for step in found.derivation() if step.quantity == "weights_gib")
    assert (step.inputs["spare_experts"], step.inputs["offloaded_gib"]) == (32, 2.0)
    assert step.inputs["draft_gib"] > 1
    assert step.value == pytest.approx(weights_gib(found))


def test_spare_experts_are_whole_copies() -> None:
    """32 beside 256: an eighth more of 653B parameters in FP8, over eight cards."""
    layout = {"tensor": 8, "expert": 8}
    plain, spare = (
        plan(DEEPSEEK, "H200", 8, weights="fp8", parallel=layout, engine={"redundant_experts": count})
        for count in (0, 32)
    )
    assert weights_gib(spare) - weights_gib(plain) == pytest.approx(653e9 / 8 / 8 / GIB, rel=0.01)


def test_what_leaves_the_cards_lies_in_ram() -> None:
    plain = plan(weights="bf16", count=2)
    kept = plan(weights="bf16", count=2, engine={"kv_offload_gib": 64.0, "cpu_offload_gib": 4.0})
    assert gib(kept.host.kv_bytes) == 64.0
    assert gib(kept.host.weights_bytes) == 2 * 4.0
    assert weights_gib(plain) - weights_gib(kept) == pytest.approx(4.0)
    assert "kv_kept_in_ram" in codes(kept)


def test_v0_pins_ram_for_swapping() -> None:
    old, new = (plan(count=2, engine={"version": "0.9.0", "mode": mode}) for mode in ("v0", "v1"))
    assert (gib(old.host.kv_bytes), gib(new.host.kv_bytes)) == (8.0, 0.0)


@pytest.mark.parametrize(
    ("version", "peak_gib", "said"), [("0.12.0", 56.9, "no"), ("0.14.0", 56.9 + 29.0, "no"), ("0.19.0", 30.2, "fits")]
)
def test_a_checkpoint_quantised_while_it_loads(version: str, peak_gib: float, said: str) -> None:
    """Qwen3-30B-A3B in FP8 from its BF16 files on a 48 GB card: whole first, whole beside its copy, and one by one since 0.15."""
    engine = {"version": version, "quantize_on_load": True, "max_num_seqs": 16}
    found = plan("Qwen/Qwen3-30B-A3B", "L40S", weights="fp8", engine=engine)
    published = plan("Qwen/Qwen3-30B-A3B", "L40S", weights="fp8", engine={**engine, "quantize_on_load": None})
    assert verdict(published, 0.0) == "fits"
    assert verdict(found, 0.0) == said
    warned = [warning.params["peak_gib"] for warning in found.warnings if warning.code == "loading_peak"]
    assert warned == ([pytest.approx(peak_gib, rel=0.01)] if said == "no" else [])


@pytest.mark.parametrize(("ram_gb", "said"), [(None, "fits"), (96, "fits"), (74, "tight"), (64, "no")])
def test_what_is_kept_in_ram_must_go_in_together(ram_gb: float | None, said: str) -> None:
    """40 GiB of cache and 2 x 14 GiB of weights are 73.0 GB; neither alone would be too much for 64."""
    engine = {"kv_offload_gib": 40.0, "cpu_offload_gib": 14.0}
    host = {"ram_gb": ram_gb} if ram_gb else {}
    found = plan("Qwen/Qwen3-32B", "A100 80GB", 2, weights="bf16", engine=engine, host=host)
    assert verdict(found, 0.0) == said
    assert ("ram_overfull" in codes(found)) == (said == "no")


def test_attention_in_parallel_over_data_repeats_no_cache() -> None:
    """A latent is the same on all ranks of a tensor group: eight replicas of attention hold eight times the tokens."""
    hardware: dict[str, Any] = {"card": "H200", "count": 8, "weights": "fp8"}
    engine = {"data_parallel_attention": True}
    one = plan(DEEPSEEK, **hardware, parallel={"tensor": 8, "expert": 8})
    each = plan(DEEPSEEK, **hardware, parallel={"tensor": 1, "data": 8, "expert": 8}, engine=engine)
    assert one.kv_bytes_per_token == 8 * (each.kv_bytes_per_token or 0)
    assert weights_gib(each) > weights_gib(one)  # attention is whole on every rank
    assert each.blockers == ()


@pytest.mark.parametrize(
    ("engine", "parallel", "copies"),
    [
        ("sglang", {"tensor": 8, "data": 8}, 8),  # --tp-size 8 --dp-size 8
        ("sglang", {"tensor": 8, "data": 2}, 2),
        ("sglang", {"tensor": 1, "data": 8, "expert": 8}, 8),  # as vLLM says it
        ("sglang", {"tensor": 8}, 8),
        ("tensorrt-llm", {"tensor": 8}, 8),  # enable_attention_dp
    ],
)
def test_attention_apart_inside_a_tensor_group(engine: str, parallel: dict[str, int], copies: int) -> None:
    """Every attention rank caches its own sequences and no other's; experts stay where they were, attention is copied."""
    served: dict[str, Any] = {"card": "H200", "count": 8, "weights": "fp8", "concurrency": 64, "context_tokens": 32768}
    shared = plan(DEEPSEEK, **served, engine={"name": engine, "version": None}, parallel={"tensor": 8})
    chosen = {"name": engine, "version": None, "data_parallel_attention": True}
    apart = plan(DEEPSEEK, **served, engine=chosen, parallel=parallel)
    assert apart.blockers == () and len(apart.devices) == 8
    assert apart.devices[0].kv_bytes * copies == pytest.approx(shared.devices[0].kv_bytes, rel=0.001)
    assert (apart.kv_bytes_per_token or 0) * copies == pytest.approx(shared.kv_bytes_per_token or 0)
    assert (
        weights_gib(shared) < weights_gib(apart) < weights_gib(shared) + 13
    )  # 11.5 GiB of attention, embedding and head
    assert apart.margin_bytes and shared.margin_bytes and apart.margin_bytes[1] > shared.margin_bytes[1]


def test_attention_ranks_of_vllm_are_engines_of_their_own() -> None:
    """8 x 8 are 64 devices in vLLM, attention apart or not."""
    found = plan(DEEPSEEK, "H200", 8, engine={"data_parallel_attention": True}, parallel={"tensor": 8, "data": 8})
    assert [blocker.code for blocker in found.blockers] == ["too_few_devices"]


def test_decode_context_parallelism_splits_the_tokens() -> None:
    plain, shared = (
        plan(DEEPSEEK, "H200", 8, weights="fp8", context_tokens=131072, parallel={"tensor": 8, "context": ranks})
        for ranks in (1, 8)
    )
    assert shared.devices[0].kv_bytes == pytest.approx(plain.devices[0].kv_bytes / 8, rel=0.01)
    assert (shared.max_concurrency_at_context or 0) == pytest.approx(
        8 * (plain.max_concurrency_at_context or 0), rel=0.01
    )


@pytest.mark.parametrize(
    ("card", "count", "engine", "reserve_mib"),
    [
        ("RTX 4090", 1, OLD, 512 + 2048 * 1.5 + 24 * 2 + 128),
        ("RTX 4090", 4, OLD, 512 + 2048 * 1.5 + 80 * 2 + 512),
        ("H100", 1, OLD, 512 + 8192 * 1.5 + 256 * 2 + 128),
        ("H100", 8, {"speculative": {"method": "eagle3"}, **OLD}, 512 + 8192 * 1.5 + 512 * 2 + 1024 + 2048),
        ("RTX 4090", 1, {}, 512 + 4096 * 1.5 + 48 * 2 + 128 + 50 * 8),
        ("RTX 4090", 4, {"version": "0.5.20"}, 512 + 4096 * 1.5 + 160 * 2 + 512 + 50 * 8),
        ("RTX 4090", 1, {"enforce_eager": True}, 512 + 4096 * 1.5 + 128),
        ("H100", 1, {"max_num_batched_tokens": 16384}, 512 + 16384 * 1.5 + 256 * 2 + 128 + 74 * 8),
        ("H100", 8, {"speculative": {"method": "eagle3"}}, 512 + 8192 * 1.5 + 512 * 2 + 1024 + 58 * 8),
        ("B200", 1, {"max_num_batched_tokens": 4096}, 10 * 1024),
    ],
)
def test_what_sglang_keeps_back(card: str, count: int, engine: dict[str, Any], reserve_mib: float) -> None:
    """Every term as SGLang's own start-up adds it."""
    found = plan(card=card, count=count, engine={"name": "sglang", "version": None, **engine})
    device = found.devices[0]
    visible = device.device.visible_gib or 0.0
    share = (device.usable_bytes or 0.0) / GIB / (visible - (2.4 if (card, count) == ("H100", 8) else 0.45))
    assert (1 - share) * (visible + 0.45) * 1024 == pytest.approx(reserve_mib, rel=0.001)


@pytest.mark.parametrize("engine", ["sglang", "tensorrt-llm", "tgi", "lmdeploy"])
def test_engines_that_few_measured_say_so(engine: str) -> None:
    assert "formula_only" in codes(plan(engine={"name": engine, "version": None}))
    assert sum(case.engine == engine for case in cases()) < 10
    assert sum(case.engine == "vllm" for case in cases()) >= 10 and "formula_only" not in codes(plan())
