"""Which number formats are meant, of weights and of the cache, and which engines take by themselves."""

from __future__ import annotations

import re
from functools import lru_cache

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Format, KvFormat
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.engines import FULL_CONTEXT_SERVERS, LLAMA_FAMILY, Engine
from sizing.errors import UserError
from sizing.gaps import Gaps
from sizing.spec import KvCacheRef, WorkloadSpec

_FREE_MIX = re.compile(r"(?:gguf-)?(?:ud-)?q(?P<bits>[2-6])_k_[a-z0-9]{1,4}")
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


def weights_of(
    spec: WorkloadSpec,
    written: str | None,
    model: Architecture,
    engine: Engine,
    gaps: Gaps,
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
    if engine.name in LLAMA_FAMILY and chosen.id == "mxfp4" and "gguf-mxfp4_moe" in catalogue().formats:
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
    if engine.name in LLAMA_FAMILY or engine.name == "ktransformers":
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
        "exllama" if engine.name.startswith("exllama") else "llama.cpp" if engine.name in LLAMA_FAMILY else engine.name
    )
    ident = (
        customary.get(kind) or customary.get("vllm") or customary.get("llama.cpp") or next(iter(customary.values()), "")
    )
    if ident in catalogue().formats:
        return catalogue().formats[ident]
    if generic.nominal_bits == 16 or generic.id == "16bit":
        return catalogue().formats["fp16" if "fp16" in model.native_dtype else "bf16"]
    return resolve_format(ident) if ident else native_format(model)


def kv_formats_of(
    spec: WorkloadSpec, model: Architecture, weights: Format, engine: Engine, gaps: Gaps
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
    if engine.name in FULL_CONTEXT_SERVERS and model.attention_type == "mla-compressed":
        return "fp8", "engine_default"
    if engine.name in FULL_CONTEXT_SERVERS and weights.id == "nvfp4":
        return "fp8", "checkpoint_default"
    if engine.name == "tensorrt-llm" and weights.id == "fp8-pertensor":
        return "fp8", "checkpoint_default"
    return "fp16" if engine.name in LLAMA_FAMILY or model.native_dtype == "fp16" else "bf16", "engine_default"


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
    if engine in LLAMA_FAMILY:
        return "kv-q"
    return {"mlx": "kv-mlx", "exllamav2": "kv-q", "exllamav3": "kv-exl3"}.get(engine, "")
