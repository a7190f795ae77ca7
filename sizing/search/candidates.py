"""What may run on a machine: engines x number formats x KV formats x layouts, in the order in which they are preferred there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Accelerator
from sizing.devices import is_unified
from sizing.engines import engine_named
from sizing.resolve import native_format, resolve_format
from sizing.search.machines import Machine
from sizing.spec import EngineRef, Parallel, WorkloadSpec

# Tasks whose engine, formats and layout are searched; the others are sized as they stand on each machine.
SERVED = frozenset({"inference", "rag"})

Quality = Literal["native", "lossless", "very_small", "small", "noticeable", "severe"]

# llama.cpp and its kin serve a household or a desk: beyond this many people or requests at once a batching server is proposed instead.
MOST_LOCAL_AUDIENCE = 4
# Where no server has kernels for a model on a card (MXFP4 on Radeon), llama.cpp still serves an office this large.
_MOST_LOCAL_AT_A_PINCH = 10
# AMD's GPUs that vLLM builds are made for (sizing.compatibility warns for the others).
_VLLM_GFX = frozenset({"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201"})
_GGUF = ("gguf-q8_0", "gguf-q6_k", "gguf-q5_k_m", "gguf-q4_k_m")
_LEAST_BITS_OF: tuple[tuple[float, Quality], ...] = (
    (7.9, "lossless"),
    (6.0, "very_small"),
    (5.0, "small"),
    (3.9, "noticeable"),
)


@dataclass(frozen=True, slots=True)
class Setup:
    """An engine with number formats, before it is laid out: what decides memory and quality, whatever the machine's size."""

    engine: str
    weights: str
    bits: float
    kv_cache: str | None
    local: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setup on one machine in one layout, before it is estimated."""

    machine: Machine
    setup: Setup
    tensor: int
    pipeline: int
    data: int

    @property
    def replica(self) -> int:
        """Devices that hold one copy of the model."""
        return self.tensor * self.pipeline

    def proposal(self, spec: WorkloadSpec) -> WorkloadSpec:
        """The spec with this hardware and layout; tasks without a serving engine only take the hardware."""
        if spec.task not in SERVED:
            return spec.model_copy(update={"hardware": (self.machine.hardware,)})
        engine = spec.engine if spec.engine.name else spec.engine.model_copy(update={"name": self.setup.engine})
        return spec.model_copy(
            update={
                "hardware": (self.machine.hardware,),
                "weights": self.setup.weights,
                "kv_cache": spec.kv_cache or self.setup.kv_cache,
                "engine": engine,
                "parallel": Parallel(tensor=self.tensor, pipeline=self.pipeline, data=self.data),
            }
        )


def setups(
    device: Accelerator, spec: WorkloadSpec, model: Architecture, floor_bits: float, audience: int
) -> tuple[Setup, ...]:
    """Engines and formats that run on a device, the preferred first: 8 bit and the checkpoint's own format before 16 bit before less;
    a narrower KV cache only after the engine's own."""
    native = native_format(model).id
    if spec.task not in SERVED:
        return (Setup("", spec.weights or native, _bits(spec.weights or native), None, False),)
    engines = _engines(device, spec.engine, audience, spec.constraints.vendor is not None)
    if engines == ("vllm",) and not spec.engine.name and audience <= _MOST_LOCAL_AT_A_PINCH:
        kernels = any(True for _ in _formats(spec.weights, native, device, False, floor_bits))
        engines = engines if kernels else ("llama.cpp",)
    found = [
        Setup(name, weights, bits, kv_cache, local)
        for name in engines
        for local in (engine_named(name, None, None).kind != "server",)
        for weights, bits in _formats(spec.weights, native, device, local, floor_bits)
        for kv_cache in _kv_formats(spec, device, local)
    ]
    return tuple(sorted(found, key=lambda one: (_preference(one.bits), one.local, one.kv_cache is not None)))


def _preference(bits: float) -> float:
    """8 bit is as good as 16 and faster; below 8 bits the wider the better."""
    return 0.0 if 7.9 <= bits < 10 else 1.0 if bits >= 10 else 10.0 - bits


def _engines(device: Accelerator, asked: EngineRef, audience: int, vendor_named: bool) -> tuple[str, ...]:
    if asked.name:
        return (asked.name,)
    few = audience <= MOST_LOCAL_AUDIENCE
    server = _runs_vllm(device) and (few or not is_unified(device) or vendor_named)
    if not server:
        return ("llama.cpp",) if few or (vendor_named and device.vendor == "apple") else ()
    local = few and (device.kind in ("consumer", "laptop", "soc") or audience == 1)
    return ("vllm", "llama.cpp") if local else ("vllm",)


def _runs_vllm(device: Accelerator) -> bool:
    if device.vendor == "nvidia":
        return device.kind != "laptop"
    return (device.vendor == "amd" and not is_unified(device) and device.gfx in _VLLM_GFX) or device.id == "amd-mi300a"


@lru_cache(maxsize=4096)
def _formats(
    weights: str | None, native: str, device: Accelerator, local: bool, floor_bits: float
) -> tuple[tuple[str, float], ...]:
    if weights:
        chosen = resolve_format(weights)
        same_world = chosen.kind == "generic" or chosen.id.startswith(("gguf", "ik-")) == local
        return ((weights, _bits(weights)),) if same_world else ()
    names = _local_formats(native) if local else _server_formats(native, device)
    return tuple(
        (name, bits) for name in dict.fromkeys(names) if (bits := _bits(name)) >= min(floor_bits, _bits(native))
    )


def _local_formats(native: str) -> tuple[str, ...]:
    """GGUF files people make; a model published in 4 bits has one that keeps them."""
    return ("gguf-mxfp4_moe",) if _bits(native) < 5 else _GGUF


def _server_formats(native: str, device: Accelerator) -> Iterator[str]:
    """8 bit (unless the checkpoint is narrower), the checkpoint's own format, 4 bit (unless it is that already)."""
    bits = _bits(native)
    eight = _eight_bit(device)
    if eight and bits >= 9:
        yield eight
    if _has_kernel(native, device):
        yield native
    if bits >= 5:
        yield "awq-int4" if device.vendor == "nvidia" else "gptq-int4"


def _eight_bit(device: Accelerator) -> str | None:
    """FP8 where the device multiplies it, INT8 (W8A8) on Turing and Ampere, neither on the rest."""
    if device.fp8_tflops is not None:
        return "fp8"
    return "int8-w8a8" if device.vendor == "nvidia" else None


def _has_kernel(name: str, device: Accelerator) -> bool:
    """Whether vLLM has kernels: 16 bit from Ampere on, FP8 weight-only from Ampere on, MXFP4 and NVFP4 likewise."""
    capability = float(device.compute_capability or 0)
    if device.vendor == "amd":
        return ("fp8" not in name and "fp4" not in name) or device.gfx in ("gfx942", "gfx950")
    return capability >= 8.0


@lru_cache(maxsize=256)
def _bits(name: str) -> float:
    chosen = resolve_format(name)
    if chosen.bits_per_weight:
        return chosen.bits_per_weight
    return float(chosen.nominal_bits or 4.25)


def _kv_formats(spec: WorkloadSpec, device: Accelerator, local: bool) -> tuple[str | None, ...]:
    """The engine's own, and 8 bit where the device has it, unless the user chose."""
    if spec.kv_cache is not None:
        return (None,)
    if local:
        return (None, "q8_0")
    eight = float(device.compute_capability or 0) >= 8.9 or device.gfx in ("gfx942", "gfx950")
    return (None, "fp8") if eight else (None,)


def quality(name: str, model: Architecture) -> Quality:
    """The class of loss against the published checkpoint: its own format loses nothing, 8 bit next to nothing, 4 bit noticeably."""
    if _bits(name) >= _bits(native_format(model).id) - 0.3:
        return "native"
    return next((word for least, word in _LEAST_BITS_OF if _bits(name) >= least), "severe")


def layouts(machine: Machine, setup: Setup, heads: int | None, concurrency: int) -> tuple[tuple[int, int, int], ...]:
    """(tensor, pipeline, data) over all devices; replicas no more than requests. The simplest first: replicas, tensor, then pipeline."""
    if not setup.engine:
        return ((1, machine.count, 1),)
    return _splits(machine.count, heads or 0, setup.local, min(concurrency, machine.count))


@lru_cache(maxsize=1024)
def _splits(count: int, heads: int, local: bool, most_replicas: int) -> tuple[tuple[int, int, int], ...]:
    degrees = [degree for degree in range(1, count + 1) if count % degree == 0]
    if local:
        return tuple((1, count // data, data) for data in reversed(degrees) if data <= most_replicas)
    if count & (count - 1):
        return ()  # servers are laid out over powers of two
    found = [
        (tensor, pipeline, count // (tensor * pipeline))
        for tensor in degrees
        for pipeline in degrees
        if count % (tensor * pipeline) == 0
        and (not heads or heads % tensor == 0)
        and tensor <= 8
        and (pipeline == 1 or tensor * pipeline == count)
    ]
    return tuple(
        sorted((one for one in found if one[2] <= most_replicas), key=lambda one: (one[1] > 1, -one[2], one[1]))
    )
