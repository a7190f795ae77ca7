"""A typical architecture for a bare size ("a 13B model"): said to be typical, with wide ranges downstream."""

from __future__ import annotations

from functools import lru_cache

from sizing.architecture.build import build
from sizing.architecture.types import Architecture

# (billions, layers, hidden, intermediate, heads, kv_heads, vocabulary): shapes of widely used dense models of each size
# (MiniLM-L6, SmolLM2, Llama 3.2 and 3.1, Qwen2.5, Mistral Small, Llama 3.1 70B and 405B; model catalogue).
_SHAPES = (
    (0.022, 6, 384, 1536, 12, 12, 30522),
    (0.135, 30, 576, 1536, 9, 3, 49152),
    (0.5, 24, 896, 4864, 14, 2, 151936),
    (1.5, 28, 1536, 8960, 12, 2, 151936),
    (3.0, 28, 3072, 8192, 24, 8, 128256),
    (8.0, 32, 4096, 14336, 32, 8, 128256),
    (14.0, 40, 5120, 17408, 40, 8, 151936),
    (24.0, 40, 5120, 32768, 32, 8, 131072),
    (32.0, 64, 5120, 27648, 40, 8, 152064),
    (70.0, 80, 8192, 28672, 64, 8, 128256),
    (123.0, 88, 12288, 28672, 96, 8, 32768),
    (405.0, 126, 16384, 53248, 128, 8, 128256),
)


@lru_cache(maxsize=64)
def architecture_from_size(params_b: float, active_params_b: float | None = None) -> Architecture:
    """The typical dense shape nearest in size (on a log scale), scaled to the size said, in billions of parameters."""
    size, layers, hidden, intermediate, heads, kv_heads, vocab = min(
        _SHAPES, key=lambda row: abs(_ratio(row[0], params_b))
    )
    entry = {
        "id": f"{params_b:g}B",
        "family": "unknown",
        "architecture": "llama",
        "params_total": round(params_b * 1e9),
        "params_active": round(active_params_b * 1e9) if active_params_b else None,
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": 128 if size > 2 else hidden // heads,
        "vocab_size": vocab,
        "tie_word_embeddings": size < 8,
        "max_position_embeddings": 131072,
        "attention": {"type": "gqa", "layers": {"full": layers}},
        "kv_cache": {"full_elements_per_token": 2 * layers * kv_heads * (128 if size > 2 else hidden // heads)},
    }
    return build(entry, "typical")


def _ratio(one: float, other: float) -> float:
    return max(one, other) / min(one, other) - 1
