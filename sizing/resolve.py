"""(spec, defaults) → resolved spec and assumptions: the one place where gaps are filled."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Accelerator, Format, KvFormat
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.contradictions import refuse_contradictions
from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.degrees import degrees_of
from sizing.devices import Device, expand, is_cpu, is_unified
from sizing.engines import FULL_CONTEXT_SERVERS, LLAMA_FAMILY, Engine, engine_named
from sizing.errors import UserError
from sizing.estimate import Assumption
from sizing.gaps import Gaps
from sizing.memory.weights import weights_bytes
from sizing.named_format import kv_formats_of, native_format, resolve_format, weights_of
from sizing.named_model import resolve_model
from sizing.spec import Beside, ModelRef, Speculative, WorkloadSpec
from sizing.units import GIB
from sizing.unread import DRAFT_METHOD, state_unread

__all__ = ["BesideModel", "Resolved", "busy_at_once", "native_format", "resolve", "resolve_format", "resolve_model"]


@dataclass(frozen=True, slots=True)
class BesideModel:
    """Another model on the same devices, as resolved; `architecture` is None where only its role is known."""

    role: str
    architecture: Architecture | None
    weights: Format
    count: int
    rank: int | None


@dataclass(frozen=True)
class Resolved:
    """A spec without gaps. Degrees of parallelism multiply to the number of devices where the layout is a server's."""

    spec: WorkloadSpec
    architecture: Architecture
    weights: Format
    kv_k: KvFormat
    kv_v: KvFormat
    engine: Engine
    context_tokens: int
    input_tokens: int | None
    output_tokens: int | None
    prior_tokens: int
    concurrency: int
    devices: tuple[Device, ...]
    tensor: int
    pipeline: int
    data: int
    expert: int
    context_parallel: int
    beside: tuple[BesideModel, ...]
    defaults: Defaults
    assumptions: tuple[Assumption, ...] = ()

    @property
    def is_llama_family(self) -> bool:
        """llama.cpp and the tools built on it."""
        return self.engine.name in LLAMA_FAMILY

    @property
    def ranks_per_replica(self) -> int:
        """Devices that together hold one copy of the model."""
        return max(1, self.tensor * self.pipeline)


def resolve(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> Resolved:
    """Fill every gap of an inference-like spec and say with what.

    Raises:
        UserError: a name is unknown, or the spec contradicts itself.
    """
    gaps = Gaps()
    model, written_format = resolve_model(spec.model, gaps)
    devices = expand(spec.hardware)
    engine = _engine(spec, written_format, model, devices, gaps)
    weights = weights_of(spec, written_format, model, engine, gaps)
    kv_k, kv_v = kv_formats_of(spec, model, weights, engine, gaps)
    context = _context(spec, model, engine, defaults, gaps)
    tensor, pipeline, data = degrees_of(spec, engine, devices, gaps)
    state_unread(spec, engine, model, gaps)
    resolved = Resolved(
        spec=spec,
        architecture=model,
        weights=weights,
        kv_k=kv_k,
        kv_v=kv_v,
        engine=engine,
        context_tokens=context,
        input_tokens=spec.input_tokens,
        output_tokens=spec.output_tokens,
        prior_tokens=spec.prior_context_tokens or 0,
        concurrency=_concurrency(spec, defaults, gaps),
        devices=devices,
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        expert=spec.parallel.expert or 1,
        context_parallel=spec.parallel.context or 1,
        beside=(*(_beside_at(n, entry) for n, entry in enumerate(spec.beside)), *_draft_model(spec)),
        defaults=defaults,
        assumptions=tuple(gaps.found),
    )
    refuse_contradictions(resolved)
    return _at_arrivals(resolved) if is_fed_by_arrivals(spec) else resolved


def is_fed_by_arrivals(spec: WorkloadSpec) -> bool:
    """Whether requests in flight follow from how they arrive: at a steady rate, not as a finite rush."""
    said = spec.concurrency or (spec.users and spec.active_share) or spec.load.requests
    return not said and bool(spec.load.rate_rps or spec.load.requests_per_day) and spec.task in ("inference", "rag")


def _at_arrivals(resolved: Resolved) -> Resolved:
    from sizing.arrivals import at_arrivals  # it plans what is resolved here

    return at_arrivals(resolved)


def _engine(
    spec: WorkloadSpec, written_format: str | None, model: Architecture, devices: tuple[Device, ...], gaps: Gaps
) -> Engine:
    asked = spec.engine
    if asked.name:
        return engine_named(asked.name, asked.version, asked.as_of)
    name = _customary_engine(spec.weights or written_format, devices)
    if name == "vllm" and not (spec.weights or written_format) and _overflows(model, devices):
        name = "llama.cpp"
    if name == "vllm" and spec.host.ram_gb and _needs_ram(spec.weights or written_format, model, devices):
        name = "llama.cpp"
    gaps.fill("engine.name", name, "customary_engine")
    return engine_named(name, asked.version, asked.as_of)


def _overflows(model: Architecture, devices: tuple[Device, ...]) -> bool:
    """Whether the checkpoint is larger than all the desktop cards together: then people load a Q4_K_M file in llama.cpp.

    A card known by its memory alone counts as one: nobody rents a "32 GB card".
    """
    kinds = {device.accelerator.kind if device.accelerator else "consumer" for device in devices}
    memory = sum(device.visible_gib or 0.0 for device in devices)
    return kinds == {"consumer"} and weights_bytes(model, native_format(model)) > memory * GIB


def _needs_ram(weights: str | None, model: Architecture, devices: tuple[Device, ...]) -> bool:
    """Whether the model overflows the cards in a format that llama.cpp has too ("4bit"): who names RAM then means to offload."""
    bits = 16.0
    if weights is not None:
        match = find(weights, "format")
        known = catalogue().formats.get(match.id or "")
        if known is None or known.kind != "generic":
            return False
        bits = float(known.nominal_bits or 16)
    return model.params_total * bits / 8 > sum(device.visible_gib or 0.0 for device in devices) * GIB


def _is_old(accelerator: Accelerator | None) -> bool:
    """Cards that servers no longer run on and that are bought used for llama.cpp: NVIDIA before Volta, AMD before CDNA 1."""
    if accelerator is None:
        return False
    if accelerator.vendor == "nvidia":
        return float(accelerator.compute_capability or 99) < 7.0
    return accelerator.vendor == "amd" and (accelerator.gfx or "").startswith(("gfx8", "gfx900", "gfx906"))


def _customary_engine(weights: str | None, devices: tuple[Device, ...]) -> str:
    if weights:
        ident = find(weights, "format").id or ""
        if ident.startswith(("gguf", "ik-")):
            return "ik_llama.cpp" if ident.startswith("ik-") else "llama.cpp"
        for prefix, engine in (("exl2", "exllamav2"), ("exl3", "exllamav3"), ("mlx", "mlx"), ("bnb", "transformers")):
            if ident.startswith(prefix):
                return engine
    first = devices[0].accelerator if devices else None
    if (
        is_cpu(first)
        or is_unified(first)
        or _is_old(first)
        or (first is not None and (first.vendor == "apple" or first.kind == "laptop"))
    ):
        return "llama.cpp"
    return "vllm"


def _context(spec: WorkloadSpec, model: Architecture, engine: Engine, defaults: Defaults, gaps: Gaps) -> int:
    if spec.context_tokens:
        return spec.context_tokens
    if spec.engine.total_context_tokens:
        return max(1, spec.engine.total_context_tokens // (spec.concurrency or 1))
    said = (spec.input_tokens or 0) + (spec.output_tokens or 0) + (spec.prior_context_tokens or 0)
    if said:
        gaps.fill("context_tokens", said, "sum_of_lengths")
        return said
    value, code = _default_context(model, engine, defaults)
    gaps.fill("context_tokens", value, code, engine=engine.name)
    return value


def _default_context(model: Architecture, engine: Engine, defaults: Defaults) -> tuple[int, str]:
    longest = model.max_position_tokens
    if defaults.context_tokens:
        return min(defaults.context_tokens, longest or defaults.context_tokens), "team_default"
    if engine.name in FULL_CONTEXT_SERVERS and longest:
        return longest, "model_maximum"
    if engine.name == "ollama":
        return 4096, "engine_default"
    return min(8192, longest or 8192), "fallback_context"


# A rate in total takes requests that add up to it; each is taken to flow faster than anybody reads (5-8 tokens/s), as services sell it.
_FLUENT_TOKENS_S = 20.0


def _concurrency(spec: WorkloadSpec, defaults: Defaults, gaps: Gaps) -> int:
    if spec.concurrency:
        return spec.concurrency
    if spec.users and spec.active_share:
        return max(1, math.ceil(spec.users * spec.active_share - 1e-9))
    if is_fed_by_arrivals(spec):
        return _at_peak(spec, gaps)
    if spec.users:
        busy = busy_at_once(spec.users, defaults.active_share)
        gaps.fill("concurrency", busy, "busy_at_once", users=spec.users, active_share=defaults.active_share)
        return busy
    total = spec.targets.tokens_s_total
    if total and spec.task in ("inference", "rag"):
        each = spec.targets.tokens_s_per_user or _FLUENT_TOKENS_S
        fed = max(1, math.ceil(total / each))
        gaps.fill("concurrency", fed, "feeds_the_total", tokens_s_total=total, tokens_s_per_user=each)
        return fed
    gaps.fill("concurrency", defaults.concurrency, "single_request")
    return defaults.concurrency


def at_first_guess(spec: WorkloadSpec, defaults: Defaults) -> int:
    """Requests in flight as far as they can be told without hardware."""
    return _concurrency(spec, defaults, Gaps())


PEAK_HOUR_SHARE = 0.2  # of a working day's questions; eight even hours would be 0.125
_USUAL_OUTPUT = 256


def _at_peak(spec: WorkloadSpec, gaps: Gaps) -> int:
    """Requests in flight in 19 of 20 moments at the rate said or of the busiest hour: arrivals times the time an answer takes to write,
    with its spread. A first guess; on hardware that is named its own pace takes the place of 20 tokens/s.

    3,000 questions a day, 20 % of them in one hour, answers of 256 tokens at 20 tokens/s: 0.167 x 12.8 = 2.1, with 1.645 roots 4.5.
    """
    daily = spec.load.requests_per_day or 0.0
    share = spec.load.peak_hour_share or PEAK_HOUR_SHARE
    arrivals = spec.load.rate_rps or daily * share / 3600
    mean = arrivals * (spec.output_tokens or _USUAL_OUTPUT) / (spec.targets.tokens_s_per_user or _FLUENT_TOKENS_S)
    busy = max(1, math.ceil(mean + 1.645 * math.sqrt(mean) - 1e-9))
    if spec.load.rate_rps:
        gaps.fill("concurrency", busy, "arrivals", per_minute=60 * spec.load.rate_rps)
    else:
        gaps.fill("concurrency", busy, "peak_of_the_day", requests_per_day=daily, peak_hour_share=share)
    return busy


def busy_at_once(users: int, active_share: float) -> int:
    """How many of `users` wait for an answer at once in 19 of 20 moments, each doing so with probability `active_share`.

    Normal approximation of the binomial: n p + 1.645 sqrt(n p (1 - p)). 10 people at 10 %: 3; 100: 15; 1,000: 116.
    """
    mean = users * active_share
    return max(1, min(users, math.ceil(mean + 1.645 * math.sqrt(mean * (1 - active_share)) - 1e-9)))


def _draft_model(spec: WorkloadSpec) -> tuple[BesideModel, ...]:
    """The model that speculation names, unless it is among those beside already. EAGLE, MTP and the like are parts of their target."""
    asked = spec.engine.speculative
    if not isinstance(asked, Speculative) or asked.model is None or any(entry.role == "draft" for entry in spec.beside):
        return ()
    if not DRAFT_METHOD.search(asked.method):
        return ()
    try:
        return (_beside(Beside(role="draft", model=ModelRef(id=asked.model))),)
    except UserError as fault:
        raise UserError("engine.speculative.model", asked.model, fault.message, fault.suggestions) from None


def _beside_at(place: int, entry: Beside) -> BesideModel:
    """A fault names the entry: "weights" alone would be those of the model itself."""
    try:
        return _beside(entry)
    except UserError as fault:
        raise UserError(f"beside.{place}.{fault.field}", fault.value, fault.message, fault.suggestions) from None


def _beside(entry: Beside) -> BesideModel:
    model = resolve_model(entry.model)[0] if entry.model else None
    weights = (
        resolve_format(entry.weights)
        if entry.weights
        else native_format(model)
        if model
        else catalogue().formats["bf16"]
    )
    return BesideModel(entry.role, model, weights, entry.count or 1, entry.rank)
