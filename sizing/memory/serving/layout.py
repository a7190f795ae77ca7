"""Which rank holds what: pipeline stages, and the degrees by which tensors and experts are split."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.architecture.types import Layer
from sizing.resolve import Resolved


@dataclass(frozen=True, slots=True)
class Layout:
    """Degrees as an engine applies them. `attention_tensor` is smaller than `tensor` where attention runs data-parallel,
    `spare_experts` are copies that balance the load (EPLB), shared among all ranks like the experts themselves."""

    tensor: int
    attention_tensor: int
    expert_degree: int
    pipeline: int
    data: int
    context: int
    whole_experts: bool
    spare_experts: int = 0

    @property
    def ranks_per_replica(self) -> int:
        """Devices that together hold one copy of the model (attention counted once)."""
        return self.tensor * self.pipeline


def layout_of(resolved: Resolved) -> Layout:
    """The layout of a resolved spec.

    Experts are spread over tensor x data ranks under expert parallelism. SGLang's attention data parallelism replicates
    attention inside the tensor group, so that each of its ranks keeps its own sequences.
    """
    tensor, data = max(1, resolved.tensor), max(1, resolved.data)
    asked = resolved.spec.parallel.expert or 1
    attention = tensor
    if (
        resolved.spec.engine.data_parallel_attention
        and resolved.engine.name == "sglang"
        and data > 1
        and tensor % data == 0
    ):
        attention = tensor // data
        data = 1 if len(resolved.devices) <= tensor * resolved.pipeline else data
    degree = max(tensor, asked) if asked > 1 else tensor
    if resolved.spec.engine.data_parallel_attention and asked == 1 and resolved.engine.name == "vllm":
        degree = tensor * data
    return Layout(
        tensor,
        attention,
        degree,
        max(1, resolved.pipeline),
        data,
        max(1, resolved.context_parallel),
        asked > 1,
        resolved.spec.engine.redundant_experts or 0,
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
