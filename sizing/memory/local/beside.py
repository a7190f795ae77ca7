"""What else lies on the first card: other models beside, and the projector of a vision model."""

from __future__ import annotations

from sizing.memory.gguf import gguf_file
from sizing.memory.weights import weights_bytes
from sizing.resolve import BesideModel, Resolved
from sizing.units import MIB

_BUFFERS_MIB = 512.0  # context and work space of a small model's own process
_UNKNOWN_MIB = 1536.0  # an embedding model or reranker of half a billion parameters in 16 bit, with its buffers


def beside_bytes(resolved: Resolved) -> float:
    """Bytes of the models beside, each with its buffers; a draft model also caches every token of every slot."""
    return sum(_one(resolved, entry) * entry.count for entry in resolved.beside)


def _one(resolved: Resolved, entry: BesideModel) -> float:
    model = entry.architecture
    if entry.role == "lora":
        rank = entry.rank or 16
        main = resolved.architecture
        return (
            2.0 * rank * 14 * main.hidden_size * len(main.layers)
        )  # both factors of seven projections, about E wide each
    if model is None:
        return _UNKNOWN_MIB * MIB
    weights = (
        gguf_file(model, entry.weights).total_bytes
        if entry.weights.kind == "gguf-file"
        else weights_bytes(model, entry.weights)
    )
    cache = 0.0
    if entry.role == "draft":
        element = (resolved.kv_k.bytes_per_element + resolved.kv_v.bytes_per_element) / 2
        per_token = model.kv_elements_per_token + model.sliding_elements_per_token
        cache = per_token * element * resolved.context_tokens * resolved.concurrency
    return weights + cache + _BUFFERS_MIB * MIB


def projector_bytes(resolved: Resolved) -> float:
    """The vision or audio tower, a file of its own beside the GGUF (mmproj, 16 bit); loaded where images are said to come."""
    images = resolved.spec.images_per_request
    if not images:
        return 0.0
    params = resolved.architecture.params
    return 2.0 * (params.get("vision", 0) + params.get("audio", 0)) + (
        _BUFFERS_MIB * MIB if params.get("vision") else 0.0
    )
