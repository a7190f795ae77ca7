"""Values that no workload has are refused by the name of their field."""

from typing import Any

import pytest

from sizing.catalogue.load import catalogue
from sizing.engine import estimate_data
from sizing.values import VENDORS


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"concurrency": True}, "concurrency"),
        ({"context_tokens": True}, "context_tokens"),
        ({"users": 0}, "users"),
        ({"hardware": [{"accelerator": "RTX 4090", "count": True}]}, "hardware.0.count"),
        ({"hardware": [{"accelerator": "RTX 4090", "memory_gb": True}]}, "hardware.0.memory_gb"),
        ({"engine": {"name": "vllm", "gpu_memory_utilization": True}}, "engine.gpu_memory_utilization"),
        ({"model": {"params_b": 7, "active_params_b": 70}}, "model.active_params_b"),
        ({"parallel": {"tensor": True}}, "parallel.tensor"),
        ({"engine": {"redundant_experts": True}}, "engine.redundant_experts"),
        ({"engine": {"gpu_layers": False}}, "engine.gpu_layers"),
        ({"engine": {"speculative": {"method": "mtp", "tokens": True}}}, "engine.speculative.tokens"),
        ({"engine": {"speculative": {"method": ""}}}, "engine.speculative.method"),
        ({"engine": {"tensor_split": [1, "x"]}}, "engine.tensor_split.1"),
        ({"engine": {"mla": []}}, "engine.mla"),
        ({"engine": {"as_of": "2026-99"}}, "engine.as_of"),
        ({"kv_cache": {"k": True}}, "kv_cache.k"),
        ({"kv_cache": {"key": "q8_0"}}, "kv_cache.key"),
        ({"usage": {"hours_per_day": True}}, "usage.hours_per_day"),
        ({"usage": {"electricity": {"amount": True, "currency": "EUR"}}}, "usage.electricity.amount"),
        ({"host": {"pcie_lanes": True}}, "host.pcie_lanes"),
        ({"work": {"dimensions": True}}, "work.dimensions"),
        ({"context_tokens": list(range(300))}, "context_tokens"),
        ({"beside": [{"role": "other", "weights": "nope"}]}, "beside.0.weights"),
        ({"beside": [{"role": "lora"}, {"role": "draft", "model": {"id": "nope-x"}}]}, "beside.1.model.id"),
    ],
)
def test_a_value_that_cannot_be_names_its_field(changed: dict[str, Any], field: str) -> None:
    spec = {"model": {"id": "Llama 3.1 8B"}, "hardware": [{"accelerator": "RTX 4090"}]}
    found = estimate_data(spec | changed)
    assert found.error is not None
    assert (found.ok, found.error.field) == (False, field)
    assert len(found.error.message) < 250


@pytest.mark.parametrize(
    "task",
    [
        {"task": "training", "training": {"method": "lora"}},
        {"task": "embedding", "model": "BAAI/bge-m3"},
        {"task": "transcription", "model": "openai/whisper-large-v3"},
        {"task": "image", "model": "black-forest-labs/FLUX.1-dev"},
    ],
)
def test_no_task_takes_more_in_use_than_the_card_has(task: dict[str, Any]) -> None:
    error = estimate_data(
        {"model": "Llama 3.1 8B", **task, "hardware": [{"accelerator": "L4", "in_use_gib": 900}]}
    ).error
    assert error is not None
    assert error.field == "hardware.in_use_gib"


def test_sequence_parallelism_may_be_switched_on() -> None:
    spec = {"model": "Llama 3.1 8B", "hardware": [{"accelerator": "RTX 4090"}], "parallel": {"sequence": True}}
    assert estimate_data(spec).ok


@pytest.mark.parametrize(
    ("changed", "field", "says"),
    [
        ({"hardware": [{"accelerator": "RTX 4090", "memory_gb": 80}]}, "hardware.memory_gb", "has 24 GB"),
        ({"hardware": [{"accelerator": "RTX 4090 80 GB"}]}, "hardware.memory_gb", "has 24 GB"),
        ({"hardware": [{"accelerator": "RTX 4090", "engine_visible_gib": 79}]}, "hardware.engine_visible_gib", "24 GB"),
        ({"hardware": [{"accelerator": "RTX 4090", "in_use_gib": 30}]}, "hardware.in_use_gib", "RTX 4090"),
        ({"hardware": [{"accelerator": "RTX 4090 + RPC peer"}]}, "hardware.accelerator", "entry of its own"),
        ({"engine": {"name": "vllm", "kv_cache_memory_gib": 1e12}}, "engine.kv_cache_memory_gib", "23.5 GiB"),
        ({"engine": {"name": "vllm", "backend": "vulcan"}}, "engine.backend", "vulkan"),
        ({"parallel": {"expert": 4}}, "parallel.expert", "dense"),
        ({"model": "Qwen3-30B-A3B", "parallel": {"expert": 256}}, "parallel.expert", "at most 128"),
        ({"parallel": {"pipeline": 33}}, "parallel.pipeline", "32 layers"),
        (
            {"engine": {"name": "vllm"}, "parallel": {"tensor": 4, "context": 3}},
            "parallel.context",
            "1, 2, 4 would work",
        ),
        ({"task": "training", "training": {"method": "full", "optimizer": "banana"}}, "training.optimizer", "adamw"),
        ({"task": "training", "training": {"method": "full", "offload": "activations"}}, "training.offload", "cpu"),
        (
            {"task": "training", "training": {"lora_targets": ["q_proj", "banana"]}},
            "training.lora_targets",
            "all-linear",
        ),
        ({"targets": {"budget": 5, "budget_currency": "XYZ"}}, "targets.budget_currency", "EUR, USD"),
        ({"model": {"id": "Llama 3.1 8B", "params_b": 70}}, "model.params_b", "8.03 billion"),
        ({"model": "Qwen3.x-27B class"}, "model.id", "Qwen/Qwen3.8-27B"),
        ({"model": "32B AWQ (unnamed)"}, "model.id", "give a size alone"),
        ({"weights": "exl3"}, "weights", "exl3-4bpw"),
        ({"input_tokens": 9000, "context_tokens": 8192}, "input_tokens", "longer than context_tokens 8192"),
        ({"output_tokens": 9000, "context_tokens": 8192}, "output_tokens", "longer than context_tokens 8192"),
        ({"load": {"shared_prefix_tokens": 9000}, "context_tokens": 8192}, "load.shared_prefix_tokens", "8192"),
        ({"load": {"mean_context_tokens": 9000}, "context_tokens": 8192}, "load.mean_context_tokens", "8192"),
        ({"engine": {"name": "vllm", "speculative": {"method": "banana"}}}, "engine.speculative.method", "mtp, eagle"),
        ({"engine": {"name": "vllm", "speculative": "banana k=2"}}, "engine.speculative", "mtp, eagle"),
        ({"constraints": {"vendor": "nvidea"}}, "constraints.vendor", '"nvidia"'),
        ({"constraints": {"vendor": ["amd", "acme"]}}, "constraints.vendor.1", "known here: nvidia"),
        ({"constraints": {"exclude_vendor": "acme"}}, "constraints.exclude_vendor", "known here: nvidia"),
        ({"engine": {"name": "vllm", "redundant_experts": 8}}, "engine.redundant_experts", "dense"),
        (
            {"engine": {"name": "vllm", "kv_offload_gib": 500}, "host": {"ram_gb": 64}},
            "engine.kv_offload_gib",
            "at most 60",
        ),
        (
            {"engine": {"name": "vllm", "cpu_offload_gib": 70}, "host": {"ram_gb": 64}},
            "engine.cpu_offload_gib",
            "at most 60",
        ),
        ({"host": {"power_limit_w": 5}}, "host.power_limit_w", "112 W at least"),
        (
            {
                "model": "Qwen3-30B-A3B",
                "hardware": [{"accelerator": "H100", "count": 2}],
                "engine": {"redundant_experts": 999},
            },
            "engine.redundant_experts",
            "at most 128",
        ),
        (
            {
                "hardware": [{"accelerator": "RTX 4090", "count": 2}],
                "parallel": {"data": 2},
                "engine": {"prefill_replicas": 2},
            },
            "engine.prefill_replicas",
            "none to decode",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_work(changed: dict[str, Any], field: str, says: str) -> None:
    spec = {"model": {"id": "Llama 3.1 8B"}, "hardware": [{"accelerator": "RTX 4090"}]}
    error = estimate_data(spec | changed).error
    assert error is not None
    assert error.field == field
    assert says in error.message


@pytest.mark.parametrize(
    "changed",
    [
        {"hardware": [{"accelerator": "RTX 4090", "count": 2, "memory_gb": 48}]},
        {"hardware": [{"accelerator": "RTX 4090 48GB"}]},
        {"hardware": [{"accelerator": "H200", "memory_gb": 143.8}]},
        {"hardware": [{"accelerator": "H100", "memory_gb": 40}]},
        {"engine": {"name": "llama.cpp", "backend": "HIP"}},
        {"model": {"id": "Llama 3.1 8B", "params_b": 8}},
        {"model": "a 13B model"},
        {"targets": {"budget": 5, "budget_currency": "eur"}},
        {"task": "training", "training": {"method": "lora", "optimizer": "paged_adamw_8bit"}},
        {"task": "training", "training": {"method": "lora", "lora_targets": "query_key_value, dense_h_to_4h, lm_head"}},
        {"weights": "exl3-4.4bpw"},
        {"host": {"power_limit_w": 150}},
    ],
)
def test_what_people_write_is_taken(changed: dict[str, Any]) -> None:
    spec = {"model": {"id": "Llama 3.1 8B"}, "hardware": [{"accelerator": "RTX 4090"}]}
    assert estimate_data(spec | changed).error is None


@pytest.mark.parametrize(
    ("changed", "field", "code"),
    [
        ({"engine": {"name": "Bananaserve"}}, "engine.name", "engine_unread"),
        ({"engine": {"name": "NVIDIA NIM"}}, "engine.name", None),
        ({"engine": {"name": "vllm", "version": "banana"}}, "engine.version", "version_unread"),
        ({"engine": {"name": "vllm", "version": "27.3"}}, "engine.version", "version_unread"),
        ({"engine": {"name": "vllm", "version": "0.19.2rc1.dev134"}}, "engine.version", None),
        ({"engine": {"name": "vllm", "version": "nightly"}}, "engine.version", None),
        ({"engine": {"name": "llama.cpp", "version": "b9849 (799fcc04a)"}}, "engine.version", None),
        ({"host": {"cpu": "Banana 9000"}}, "host.cpu", "cpu_unread"),
        ({"host": {"cpu": "Banana 9000", "bandwidth_gb_s": 200}}, "host.cpu", None),
        ({"host": {"cpu": "Ryzen 9 7950X"}}, "host.cpu", None),
        ({"engine": {"name": "vllm", "speculative": {"method": "draft"}}}, "engine.speculative", "draft_not_counted"),
        ({"engine": {"name": "vllm", "speculative": {"method": "mtp"}}}, "engine.speculative", "draft_not_counted"),
        ({"engine": {"name": "vllm", "speculative": {"method": "prompt-lookup"}}}, "engine.speculative", None),
        ({"engine": {"name": "vllm", "speculative": {"method": "draft", "model": "Llama 3.2 1B"}}}, "engine.speculative", None),
        ({"engine": {"name": "sglang", "speculative": "NEXTN k=1"}, "model": "DeepSeek-V3"}, "engine.speculative", None),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_said(changed: dict[str, Any], field: str, code: str | None) -> None:
    spec = {"model": {"id": "Llama 3.1 8B"}, "hardware": [{"accelerator": "RTX 4090"}]}
    found = estimate_data(spec | changed)
    assert found.error is None
    assert [one.code for one in found.assumptions if one.field == field] == ([code] if code else [])


def test_every_maker_in_the_catalogue_may_be_asked_for() -> None:
    assert {device.vendor for device in catalogue().accelerators.values()} == set(VENDORS)


def test_memory_of_all_cards_together_is_that_of_each() -> None:
    both = {"accelerator": "RTX 4090", "count": 2}
    one, other = (
        estimate_data({"model": "Llama 3.1 8B", "hardware": [entry]}).memory
        for entry in (both, {**both, "memory_gb": 48})
    )
    assert one is not None and other is not None
    assert [device.usable_gib for device in one.per_device] == [device.usable_gib for device in other.per_device]
