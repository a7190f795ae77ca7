"""Cannot run, before whether it fits."""

from typing import Any

import pytest

from sizing.compatibility import blockers, cautions
from sizing.engine import estimate_data
from sizing.errors import UserError
from sizing.resolve import Resolved, resolve
from sizing.spec import parse_spec

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def resolved(card: str, count: int = 1, **spec: Any) -> Resolved:
    """A deployment on cards of one kind."""
    return resolve(parse_spec({"model": LLAMA, "hardware": [{"accelerator": card, "count": count}], **spec}))


@pytest.mark.parametrize(
    ("card", "count", "spec", "code"),
    [
        ("H100", 3, {"engine": {"name": "vllm"}, "parallel": {"tensor": 3}}, "heads_not_divisible"),
        ("H100", 2, {"engine": {"name": "vllm"}, "parallel": {"tensor": 4}}, "too_few_devices"),
        ("MI300X", 1, {"engine": {"name": "tensorrt-llm"}}, "engine_without_device"),
        ("MI300X", 1, {"engine": {"name": "mlx"}, "weights": "mlx-4bit-g64"}, "engine_without_device"),
        ("P40", 1, {"engine": {"name": "vllm"}, "weights": "fp16"}, "compute_capability_too_low"),
        ("T4", 1, {"engine": {"name": "vllm"}, "weights": "bf16"}, "format_needs_newer_device"),
        ("V100", 1, {"engine": {"name": "vllm", "version": "0.14.0"}, "weights": "nvfp4"}, "format_needs_newer_device"),
        ("H100", 1, {"engine": {"name": "vllm"}, "weights": "mlx-4bit-g64"}, "engine_without_format"),
        ("H100", 1, {"engine": {"name": "tensorrt-llm"}, "weights": "q4_k_m"}, "engine_without_format"),
        ("RTX 4090", 1, {"engine": {"name": "ollama"}, "weights": "awq"}, "engine_without_format"),
        ("RTX 4090", 1, {"engine": {"name": "vllm"}, "weights": "exl2-4.0bpw"}, "engine_without_format"),
        ("M4 Max", 1, {"engine": {"name": "mlx"}, "weights": "q4_k_m"}, "engine_without_format"),
        ("RTX 4090", 1, {"engine": {"name": "exllamav2"}, "weights": "q4_k_m"}, "engine_without_format"),
        ("RTX 4090", 1, {"engine": {"name": "llama.cpp"}, "weights": "fp8"}, "engine_without_format"),
        ("H100", 1, {"engine": {"name": "vllm"}, "kv_cache": "q4_0"}, "engine_without_kv_format"),
        ("H100", 1, {"engine": {"name": "sglang"}, "kv_cache": "turboquant"}, "engine_without_kv_format"),
        ("RTX 4090", 1, {"engine": {"name": "llama.cpp"}, "weights": "q4_k_m", "kv_cache": "nvfp4"}, "engine_without_kv_format"),
        ("RTX 4090", 1, {"engine": {"name": "ollama"}, "weights": "q4_k_m", "kv_cache": {"k": "q8_0", "v": "q5_1"}},
         "engine_without_kv_format"),
        ("RTX 4090", 2, {"engine": {"name": "llama.cpp", "split_mode": "tensor"}, "model": "GLM-4.7-Flash"}, "latent_not_cut"),
        ("RTX 4090", 2, {"engine": {"name": "llama.cpp", "split_mode": "tensor", "flash_attention": False}}, "tensors_need_flash"),
    ],
)  # fmt: skip
def test_what_cannot_run(card: str, count: int, spec: dict[str, Any], code: str) -> None:
    found = blockers(resolved(card, count, **spec))
    assert code in {blocker.code for blocker in found}
    assert all(blocker.message and blocker.params for blocker in found)


@pytest.mark.parametrize(
    ("card", "count", "spec"),
    [
        ("H100", 4, {"engine": {"name": "vllm"}, "parallel": {"tensor": 4}, "weights": "fp8"}),
        ("RTX 3090", 2, {"engine": {"name": "vllm"}, "weights": "awq"}),
        ("T4", 1, {"engine": {"name": "vllm"}}),
        ("RTX 4090", 1, {"engine": {"name": "ollama"}, "weights": "q4_k_m"}),
        ("MI300X", 1, {"engine": {"name": "vllm"}, "weights": "bf16"}),
        ("M4 Max", 1, {"engine": {"name": "mlx"}, "weights": "mlx-4bit-g64"}),
        ("M4 Max", 1, {"weights": "fp8"}),
        ("H100", 1, {"engine": {"name": "vllm"}, "kv_cache": "fp8"}),
        ("H100", 1, {"engine": {"name": "sglang"}, "kv_cache": "8bit"}),
        ("RTX 4090", 1, {"engine": {"name": "llama.cpp"}, "weights": "q4_k_m", "kv_cache": {"k": "q8_0", "v": "f16"}}),
        ("M4 Max", 1, {"engine": {"name": "mlx"}, "weights": "mlx-4bit-g64", "kv_cache": "8bit"}),
        ("RTX 4090", 1, {"engine": {"name": "exllamav3"}, "weights": "exl3-4bpw", "kv_cache": "q8_0"}),
    ],
)
def test_what_can_run(card: str, count: int, spec: dict[str, Any]) -> None:
    assert blockers(resolved(card, count, **spec)) == ()


@pytest.mark.parametrize(
    ("card", "spec", "code"),
    [
        ("RTX 3090", {"engine": {"name": "vllm"}, "weights": "fp8"}, "weight_only_kernels"),
        (
            "H100",
            {"model": "Qwen3-235B-A22B", "engine": {"name": "vllm"}, "weights": "fp8", "parallel": {"tensor": 8}},
            "experts_across_blocks",
        ),
        ("H100", {"engine": {"name": "vllm"}, "context_tokens": 500_000}, "context_beyond_model"),
        ("Arc Pro B70", {"engine": {"name": "vllm"}}, "engine_needs_plugin"),
    ],
)
def test_what_runs_with_a_caution(card: str, spec: dict[str, Any], code: str) -> None:
    assert code in {warning.code for warning in cautions(resolved(card, **spec))}


def test_idle_devices_are_named() -> None:
    found = cautions(resolved("H100", 4, engine={"name": "vllm"}, parallel={"tensor": 2}))
    assert [warning.code for warning in found] == ["devices_idle"]


def test_an_unnamed_card_needs_its_memory() -> None:
    with pytest.raises(UserError, match="memory_gb"):
        resolve(parse_spec({"model": LLAMA, "hardware": [{"count": 2}]}))


@pytest.mark.parametrize("engine", ["llama.cpp", "ollama", "transformers"])
def test_a_local_engine_cannot_run_before_it_fits(engine: str) -> None:
    spec = {
        "model": LLAMA,
        "weights": "mlx-4bit",
        "engine": {"name": engine},
        "hardware": [{"accelerator": "RTX 4090"}],
    }
    found = estimate_data(spec | {"context_tokens": 8192})
    assert (found.ok, found.verdict, found.fits) == (True, "no", False)
    assert found.reasons[0].params["blocker"] == "engine_without_format"


@pytest.mark.parametrize(
    ("engine", "settings"),
    [
        ({"name": "vllm", "gpu_layers": 5, "split_mode": "row", "swa_full": False}, ["gpu_layers", "split_mode"]),
        ({"name": "llama.cpp", "cpu_offload_gib": 4, "gpu_layers": 5}, ["cpu_offload_gib"]),
        ({"name": "mlx", "tensor_split": [1], "quantize_on_load": True}, ["tensor_split", "quantize_on_load"]),
        ({"name": "vllm", "cpu_offload_gib": 4}, None),
    ],
)
def test_settings_of_another_engine_are_named_as_not_counted(
    engine: dict[str, Any], settings: list[str] | None
) -> None:
    spec = {"model": "Llama 3.1 8B", "hardware": [{"accelerator": "H100"}], "context_tokens": 4096, "engine": engine}
    found = {warning.code: warning.params for warning in estimate_data(spec).warnings}
    assert found.get("setting_unused", {}).get("settings") == settings
