"""Bytes of weights by class of tensor and number format."""

from __future__ import annotations

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Format
from sizing.catalogue.load import catalogue

# Classes that quantization schemes of servers leave in 16 bit (see `unquantized` of the formats in the catalogue).
_SIXTEEN_BIT = frozenset({"embedding", "head", "norm", "router", "vision", "audio", "other"})


def bits_per_weight(chosen: Format) -> float:
    """Bits of a quantized tensor, scales included; for whole-file GGUF mixes the average over the file."""
    if chosen.bits_per_weight is not None:
        return chosen.bits_per_weight
    like = catalogue().formats.get(chosen.size_like or "")
    if like is not None and like.bits_per_weight is not None:
        return like.bits_per_weight
    return 4.25 if "mxfp4" in chosen.id else 4.5


def weights_bytes(model: Architecture, chosen: Format) -> float:
    """Bytes of all weights as stored."""
    bits = bits_per_weight(chosen)
    if chosen.kind == "gguf-file":
        return model.params_total * bits / 8
    return sum(count * (max(16.0, bits) if bits < 16 and name in _SIXTEEN_BIT else bits) / 8 for name, count in model.params.items())
