"""(spec, defaults) → resolved spec and assumptions: the one place where gaps are filled."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn

from sizing.architecture.from_config import architecture_from_config
from sizing.architecture.from_size import architecture_from_size
from sizing.architecture.lookup import architecture
from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Accelerator, Format, KvFormat
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.contradictions import refuse_contradictions
from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.devices import Device, expand, is_cpu, is_unified
from sizing.engines import Engine, engine_named
from sizing.errors import UserError
from sizing.estimate import Assumption
from sizing.memory.weights import weights_bytes
from sizing.spec import Beside, KvCacheRef, ModelRef, Speculative, WorkloadSpec
from sizing.units import GIB

_LLAMA_FAMILY = frozenset({"llama.cpp", "ik_llama.cpp", "ollama", "lm-studio"})
_SERVER_CONTEXT = frozenset({"vllm", "sglang", "tensorrt-llm"})
_FREE_MIX = re.compile(r"(?:gguf-)?(?:ud-)?q(?P<bits>[2-6])_k_[a-z0-9]{1,4}")
# Words that make a name mean several models ("27B class"), none ("32B AWQ (unnamed)") or a part of one.
_VAGUE = re.compile(r"\bclass\b|\bunnamed\b|\(talker\)|\d\.x\b|(?<=\d)b?/\d", re.IGNORECASE)
_SIZE_TOLERANCE = 1.5
_DRAFT_METHOD = re.compile(r"draft|separate|assist|small", re.IGNORECASE)
_ANY_RATE = re.compile(r"exl[23]", re.IGNORECASE)
_META_FP8 = re.compile(r"meta-llama/.*-fp8", re.IGNORECASE)  # Meta's own FP8 checkpoints leave attention in 16 bit
_NATIVE_ALIASES = {
    "fp32": "fp32",
    "bf16": "bf16",
    "fp16": "fp16",
    "fp8": "fp8-block128",
    "mxfp4": "mxfp4",
    "nvfp4": "nvfp4",
    "int4": "gptq-int4-g32",
}


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
        return self.engine.name in _LLAMA_FAMILY

    @property
    def ranks_per_replica(self) -> int:
        """Devices that together hold one copy of the model."""
        return max(1, self.tensor * self.pipeline)


@dataclass
class _Gaps:
    found: list[Assumption] = field(default_factory=list)

    def fill(self, name: str, value: object, code: str, **params: object) -> None:
        self.found.append(Assumption(field=name, value=value, code=code, params=params))


def resolve(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> Resolved:
    """Fill every gap of an inference-like spec and say with what.

    Raises:
        UserError: a name is unknown, or the spec contradicts itself.
    """
    gaps = _Gaps()
    model, written_format = resolve_model(spec.model, gaps)
    devices = expand(spec.hardware)
    engine = _engine(spec, written_format, model, devices, gaps)
    weights = _weights(spec, written_format, model, engine, gaps)
    kv_k, kv_v = _kv_formats(spec, model, weights, engine, gaps)
    context = _context(spec, model, engine, defaults, gaps)
    tensor, pipeline, data = _layout(spec, engine, devices, gaps)
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
        beside=(*(_beside(entry) for entry in spec.beside), *_draft_model(spec)),
        defaults=defaults,
        assumptions=tuple(gaps.found),
    )
    refuse_contradictions(resolved)
    return resolved


def resolve_model(ref: ModelRef | None, gaps: _Gaps | None = None) -> tuple[Architecture, str | None]:
    """(architecture, number format that the written name implies).

    Raises:
        UserError: no model is named, or the name is unknown.
    """
    gaps = gaps or _Gaps()
    if ref is None or (ref.id is None and ref.config is None and ref.params_b is None):
        raise UserError("model.id", None, 'name a model ("Llama 3.3 70B"), a size ("70B") or paste its config.json')
    if ref.config is not None:
        return _configured(_SameRef(ref)), None
    if ref.id is None:
        gaps.fill("model", f"{ref.params_b:g}B", "typical_shape", params_b=ref.params_b)
        return architecture_from_size(ref.params_b or 0, ref.active_params_b), None
    match = find(ref.id, "model")
    vague = _VAGUE.search(ref.id)
    if vague and match.via != "exact":
        _refuse_vague(ref.id, vague.group().strip(" ()"), match.candidates[:3] or match.suggestions)
    if match.id is not None:
        if len(match.candidates) > 1:
            gaps.fill("model", match.id, "customary_model", written=ref.id, candidates=list(match.candidates))
        return _of_that_size(architecture(match.id), ref), match.format
    size = ref.params_b or match.params_b
    if size and (ref.params_b or match.via == "size only"):
        gaps.fill("model", f"{size:g}B", "typical_shape", params_b=size, written=ref.id)
        return architecture_from_size(size, ref.active_params_b), match.format
    hint = (
        f"; did you mean {' or '.join(match.suggestions)}?"
        if match.suggestions
        else "; paste its config.json or give its size"
    )
    raise UserError("model.id", ref.id, f"unknown model {ref.id!r}{hint}", match.suggestions)


def _refuse_vague(name: str, word: str, suggestions: tuple[str, ...]) -> NoReturn:
    hint = f"name one model, such as {' or '.join(suggestions)}" if suggestions else "name one model"
    message = f"{name!r} is no single model ({word!r}); {hint}, give a size alone, or paste a config.json"
    raise UserError("model.id", name, message, suggestions)


def _of_that_size(model: Architecture, ref: ModelRef) -> Architecture:
    """The model named, unless the size beside the name is another's; people round, and count towers and drafts or leave them out."""
    if ref.params_b is None or not model.params_total:
        return model
    ratio = ref.params_b * 1e9 / model.params_total
    if 1 / _SIZE_TOLERANCE <= ratio <= _SIZE_TOLERANCE:
        return model
    has = f"{model.params_total / 1e9:.3g}"
    raise UserError(
        "model.params_b",
        ref.params_b,
        f"{model.id} has {has} billion parameters, not {ref.params_b:g}; leave model.params_b out, or name the model of that size",
        (has,),
    )


@dataclass(frozen=True, eq=False)
class _SameRef:
    """A model reference compared by identity: copies of a spec share it, and its config is parsed once for all of them."""

    ref: ModelRef

    def __hash__(self) -> int:
        return id(self.ref)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameRef) and other.ref is self.ref


@lru_cache(maxsize=16)
def _configured(key: _SameRef) -> Architecture:
    return architecture_from_config(key.ref.config or {}, key.ref.id or "config.json")


def resolve_format(name: str) -> Format:
    """The weight format behind a written name.

    Raises:
        UserError: unknown format.
    """
    match = find(name, "format")
    if match.id is None:
        hint = (
            f"; did you mean {' or '.join(match.suggestions)}?"
            if match.suggestions
            else "; try bf16, fp8, awq or q4_k_m"
        )
        raise UserError("weights", name, f"unknown number format {name!r}{hint}", match.suggestions)
    known = catalogue().formats.get(match.id)
    if known is not None:
        return known
    return _rated(match.id, match.bits_per_weight)


@lru_cache(maxsize=256)
def _rated(ident: str, bits: float | None) -> Format:
    """EXL2/EXL3 at any rate: not an entry of its own."""
    return Format(
        id=ident,
        aliases=(),
        kind="weights",
        sources=(),
        bits_per_weight=bits or float(ident.rstrip("bpw").rsplit("-", 1)[-1]),
    )


def _engine(
    spec: WorkloadSpec, written_format: str | None, model: Architecture, devices: tuple[Device, ...], gaps: _Gaps
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


def _weights(
    spec: WorkloadSpec,
    written: str | None,
    model: Architecture,
    engine: Engine,
    gaps: _Gaps,
) -> Format:
    name = spec.weights or written
    if name is None:
        customary = customary_weights(model, engine)
        gaps.fill("weights", customary.id, "customary_weights", engine=engine.name)
        return customary
    chosen = _mix_like(name) or resolve_format(name)
    if chosen.id not in (name, f"gguf-{name}") and find(name, "format").id is None:
        gaps.fill("weights", chosen.id, "unknown_mix", written=name)
    if _ANY_RATE.fullmatch(name.strip()):
        raise UserError(
            "weights", name, f"{name} files exist at any rate: say which, such as {name}-3bpw, {name}-4bpw or {name}-6bpw",
            (f"{name}-4bpw",),
        )  # fmt: skip
    if chosen.id == "fp8-pertensor" and _META_FP8.fullmatch(spec.model.id if spec.model and spec.model.id else ""):
        chosen = catalogue().formats["fp8-mlp"]
    if engine.name in _LLAMA_FAMILY and chosen.id == "mxfp4" and "gguf-mxfp4_moe" in catalogue().formats:
        chosen = catalogue().formats["gguf-mxfp4_moe"]
    if chosen.kind == "generic":
        chosen = _meant(chosen, model, engine)
        gaps.fill("weights", chosen.id, "generic_format", written=name, engine=engine.name)
    return chosen


def _mix_like(name: str) -> Format | None:
    """The usual GGUF file of the same bits for a mix nobody listed ("q2_k_p"); None where the name is known or no such mix."""
    written = _FREE_MIX.fullmatch(name.strip().lower())
    if written is None or find(name, "format").id is not None:
        return None
    bits = written.group("bits")
    return catalogue().formats.get(f"gguf-q{bits}_k_m") or catalogue().formats.get(f"gguf-q{bits}_k")


def customary_weights(model: Architecture, engine: Engine) -> Format:
    """What people load where nobody says a format: Q4_K_M in llama.cpp and its kin, else the checkpoint's own."""
    formats = catalogue().formats
    if engine.name in _LLAMA_FAMILY or engine.name == "ktransformers":
        return formats["gguf-mxfp4_moe"] if model.name == "gpt_oss" else formats["gguf-q4_k_m"]
    if engine.name == "mlx":
        return formats["mlx-4bit-g64"]
    if engine.name.startswith("exllama"):
        return _rated("exl3-4bpw" if engine.name == "exllamav3" else "exl2-4bpw", 4.0)
    return native_format(model)


def native_format(model: Architecture) -> Format:
    """The format of the published checkpoint: "fp8+mxfp4 experts" counts as mxfp4, whose rest is fp8."""
    native = model.native_dtype.lower().replace("+fp4", "+mxfp4")
    for key in ("mxfp4", "nvfp4", "int4", "fp8", "fp16", "fp32", "bf16"):
        if key in native:
            return catalogue().formats[_NATIVE_ALIASES[key]]
    return catalogue().formats["bf16"]


def _meant(generic: Format, model: Architecture, engine: Engine) -> Format:
    customary = generic.customary or {}
    kind = (
        "exllama" if engine.name.startswith("exllama") else "llama.cpp" if engine.name in _LLAMA_FAMILY else engine.name
    )
    ident = (
        customary.get(kind) or customary.get("vllm") or customary.get("llama.cpp") or next(iter(customary.values()), "")
    )
    if ident in catalogue().formats:
        return catalogue().formats[ident]
    if generic.nominal_bits == 16 or generic.id == "16bit":
        return catalogue().formats["fp16" if "fp16" in model.native_dtype else "bf16"]
    return resolve_format(ident) if ident else native_format(model)


def _kv_formats(
    spec: WorkloadSpec, model: Architecture, weights: Format, engine: Engine, gaps: _Gaps
) -> tuple[KvFormat, KvFormat]:
    asked = spec.kv_cache
    pair = (asked.k, asked.v) if isinstance(asked, KvCacheRef) else (asked, asked)
    if pair == (None, None):
        name, code = _default_kv(model, weights, engine)
        gaps.fill("kv_cache", name, code, engine=engine.name)
        pair = (name, name)
    first = pair[0] or pair[1]
    return resolve_kv_format(first, engine.name), resolve_kv_format(pair[1] or first, engine.name)


def _default_kv(model: Architecture, weights: Format, engine: Engine) -> tuple[str, str]:
    """(format, why): NVFP4 checkpoints ask for an FP8 cache, as do those that TensorRT-LLM's own tool makes in FP8; DeepSeek V4's
    compressed attention is only served with one."""
    if engine.name in _SERVER_CONTEXT and model.attention_type == "mla-compressed":
        return "fp8", "engine_default"
    if engine.name in _SERVER_CONTEXT and weights.id == "nvfp4":
        return "fp8", "checkpoint_default"
    if engine.name == "tensorrt-llm" and weights.id == "fp8-pertensor":
        return "fp8", "checkpoint_default"
    return "fp16" if engine.name in _LLAMA_FAMILY or model.native_dtype == "fp16" else "bf16", "engine_default"


def resolve_kv_format(name: str | None, engine: str = "") -> KvFormat:
    """The KV-cache format behind a written name; "auto" is the 16-bit default, "8bit" what the engine stores in that width.

    Raises:
        UserError: unknown format.
    """
    if name is None or name.lower() == "auto":
        return catalogue().kv_formats["kv-bf16"]
    match = find(name, "kv_format")
    if match.id is None:
        raise UserError(
            "kv_cache", name, f"unknown KV-cache format {name!r}; try bf16, fp8, q8_0 or q4_0", match.suggestions
        )
    own = _kv_family(engine)
    meant = next((one for one in match.candidates if one.startswith(own)), match.id) if own else match.id
    return catalogue().kv_formats[meant]


def _kv_family(engine: str) -> str:
    """How the ids of an engine's own cache formats begin; empty for servers, whose formats come first in the catalogue."""
    if engine in _LLAMA_FAMILY:
        return "kv-q"
    return {"mlx": "kv-mlx", "exllamav2": "kv-q", "exllamav3": "kv-exl3"}.get(engine, "")


def _context(spec: WorkloadSpec, model: Architecture, engine: Engine, defaults: Defaults, gaps: _Gaps) -> int:
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
    if engine.name in _SERVER_CONTEXT and longest:
        return longest, "model_maximum"
    if engine.name == "ollama":
        return 4096, "engine_default"
    return min(8192, longest or 8192), "fallback_context"


# A rate in total takes requests that add up to it; each is taken to flow faster than anybody reads (5-8 tokens/s), as services sell it.
_FLUENT_TOKENS_S = 20.0


def _concurrency(spec: WorkloadSpec, defaults: Defaults, gaps: _Gaps) -> int:
    if spec.concurrency:
        return spec.concurrency
    if spec.users and spec.active_share:
        return max(1, math.ceil(spec.users * spec.active_share - 1e-9))
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


def busy_at_once(users: int, active_share: float) -> int:
    """How many of `users` wait for an answer at once in 19 of 20 moments, each doing so with probability `active_share`.

    Normal approximation of the binomial: n p + 1.645 sqrt(n p (1 - p)). 10 people at 10 %: 3; 100: 15; 1,000: 116.
    """
    mean = users * active_share
    return max(1, min(users, math.ceil(mean + 1.645 * math.sqrt(mean * (1 - active_share)) - 1e-9)))


def _layout(spec: WorkloadSpec, engine: Engine, devices: tuple[Device, ...], gaps: _Gaps) -> tuple[int, int, int]:
    asked = spec.parallel
    count = max(1, len(devices))
    tensor, pipeline, data = asked.tensor, asked.pipeline, asked.data
    if tensor is None and pipeline is None and data is None and count > 1:
        if engine.kind == "local" or engine.name == "transformers":
            gaps.fill("parallel.pipeline", count, "layer_split", devices=count)
            return 1, count, 1
        gaps.fill("parallel.tensor", count, "tensor_over_all", devices=count)
        return count, 1, 1
    if tensor is None:
        tensor = max(1, count // ((pipeline or 1) * (data or 1)))
        if engine.kind == "local" and pipeline is None:
            return 1, tensor, data or 1
    return tensor, pipeline or 1, data or 1


def _draft_model(spec: WorkloadSpec) -> tuple[BesideModel, ...]:
    """The model that speculation names, unless it is among those beside already. EAGLE, MTP and the like are parts of their target."""
    asked = spec.engine.speculative
    if not isinstance(asked, Speculative) or asked.model is None or any(entry.role == "draft" for entry in spec.beside):
        return ()
    if not _DRAFT_METHOD.search(asked.method):
        return ()
    try:
        return (_beside(Beside(role="draft", model=ModelRef(id=asked.model))),)
    except UserError as fault:
        raise UserError("engine.speculative.model", asked.model, fault.message, fault.suggestions) from None


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
