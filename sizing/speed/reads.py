"""What one step of a model reads and computes: bytes and FLOPs, by what they scale with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from sizing.architecture.types import Architecture, Layer, TensorClass
from sizing.catalogue.entries import Format, KvFormat
from sizing.memory.weights import bits_per_weight, weights_by_class
from sizing.resolve import Resolved
from sizing.units import GIB

FormatKind = Literal[
    "16bit", "fp8", "int8", "int4", "nvfp4", "mxfp4", "kquant", "legacy", "iq", "gguf8", "exl", "mlx", "bnb", "other"
]

_MXFP4_BITS = 4.25
_GGUF_REST_BITS = (
    8.5  # GGUF files of MXFP4 models keep the rest in Q8_0: 3.5 GB a token for gpt-oss-120b, 5 GB with 16 bits
)

# Looked up by token, or used once a request: not read by every step.
_NOT_READ: frozenset[TensorClass] = frozenset({"embedding", "vision", "audio", "per_layer_embedding"})


@dataclass(frozen=True)
class Weights:
    """Bytes a step reads and parameters it multiplies with, for a whole model. `expert_*` count all routed experts.

    `lookup_bytes` are tables of which a token reads one row; of a tied embedding they count here and, as the head, among the dense.
    """

    dense_bytes: float
    expert_bytes: float
    dense_params: float
    expert_params: float
    total_bytes: float
    lookup_bytes: float
    experts: int
    experts_per_token: int
    blocks: float
    moe_blocks: int
    hidden: int
    vocab: int
    kind: FormatKind
    bits: float

    @property
    def active_params(self) -> float:
        """Parameters that one token is multiplied with."""
        share = self.experts_per_token / self.experts if self.experts else 0.0
        return self.dense_params + self.expert_params * share


@dataclass(frozen=True, slots=True)
class Cache:
    """KV bytes of one sequence: full and index layers grow with the context, windows up to their width, states not at all."""

    full_bytes: float
    index_bytes: float
    windows: tuple[tuple[int, float], ...]
    state_bytes: float
    top_tokens: int | None
    kv_heads: int

    def read_bytes(self, context_tokens: float) -> float:
        """Bytes one decode step reads for one sequence."""
        seen = min(context_tokens, self.top_tokens) if self.top_tokens else context_tokens
        windowed = sum(min(context_tokens, width) * size for width, size in self.windows)
        return self.full_bytes * seen + self.index_bytes * context_tokens + windowed + 2 * self.state_bytes

    def held_bytes(self, context_tokens: float) -> float:
        """Bytes one sequence of that length occupies."""
        windowed = sum(min(context_tokens, width) * size for width, size in self.windows)
        return (self.full_bytes + self.index_bytes) * context_tokens + windowed + self.state_bytes


class _Key:
    """Architectures compare by identity: hashing a whole model would cost more than what it saves."""

    __slots__ = ("model", "rest")

    def __init__(self, model: Architecture, *rest: object) -> None:
        self.model, self.rest = model, rest

    def __hash__(self) -> int:
        return hash((id(self.model), *(getattr(part, "id", part) for part in self.rest)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.model is self.model and other.rest == self.rest


def weights_read(resolved: Resolved) -> Weights:
    """The weights of a deployment; a stated file size scales every class."""
    base = _weights(_Key(resolved.architecture, resolved.weights))
    if base.kind == "mxfp4" and base.experts and resolved.is_llama_family:
        base = replace(
            base, dense_bytes=base.dense_params * _GGUF_REST_BITS / 8, expert_bytes=base.expert_params * _MXFP4_BITS / 8
        )
    size = resolved.spec.engine.file_size_gib
    if not size or not base.total_bytes:
        return base
    ratio = size * GIB / base.total_bytes
    if not 0.4 < ratio < 2.5:
        return base
    return replace(
        base,
        dense_bytes=base.dense_bytes * ratio,
        expert_bytes=base.expert_bytes * ratio,
        total_bytes=size * GIB,
        lookup_bytes=base.lookup_bytes * ratio,
        bits=base.bits * ratio,
    )


@lru_cache(maxsize=2048)
def _weights(key: _Key) -> Weights:
    model, chosen = key.model, key.rest[0]
    assert isinstance(chosen, Format)
    sizes, counts = weights_by_class(model, chosen), model.params
    skipped = _NOT_READ - ({"embedding"} if model.tied_embeddings and not model.params.get("head") else set())
    if model.modality in ("embedding", "reranker"):
        skipped = _NOT_READ
    read: list[TensorClass] = [name for name in sizes if name not in skipped and name != "expert"]
    return Weights(
        dense_bytes=sum(sizes[name] for name in read),
        expert_bytes=sizes.get("expert", 0.0),
        dense_params=float(sum(max(0, counts[name]) for name in read)),
        expert_params=float(counts.get("expert", 0)),
        total_bytes=sum(sizes.values()),
        lookup_bytes=sum(size for name, size in sizes.items() if name in _NOT_READ),
        experts=model.moe.experts if model.moe else 0,
        experts_per_token=model.moe.experts_per_token if model.moe else 0,
        blocks=_blocks(model),
        moe_blocks=model.moe.moe_layers if model.moe else 0,
        hidden=model.hidden_size or 1024,
        vocab=model.vocab_size,
        kind=format_kind(chosen),
        bits=bits_per_weight(chosen),
    )


def _blocks(model: Architecture) -> float:
    """Layers, where a layer with only a mixer or only an MLP counts half (Nemotron-H: 52 entries, 26 blocks)."""
    mixers = sum(layer.kind != "none" for layer in model.layers)
    return (mixers + sum(_has_mlp(layer) for layer in model.layers)) / 2


def _has_mlp(layer: Layer) -> bool:
    return layer.is_moe or layer.params.get("mlp", 0) > 0


def format_kind(chosen: Format) -> FormatKind:
    """The family of kernels that a format is computed with."""
    ident = chosen.id
    for prefixes, kind in _KINDS:
        if ident.startswith(prefixes):
            return kind
    if chosen.kind.startswith("gguf"):
        return "kquant"
    return "16bit" if bits_per_weight(chosen) >= 16 else "other"


_KINDS: tuple[tuple[tuple[str, ...], FormatKind], ...] = (
    (("gguf-ud-iq", "gguf-iq", "ik-iq", "gguf-tq", "gguf-type-iq", "gguf-type-tq"), "iq"),
    (("gguf-q8", "gguf-ud-q8", "gguf-type-q8"), "gguf8"),
    (("gguf-q4_0", "gguf-q4_1", "gguf-q5_0", "gguf-q5_1", "gguf-type-q4_0"), "legacy"),
    (("gguf-mxfp4", "gguf-type-mxfp4", "mxfp4"), "mxfp4"),
    (("bf16", "fp16", "fp32", "mixed-16"), "16bit"),
    (("fp8", "mxfp8"), "fp8"),
    (("int8", "gptq-int8"), "int8"),
    (("awq", "gptq-int4", "hqq", "mlc"), "int4"),
    (("nvfp4",), "nvfp4"),
    (("exl",), "exl"),
    (("mlx",), "mlx"),
    (("bnb",), "bnb"),
)


def cache(resolved: Resolved, *, halved: bool = False) -> Cache:
    """KV cache of one sequence in the deployment's formats; `halved` where the engine stores 8 bits by itself."""
    found = _cache(_Key(resolved.architecture, resolved.kv_k, resolved.kv_v))
    if not halved:
        return found
    windows = tuple((width, size / 2) for width, size in found.windows)
    return replace(found, full_bytes=found.full_bytes / 2, windows=windows)


@lru_cache(maxsize=2048)
def _cache(key: _Key) -> Cache:
    model, k, v = key.model, key.rest[0], key.rest[1]
    assert isinstance(k, KvFormat) and isinstance(v, KvFormat)
    element = (k.bytes_per_element_at(model.head_dim) + v.bytes_per_element_at(model.head_dim)) / 2
    windows: dict[int, float] = {}
    for layer in model.layers:
        if layer.window_tokens:
            windows[layer.window_tokens] = windows.get(layer.window_tokens, 0.0) + layer.kv_elements_per_token * element
    state, conv = model.state_elements_per_sequence
    return Cache(
        full_bytes=model.kv_elements_per_token * element,
        index_bytes=float(model.index_elements_per_token),
        windows=tuple(windows.items()),
        state_bytes=4.0 * state + 2.0 * conv,
        top_tokens=model.mla.index_topk if model.mla else None,
        kv_heads=1 if model.mla else max(1, model.kv_heads),
    )


@lru_cache(maxsize=1024)
def _attention_shape(key: _Key) -> tuple[tuple[int | None, float], ...]:
    shapes: dict[int | None, float] = {}
    for layer in key.model.layers:
        if layer.kind in ("full", "sliding", "chunked"):
            width = layer.heads * (layer.head_dim + layer.v_head_dim)
            shapes[layer.window_tokens] = shapes.get(layer.window_tokens, 0.0) + width
    return tuple(shapes.items())


def attention_shape(model: Architecture) -> tuple[tuple[float, float], ...]:
    """(most tokens seen, width in heads x dimensions) of every kind of attention layer."""
    most = float(model.mla.index_topk) if model.mla is not None and model.mla.index_topk else math.inf
    return tuple((min(most, window or math.inf), width) for window, width in _attention_shape(_Key(model)))


def attention_flops(shape: tuple[tuple[float, float], ...], new_tokens: float, prior_tokens: float) -> float:
    """FLOPs of attention itself for new tokens after a cached prefix: each pair of tokens costs 2 x heads x (qk + v dim)."""
    seen = prior_tokens + new_tokens / 2
    total = 0.0
    for most, width in shape:
        total += 2 * new_tokens * (seen if seen < most else most) * width
    return total
