"""Which rank holds what: pipeline stages, and the degrees by which tensors and experts are split."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.architecture.types import Layer
from sizing.engines import ATTENTION_INSIDE
from sizing.resolve import Resolved


@dataclass(frozen=True, slots=True)
class Layout:
    """Degrees as an engine applies them. `attention_tensor` is smaller than `tensor` where attention runs data-parallel inside the
    tensor group: the group then holds `attention_replicas` copies of attention, each with sequences and a cache of its own.
    `spare_experts` are copies that balance the load (EPLB), shared among all ranks like the experts themselves; `whole_head` says that
    the output layer is copied with attention."""

    tensor: int
    attention_tensor: int
    expert_degree: int
    pipeline: int
    data: int
    context: int
    whole_experts: bool
    spare_experts: int = 0
    attention_replicas: int = 1
    whole_head: bool = False

    @property
    def caches(self) -> int:
        """Groups of ranks that each keep the cache of their own sequences."""
        return self.data * self.attention_replicas

    @property
    def ranks_per_replica(self) -> int:
        """Devices that together hold one copy of the model (attention counted once)."""
        return self.tensor * self.pipeline


def layout_of(resolved: Resolved) -> Layout:
    """The layout of a resolved spec.

    Experts are spread over tensor x data ranks under expert parallelism. vLLM's attention ranks are engines of their own, with all but
    the experts copied. In SGLang and TensorRT-LLM they lie inside one tensor group, which goes on splitting everything but attention
    and the embedding (and the output layer in SGLang alone: `compute_dp_attention_world_info` in
    https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/layers/dp_attention.py).
    """
    tensor, data = max(1, resolved.tensor), max(1, resolved.data)
    apart = bool(resolved.spec.engine.data_parallel_attention) and data > 1
    asked = resolved.spec.parallel.expert or 1
    group = tensor * data if apart and resolved.engine.name in ATTENTION_INSIDE else tensor
    inside = group > tensor
    degree = group if inside else max(tensor, asked) if asked > 1 else tensor
    if apart and asked == 1 and resolved.engine.name == "vllm":
        degree = tensor * data
    return Layout(
        tensor=group,
        attention_tensor=tensor,
        expert_degree=degree,
        pipeline=max(1, resolved.pipeline),
        data=1 if inside else data,
        context=max(1, resolved.context_parallel),
        whole_experts=asked > 1,
        spare_experts=resolved.spec.engine.redundant_experts or 0,
        attention_replicas=data if inside else 1,
        whole_head=inside and resolved.engine.name != "sglang",
    )


def stage_sizes(layers: int, stages: int) -> tuple[int, ...]:
    """Layers per pipeline stage: the rest goes to stages from the last but one backwards, as vLLM does (the last has the head)."""
    base, rest = divmod(layers, stages)
    sizes = [base] * stages
    for n in range(rest):
        sizes[(stages - 2 - n) % stages] += 1
    return tuple(sizes)


def stages_of(layers: tuple[Layer, ...], stages: int) -> tuple[tuple[Layer, ...], ...]:
    """The layers of every pipeline stage, in order."""
    found: list[tuple[Layer, ...]] = []
    start = 0
    for size in stage_sizes(len(layers), stages):
        found.append(layers[start : start + size])
        start += size
    return tuple(found)
