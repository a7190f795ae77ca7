"""What lies beside weights, cache and activations: context and communication, captured CUDA graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sizing.devices import Device, has_fabric, is_unified
from sizing.memory.serving import constants as c
from sizing.memory.serving.layout import Layout
from sizing.memory.serving.settings import Settings
from sizing.resolve import Resolved
from sizing.units import GIB


@dataclass(frozen=True, slots=True)
class Graphs:
    """Captured CUDA graphs: what they take, and what an engine subtracts from its budget for them beforehand."""

    taken_bytes: float
    reserved_bytes: float
    sizes: int

    @property
    def inside(self) -> bool:
        """Whether they are part of the engine's budget."""
        return self.reserved_bytes > 0


def non_torch_bytes(resolved: Resolved, device: Device, layout: Layout, settings: Settings) -> float:
    """Driver context, libraries and communication buffers that count against the budget."""
    alone = layout.ranks_per_replica == 1 and layout.expert_degree == 1
    if is_unified(device.accelerator):
        return (c.NON_TORCH_UNIFIED_GIB if alone else c.NON_TORCH_UNIFIED_PARALLEL_GIB) * GIB
    if (
        device.accelerator is not None
        and device.accelerator.vendor == "intel"
        and device.accelerator.kind != "datacenter"
    ):
        return c.NON_TORCH_INTEL_GIB * GIB
    usual = _alone_gib(device, settings) if alone else _parallel_gib(device, layout, settings)
    return usual * GIB + _radeon_bytes(resolved, device, settings)


def _alone_gib(device: Device, settings: Settings) -> float:
    vendor = device.accelerator.vendor if device.accelerator is not None else None
    if vendor == "huawei":
        return c.NON_TORCH_ASCEND_GIB
    if settings.release >= (0, 27, 0):
        return c.NON_TORCH_FROM_027_GIB
    if vendor == "amd":
        return c.NON_TORCH_ROCM_GIB
    return c.NON_TORCH_FROM_014_GIB if settings.release >= (0, 14, 0) else c.NON_TORCH_GIB


def _parallel_gib(device: Device, layout: Layout, settings: Settings) -> float:
    if settings.release < (0, 14, 0):
        nvidia = device.accelerator is None or device.accelerator.vendor == "nvidia"
        return c.NON_TORCH_PARALLEL_V1_GIB if settings.v1 and nvidia else c.NON_TORCH_PARALLEL_GIB
    if not has_fabric(device.accelerator):
        return c.NON_TORCH_PCIE_FROM_014_GIB
    return c.NON_TORCH_NVLINK_FROM_014_GIB * communicators(layout)


def communicators(layout: Layout) -> int:
    """Groups of ranks with buffers of their own over a fabric: those of a replica, replicas that share experts, and experts."""
    experts = layout.whole_experts or layout.expert_degree > layout.tensor
    return max(1, (layout.ranks_per_replica > 1) + (layout.data > 1 and experts) + experts)


def _radeon_bytes(resolved: Resolved, device: Device, settings: Settings) -> float:
    accelerator = device.accelerator
    if (
        accelerator is None
        or accelerator.vendor != "amd"
        or settings.release >= c.RADEON_EARLY_UNTIL
        or not settings.v1
    ):
        return 0.0
    windowed = (
        any(layer.window_tokens for layer in resolved.architecture.layers) and resolved.architecture.modality != "text"
    )
    return 0.0 if windowed or accelerator.memory_type.startswith("HBM") else c.RADEON_EARLY_GIB * GIB


def graphs_of(resolved: Resolved, settings: Settings) -> Graphs:
    """CUDA graphs of one rank; none in eager mode."""
    if not settings.graphs or resolved.engine.name != "vllm":
        return Graphs(0.0, 0.0, 0)
    sizes = capture_sizes(settings.sequences, 992 if resolved.architecture.name == "gpt_oss" else 512)
    layers = max(1, len(resolved.architecture.layers)) / max(1, resolved.pipeline)
    rocm = is_rocm(resolved)
    per_size = _taken_gib(resolved, rocm)
    taken = (c.GRAPH_FLOOR_GIB + layers * sizes * per_size) * GIB
    if settings.release < c.GRAPHS_INSIDE_FROM:
        return Graphs(taken, 0.0, sizes)
    return Graphs(taken, (c.GRAPH_FLOOR_GIB + layers * sizes * _estimate_gib(resolved, rocm)) * GIB, sizes)


def _taken_gib(resolved: Resolved, rocm: bool) -> float:
    if rocm:
        return c.GRAPH_GIB_PER_LAYER_AND_SIZE_ROCM
    model = resolved.architecture
    plain = c.GRAPH_GIB_PER_LAYER_AND_SIZE_EXPERTS if model.is_moe else c.GRAPH_GIB_PER_LAYER_AND_SIZE
    if model.name == "gpt_oss":
        plain = c.GRAPH_GIB_PER_LAYER_AND_SIZE_GPT_OSS
    return plain / math.sqrt(math.sqrt(max(1, resolved.tensor)))


def _estimate_gib(resolved: Resolved, rocm: bool) -> float:
    """What vLLM reckons per layer and captured size before it captures; smaller shards, smaller graphs."""
    if rocm:
        return c.GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE_ROCM
    dense, experts = c.GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE, c.GRAPH_ESTIMATE_GIB_PER_LAYER_AND_SIZE_EXPERTS
    return (experts if resolved.architecture.is_moe else dense) / max(1, resolved.tensor)


def capture_sizes(sequences: int, most: int = 512) -> int:
    """Batch sizes that vLLM captures: 1, 2, 4, then steps of 8 to 256 and of 16 to 512 (992 for gpt-oss), up to twice max_num_seqs:
    51 sizes for 256 sequences and more, 5 for 8."""
    largest = min(2 * sequences, most)
    small = sum(size <= largest for size in (1, 2, 4))
    return small + min(largest, 256) // 8 + max(0, largest - 256) // 16


def is_rocm(resolved: Resolved) -> bool:
    """Whether the engine runs on ROCm."""
    accelerator = resolved.devices[0].accelerator if resolved.devices else None
    return resolved.spec.engine.backend == "rocm" or (accelerator is not None and accelerator.vendor == "amd")


def weights_extra_bytes(resolved: Resolved) -> float:
    """What engines report among the weights beside them."""
    if resolved.engine.name == "sglang":
        return c.SGLANG_WEIGHTS_EXTRA_GIB * GIB
    return c.ROCM_WORKSPACE_GIB * GIB if is_rocm(resolved) else 0.0
