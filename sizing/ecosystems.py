"""Chips beside GPUs: what software they bind one to, where they are had, and when not to take them. Codes; figures in the catalogue."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from sizing.catalogue.entries import Accelerator

Family = Literal["gpu", "tpu", "neuron", "gaudi", "npu_server", "npu_client", "unified", "cpu", "wafer", "other"]
Had = Literal["anywhere", "one_cloud", "servers_of_eight", "laptops", "racks"]


@dataclass(frozen=True, slots=True)
class Ecosystem:
    """`software` binds, `engines` known to run, `had` where it can be had, `porting` 0 (none) to 3 (rewrite), `not_when` codes."""

    family: Family
    software: tuple[str, ...]
    engines: tuple[str, ...]
    had: Had
    porting: int
    suits: tuple[str, ...]
    not_when: tuple[str, ...]

    def data(self) -> dict[str, Any]:
        return asdict(self)


# vLLM's platforms: https://docs.vllm.ai/en/latest/getting_started/installation/gpu/ (TPU and Neuron plugins), Gaudi and Ascend plugins by
# their own documentation; Inferentia and Trainium with AWS only, TPU with Google; Gaudi is sold by Intel in servers of eight.
_KNOWN: dict[Family, Ecosystem] = {
    "gpu": Ecosystem(
        "gpu", ("cuda", "rocm"), ("vllm", "sglang", "tensorrt-llm", "llama.cpp"), "anywhere", 0, ("everything",), ()
    ),
    "tpu": Ecosystem(
        "tpu",
        ("xla", "jax"),
        ("vllm", "jetstream"),
        "one_cloud",
        2,
        ("large_training", "steady_serving"),
        ("own_premises", "gguf_or_awq", "one_small_model", "custom_kernels"),
    ),
    "neuron": Ecosystem(
        "neuron",
        ("neuron-sdk",),
        ("vllm", "optimum-neuron"),
        "one_cloud",
        2,
        ("steady_serving", "encoders"),
        ("own_premises", "gguf_or_awq", "new_architectures", "changing_shapes"),
    ),
    "gaudi": Ecosystem(
        "gaudi",
        ("synapse", "pytorch"),
        ("vllm", "optimum-habana", "tgi"),
        "servers_of_eight",
        1,
        ("serving", "training"),
        ("single_card", "gguf_or_awq", "custom_kernels"),
    ),
    "npu_server": Ecosystem(
        "npu_server",
        ("cann",),
        ("vllm", "mindie"),
        "servers_of_eight",
        2,
        ("serving",),
        ("gguf_or_awq", "support_in_europe"),
    ),
    "npu_client": Ecosystem(
        "npu_client",
        ("openvino", "qnn", "onnx"),
        ("openvino",),
        "laptops",
        2,
        ("small_models",),
        ("servers", "large_models", "several_users"),
    ),
    "unified": Ecosystem(
        "unified",
        ("metal", "mlx", "rocm", "cuda"),
        ("llama.cpp", "mlx", "ollama"),
        "anywhere",
        0,
        ("one_user", "mixtures_of_experts"),
        ("many_users", "long_prompts", "large_dense_models"),
    ),
    "cpu": Ecosystem(
        "cpu",
        ("x86", "arm"),
        ("llama.cpp", "vllm"),
        "anywhere",
        0,
        ("rare_use", "batch", "embeddings"),
        ("interactive_large_models",),
    ),
    "wafer": Ecosystem(
        "wafer", ("vendor-sdk",), ("vendor",), "racks", 3, ("fast_single_stream",), ("own_premises", "custom_models")
    ),
    "other": Ecosystem("other", ("vendor-sdk",), ("vendor",), "anywhere", 2, (), ("new_architectures",)),
}

_BY_VENDOR: dict[str, Family] = {
    "google": "tpu",
    "aws": "neuron",
    "huawei": "npu_server",
    "cerebras": "wafer",
    "sambanova": "wafer",
    "tenstorrent": "other",
}


def ecosystem_of(accelerator: Accelerator) -> Ecosystem:
    """The ecosystem that an accelerator binds to."""
    return _KNOWN[family_of(accelerator)]


def family_of(accelerator: Accelerator) -> Family:
    """GPU unless its vendor or kind says otherwise."""
    if accelerator.kind == "cpu":
        return "cpu"
    if accelerator.kind in ("soc", "apu"):
        return "unified"
    if accelerator.vendor == "intel" and accelerator.kind == "asic":
        return "gaudi"
    return _BY_VENDOR.get(accelerator.vendor, "gpu")


def ecosystem(family: Family) -> Ecosystem:
    """The ecosystem of a family."""
    return _KNOWN[family]
