"""Architecture from a catalogue-shaped mapping: the one builder behind catalogue models, configs and bare sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sizing.architecture.parameters import (
    attention_params,
    compressed_mla_params,
    expert_params,
    kv_projection_params,
    linear_params,
    mla_params,
    mlp_params,
    shared_expert_params,
)
from sizing.architecture.types import (
    Architecture,
    Confidence,
    Layer,
    LayerKind,
    LinearShape,
    MlaShape,
    MoeShape,
    TensorClass,
)

Entry = Mapping[str, Any]

# What the shapes leave unexplained in these models are n-gram tables, looked up by token like per-layer embeddings.
_TABLE_MODELS = frozenset({"qwen4_exp", "deepseek_v41"})
# Ranks of DeepSeek V4's projections where a successor's are not published.
_V4_RANKS: Entry = {"q_lora_rank": 1024, "o_lora_rank": 1024, "o_groups": 8}

# Block patterns of hybrids as their configs write them: Mamba, attention, MLP, experts.
_SIGNS: dict[str, LayerKind] = {"M": "linear", "*": "full", "-": "none", "E": "none"}
_FULL: LayerKind = "full"


def build(entry: Entry, confidence: Confidence) -> Architecture:
    """The architecture of a model entry (fields as in the model catalogue)."""
    attention: Entry = entry.get("attention") or {}
    moe: Entry = entry.get("moe") or {}
    layers, outside = _with_residual(entry, _layers(entry), _outside(entry))
    mtp: Entry = entry.get("mtp") or {}
    return Architecture(
        id=entry["id"],
        family=entry.get("family") or entry["id"],
        modality=entry.get("modality") or "text",
        name=entry.get("architecture") or "llama",
        confidence=confidence,
        params_total=entry["params_total"],
        params_active=entry.get("params_active") or entry["params_total"],
        native_dtype=entry.get("native_dtype") or "bf16",
        checkpoint_gb=entry.get("checkpoint_gb"),
        hidden_size=entry.get("hidden_size") or 0,
        intermediate_size=entry.get("intermediate_size") or 0,
        heads=entry.get("num_attention_heads") or 0,
        kv_heads=entry.get("num_key_value_heads") or 0,
        head_dim=entry.get("head_dim") or 0,
        vocab_size=entry.get("vocab_size") or 0,
        tied_embeddings=bool(entry.get("tie_word_embeddings")),
        max_position_tokens=entry.get("max_position_embeddings"),
        layers=layers,
        outside=outside,
        mla=_mla(attention),
        moe=_moe(moe, sum(layer.is_moe for layer in layers)),
        attention_type=attention.get("type") or "none",
        index_elements_per_token=(entry.get("kv_cache") or {}).get("index_elements_per_token") or 0,
        mtp_params=mtp.get("params") or 0,
        mtp_layers=mtp.get("layers") or 0,
        has_kv_figures=bool(entry.get("kv_cache")),
        components=tuple(entry.get("components") or ()),
        notes=entry.get("notes"),
        raw=entry,
    )


def params_of_parts(entry: Entry) -> int:
    """Parameters by formula alone, for entries without a published total."""
    return sum(sum(layer.params.values()) for layer in _layers(entry)) + sum(_outside(entry).values())


def _layers(entry: Entry) -> tuple[Layer, ...]:
    attention: Entry = entry.get("attention") or {}
    moe: Entry = entry.get("moe") or {}
    kinds = layer_kinds(entry)
    stored = _kv_elements(entry, attention, kinds)
    return tuple(_layer(entry, attention, moe, kinds, n, stored[n]) for n in range(len(kinds)))


def layer_kinds(entry: Entry) -> tuple[LayerKind, ...]:
    """The kind of every layer, rarer kinds spread evenly: 12 full among 48 stand at the end of each group of four."""
    attention: Entry = entry.get("attention") or {}
    counts = dict(attention.get("layers") or {})
    total = entry.get("num_hidden_layers") or 0
    if not counts:
        return (_FULL,) * total
    pattern = attention.get("pattern") or ""
    if set(pattern) <= set(_SIGNS) and len(pattern) == total:
        return tuple(_SIGNS[sign] for sign in pattern)
    if counts.get("full") == total and counts.get("linear") == total:
        return (_FULL,) * total  # attention and Mamba side by side in every layer (Falcon-H1)
    counts["none"] = counts.get("none", 0) + max(0, total - sum(counts.values()))
    windowed: LayerKind = "chunked" if "chunked" in pattern else "sliding"
    return _spread({(windowed if kind == "sliding" else kind): n for kind, n in counts.items() if n})


def _spread(counts: dict[LayerKind, int]) -> tuple[LayerKind, ...]:
    total = sum(counts.values())
    due = dict.fromkeys(counts, 0.0)
    order: list[LayerKind] = []
    for _ in range(total):
        for kind, count in counts.items():
            due[kind] += count / total
        kind = max(due, key=lambda k: (due[k], counts[k]))
        due[kind] -= 1
        order.append(kind)
    return tuple(order)


def _layer(entry: Entry, attention: Entry, moe: Entry, kinds: tuple[LayerKind, ...], index: int, stored: int) -> Layer:
    kind = kinds[index]
    shape: Entry = attention.get("sliding" if kind in ("sliding", "chunked") else "full") or {}
    heads = shape.get("heads") or entry.get("num_attention_heads") or 0
    kv_heads = shape.get("kv_heads") or entry.get("num_key_value_heads") or 0
    head_dim = shape.get("head_dim") or entry.get("head_dim") or 0
    v_head_dim = shape.get("v_head_dim") or attention.get("v_head_dim") or head_dim
    counts: Entry = attention.get("layers") or {}
    has_linear = kind == "linear" or counts.get("full") == counts.get("linear") == len(kinds)
    is_moe = _layer_is_moe(entry, moe, kinds, index)
    params = _mixer_params(entry, attention, kind, (heads, kv_heads, head_dim, v_head_dim), has_linear, shape)
    params.update(_mlp_params(entry, moe, kinds, index, is_moe))
    return Layer(
        index=index,
        kind=kind,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        v_head_dim=v_head_dim,
        kv_elements_per_token=stored,
        window_tokens=_window(entry, attention, kind),
        linear=_linear(entry, attention) if has_linear else None,
        is_moe=is_moe,
        params=params,
    )


def _mixer_params(
    entry: Entry, attention: Entry, kind: LayerKind, dims: tuple[int, int, int, int], has_linear: bool, shape: Entry
) -> dict[TensorClass, int]:
    heads, kv_heads, head_dim, v_head_dim = dims
    hidden = entry.get("hidden_size") or 0
    params: dict[TensorClass, int] = {}
    if has_linear and attention.get("linear"):
        params["linear_mixer"] = linear_params(hidden, attention["linear"])
    if kind in ("none", "linear") or not hidden:
        return params
    if attention.get("kv_lora_rank") or attention.get("type") == "mla-compressed":
        layers = entry.get("num_hidden_layers") or 1
        compressed = attention.get("type") == "mla-compressed"
        ranks = {**_V4_RANKS, **attention}
        parts = (
            compressed_mla_params(hidden, heads, head_dim, ranks, layers)
            if compressed
            else mla_params(hidden, heads, attention)
        )
        params |= {"mla_down": parts["mla_down"], "attention": parts["attention"], "indexer": parts["indexer"]}
        return params
    params["attention"] = attention_params(entry.get("architecture") or "", hidden, heads, head_dim, v_head_dim)
    params["kv_projection"] = kv_projection_params(hidden, kv_heads, head_dim, v_head_dim, bool(shape.get("k_eq_v")))
    return params


def _mlp_params(
    entry: Entry, moe: Entry, kinds: tuple[LayerKind, ...], index: int, is_moe: bool
) -> dict[TensorClass, int]:
    name, hidden = entry.get("architecture") or "", entry.get("hidden_size") or 0
    params: dict[TensorClass, int] = {}
    if is_moe:
        params["expert"] = expert_params(name, hidden, moe)
        params["shared_expert"] = shared_expert_params(name, hidden, moe)
        params["router"] = hidden * int(moe["num_experts"])
    if not is_moe or moe.get("dense_residual"):
        params["mlp"] = _dense_params(entry, kinds, index)
    return params


def _dense_params(entry: Entry, kinds: tuple[LayerKind, ...], index: int) -> int:
    name, hidden = entry.get("architecture") or "", entry.get("hidden_size") or 0
    mlp: Entry = entry.get("mlp") or {}
    if mlp.get("widths"):
        return mlp_params(name, hidden, _width_at(mlp["widths"], index))
    if mlp.get("sizes"):
        total = sum(width * count for width, count in mlp["sizes"])
        return mlp_params(name, hidden, total) // len(kinds)
    pattern = (entry.get("attention") or {}).get("pattern") or ""
    if set(pattern) <= set(_SIGNS) and len(pattern) == len(kinds):
        wide = pattern[index] == "-"
        return mlp_params(name, hidden, entry.get("intermediate_size") or 0) if wide else 0
    if mlp.get("layers") == 0:
        return 0
    width = entry.get("intermediate_size") or 0
    if mlp.get("wide_layers") and index >= len(kinds) - mlp["wide_layers"]:
        width = mlp["wide_intermediate_size"]
    return mlp_params(name, hidden, width)


def _width_at(widths: Iterable[tuple[int, int]], index: int) -> int:
    """The feed-forward width of a block from [width, blocks] in the order of the blocks; 0 behind their end."""
    end = 0
    for width, blocks in widths:
        end += blocks
        if index < end:
            return width
    return 0


def _layer_is_moe(entry: Entry, moe: Entry, kinds: tuple[LayerKind, ...], index: int) -> bool:
    first = moe.get("first_k_dense") or 0
    count = (moe.get("layers") if moe.get("layers") is not None else len(kinds) - first) or 0
    if not moe or not count or not moe.get("num_experts"):
        return False
    pattern = (entry.get("attention") or {}).get("pattern") or ""
    if set(pattern) <= set(_SIGNS) and len(pattern) == len(kinds):
        return pattern[index] == "E"
    if first + count >= len(kinds):
        return index >= len(kinds) - count
    after = index - first  # spread over the rest: every second layer of Jamba and Maverick
    return after >= 0 and (after + 1) * count // (len(kinds) - first) > after * count // (len(kinds) - first)


def _kv_elements(entry: Entry, attention: Entry, kinds: tuple[LayerKind, ...]) -> tuple[int, ...]:
    """The catalogue's elements per token, dealt to the layers of the kind that store them (shared-KV layers come last)."""
    cache: Entry = entry.get("kv_cache") or {}
    found = [0] * len(kinds)
    for kind in set(kinds) - {"linear", "none", "cross"}:
        same = [n for n, other in enumerate(kinds) if other == kind]
        if not cache:
            for index in same:
                found[index] = _assumed_elements(entry, attention, kinds, index)
            continue
        windowed = kind in ("sliding", "chunked")
        total = cache.get("sliding_elements_per_token" if windowed else "full_elements_per_token") or 0
        shared = (attention.get("kv_shared_layers") or {}).get("sliding" if windowed else "full", 0)
        storing = same[: len(same) - shared] or same
        for position, index in enumerate(storing):
            found[index] = total // len(storing) + (1 if position < total % len(storing) else 0)
    return tuple(found)


def _assumed_elements(entry: Entry, attention: Entry, kinds: tuple[LayerKind, ...], index: int) -> int:
    """Keys and values of every KV head where the catalogue has no figure; encoder layers store none."""
    if attention.get("type") in (None, "bidirectional", "none") or attention.get("kv_lora_rank"):
        return 0
    if index < len(kinds) - (attention.get("decoder_layers") or len(kinds)):
        return 0
    heads = entry.get("num_key_value_heads") or 0
    return int(2 * heads * (entry.get("head_dim") or 0))


def _window(entry: Entry, attention: Entry, kind: LayerKind) -> int | None:
    if kind not in ("sliding", "chunked"):
        return None
    window = attention.get("sliding_window") or (entry.get("kv_cache") or {}).get("sliding_window")
    return int(window) if window else None


def _linear(entry: Entry, attention: Entry) -> LinearShape | None:
    shape: Entry = attention.get("linear") or {}
    if not shape:
        return None
    cache: Entry = entry.get("kv_cache") or {}
    count = attention["layers"]["linear"]
    return LinearShape(
        kind=shape["kind"],
        state_elements=(cache.get("linear_state_elements_per_seq") or 0) // count,
        conv_elements=(cache.get("linear_conv_elements_per_seq") or 0) // count,
        heads=shape.get("num_heads") or shape.get("num_value_heads") or 0,
        conv_kernel=shape.get("conv_kernel") or 0,
        state_dtype=shape.get("state_dtype") or "fp32",
    )


def _outside(entry: Entry) -> dict[TensorClass, int]:
    vocab, hidden = entry.get("vocab_size") or 0, entry.get("hidden_size") or 0
    outside: dict[TensorClass, int] = {"embedding": vocab * hidden}
    if not entry.get("tie_word_embeddings"):
        outside["head"] = vocab * hidden
    for name in ("vision", "audio"):
        if (entry.get(name) or {}).get("params"):
            outside[name] = entry[name]["params"]
    if (entry.get("ple") or {}).get("params"):
        outside["per_layer_embedding"] = entry["ple"]["params"]
    return outside


def _with_residual(
    entry: Entry, layers: tuple[Layer, ...], outside: dict[TensorClass, int]
) -> tuple[tuple[Layer, ...], dict[TensorClass, int]]:
    """What the formulas miss of the published total becomes "other"; where they exceed it by much, layers shrink in proportion."""
    inside = sum(sum(layer.params.values()) for layer in layers)
    rest = int(entry["params_total"]) - inside - sum(outside.values())
    if not layers or not inside:
        return layers, {**outside, "other": max(0, rest)}
    if -0.002 * inside <= rest <= 0.02 * inside:
        return layers, {**outside, "other": rest}
    if entry.get("architecture") in _TABLE_MODELS and rest > 0:
        return layers, {**outside, "per_layer_embedding": rest}
    scale = (inside + rest) / inside
    if scale <= 0:
        return layers, outside
    scaled = tuple(_scaled(layer, scale) for layer in layers)
    done = sum(sum(layer.params.values()) for layer in scaled) + sum(outside.values())
    return scaled, {**outside, "other": int(entry["params_total"]) - done}


def _scaled(layer: Layer, scale: float) -> Layer:
    params: dict[TensorClass, int] = {name: int(count * scale) for name, count in layer.params.items()}
    return Layer(
        layer.index, layer.kind, layer.heads, layer.kv_heads, layer.head_dim, layer.v_head_dim, layer.kv_elements_per_token,
        layer.window_tokens, layer.linear, layer.is_moe, params,
    )  # fmt: skip


def _mla(attention: Entry) -> MlaShape | None:
    if not attention.get("kv_lora_rank"):
        return None
    return MlaShape(
        q_lora_rank=attention.get("q_lora_rank"),
        kv_lora_rank=attention["kv_lora_rank"],
        qk_nope_head_dim=attention["qk_nope_head_dim"],
        qk_rope_head_dim=attention["qk_rope_head_dim"],
        v_head_dim=attention["v_head_dim"],
        index_head_dim=attention.get("index_head_dim"),
        index_heads=attention.get("index_n_heads"),
        index_topk=attention.get("index_topk"),
    )


def _moe(moe: Entry, moe_layers: int) -> MoeShape | None:
    if not moe or not moe.get("num_experts"):
        return None
    return MoeShape(
        experts=moe["num_experts"],
        experts_per_token=moe["experts_per_token"],
        shared_experts=moe.get("shared_experts") or 0,
        intermediate_size=moe["moe_intermediate_size"],
        moe_layers=moe_layers,
    )
