"""Architecture from the contents of a Hugging Face `config.json`, for models that the catalogue lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sizing.architecture.build import build, params_of_parts
from sizing.architecture.types import Architecture
from sizing.errors import UserError

Config = Mapping[str, Any]

_REQUIRED = ("hidden_size", "num_hidden_layers", "vocab_size")
_ALIASES = {
    "hidden_size": ("hidden_size", "n_embd", "d_model", "dim"),
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "num_attention_heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "num_key_value_heads": ("num_key_value_heads", "n_kv_heads", "num_kv_heads", "multi_query_group_num"),
    "intermediate_size": ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"),
    "vocab_size": ("vocab_size", "padded_vocab_size"),
    "max_position_embeddings": ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
}
# Every other number that is read below: absent, or a whole number; zero means "none of these".
_COUNTS = (
    "head_dim", "sliding_window", "sliding_window_pattern", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
    "v_head_dim", "index_n_heads", "index_head_dim", "index_topk", "linear_num_key_heads", "linear_num_value_heads",
    "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim", "mamba_n_heads", "mamba_num_heads", "mamba_d_head",
    "mamba_head_dim", "mamba_n_groups", "n_groups", "mamba_d_state", "ssm_state_size", "mamba_d_conv", "conv_kernel", "num_experts",
    "num_local_experts", "n_routed_experts", "num_experts_per_tok", "top_k_experts", "n_shared_experts",
    "shared_expert_intermediate_size", "moe_intermediate_size", "first_k_dense_replace",
)  # fmt: skip
_LARGEST = 20_000_000  # no width, count, vocabulary or context is larger; keeps arithmetic of hostile configs bounded
_MAX_LAYERS = 2_000
_WHOLE_FILE = "paste the whole config.json of the model"


def architecture_from_config(config: Config, model_id: str = "config.json") -> Architecture:
    """The architecture a `config.json` describes; nested `text_config` is followed.

    Raises:
        UserError: a needed field is missing or is no usable number.
    """
    text = config.get("text_config") or config.get("llm_config") or config
    if not isinstance(text, Mapping):
        raise UserError(
            "model.config.text_config", type(text).__name__, "text_config in model.config must be an object"
        )
    shape = {name: _number(text, keys) for name, keys in _ALIASES.items()}
    for key in _COUNTS:
        _whole(key, text.get(key), 0)
    for name in _REQUIRED:
        if not shape[name]:
            raise UserError(f"model.config.{name}", None, f"model.config has no {name!r}; {_WHOLE_FILE}")
    entry = _entry(config, text, shape, model_id)
    _require_sense(entry)
    entry["params_total"] = _total(entry)
    return build(entry, "config")


def _number(text: Config, keys: tuple[str, ...]) -> int | None:
    for key in keys:
        value = text.get(key)
        if value is None:
            continue
        return _whole(key, value, 1)
    return None


def _whole(key: str, value: object, least: int) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and least <= value <= _LARGEST):
        return value
    message = f"{key} in model.config must be a whole number from {least} to {_LARGEST:,}, got {str(value)[:80]!r}"
    raise UserError(f"model.config.{key}", str(value)[:80], message)


def _require_sense(entry: Mapping[str, Any]) -> None:
    """Parts that cannot be more than their whole, and parts without which the rest means nothing."""
    attention = entry["attention"]
    if not entry["head_dim"]:
        heads, hidden = entry["num_attention_heads"], entry["hidden_size"]
        text = (
            f"num_attention_heads in model.config must be at most hidden_size ({hidden:,}) where head_dim is not given"
        )
        raise UserError("model.config.num_attention_heads", heads, f"{text}, got {heads:,}")
    for name in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim") if attention.get("kv_lora_rank") else ():
        if not attention.get(name):
            raise UserError(f"model.config.{name}", None, f"model.config has kv_lora_rank but no {name}; {_WHOLE_FILE}")
    if entry["moe"] and not entry["moe"]["moe_intermediate_size"]:
        raise UserError(
            "model.config.moe_intermediate_size",
            None,
            f"model.config has experts but no moe_intermediate_size; {_WHOLE_FILE}",
        )
    moe = entry["moe"] or {"experts_per_token": 0, "num_experts": 0, "first_k_dense": 0}
    layers = entry["num_hidden_layers"]
    for name, value, most in (
        ("num_hidden_layers", layers, _MAX_LAYERS),
        ("num_key_value_heads", entry["num_key_value_heads"], entry["num_attention_heads"]),
        ("num_experts_per_tok", moe["experts_per_token"], moe["num_experts"]),
        ("first_k_dense_replace", moe["first_k_dense"], layers),
    ):
        if value > most:
            raise UserError(
                f"model.config.{name}", value, f"{name} in model.config must be at most {most:,} here, got {value:,}"
            )


def _entry(config: Config, text: Config, shape: Mapping[str, int | None], model_id: str) -> dict[str, Any]:
    heads = shape["num_attention_heads"] or 1
    hidden = shape["hidden_size"] or 0
    kv_heads = shape["num_key_value_heads"] or heads
    head_dim = text.get("head_dim") or hidden // heads
    layers = shape["num_hidden_layers"] or 0
    attention = _attention(text, layers, heads, kv_heads)
    return {
        **shape,
        "id": model_id,
        "family": str(text.get("model_type") or "unknown"),
        "modality": "vision-text" if config.get("vision_config") else "text",
        "architecture": str(text.get("model_type") or "llama"),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "intermediate_size": shape["intermediate_size"] or 4 * hidden,
        "tie_word_embeddings": bool(text.get("tie_word_embeddings", config.get("tie_word_embeddings", False))),
        "native_dtype": {"float16": "fp16", "float32": "fp32"}.get(
            str(text.get("torch_dtype") or text.get("dtype")), "bf16"
        ),
        "attention": attention,
        "kv_cache": _kv_cache(attention, kv_heads, head_dim),
        "moe": _moe(text, layers),
    }


def _attention(text: Config, layers: int, heads: int, kv_heads: int) -> dict[str, Any]:
    kinds = text.get("layer_types")
    counts = {"full": layers}
    if isinstance(kinds, list) and len(kinds) == layers:
        sliding = sum("sliding" in str(kind) or "chunked" in str(kind) for kind in kinds)
        linear = sum("linear" in str(kind) or "mamba" in str(kind) or "conv" in str(kind) for kind in kinds)
        counts = {"full": layers - sliding - linear, "sliding": sliding, "linear": linear}
    elif text.get("sliding_window") and text.get("sliding_window_pattern"):
        full = layers // text["sliding_window_pattern"]
        counts = {"full": full, "sliding": layers - full}
    attention: dict[str, Any] = {
        "type": "mha" if heads == kv_heads else "gqa",
        "layers": {kind: count for kind, count in counts.items() if count},
        "sliding_window": text.get("sliding_window") if counts.get("sliding") else None,
    }
    if text.get("kv_lora_rank"):
        attention |= {"type": "mla"} | {
            key: text.get(key)
            for key in ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
                        "index_n_heads", "index_head_dim", "index_topk")
        }  # fmt: skip
    if counts.get("linear"):
        attention["linear"] = _linear(text)
    return attention


def _linear(text: Config) -> dict[str, Any]:
    if text.get("linear_num_value_heads"):
        for name in ("linear_num_key_heads", "linear_key_head_dim", "linear_value_head_dim"):
            if not text.get(name):
                raise UserError(
                    f"model.config.{name}",
                    None,
                    f"model.config has linear_num_value_heads but no {name}; {_WHOLE_FILE}",
                )
        return {
            "kind": "gated_deltanet",
            "num_key_heads": text["linear_num_key_heads"],
            "num_value_heads": text["linear_num_value_heads"],
            "key_head_dim": text["linear_key_head_dim"],
            "value_head_dim": text["linear_value_head_dim"],
            "conv_kernel": text.get("linear_conv_kernel_dim", 4),
            "state_dtype": "fp32",
        }
    return {
        "kind": "mamba2",
        "num_heads": text.get("mamba_n_heads") or text.get("mamba_num_heads") or 0,
        "head_dim": text.get("mamba_d_head") or text.get("mamba_head_dim") or 0,
        "n_groups": text.get("mamba_n_groups") or text.get("n_groups") or 1,
        "state_size": text.get("mamba_d_state") or text.get("ssm_state_size") or 0,
        "conv_kernel": text.get("mamba_d_conv") or text.get("conv_kernel") or 4,
        "state_dtype": "fp32",
    }


def _kv_cache(attention: Mapping[str, Any], kv_heads: int, head_dim: int) -> dict[str, int]:
    counts = attention["layers"]
    per_layer = 2 * kv_heads * head_dim
    if attention.get("kv_lora_rank"):
        per_layer = attention["kv_lora_rank"] + (attention["qk_rope_head_dim"] or 0)
    cache = {"full_elements_per_token": counts.get("full", 0) * per_layer}
    if counts.get("sliding"):
        cache["sliding_elements_per_token"] = counts["sliding"] * per_layer
    if counts.get("linear"):
        cache |= _state(attention["linear"], counts["linear"])
    if attention.get("index_head_dim"):
        cache["index_elements_per_token"] = counts.get("full", 0) * attention["index_head_dim"]
    return cache


def _state(shape: Mapping[str, Any], layers: int) -> dict[str, int]:
    if shape["kind"] == "gated_deltanet":
        values = shape["num_value_heads"] * shape["value_head_dim"]
        width = 2 * shape["num_key_heads"] * shape["key_head_dim"] + values
        state = values * shape["key_head_dim"]
    else:
        inner = shape["num_heads"] * shape["head_dim"]
        width, state = inner + 2 * shape["n_groups"] * shape["state_size"], inner * shape["state_size"]
    return {
        "linear_state_elements_per_seq": layers * state,
        "linear_conv_elements_per_seq": layers * width * shape["conv_kernel"],
    }


def _moe(text: Config, layers: int) -> dict[str, Any] | None:
    experts = text.get("num_experts") or text.get("num_local_experts") or text.get("n_routed_experts")
    if not experts:
        return None
    first = text.get("first_k_dense_replace") or 0
    return {
        "num_experts": experts,
        "experts_per_token": text.get("num_experts_per_tok") or text.get("top_k_experts") or min(2, experts),
        "shared_experts": text.get("n_shared_experts") or (1 if text.get("shared_expert_intermediate_size") else 0),
        "shared_intermediate_size": text.get("shared_expert_intermediate_size"),
        "moe_intermediate_size": text.get("moe_intermediate_size") or text.get("intermediate_size"),
        "layers": layers - first,
        "first_k_dense": first,
    }


def _total(entry: dict[str, Any]) -> int:
    """The sum of the parts, with norms: two vectors a layer and one at the end."""
    return params_of_parts(entry) + int(entry["hidden_size"]) * (2 * int(entry["num_hidden_layers"]) + 1)
