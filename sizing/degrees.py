"""Over how many devices tensors, layers and replicas are spread: as said, else as an engine does by itself."""

from __future__ import annotations

from sizing.devices import Device
from sizing.engines import ATTENTION_INSIDE, Engine
from sizing.gaps import Gaps
from sizing.spec import WorkloadSpec

_SLOTS = 8  # accelerators in a machine as servers are sold

Degrees = tuple[int, int, int]


def degrees_of(spec: WorkloadSpec, engine: Engine, devices: tuple[Device, ...], gaps: Gaps) -> Degrees:
    """(tensor, pipeline, data). `tensor` is what splits attention, whichever way that was said.

    SGLang's --dp-size and TensorRT-LLM's enable_attention_dp lie inside the tensor group: --tp-size 8 --dp-size 8 are eight devices,
    each with the whole attention; vLLM's 1 x 8 says the same. What needs more devices than there are is read as SGLang means it.
    """
    tensor, pipeline, data = _spread(spec, engine, devices, gaps)
    if not spec.engine.data_parallel_attention or engine.name not in ATTENTION_INSIDE or tensor == 1:
        return tensor, pipeline, data
    if data == 1 and (spec.parallel.data is None or engine.name == "tensorrt-llm"):
        gaps.fill("parallel.data", tensor, "attention_on_every_rank", devices=tensor)
        return 1, pipeline, tensor
    if data > 1 and tensor % data == 0 and tensor * pipeline * data > len(devices):
        return tensor // data, pipeline, data
    return tensor, pipeline, data


def _spread(spec: WorkloadSpec, engine: Engine, devices: tuple[Device, ...], gaps: Gaps) -> Degrees:
    asked = spec.parallel
    count = max(1, len(devices))
    tensor, pipeline, data = asked.tensor, asked.pipeline, asked.data
    if tensor is None and pipeline is None and data is None and count > 1:
        if engine.kind == "local" or engine.name == "transformers":
            gaps.fill("parallel.pipeline", count, "layer_split", devices=count)
            return 1, count, 1
        together = in_one_machine(devices)
        if count > together and count % together == 0:
            machines = count // together
            gaps.fill("parallel.tensor", together, "tensor_in_machine", devices=together)
            gaps.fill("parallel.pipeline", machines, "stage_per_machine", machines=machines)
            return together, machines, 1
        gaps.fill("parallel.tensor", count, "tensor_over_all", devices=count)
        return count, 1, 1
    if tensor is None:
        tensor = max(1, count // ((pipeline or 1) * (data or 1)))
        if engine.kind == "local" and pipeline is None:
            return 1, tensor, data or 1
    return tensor, pipeline or 1, data or 1


def in_one_machine(devices: tuple[Device, ...]) -> int:
    """How many of the devices share a fast link: eight in a machine, more where the link reaches over a rack (NVL72).

    Beyond it the exchange of every layer would go over the network; vLLM's documentation advises tensor parallelism within a
    machine and pipeline parallelism across machines ("Distributed inference and serving").
    """
    accelerator = devices[0].accelerator
    return max(_SLOTS, int((accelerator.interconnect.get("max_domain") if accelerator else None) or 0))
