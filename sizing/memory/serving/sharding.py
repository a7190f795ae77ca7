"""Bytes of weights on one rank: what is split, what every rank repeats, and what the allocator rounds up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

from sizing.architecture.types import Architecture, Layer, TensorClass
from sizing.catalogue.entries import Format
from sizing.memory.serving.layout import Layout, stages_of
from sizing.memory.weights import bits_per_weight, class_bits, scheme
from sizing.units import MIB, pad_to

_Part = TypeVar("_Part")

_REPLICATED: frozenset[TensorClass] = frozenset({"mla_down", "indexer", "router", "norm"})
_VOCABULARY_PAD = 64  # vLLM pads the vocabulary to a multiple of 64 before splitting it
_LARGE_BYTES = 10 * MIB
_SEGMENT_BYTES = 2 * MIB
_ROTARY_WIDTH = 128
_EXPERT_PAD = 256  # mxfp4 kernels want expert widths in multiples of 256 per rank, the hidden size in multiples of 128
_HIDDEN_PAD = 128


# Servers keep n-gram tables in host memory: V4.1-Flash is 476 GB on disk and 291 GiB on eight cards.
_HOST_TABLES = frozenset({"qwen4_exp", "deepseek_v41"})


@dataclass(frozen=True, slots=True)
class RankWeights:
    """Bytes on one rank: `sharded` is this rank's part of what is split, `replicated` what it repeats (rotary tables included),
    `rounding` what the allocator adds, `host` what stays in RAM."""

    sharded_bytes: float
    replicated_bytes: float
    rounding_bytes: float
    host_bytes: float = 0.0

    @property
    def total_bytes(self) -> float:
        """Everything the engine reports as model weights."""
        return self.sharded_bytes + self.replicated_bytes + self.rounding_bytes


class _Key:
    __slots__ = ("chosen", "layout", "model", "rocm", "without_vision")

    def __init__(self, model: Architecture, chosen: Format, layout: Layout, without_vision: bool, rocm: bool) -> None:
        self.model, self.chosen, self.layout, self.without_vision, self.rocm = (
            model,
            chosen,
            layout,
            without_vision,
            rocm,
        )

    def __hash__(self) -> int:
        return hash((id(self.model), self.chosen.id, self.layout, self.without_vision, self.rocm))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Key)
            and other.model is self.model
            and other.chosen is self.chosen
            and (other.layout, other.without_vision, other.rocm) == (self.layout, self.without_vision, self.rocm)
        )


def rank_weights(
    model: Architecture, chosen: Format, layout: Layout, *, without_vision: bool = False, rocm: bool = False
) -> tuple[RankWeights, ...]:
    """Weights per rank, one entry for every pipeline stage (all tensor-parallel ranks of a stage hold the same)."""
    return _rank_weights(_Key(model, chosen, layout, without_vision, rocm))


@lru_cache(maxsize=4096)
def _rank_weights(key: _Key) -> tuple[RankWeights, ...]:
    stages = stages_of(key.model.layers, key.layout.pipeline) if key.model.layers else ((),) * key.layout.pipeline
    last = len(stages) - 1
    return tuple(_stage(key, layers, first=n == 0, last=n == last) for n, layers in enumerate(stages))


def _stage(key: _Key, layers: tuple[Layer, ...], *, first: bool, last: bool) -> RankWeights:
    sharded = replicated = 0.0
    for split, repeated in _each(layers, partial(_shares, key)):
        sharded += split
        replicated += repeated
    host = 0.0
    for name, size in _outside(key, first, last).items():
        if name == "per_layer_embedding" and key.model.name in _HOST_TABLES:
            host += size / key.layout.attention_tensor
        else:
            sharded += size / _outside_degree(key.layout, name)
    return RankWeights(sharded, replicated + _rotary_bytes(key.model), _rounding(key, layers, first, last), host)


def _each(layers: tuple[Layer, ...], of: Callable[[Layer], Sequence[_Part]]) -> Iterator[_Part]:
    """The parts of every layer in order; layers that differ in their index alone are worked out once."""
    known: dict[object, Sequence[_Part]] = {}
    for layer in layers:
        alike = (
            layer.heads,
            layer.kv_heads,
            layer.head_dim,
            layer.v_head_dim,
            layer.kv_elements_per_token,
            layer.is_moe,
        )
        shape = (*alike, *layer.params.items())
        if shape not in known:
            known[shape] = of(layer)
        yield from known[shape]


def _shares(key: _Key, layer: Layer) -> list[tuple[float, float]]:
    """(this rank's part of what is split, what every rank repeats) of each class of tensors."""
    found = []
    for name, count in layer.params.items():
        size = count * class_bits(key.model, key.chosen, name) / 8 * _padding(key, name) * _copies(key, name)
        degree = _degree(key, layer, name)
        found.append((size / degree, 0.0) if degree > 1 or name not in _REPLICATED else (0.0, size))
    return found


def _rotary_bytes(model: Architecture) -> float:
    """The table of sines and cosines for every position in 16 bit: 32 MiB for 131,072 positions, 2.5 GiB for Scout's 10M."""
    if not model.max_position_tokens or not model.heads:
        return 0.0
    width = model.mla.qk_rope_head_dim if model.mla is not None else min(model.head_dim, _ROTARY_WIDTH)
    return 2.0 * model.max_position_tokens * (width if not model.linear_layers else width / 2)


def _degree(key: _Key, layer: Layer, name: TensorClass) -> int:
    layout = key.layout
    if name in _REPLICATED:
        return 1
    if name == "expert":
        return layout.expert_degree
    if name == "kv_projection":
        return max(1, min(layout.attention_tensor, layer.kv_heads or 1))
    if name in ("attention", "linear_mixer"):
        return layout.attention_tensor
    return layout.tensor


def _outside(key: _Key, first: bool, last: bool) -> Mapping[TensorClass, float]:
    model, chosen = key.model, key.chosen
    found: dict[TensorClass, float] = {}
    for name, count in model.outside.items():
        here = last if name == "head" else first
        if name == "embedding" and model.tied_embeddings and last:
            here = True
        if not here or (key.without_vision and name in ("vision", "audio")):
            continue
        found[name] = (
            _loaded_params(model, name, count) * class_bits(model, chosen, name) / 8 * _tower_factor(key, name)
        )
    return found


def _tower_factor(key: _Key, name: TensorClass) -> float:
    """Quantised Gemma 3 keeps its tower in fp32: 13.53 GiB loaded for 12B in FP8, 14.28 a rank for 27B at TP 2."""
    return 2.0 if name == "vision" and key.model.family == "Gemma 3" and bits_per_weight(key.chosen) < 16 else 1.0


def _loaded_params(model: Architecture, name: TensorClass, count: int) -> float:
    if name in ("embedding", "head") and model.vocab_size:
        return count * pad_to(model.vocab_size, _VOCABULARY_PAD) / model.vocab_size
    if name == "audio":
        return min(count, _OMNI_TOWERS.get(model.family, count))
    return count


# Omni models publish a thinker and a talker; text servers load the thinker with its towers only
# (Qwen2.5-Omni-7B: 16.73 GiB = 14.19 + 2.5; Qwen3-Omni in 4 bit: 19.21 = 15.7 + 3.5).
_OMNI_TOWERS = {"Qwen2.5-Omni": 1_340_000_000, "Qwen3-Omni": 1_900_000_000}


def _outside_degree(layout: Layout, name: TensorClass) -> int:
    return layout.tensor if name == "head" and not layout.whole_head else layout.attention_tensor


def _copies(key: _Key, name: TensorClass) -> float:
    """Spare experts (EPLB) are whole copies: 32 beside 256 are an eighth more."""
    moe = key.model.moe
    return 1.0 + key.layout.spare_experts / moe.experts if name == "expert" and moe is not None else 1.0


def _padding(key: _Key, name: TensorClass) -> float:
    """mxfp4 expert kernels work on padded widths: gpt-oss-20b's 2880 become 3072 x 2944, 9 % more."""
    model = key.model
    if name != "expert" or model.moe is None or not key.chosen.id.startswith("mxfp4"):
        return 1.0
    spread = key.layout.expert_degree > key.layout.tensor or key.layout.whole_experts
    width = model.moe.intermediate_size if spread else max(1, model.moe.intermediate_size // key.layout.tensor)
    hidden = model.hidden_size or _HIDDEN_PAD
    return pad_to(width, _EXPERT_PAD) / width * pad_to(hidden, _EXPERT_PAD if key.rocm else _HIDDEN_PAD) / hidden


def _rounding(key: _Key, layers: tuple[Layer, ...], first: bool, last: bool) -> float:
    """PyTorch's allocator hands out tensors above 10 MiB in steps of 2 MiB and keeps a rest of up to 1 MiB with the tensor:
    Qwen2.5-7B loses 2 MiB a layer (14.25 GiB loaded of 14.19), Llama 3.1 8B, whose matrices are multiples of 2 MiB, nothing."""
    if scheme(key.model, key.chosen) == "uniform" and key.chosen.kind.startswith("gguf"):
        return 0.0
    waste = sum(_waste(size) for size in _each(layers, partial(_matrices, key)))
    vocabulary = key.model.vocab_size * key.model.hidden_size * 2.0
    if first:
        waste += _waste(vocabulary / _outside_degree(key.layout, "embedding"))
    if last and not key.model.tied_embeddings:
        waste += _waste(vocabulary / _outside_degree(key.layout, "head"))
    return waste


def _waste(size_bytes: float) -> float:
    if size_bytes < _LARGE_BYTES:
        return 0.0
    rest = -size_bytes % _SEGMENT_BYTES
    return rest if rest <= MIB else 0.0


def _matrices(key: _Key, layer: Layer) -> tuple[float, ...]:
    """Sizes in bytes of the fused matrices of a layer on one rank: query-key-value, output, gate-up, down."""
    model, layout = key.model, key.layout
    found: list[float] = []
    hidden = model.hidden_size
    if layer.params.get("attention") and model.mla is None and layer.kv_elements_per_token:
        bits = class_bits(model, key.chosen, "attention") / 8
        heads = layer.heads * layer.head_dim / layout.attention_tensor
        pairs = max(1, layer.kv_heads / layout.attention_tensor) * (layer.head_dim + layer.v_head_dim)
        found += [hidden * (heads + pairs) * bits, heads * hidden * bits]
    if layer.params.get("mlp") and not layer.is_moe:
        bits = class_bits(model, key.chosen, "mlp") / 8
        third = layer.params["mlp"] / 3 / layout.tensor * bits
        found += [2 * third, third]
    return tuple(found)
