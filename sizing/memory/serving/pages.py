"""How an engine cuts the KV cache of one rank into pages, and what a sequence of a given length then takes.

vLLM keeps one pool of equal blocks. Layers of one kind form groups of equal size, so that a block holds one page of each layer of a
group; kinds with more layers take several groups, the last padded. A sequence takes ceil(length / tokens per block) blocks in every
full-attention group, a bounded number in windowed groups, and one (plus one per speculated token) in groups of recurrent layers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from sizing.architecture.types import Architecture, Layer
from sizing.catalogue.entries import KvFormat
from sizing.memory.kv_cache import indexer_token_bytes, kv_token_bytes, state_shape
from sizing.units import ceil_div

PartKind = Literal["full", "sliding", "chunked", "state"]


class Cache(Protocol):
    """The KV cache of one rank."""

    @property
    def block_bytes(self) -> float:
        """Bytes of the smallest unit that is handed out."""

    @property
    def block_tokens(self) -> int:
        """Tokens of a full-attention block."""

    @property
    def state_blocks_per_sequence(self) -> int:
        """Blocks a sequence takes for recurrent state, 0 where there is none."""

    @property
    def token_bytes(self) -> float:
        """Bytes that one more token takes in a long sequence, without rounding."""

    def blocks(self, tokens: int) -> int:
        """Blocks of one sequence of that length."""

    def mean_token_bytes(self, tokens: int) -> float:
        """Bytes per token of a sequence of that length, without rounding and recurrent state."""

    def sequence_bytes(self) -> float:
        """Bytes that a sequence takes whatever its length."""


@dataclass(frozen=True, slots=True)
class Part:
    """Groups of layers of one kind. `fixed_blocks` is what a state group takes whatever the length."""

    kind: PartKind
    groups: int
    block_tokens: int
    window_tokens: int = 0
    fixed_blocks: int = 0

    def blocks(self, tokens: int, step_tokens: int, context_ranks: int) -> int:
        """Blocks of one sequence in all groups of this part."""
        if self.kind == "state":
            return self.groups * self.fixed_blocks
        if self.kind == "full":
            return self.groups * ceil_div(tokens, self.block_tokens * context_ranks)
        if self.kind == "chunked":
            return self.groups * ceil_div(min(self.window_tokens + step_tokens, tokens), self.block_tokens)
        # one block more than the window needs: its start rarely falls on a block's start
        return self.groups * (ceil_div(min(self.window_tokens - 1 + step_tokens, tokens), self.block_tokens) + 1)


@dataclass(frozen=True, slots=True)
class PagedCache:
    """Equal blocks shared by groups of layers."""

    parts: tuple[Part, ...]
    block_bytes: float
    block_tokens: int
    token_bytes: float
    step_tokens: int
    context_ranks: int = 1
    padded_layers: int = 0
    window_token_bytes: float = 0.0
    window_tokens: int = 0

    def mean_token_bytes(self, tokens: int) -> float:
        """Windowed layers keep at most their window: their share falls with the length."""
        return self.token_bytes + self.window_token_bytes * min(1.0, self.window_tokens / max(1, tokens))

    def sequence_bytes(self) -> float:
        """Pages of recurrent state."""
        return self.state_blocks_per_sequence * self.block_bytes

    @property
    def state_blocks_per_sequence(self) -> int:
        """Blocks a sequence takes for recurrent state."""
        return sum(part.groups * part.fixed_blocks for part in self.parts if part.kind == "state")

    def blocks(self, tokens: int) -> int:
        """Blocks of one sequence of that length."""
        return sum(part.blocks(tokens, self.step_tokens, self.context_ranks) for part in self.parts)


@dataclass(frozen=True, slots=True)
class CompressedCache:
    """DeepSeek V4: compressed keys of the whole context, plus window and compressor state that grow with the tokens of a step."""

    token_bytes: float
    window_bytes: float
    block_tokens: int = 256
    state_blocks_per_sequence: int = 0

    def mean_token_bytes(self, tokens: int) -> float:
        """Compressed keys of one token, as far as the sequence has any."""
        return self.token_bytes if tokens else 0.0

    def sequence_bytes(self) -> float:
        """Window and compressor state."""
        return self.window_bytes

    @property
    def block_bytes(self) -> float:
        """Bytes of 256 tokens."""
        return self.token_bytes * self.block_tokens

    def blocks(self, tokens: int) -> int:
        """Blocks of one sequence, window and state counted in blocks as well."""
        if not self.block_bytes:
            return 0
        return ceil_div(tokens, self.block_tokens) + math.ceil(self.window_bytes / self.block_bytes)


@dataclass(frozen=True, slots=True)
class PageRules:
    """What decides about pages beside the model: formats, degrees, engine and era."""

    k: KvFormat
    v: KvFormat
    tensor: int
    context_ranks: int
    block_tokens: int
    alignment_tokens: int
    step_tokens: int
    speculative_tokens: int
    draft_layers: int
    has_draft_model: bool
    grouped: bool
    state_blocks: int
    latent: bool
    cross_as_full: bool


def rank_token_bytes(layer: Layer, model: Architecture, rules: PageRules) -> float:
    """Bytes of one token in one layer on one rank: KV heads are split down to one a rank, a latent (MLA) not at all."""
    if model.mla is not None and not rules.latent:
        # before vLLM 0.7 latent attention was served as full heads: 192 + 128 elements a head for DeepSeek V2
        width = model.mla.qk_nope_head_dim + model.mla.qk_rope_head_dim + model.mla.v_head_dim
        return layer.heads / rules.tensor * width * rules.k.bytes_per_element
    if layer.kind == "cross":
        return layer.kv_heads / rules.tensor * (layer.head_dim + layer.v_head_dim) * rules.k.bytes_per_element
    whole = kv_token_bytes(layer, model, rules.k, rules.v)
    if model.mla is not None or not layer.kv_heads:
        return whole
    return whole / layer.kv_heads * max(1, ceil_div(layer.kv_heads, rules.tensor))


def rank_cache(model: Architecture, layers: tuple[Layer, ...], rules: PageRules) -> Cache:
    """The cache of a rank that holds those layers."""
    if model.attention_type == "mla-compressed":
        return _compressed(model, layers, rules)
    storing = [
        layer for layer in layers if layer.kv_elements_per_token or (rules.cross_as_full and layer.kind == "cross")
    ]
    full = [layer for layer in storing if layer.window_tokens is None]
    windowed = [layer for layer in storing if layer.window_tokens is not None]
    states = [layer for layer in layers if layer.linear is not None]
    if not rules.grouped and not states:
        full, windowed = storing, []
    if not windowed and not states:
        return _uniform(model, full, len(layers), rules)
    if not full and windowed and not states:
        return _uniform(model, windowed, len(layers), rules, windowed[0])
    return _grouped(model, full, windowed, states, rules)


def _uniform(
    model: Architecture, layers: list[Layer], held: int, rules: PageRules, window: Layer | None = None
) -> PagedCache:
    token = sum(rank_token_bytes(layer, model, rules) for layer in layers)
    token += indexer_token_bytes(model) * held / max(1, len(model.layers))
    if rules.draft_layers and layers:
        token += rules.draft_layers * rank_token_bytes(layers[-1], model, rules)
    kind: PartKind = "full" if window is None or window.window_tokens is None else "sliding"
    part = Part(kind, 1, rules.block_tokens, (window.window_tokens if window else 0) or 0)
    return PagedCache(
        (part,), token * rules.block_tokens, rules.block_tokens, token, rules.step_tokens, rules.context_ranks
    )


def _grouped(
    model: Architecture, full: list[Layer], windowed: list[Layer], states: list[Layer], rules: PageRules
) -> PagedCache:
    token_full = max((rank_token_bytes(layer, model, rules) for layer in full), default=0.0)
    token_full += indexer_token_bytes(model) / max(1, len(full)) if full else 0.0
    token_window = max((rank_token_bytes(layer, model, rules) for layer in windowed), default=0.0)
    state = max(
        (state_shape(n, model, rules.speculative_tokens).total_bytes / rules.tensor for n in states), default=0.0
    )
    widest = token_full or token_window
    block = rules.block_tokens
    if states and widest:
        block = max(block, rules.alignment_tokens * math.ceil(state / (rules.alignment_tokens * widest)))
    page = max(block * max(token_full, token_window), state if not widest else 0.0)
    counts = {"full": len(full) + (rules.draft_layers if full else 0), "window": len(windowed), "state": len(states)}
    size = _group_size([count for count in counts.values() if count])
    groups = {name: ceil_div(count, size) if count else 0 for name, count in counts.items()}
    parts = []
    if full:
        parts.append(Part("full", groups["full"], _tokens_of_page(page, block, token_full)))
    if windowed:
        tokens = _tokens_of_page(page, block, token_window)
        kind: PartKind = "chunked" if windowed[0].kind == "chunked" else "sliding"
        parts.append(Part(kind, groups["window"], tokens, windowed[0].window_tokens or 0))
    if states:
        parts.append(Part("state", groups["state"], block, fixed_blocks=rules.state_blocks))
    return PagedCache(
        parts=tuple(parts),
        block_bytes=page * size,
        block_tokens=block,
        token_bytes=token_full * counts["full"] / rules.context_ranks,
        step_tokens=rules.step_tokens,
        context_ranks=rules.context_ranks,
        padded_layers=sum(groups[name] * size - count for name, count in counts.items()),
        window_token_bytes=token_window * len(windowed),
        window_tokens=(windowed[0].window_tokens or 0) if windowed else 0,
    )


def _tokens_of_page(page: float, block: int, token: float) -> int:
    """A kind with smaller tokens takes more of them to a page: 32 in Gemma 4's global layers where 16 fill a page of a sliding one."""
    return block * max(1, int(page // (block * token)))


def _group_size(counts: list[int]) -> int:
    """The rarest kind gives the size, unless the commonest is less than half as many again (vLLM `kv_cache_utils`): 12 and 13
    layers make groups of 13, 17 and 48 groups of 17."""
    least, most = min(counts), max(counts)
    return most if most < 1.5 * least else least


# A compressed entry takes 584 B in FP8 (448 + 64 rotary elements in bf16 + 8 scales), 1,024 B in bf16. While compressing, engines
# keep fp32 values and scores of window + step tokens: 2 x 2 x 512 x 4 B a token at ratio 4 (overlapping), half of it at ratio 128.
_V4_ENTRY_FP8_BYTES = 584
_V4_WINDOW_TOKENS = 128
_V4_PAGING = 1.08  # padding of its groups; 3 cases, residual 6 %
_V4_DRAFT_WINDOWS = 2.4  # a DSpark draft brings windows of its own; 2 cases, residual 3 %


def _assumed_kinds(layers: int) -> tuple[dict[str, int], ...]:
    """V4's own pattern, every second layer at ratio 4 with an indexer, where a successor's is not published."""
    half = layers // 2
    return ({"ratio": 4, "layers": half, "index_elements": 128}, {"ratio": 128, "layers": layers - half})


def _compressed(model: Architecture, layers: tuple[Layer, ...], rules: PageRules) -> CompressedCache:
    attention = model.raw.get("attention") or {}
    kinds = (attention.get("compressed") if isinstance(attention, dict) else None) or _assumed_kinds(len(model.layers))
    width = model.head_dim or 512
    entry = _V4_ENTRY_FP8_BYTES if rules.k.bytes_per_element < 2 else 2 * width
    share = len(layers) / max(1, len(model.layers))
    token = window = 0.0
    for kind in kinds:
        ratio, count, index = kind["ratio"], kind["layers"], kind.get("index_elements") or 0
        overlap = 2 if ratio <= 4 else 1
        token += count / ratio * (entry + (132 if index else 0))
        state = 2 * overlap * (width + index) * 4
        window += count * state * (overlap * ratio + rules.step_tokens)
    window += len(model.layers) * entry * (_V4_WINDOW_TOKENS + rules.step_tokens)
    factor = _V4_DRAFT_WINDOWS if rules.has_draft_model else 1.0
    return CompressedCache(token * share * _V4_PAGING, window * share * factor * _V4_PAGING)
