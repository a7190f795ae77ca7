"""What else lives on the devices of a server: draft modules and models, adapters, other models."""

from __future__ import annotations

from sizing.architecture.types import Architecture
from sizing.memory.kv_cache import kv_token_bytes
from sizing.memory.serving.layout import Layout
from sizing.memory.serving.settings import Settings
from sizing.memory.weights import mtp_bytes, weights_bytes
from sizing.resolve import BesideModel, Resolved
from sizing.units import GIB

# DSpark drafts of DeepSeek V4 weigh as much as four of its MTP modules (13.5 GiB with V4-Flash; 3 cases); DFlash drafts
# about 2 % of their target in 16 bit (1.08 GiB with 27B; 1 case).
_DSPARK_MODULES = 4
_DFLASH_SHARE = 0.02
# Embedding, reranking and speech models need their weights and about half as much again for batches.
_SMALL_MODEL_FACTOR = 1.5
_UNKNOWN_BESIDE_GIB = 2.0
_USUAL_RANK = 16
_LORA_SHARE_PER_RANK = 0.0003  # adapter parameters of rank 1 over all linear layers, as a share of the model's


# EAGLE-3 heads have a vocabulary of their own, 32,000 entries in those published for Llama 3 and Qwen3.
_EAGLE3_VOCABULARY = 32_000
HEAD_BYTES = 2.0


def eagle_params(model: Architecture, *, third: bool) -> int:
    """Parameters of an EAGLE head (arXiv:2401.15077, arXiv:2503.01840): one layer of its model, fed with two hidden states in EAGLE-3,
    and a projection of the states it is fed with; EAGLE-3 brings a head of its own. 425M for Llama 3.1 8B, published 850 MB in 16 bit."""
    hidden, inputs = model.hidden_size, 2 if third else 1
    queries, pairs = model.heads * model.head_dim, 2 * model.kv_heads * model.head_dim
    attention = inputs * hidden * (queries + pairs) + queries * hidden
    projection = (3 if third else 2) * hidden * hidden
    head = _EAGLE3_VOCABULARY * hidden if third else 0
    return attention + 3 * hidden * (model.intermediate_size or 4 * hidden) + projection + head


def draft_bytes(resolved: Resolved, layout: Layout, settings: Settings) -> float:
    """Weights on one rank that speculation adds."""
    model = resolved.architecture
    own = mtp_bytes(model, resolved.weights)
    if settings.draft == "mtp":
        return own / layout.expert_degree
    if settings.draft in ("eagle", "eagle3"):
        return eagle_params(model, third=settings.draft == "eagle3") * HEAD_BYTES / layout.tensor
    if settings.draft == "dflash":
        return _DFLASH_SHARE * model.params_total * 2 / layout.tensor
    if settings.draft in ("dspark", "draft") and model.attention_type == "mla-compressed":
        return _DSPARK_MODULES * own / layout.tensor
    drafts = [entry for entry in resolved.beside if entry.role == "draft" and entry.architecture]
    return (
        sum(weights_bytes(entry.architecture, entry.weights) for entry in drafts if entry.architecture) / layout.tensor
    )


def draft_token_bytes(resolved: Resolved, layout: Layout) -> float:
    """Bytes of one token of a separate draft model on one rank."""
    found = 0.0
    for entry in resolved.beside:
        if entry.role != "draft" or entry.architecture is None:
            continue
        for layer in entry.architecture.layers:
            heads = max(1, layer.kv_heads)
            whole = kv_token_bytes(layer, entry.architecture, resolved.kv_k, resolved.kv_v)
            found += whole / heads * max(1, -(-heads // layout.attention_tensor))
    return found


def beside_bytes(resolved: Resolved) -> float:
    """Bytes of other models on every device: drafts count with the model itself."""
    return sum(_one(resolved, entry) for entry in resolved.beside if entry.role != "draft")


def adapter_bytes(resolved: Resolved, entry: BesideModel) -> float:
    """Bytes of one LoRA adapter in 16 bit, over all ranks."""
    return (entry.rank or _USUAL_RANK) * _LORA_SHARE_PER_RANK * resolved.architecture.params_total * 2


def _one(resolved: Resolved, entry: BesideModel) -> float:
    if entry.role == "lora":
        return entry.count * adapter_bytes(resolved, entry) / max(1, resolved.tensor)
    if entry.architecture is None:
        return _UNKNOWN_BESIDE_GIB * GIB * entry.count
    return _SMALL_MODEL_FACTOR * weights_bytes(entry.architecture, entry.weights) * entry.count
