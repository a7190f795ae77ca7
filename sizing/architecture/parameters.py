"""Parameters of the parts of a transformer block, from its shape. Biases and norms are left to the residual.

Checked: with these formulas the sum over a model meets the published total within 1 % for nearly all catalogue models; what is
missing (norms, biases, small projections) goes into the class "other" so that totals are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNGATED_MLP = frozenset({
    "gpt2", "opt", "bloom", "falcon", "starcoder2", "nemotron", "nemotron_h", "phi", "gptj", "gpt_neox", "bert", "xlm-roberta",
    "xlm-roberta-flash", "whisper", "apertus", "nomic_bert_moe", "moondream1", "mpnet", "roberta", "arcee", "exaone2",
})  # fmt: skip


# Queries carry an output gate of the same width (Qwen3-Next and its successors).
GATED_QUERY = frozenset({"qwen3_next", "qwen3_5", "qwen3_5_moe", "qwen4_exp"})


def mlp_params(architecture: str, hidden: int, intermediate: int) -> int:
    """Gate, up and down projections; architectures without a gate have two matrices."""
    return (2 if architecture in UNGATED_MLP else 3) * hidden * intermediate


def attention_params(architecture: str, hidden: int, heads: int, head_dim: int, v_head_dim: int) -> int:
    """Query and output projections (key and value are counted apart)."""
    queries = 2 if architecture in GATED_QUERY else 1
    return queries * hidden * heads * head_dim + heads * v_head_dim * hidden


def kv_projection_params(hidden: int, kv_heads: int, head_dim: int, v_head_dim: int, k_eq_v: bool) -> int:
    """Key and value projections; one matrix where values are the keys (Gemma 4's global layers)."""
    return hidden * kv_heads * (head_dim if k_eq_v else head_dim + v_head_dim)


def mla_params(hidden: int, heads: int, a: Mapping[str, Any]) -> dict[str, int]:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): down-projections are not split by tensor parallelism."""
    q_rank, kv_rank = a.get("q_lora_rank"), a["kv_lora_rank"]
    nope, rope, value = a["qk_nope_head_dim"], a["qk_rope_head_dim"], a["v_head_dim"]
    down = hidden * (kv_rank + rope) + (hidden * q_rank if q_rank else 0)
    up = (q_rank or hidden) * heads * (nope + rope) + kv_rank * heads * (nope + value) + heads * value * hidden
    index = 0
    if a.get("index_head_dim") and a.get("index_n_heads"):
        index = (
            hidden * (a["index_head_dim"] + a["index_n_heads"])
            + (q_rank or hidden) * a["index_n_heads"] * a["index_head_dim"]
        )
    return {"mla_down": down, "attention": up, "indexer": index}


def compressed_mla_params(hidden: int, heads: int, head_dim: int, a: Mapping[str, Any], layers: int) -> dict[str, int]:
    """DeepSeek V4: low-rank queries, one latent for all heads, a grouped low-rank output, and compressors of keys (two streams,
    doubled where windows overlap). 23.4B outside the experts of V4-Pro by this formula, 23.6B by the published total."""
    q_rank, o_rank, groups = a["q_lora_rank"], a["o_lora_rank"], a["o_groups"]
    kinds = a.get("compressed") or ()
    streams = sum((4 if kind["ratio"] <= 4 else 2) * kind["layers"] for kind in kinds)
    indexed = sum(kind["layers"] for kind in kinds if kind.get("index_elements"))
    down = hidden * (q_rank + head_dim) + hidden * head_dim * streams // max(1, layers)
    up = q_rank * heads * head_dim + heads * head_dim * o_rank + groups * o_rank * hidden
    index_dim, index_heads = a.get("index_head_dim") or 0, a.get("index_n_heads") or 0
    index = q_rank * index_heads * index_dim + hidden * (index_heads + 4 * index_dim)
    return {"mla_down": down, "attention": up, "indexer": index * indexed // max(1, layers)}


def linear_params(hidden: int, shape: Mapping[str, Any]) -> int:
    """The mixer of one linear-attention, Mamba or short-convolution layer."""
    mixers = {
        "mamba2": _mamba2,
        "mamba1": _mamba1,
        "gated_deltanet": _gated_deltanet,
        "kda": _kda,
        "lightning": _lightning,
    }
    return mixers.get(str(shape["kind"]), _short_convolution)(hidden, shape)


def _mamba2(hidden: int, shape: Mapping[str, int]) -> int:
    inner = shape["num_heads"] * shape["head_dim"]
    return hidden * (2 * inner + 2 * shape["n_groups"] * shape["state_size"] + shape["num_heads"]) + inner * hidden


def _mamba1(hidden: int, shape: Mapping[str, int]) -> int:
    inner, rank, state = shape["inner"], shape["dt_rank"], shape["state_size"]
    return 2 * hidden * inner + inner * (rank + 2 * state) + rank * inner + inner * hidden + inner * state


def _gated_deltanet(hidden: int, shape: Mapping[str, int]) -> int:
    keys = shape["num_key_heads"] * shape["key_head_dim"]
    values = shape["num_value_heads"] * shape["value_head_dim"]
    return hidden * (2 * keys + 2 * values + 2 * shape["num_value_heads"]) + values * hidden


def _kda(hidden: int, shape: Mapping[str, int]) -> int:
    inner = shape["num_heads"] * shape["head_dim"]
    gate = hidden * inner if shape.get("full_rank_gate") else (hidden + inner) * shape["head_dim"]
    return 4 * hidden * inner + gate + (hidden + inner) * shape["head_dim"] + hidden * shape["num_heads"]


def _lightning(hidden: int, shape: Mapping[str, int]) -> int:
    return 5 * hidden * shape["num_heads"] * shape["head_dim"]


def _short_convolution(hidden: int, shape: Mapping[str, int]) -> int:
    """In-projection to three streams, out-projection, and the kernel of one channel each."""
    return 4 * hidden * hidden + hidden * shape.get("conv_kernel", 0)


def expert_params(architecture: str, hidden: int, moe: Mapping[str, Any]) -> int:
    """All routed experts of one layer; with a latent size the experts work in the smaller space (Nemotron 3, Kimi K3)."""
    return int(moe["num_experts"]) * mlp_params(
        architecture, moe.get("latent_size") or hidden, moe["moe_intermediate_size"]
    )


def shared_expert_params(architecture: str, hidden: int, moe: Mapping[str, Any]) -> int:
    """The experts that see every token, plus the latent projections where there are any."""
    count = moe.get("shared_experts") or 0
    width = moe.get("shared_intermediate_size") or moe["moe_intermediate_size"] * count
    latent = 2 * hidden * moe["latent_size"] if moe.get("latent_size") else 0
    return (mlp_params(architecture, hidden, width) if count else 0) + latent
