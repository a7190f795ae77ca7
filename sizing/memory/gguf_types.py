"""GGUF block types and file mixes: which block type a mix gives to a tensor of a role, layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from sizing.catalogue.entries import Format

# Bits of a block divided by its elements (ggml-common.h): q4_K packs 256 weights into 144 bytes = 4.5 bits.
BITS: dict[str, float] = {
    "F32": 32.0, "F16": 16.0, "BF16": 16.0, "Q4_0": 4.5, "Q4_1": 5.0, "Q5_0": 5.5, "Q5_1": 6.0, "Q6_0": 6.5, "Q8_0": 8.5,
    "Q2_K": 2.625, "Q3_K": 3.4375, "Q4_K": 4.5, "Q5_K": 5.5, "Q6_K": 6.5625, "IQ1_S": 1.5625, "IQ1_M": 1.75, "IQ2_XXS": 2.0625,
    "IQ2_XS": 2.3125, "IQ2_S": 2.5625, "IQ3_XXS": 3.0625, "IQ3_S": 3.4375, "IQ4_NL": 4.5, "IQ4_XS": 4.25, "TQ1_0": 1.6875,
    "TQ2_0": 2.0625, "MXFP4": 4.25, "NVFP4": 4.5, "Q1_0": 1.125,
    "IQ2_BN": 2.0, "IQ1_BN": 1.625, "IQ1_KT": 1.75, "IQ2_K": 2.375, "IQ3_K": 3.4375, "IQ4_K": 4.5, "IQ5_K": 5.5, "IQ6_K": 6.625,
    "IQ4_KS": 4.25, "IQ2_KS": 2.1875, "IQ4_KSS": 4.0, "IQ5_KS": 5.25, "IQ2_KT": 2.125, "IQ3_KT": 3.125, "IQ4_KT": 4.0,
    "IQ3_KS": 3.1875, "IQ2_KL": 2.6875,
}  # fmt: skip

# Where a row is no multiple of 256 elements, blocks of 32 stand in (gpt-oss, DeepSeek-V2-Lite, Qwen2.5-0.5B).
_FALLBACK = {
    "Q2_K": "IQ4_NL", "Q3_K": "IQ4_NL", "IQ1_S": "IQ4_NL", "IQ1_M": "IQ4_NL", "IQ2_XXS": "IQ4_NL", "IQ2_XS": "IQ4_NL",
    "IQ2_S": "IQ4_NL", "IQ3_XXS": "IQ4_NL", "IQ3_S": "IQ4_NL", "IQ4_XS": "IQ4_NL", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0",
    "IQ2_K": "IQ3_KT", "IQ3_K": "IQ4_KT", "IQ4_K": "Q5_0", "IQ5_K": "Q6_0", "IQ6_K": "Q8_0", "TQ1_0": "Q4_0", "TQ2_0": "Q4_0",
}  # fmt: skip

# (main block type of a mix, in order of the names that llama-quantize takes)
_MAIN = {
    "Q2_K": "Q2_K", "Q2_K_S": "Q2_K", "Q3_K_S": "Q3_K", "Q3_K_M": "Q3_K", "Q3_K_L": "Q3_K", "Q4_K_S": "Q4_K", "Q4_K_M": "Q4_K",
    "Q5_K_S": "Q5_K", "Q5_K_M": "Q5_K", "Q6_K": "Q6_K", "IQ2_M": "IQ2_S", "IQ2_S": "IQ2_XS", "IQ3_XS": "IQ3_S", "IQ3_M": "IQ3_S",
    "MXFP4_MOE": "MXFP4",
}  # fmt: skip

# Unsloth's dynamic mixes against the mix they start from: medians over published file sizes of a dozen models. They vary by
# model (Q4_K_XL 0.95-1.08), so that a stated file size is always better.
_DYNAMIC = {
    "UD-IQ1_S": ("IQ1_S", 1.10), "UD-IQ1_M": ("IQ1_M", 1.10), "UD-IQ2_XXS": ("IQ2_XXS", 1.10), "UD-IQ2_M": ("IQ2_M", 1.06),
    "UD-IQ3_XXS": ("IQ3_XXS", 1.04), "UD-IQ4_XS": ("IQ4_XS", 1.0), "UD-Q2_K_XL": ("Q2_K", 1.05), "UD-Q3_K_XL": ("Q3_K_M", 1.0),
    "UD-Q3_K_M": ("Q3_K_M", 1.0), "UD-Q4_K_M": ("Q4_K_M", 1.02), "UD-Q4_K_XL": ("Q4_K_M", 1.02), "UD-Q5_K_M": ("Q5_K_M", 1.0),
    "UD-Q5_K_XL": ("Q5_K_M", 1.01), "UD-Q6_K_XL": ("Q6_K", 1.05), "UD-Q8_K_XL": ("Q8_0", 1.12),
}  # fmt: skip

_LOW = frozenset({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M"})


@dataclass(frozen=True, slots=True)
class Mix:
    """A file mix: its name, its main block type, the engine family whose recipe it is, and a factor for dynamic mixes."""

    name: str
    main: str
    is_ik: bool
    factor: float = 1.0
    dense_type: str | None = None


# Mixes that ik_llama.cpp's users make with its own tool, whose recipe spends more bits on attention; files with other names are
# mostly made with llama.cpp's.
_OWN_RECIPE = _LOW | {"IQ3_XXS", "IQ3_XS", "IQ3_S", "IQ3_M", "IQ4_XS", "IQ4_NL"}


@lru_cache(maxsize=256)
def _mix(ident: str, bits: float | None, main_block: str | None, is_ik: bool, dense_type: str | None) -> Mix:
    name = ident.removeprefix("gguf-type-").removeprefix("gguf-").removeprefix("ik-").upper()
    name, factor = _DYNAMIC.get(name, (name, 1.0))
    if name in ("MXFP4", "MXFP4_MOE"):
        return Mix("MXFP4_MOE", "MXFP4", is_ik, 1.0, dense_type or "Q8_0")
    plain = {"FP16": "F16", "BF16": "BF16", "FP32": "F32"}.get(name, name)
    main = _MAIN.get(plain, plain if plain in BITS else (main_block or ""))
    if main in BITS:
        return Mix(plain, main, is_ik, factor)
    nearest = min(BITS, key=lambda block: abs(BITS[block] - (bits or 4.5)))
    return Mix(plain, nearest, is_ik, (bits or 4.5) / BITS[nearest])


def mix_of(chosen: Format, engine: str, *, is_gpt_oss: bool = False) -> Mix:
    """The mix behind a format; formats that are no GGUF count as one uniform block type of their bits."""
    # Ollama's own gpt-oss files leave what is no expert in bf16 (13.8 GB instead of 12.1 GB for the 20B).
    dense = "BF16" if is_gpt_oss and engine == "ollama" else None
    own = engine == "ik_llama.cpp" and chosen.id.removeprefix("gguf-").upper() in _OWN_RECIPE
    return _mix(chosen.id, chosen.bits_per_weight, chosen.main_block, own or chosen.id.startswith("ik-"), dense)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a tensor sits, as far as the recipes look: its layer, and what kind of model it belongs to."""

    mix: Mix
    layer: int
    layers: int
    heads_per_kv_head: int
    experts: int
    tied: bool

    @property
    def many_experts(self) -> bool:
        """Mixtral-like models get more bits in attention; ik_llama.cpp does so for every mixture of experts."""
        return self.experts >= 4 if self.mix.is_ik else self.experts == 8

    @property
    def more_bits(self) -> bool:
        """The layers that the _M mixes give more bits: the first and last eighth, and every third between."""
        eighth = self.layers // 8
        return self.layer < eighth or self.layer >= 7 * self.layers // 8 or (self.layer - eighth) % 3 == 2


def fallback(block: str, row: int) -> str:
    """The block type really used for rows of that length."""
    return _FALLBACK.get(block, block) if row % 256 else block


def tensor_type(role: str, spot: Spot) -> str:
    """The block type of a tensor by its role; the layer matters where a mix spends more bits on some layers."""
    mix = spot.mix
    if mix.name in ("F32", "F16", "BF16"):
        return mix.main
    if mix.dense_type is not None:
        return mix.main if role.startswith("ffn_") and spot.experts else mix.dense_type
    if role == "output" or (role == "token_embd" and spot.tied):
        return _output(spot)
    rule = _RULES.get(role)
    return rule(spot) if rule else mix.main


def _output(spot: Spot) -> str:
    mix = spot.mix
    if mix.main in ("Q8_0", "IQ6_K", "Q4_0_4_4"):
        return mix.main
    if mix.name in _LOW or mix.name == "IQ3_XXS" or (mix.is_ik and BITS[mix.main] < 3.5 and mix.main.startswith("IQ")):
        return "IQ4_K" if mix.is_ik and spot.tied else "Q5_K"
    return "Q6_K"


def _token_embedding(spot: Spot) -> str:
    mix = spot.mix
    if mix.name in ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS"):
        return "Q2_K"
    if mix.name in ("IQ2_S", "IQ2_M", "IQ3_XXS", "IQ3_KT"):
        return "IQ3_S"
    return {"IQ1_BN": "IQ4_NL", "IQ2_BN": "IQ4_NL", "TQ1_0": "Q4_K", "TQ2_0": "Q4_K"}.get(mix.name, mix.main)


def _attn_v(spot: Spot) -> str:
    """Values (and fused projections of hybrid layers): small where heads share them, so that more bits cost little."""
    if spot.mix.name in _LOW:
        small = "IQ3_S" if spot.mix.name in ("IQ2_S", "IQ2_M") else "Q2_K"
        return "Q4_K" if spot.heads_per_kv_head >= 4 or spot.experts >= 4 else small
    if spot.many_experts:
        return "Q8_0"
    chosen = _attn_v_by_mix(spot)
    is_70b = spot.layers == 80 and spot.heads_per_kv_head == 8
    return "Q5_K" if is_70b and chosen in ("Q3_K", "Q4_K") else chosen


def _attn_v_by_mix(spot: Spot) -> str:
    mix, grouped = spot.mix, spot.heads_per_kv_head >= 4
    by_name: dict[str, str] = {
        "Q2_K": "Q4_K" if grouped else "Q3_K", "Q2_K_S": "Q4_K" if grouped else "Q2_K", "IQ3_XXS": "Q4_K" if grouped else "IQ3_XXS",
        "IQ3_XS": "Q4_K" if grouped else mix.main, "IQ3_S": "Q4_K" if grouped else mix.main, "IQ3_M": "Q4_K",
        "Q3_K_M": "Q5_K" if spot.layer < 2 else "Q4_K", "Q3_K_L": "Q5_K", "IQ4_NL": "Q5_K" if grouped else mix.main,
        "IQ4_XS": "Q5_K" if grouped else mix.main, "Q4_K_S": "Q5_K" if spot.layer < 4 else "Q4_K",
        "Q4_K_M": "Q6_K" if spot.more_bits else "Q4_K", "Q5_K_M": "Q6_K" if spot.more_bits else "Q5_K",
    }  # fmt: skip
    return by_name.get(mix.name, mix.main)


def _attn_k(spot: Spot) -> str:
    mix = spot.mix
    if mix.name in _LOW:
        return "Q4_K" if spot.many_experts else mix.main
    if spot.many_experts:
        return "Q8_0"
    return {"IQ3_XS": "IQ3_XXS", "IQ3_XXS": "IQ2_S"}.get(mix.name, mix.main)


def _attn_q(spot: Spot) -> str:
    mix = spot.mix
    if mix.name in _LOW:
        return "Q4_K" if mix.is_ik and spot.experts >= 8 else mix.main
    return {"IQ3_XS": "IQ3_XXS", "IQ3_XXS": "IQ2_S"}.get(mix.name, mix.main)


def _mla_k(spot: Spot) -> str:
    mix = spot.mix
    return _attn_k(spot) if mix.is_ik else mix.main


def _mla_q(spot: Spot) -> str:
    mix = spot.mix
    return _attn_q(spot) if mix.is_ik else mix.main


_BOOSTED_OUTPUT = frozenset({
    "Q2_K", "IQ3_XS", "IQ3_XXS", "Q3_K_S", "Q3_K_M", "IQ4_NL", "Q4_K_S", "Q4_K_M", "IQ3_S", "IQ3_M", "IQ4_XS", "IQ2_K", "IQ3_K",
    "IQ4_K", "IQ4_KS", "IQ4_KSS", "IQ3_KS", "IQ2_KL", "IQ2_KS", "IQ2_KT", "IQ3_KT", "IQ4_KT",
})  # fmt: skip


def _attn_output(spot: Spot) -> str:
    mix = spot.mix
    if mix.name in _LOW:
        low = {"IQ1_S": "IQ2_XXS", "IQ1_M": "IQ2_XXS", "IQ2_S": "IQ3_S", "IQ2_M": "IQ3_S"}.get(mix.name, mix.main)
        return "Q5_K" if spot.many_experts else low
    if spot.many_experts:
        return "Q5_K" if mix.name in _BOOSTED_OUTPUT else mix.main
    by_name = {"Q2_K": "Q3_K", "IQ3_XXS": "IQ3_S", "Q3_K_M": "Q4_K", "Q3_K_L": "Q5_K", "IQ3_M": "Q4_K"}
    return by_name.get(mix.name, mix.main)


def _ffn_down(spot: Spot) -> str:
    mix = spot.mix
    early = spot.layer < spot.layers // 8
    if mix.name in _LOW:
        return ("IQ3_S" if mix.name in ("IQ2_S", "IQ2_M") else "Q2_K") if early else mix.main
    by_name: dict[str, str] = {
        "Q2_K": "Q3_K", "Q2_K_S": "Q4_K" if early else mix.main, "Q3_K_M": "Q5_K" if spot.layer < spot.layers // 16 else "Q4_K",
        "Q3_K_L": "Q5_K", "IQ3_M": "Q4_K" if early else mix.main, "Q4_K_S": "Q5_K" if early else mix.main,
        "Q4_K_M": "Q6_K" if spot.more_bits else mix.main, "Q5_K_M": "Q6_K" if spot.more_bits else mix.main,
    }  # fmt: skip
    return by_name.get(mix.name, mix.main)


def _ffn_up(spot: Spot) -> str:
    mix = spot.mix
    middle = spot.layers // 8 <= spot.layer < 7 * spot.layers // 8
    return "IQ3_XXS" if mix.name == "IQ3_XS" and middle else mix.main


_RULES: dict[str, Callable[[Spot], str]] = {
    "token_embd": _token_embedding, "attn_v": _attn_v, "attn_k": _attn_k, "attn_q": _attn_q, "mla_k": _mla_k, "mla_q": _mla_q,
    "attn_output": _attn_output, "ffn_down": _ffn_down, "ffn_up": _ffn_up, "ffn_gate": _ffn_up,
}  # fmt: skip
