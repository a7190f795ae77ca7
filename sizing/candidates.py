"""Hardware that may be proposed for a workload: devices x counts x layouts x formats, pruned by arithmetic before any estimate.

The bounds are optimistic (weights and KV spread perfectly, no overhead; decode at the roofline of bandwidth), so that what they drop
cannot fit or cannot meet its target; what they keep is estimated in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.devices import is_unified, visible_gib
from sizing.memory.weights import weights_bytes
from sizing.resolve import native_format, resolve_format
from sizing.spec import Constraints, WorkloadSpec
from sizing.units import GIB

_COUNTS = (1, 2, 4, 8)
_KINDS = frozenset({"consumer", "workstation", "datacenter", "soc", "apu"})
_SERVER_FORMATS = ("fp8", "awq-int4")
_LOCAL_FORMATS = ("gguf-q8_0", "gguf-q6_k", "gguf-q5_k_m", "gguf-q4_k_m")
_LOCAL_ENGINES = frozenset({"llama.cpp", "ollama", "lm-studio", "ik_llama.cpp"})
_EU_WORDS = frozenset({"eu", "europe", "europa", "eea", "ewr"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """One machine in one layout with one format, before it is estimated."""

    accelerator: Accelerator
    count: int
    tensor: int
    pipeline: int
    data: int
    engine: str
    weights: str
    bits: float


@dataclass(frozen=True, slots=True)
class Need:
    """What a workload needs at least, in bytes: weights by format, KV for everything in flight, and the bytes one token reads."""

    weights_bytes: Mapping[str, float]
    kv_bytes: float
    active_share: float
    concurrency: int


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a group of candidates was not considered further, and how many there were."""

    candidate: str
    code: str
    count: int = 1


def machines(constraints: Constraints, defaults: Defaults) -> tuple[tuple[Accelerator, ...], tuple[Rejection, ...]]:
    """(devices that may be proposed, why the others may not)."""
    kept: list[Accelerator] = []
    dropped: list[Rejection] = []
    for device in catalogue().accelerators.values():
        code = _barred(device, constraints, defaults)
        if code:
            dropped.append(Rejection(device.name, code))
        else:
            kept.append(device)
    return tuple(kept), tuple(dropped)


def _barred(device: Accelerator, constraints: Constraints, defaults: Defaults) -> str | None:
    if device.status == "announced":
        return "announced_only"
    if device.kind not in _KINDS or not device.memory_gb or not device.bandwidth_gb_s:
        return "not_a_general_accelerator"
    if device.vendor == "nvidia" and float(device.compute_capability or 0) < 7.5:
        return "too_old"
    if device.vendor not in _wanted_vendors(constraints) or device.vendor in _names(constraints.exclude_vendor):
        return "vendor_excluded"
    if _cloud(constraints, defaults) is True and not catalogue().offers_for(device.id):
        return "not_rentable"
    if constraints.nvlink is True and "nvlink" not in str(device.interconnect["type"]).lower():
        return "no_nvlink"
    return None


def _cloud(constraints: Constraints, defaults: Defaults) -> bool | None:
    return constraints.cloud if constraints.cloud is not None else defaults.cloud


def _wanted_vendors(constraints: Constraints) -> frozenset[str]:
    return _names(constraints.vendor) or frozenset({"nvidia", "amd", "apple", "intel"})


def _names(value: str | list[str] | None) -> frozenset[str]:
    return frozenset(name.lower() for name in ([value] if isinstance(value, str) else value or ()))


def expand(
    devices: Sequence[Accelerator], spec: WorkloadSpec, model: Architecture, floor_bits: float
) -> Iterator[Candidate]:
    """Every layout of every count of every device, with the formats that device can run."""
    for device in devices:
        engine = spec.engine.name or _engine_for(device)
        formats = _formats(spec, model, device, engine, floor_bits)
        for count in _counts(device, spec.constraints):
            for tensor, pipeline, data in _layouts(count, engine, model):
                for name, bits in formats:
                    yield Candidate(device, count, tensor, pipeline, data, engine, name, bits)


def _engine_for(device: Accelerator) -> str:
    return "llama.cpp" if is_unified(device) or device.vendor in ("apple", "intel") else "vllm"


def _counts(device: Accelerator, constraints: Constraints) -> Iterator[int]:
    limit = 1 if is_unified(device) else constraints.max_devices or 8
    if device.kind == "consumer":
        limit = min(limit, 4)  # what a desktop or a small server holds of two- and three-slot cards
    yield from (count for count in _COUNTS if count <= limit)


@lru_cache(maxsize=4096)
def _splits(count: int, heads: int, local: bool) -> tuple[tuple[int, int, int], ...]:
    if local:
        return ((1, count, 1),) if count == 1 else ((1, count, 1), (1, 1, count))
    degrees = [tensor for tensor in range(1, count + 1) if count % tensor == 0 and heads % tensor == 0]
    return tuple((tensor, 1, count // tensor) for tensor in degrees)


def _layouts(count: int, engine: str, model: Architecture) -> tuple[tuple[int, int, int], ...]:
    local = engine in _LOCAL_ENGINES or engine == "mlx"
    return _splits(count, model.heads or count, local)


def _formats(
    spec: WorkloadSpec, model: Architecture, device: Accelerator, engine: str, floor_bits: float
) -> tuple[tuple[str, float], ...]:
    local = engine in _LOCAL_ENGINES
    if spec.weights and not _same_world(spec.weights, local):
        return ()
    if spec.weights:
        return ((spec.weights, _bits(spec.weights)),) if _runs(spec.weights, device) else ()
    names = _LOCAL_FORMATS if local else (native_format(model).id, *_SERVER_FORMATS)
    found = [(name, _bits(name)) for name in dict.fromkeys(names) if _runs(name, device)]
    return tuple((name, bits) for name, bits in found if bits >= floor_bits)


@lru_cache(maxsize=256)
def _same_world(weights: str, local: bool) -> bool:
    """GGUF files belong to llama.cpp and its kin, the other formats to servers; "4bit" belongs to both."""
    chosen = resolve_format(weights)
    return chosen.kind == "generic" or chosen.id.startswith(("gguf", "ik-")) == local


@lru_cache(maxsize=256)
def _bits(name: str) -> float:
    return resolve_format(name).bits_per_weight or 4.25


def _runs(name: str, device: Accelerator) -> bool:
    """FP8 maths from Ada on (and CDNA3); weight-only kernels for the 4-bit formats from Turing on."""
    if "fp8" in name:
        return device.fp8_tflops is not None
    if name in ("mxfp4", "nvfp4"):
        return device.vendor == "nvidia" and float(device.compute_capability or 0) >= 8.0
    if name == "bf16" and device.vendor == "nvidia":
        return float(device.compute_capability or 0) >= 8.0
    return True


def may_fit(candidate: Candidate, need: Need) -> bool:
    """Whether weights and KV could fit if they were spread perfectly over all the memory there is."""
    seen, _ = _visible(candidate.accelerator)
    if seen is None:
        return False
    per_replica = seen * GIB * 0.98 * candidate.tensor * candidate.pipeline
    weights = need.weights_bytes[candidate.weights]
    return weights + need.kv_bytes / candidate.data <= per_replica


def may_reach(candidate: Candidate, need: Need, tokens_s_per_user: float | None) -> bool:
    """Whether the bandwidth could serve one user's rate if nothing else took time."""
    if not tokens_s_per_user or not candidate.accelerator.bandwidth_gb_s:
        return True
    read = need.weights_bytes[candidate.weights] * need.active_share
    return candidate.accelerator.bandwidth_gb_s * 1e9 * candidate.tensor / read >= tokens_s_per_user


@lru_cache(maxsize=512)
def _visible(device: Accelerator) -> tuple[float | None, bool]:
    return visible_gib(device, None)


def need_of(model: Architecture, names: Sequence[str], kv_bytes: float, concurrency: int) -> Need:
    """The lower bounds of a workload for the formats in question."""
    sizes = {name: weights_bytes(model, resolve_format(name)) for name in names}
    return Need(sizes, kv_bytes, model.params_active / model.params_total, concurrency)


def in_europe(location: str | None) -> bool:
    """Whether a stated location asks for the European Union (or EFTA, UK)."""
    return location is not None and location.lower() in _EU_WORDS
