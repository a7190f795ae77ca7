"""Compute buffers of llama.cpp-like engines: the largest set of tensors that one stage of the graph holds at once.

In float32 elements per token of the physical batch (`-ub`), a stage holds
- the output: V + E (vocabulary and hidden size) where logits of the whole batch are kept: Qwen3-14B 306.75 MiB at 512;
- attention without flash attention: scores H x C, the mask C, queries twice and hidden states twice: Llama-3-8B at 8k 560.0 MiB;
- a feed-forward block: four widths (ik_llama.cpp: three and two hidden states) beside the 16-bit mask: Qwen3.5-9B at ubatch 2048
  392.4 MiB = 384 + 8; experts: two outputs of each expert used: Qwen3-235B 144.0 MiB;
- weights kept in RAM are copied into the buffer of the first card for large batches, one tensor at a time: 630 MiB for
  Qwen3-235B's Q6_K experts (774.0 = 144 + 630), the output matrix of gpt-oss-20b (985.2 = 398.4 + 586.8).
Each of these values was printed by a start-up log.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sizing.architecture.parameters import mlp_params
from sizing.architecture.types import Architecture
from sizing.memory.gguf import ByIdentity
from sizing.memory.local.settings import LlamaSettings
from sizing.units import MIB

_F32 = 4
_PIPELINE_COPIES = 4
# ik_llama.cpp computes full keys and values from the latent in pieces; where nothing is said `-amb 512`, which most of its users set.
LATENT_PIECE_BYTES = 512 * MIB


@dataclass(frozen=True, slots=True)
class Role:
    """What a device does in the graph. Bytes of weights that are uploaded to it batch by batch are 0 where there are none.

    `dense_width` is that of the widest dense feed-forward block among its layers.
    """

    has_layers: bool
    dense_width: float
    has_output: bool
    is_first: bool
    uploads_output_bytes: float
    uploads_expert_bytes: float
    pipelined: bool


def compute_bytes(model: Architecture, settings: LlamaSettings, role: Role, mask_cells: int) -> float:
    """Bytes of a device's compute buffer. `mask_cells` counts the cells of all masks (full and windowed)."""
    token_bytes = _F32 * settings.ubatch_tokens
    stages = [0.0]
    if role.has_layers:
        stages += [
            _attention(model, settings, mask_cells),
            _feed_forward(model, settings, role, mask_cells),
            _masks(model, settings, mask_cells),
            _indexer(model, settings),
        ]
    if role.has_output or (role.is_first and role.uploads_output_bytes):
        stages.append(token_bytes * _output_elements(model, settings, role) + role.uploads_output_bytes)
    copies = 0.0
    if role.pipelined:
        mask = mask_cells if settings.flash else mask_cells * (_PIPELINE_COPIES - 1) / _PIPELINE_COPIES
        copies = token_bytes * _PIPELINE_COPIES * (mask + model.hidden_size)
    draft = token_bytes * (model.vocab_size + model.hidden_size) if settings.drafts and role.has_output else 0.0
    return max(stages) + copies + draft


def host_buffer_bytes(model: Architecture, settings: LlamaSettings, mask_cells: int) -> float:
    """The pinned buffer in RAM beside cards: masks and input embeddings (Qwen3.6-27B at 32k: 74 MiB)."""
    return _F32 * settings.ubatch_tokens * (mask_cells + model.hidden_size)


def _masks(model: Architecture, settings: LlamaSettings, mask_cells: int) -> float:
    """With flash attention the mask is cast to 16 bit while the 32-bit one still lives, beside queries and hidden states:
    Qwen3.5-9B at 262144 cells 808 MiB = 768 + 40."""
    if not settings.flash or settings.is_ik:
        return 0.0
    return settings.ubatch_tokens * (6.0 * mask_cells + _F32 * 5.0 * model.hidden_size)


def _indexer(model: Architecture, settings: LlamaSettings) -> float:
    """Scores of DeepSeek V4's indexer over the compressed context, twice, in builds that had no fused operation for them:
    64 GiB at a million tokens (V4-Flash: 65.5 GiB), about 1 GiB at 16k."""
    attention = model.raw.get("attention")
    if settings.indexer_fused or not isinstance(attention, Mapping) or not attention.get("compressed"):
        return 0.0
    ratio = min((row["ratio"] for row in attention["compressed"] if row.get("index_elements")), default=0)
    if not ratio:
        return 0.0
    scores = float(attention.get("index_n_heads") or 0) * settings.cells / ratio
    return 2.0 * _F32 * settings.ubatch_tokens * scores


def _output_elements(model: Architecture, settings: LlamaSettings, role: Role) -> float:
    hidden = model.hidden_size
    doubled = settings.is_ik and (model.is_moe or not role.has_layers)
    logits = model.vocab_size if settings.logits_in_buffer else 0
    return logits + hidden * (2 if doubled else 1) + _per_layer_elements(model)


def _per_layer_elements(model: Architecture) -> float:
    """Per-layer embeddings of Gemma's E models live twice through the graph (E4B: 569.01 MiB instead of 517)."""
    ple = model.raw.get("ple")
    if not isinstance(ple, dict) or not ple.get("dim"):
        return 0.0
    return 2.0 * float(ple["dim"]) * len(model.layers) + 2.0 * model.hidden_size


@lru_cache(maxsize=512)
def dense_widths(key: ByIdentity) -> tuple[float, ...]:
    """The width of every layer's dense feed-forward block. Pruned models differ by block: Nemotron Ultra's widest, 425,984, holds
    2560 MiB on one card at 512 tokens (3 widths and 2 hidden states) where its neighbours need 420."""
    model = key.model
    if model.intermediate_size:
        return (float(model.intermediate_size),) * len(model.layers)
    mlp = model.raw.get("mlp")
    sizes = mlp.get("sizes") if isinstance(mlp, Mapping) else None
    if sizes:  # widths whose order is not known
        return (float(max(width for width, _ in sizes)),) * len(model.layers)
    one = mlp_params(model.name, model.hidden_size, 1) or 1
    return tuple(layer.params.get("mlp", 0) / one for layer in model.layers)


@lru_cache(maxsize=512)
def _heads(key: ByIdentity) -> tuple[int, int]:
    """(query heads, their dimension) of the widest attention layer."""
    shapes = [(layer.heads, layer.head_dim) for layer in key.model.layers if layer.kind not in ("linear", "none")]
    return max(shapes, key=lambda shape: shape[0] * shape[1], default=(0, 0))


def _attention(model: Architecture, settings: LlamaSettings, mask_cells: int) -> float:
    heads, dim = _heads(ByIdentity(model))
    token_bytes, hidden, cells = _F32 * settings.ubatch_tokens, model.hidden_size, settings.cells
    if model.mla is not None and settings.latent != "full":
        return _latent_attention(model, settings, heads, mask_cells)
    if settings.flash:
        return token_bytes * (2 * heads * dim + 2 * hidden) + 2.0 * settings.ubatch_tokens * mask_cells
    return token_bytes * (heads * cells + cells + 2 * heads * dim + 2 * hidden)


def _latent_piece(settings: LlamaSettings, heads: int, head_bytes: float) -> float:
    """Keys and values in f32 for as many heads as `-amb` allows; the number of heads is halved until they fit: at 40,960 cells
    of DeepSeek-R1 (40 MiB a head) 8 heads, 320 MiB of 512."""
    most = settings.attention_max_bytes or LATENT_PIECE_BYTES
    while heads % 2 == 0 and heads * head_bytes > most:
        heads //= 2
    return heads * head_bytes


def _latent_attention(model: Architecture, settings: LlamaSettings, heads: int, mask_cells: int) -> float:
    mla = model.mla
    if mla is None:
        return 0.0
    token_bytes, cells, hidden = _F32 * settings.ubatch_tokens, settings.cells, model.hidden_size
    query = mla.qk_nope_head_dim + mla.qk_rope_head_dim
    if not settings.flash:
        scores = min(token_bytes * heads * cells, settings.attention_max_bytes or math.inf)
        return scores + token_bytes * (cells + heads * (2 * mla.latent_elements + query) + 6 * hidden)
    if settings.is_ik and settings.latent_mode >= 2:
        # prompts are computed with full keys and values in 16 bit: 2.5 GiB for DeepSeek-R1 at 32k
        full = 2.0 * heads * cells * (query + mla.v_head_dim)
        piece = _latent_piece(settings, heads, _F32 * cells * (mla.qk_nope_head_dim + mla.v_head_dim))
        return full + piece + 6.0 * settings.ubatch_tokens * mask_cells + token_bytes * (heads * query + hidden)
    return (
        token_bytes * heads * (2 * mla.latent_elements + mla.kv_lora_rank) + 2.0 * settings.ubatch_tokens * mask_cells
    )


def _feed_forward(model: Architecture, settings: LlamaSettings, role: Role, mask_cells: int) -> float:
    token_bytes, hidden = _F32 * settings.ubatch_tokens, model.hidden_size
    masks = _mask_bytes_per_cell(settings, role) * settings.ubatch_tokens * mask_cells
    if model.moe is None:
        width = role.dense_width
        return masks + token_bytes * (3 * width + 2 * hidden if settings.is_ik else 4 * width)
    used = model.moe.experts_per_token
    live = token_bytes * (2 * used * hidden + 2 * hidden)
    if settings.engine == "ollama" and not settings.logits_in_buffer:
        live += token_bytes * used * model.moe.intermediate_size
    if not (role.uploads_expert_bytes and role.is_first and _uploads_experts(model, settings)):
        return masks + live
    if settings.is_ik and model.mla is None:
        # beside the 32-bit mask: Qwen3-235B with ik's 3-bit experts at ubatch 2048 and 32k 1264 MiB = 576 + 256 + 432
        return live + token_bytes * mask_cells + role.uploads_expert_bytes
    if settings.is_ik or not settings.logits_in_buffer:
        return masks + max(live, role.uploads_expert_bytes + token_bytes * 2 * hidden)
    return masks + live + role.uploads_expert_bytes


def _mask_bytes_per_cell(settings: LlamaSettings, role: Role) -> float:
    """The mask that lives beside a feed-forward block where logits do not outgrow it: in 16 bit for flash attention.
    Graphs cut between card and processor, and Ollama's runner, keep the 32-bit input as well."""
    if settings.logits_in_buffer:
        return 0.0
    if settings.engine == "ollama" or role.uploads_expert_bytes:
        return 6.0
    return 2.0 if settings.flash else 4.0


def _uploads_experts(model: Architecture, settings: LlamaSettings) -> bool:
    """ik_llama.cpp uploads experts only for batches that use most of them, llama.cpp from 32 tokens on, Ollama never."""
    if model.moe is None or settings.ubatch_tokens < 32 or settings.engine == "ollama":
        return False
    return not settings.is_ik or settings.ubatch_tokens * model.moe.experts_per_token > 32 * model.moe.experts
