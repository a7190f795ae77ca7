"""Bytes of weights by class of tensor and number format.

A format says how many bits its quantised tensors take, scales included; a scheme says which classes it quantises. What a scheme
leaves alone keeps the width of the checkpoint: 16 bits, or 8 where the model is published in FP8.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from sizing.architecture.types import Architecture, TensorClass
from sizing.catalogue.entries import Format
from sizing.catalogue.load import catalogue

Scheme = Literal["uniform", "linear", "experts", "mlp", "exllama", "all_but_norms"]

# Classes that stay wide under every scheme of servers (`unquantized` of the formats in the catalogue).
_WIDE: frozenset[TensorClass] = frozenset(
    {"embedding", "head", "norm", "router", "vision", "audio", "other", "per_layer_embedding"}
)
_NORM_LIKE: frozenset[TensorClass] = frozenset({"norm", "other", "vision", "audio", "router"})
_MLP_LIKE: frozenset[TensorClass] = frozenset({"mlp", "expert", "shared_expert"})
_EXPERT_LIKE: frozenset[TensorClass] = frozenset({"expert", "mtp"})
_FP8_BITS = 8.001953  # 8 + 32/(128 x 128): one fp32 scale per block
_SYMMETRIC_GROUP32_BITS = 4.5  # 4 + 16/32: Kimi K2 Thinking and K2.5 publish their routed experts so
_WIDE_BITS = 16.0


def bits_per_weight(chosen: Format) -> float:
    """Bits of a quantized tensor, scales included; for whole-file GGUF mixes the average over the file."""
    if chosen.bits_per_weight is not None:
        return chosen.bits_per_weight
    like = catalogue().formats.get(chosen.size_like or "")
    if like is not None and like.bits_per_weight is not None:
        return like.bits_per_weight
    return 4.25 if "mxfp4" in chosen.id else 4.5


def scheme(model: Architecture, chosen: Format) -> Scheme:
    """Which classes of tensors the format quantises in this model."""
    if chosen.kind.startswith("gguf") or bits_per_weight(chosen) >= _WIDE_BITS:
        return "uniform"
    if chosen.id.startswith(("mlx", "mlc")):
        return "all_but_norms"
    if chosen.id.startswith("exl"):
        return "exllama"
    if chosen.id == "fp8-mlp":
        return "mlp"
    if model.is_moe and (chosen.id.startswith(("mxfp4", "nvfp4")) or _is_native_int4(model, chosen)):
        return "experts"
    return "linear"


def class_bits(model: Architecture, chosen: Format, name: TensorClass) -> float:
    """Bits per weight of one class of tensors."""
    bits = bits_per_weight(chosen)
    kind = scheme(model, chosen)
    if kind == "uniform":
        return bits
    if kind == "all_but_norms":
        return _WIDE_BITS if name in _NORM_LIKE else bits
    if kind == "exllama":
        return _exllama_bits(chosen, name, bits)
    if name == "per_layer_embedding" and model.native_dtype.startswith("fp8+"):
        return _FP8_BITS
    if name in _WIDE:
        return _WIDE_BITS
    if kind == "mlp" and name not in _MLP_LIKE:
        return _WIDE_BITS
    if kind == "experts" and name not in _EXPERT_LIKE:
        return _rest_bits(model)
    if _is_native_int4(model, chosen):
        return _SYMMETRIC_GROUP32_BITS
    return bits


@lru_cache(maxsize=4096)
def _by_class(model_key: _Key) -> Mapping[TensorClass, float]:
    model, chosen = model_key.model, model_key.chosen
    return {name: count * class_bits(model, chosen, name) / 8 for name, count in model.params.items() if count}


class _Key:
    """Architectures are compared by identity here: hashing a whole model would cost more than the sum it saves."""

    __slots__ = ("chosen", "model")

    def __init__(self, model: Architecture, chosen: Format) -> None:
        self.model, self.chosen = model, chosen

    def __hash__(self) -> int:
        return hash((id(self.model), self.chosen.id))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.model is self.model and other.chosen is self.chosen


def weights_by_class(model: Architecture, chosen: Format) -> Mapping[TensorClass, float]:
    """Bytes of the weights as stored, by class of tensor; without MTP (multi-token prediction) modules."""
    return _by_class(_Key(model, chosen))


def weights_bytes(model: Architecture, chosen: Format) -> float:
    """Bytes of all weights as stored, without MTP modules."""
    return sum(weights_by_class(model, chosen).values())


def mtp_bytes(model: Architecture, chosen: Format) -> float:
    """Bytes of the published draft module, loaded only with speculation; in dense models it is left in 16 bits."""
    bits = class_bits(model, chosen, "mtp") if model.is_moe else _WIDE_BITS
    return model.mtp_params * bits / 8


def _exllama_bits(chosen: Format, name: TensorClass, bits: float) -> float:
    if name == "head":
        return float(chosen.head_bits or 6)
    return _WIDE_BITS if name in _WIDE else bits


def _is_native_int4(model: Architecture, chosen: Format) -> bool:
    return model.native_dtype == "int4" and chosen.id.startswith("gptq-int4")


def _rest_bits(model: Architecture) -> float:
    return _FP8_BITS if model.native_dtype.startswith("fp8+") else _WIDE_BITS
