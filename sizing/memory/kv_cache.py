"""Bytes that one layer caches: per token for attention, fixed per sequence for recurrent layers. No engine's paging in here."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.architecture.types import Architecture, Layer
from sizing.catalogue.entries import KvFormat

# vLLM and SGLang keep DeepSeek's latent in FP8 as 512 B + 4 scales of 4 B + 64 rotary elements in bf16 = 656 B, and the keys of
# the sparse indexer as 128 B + one fp32 scale = 132 B whatever the cache format (V3.2 in bf16: 61 x (1152 + 132) B a token).
FP8_DS_MLA_BYTES = 656
INDEXER_KEY_BYTES = 132
_INDEXER_HEAD_DIM = 128

# Recurrent state is kept in fp32 where the model's config asks for it; other Mamba-2 and DeltaNet models store it as they compute.
# Shown by the attention blocks that vLLM prints: Falcon-H1-3B 2,080 and Qwen3-Next 544 tokens only fit 16-bit states,
# Qwen3.6-27B 784 and Nemotron 3 Nano 4,176 only fp32.
_SIXTEEN_BIT_STATES = frozenset(
    {"falcon_h1", "granitemoehybrid", "bamba", "zamba2", "qwen3_next", "jamba", "granite_hybrid"}
)
_STATE_BITS_ALWAYS_FP32 = frozenset({"kda", "lightning"})


@dataclass(frozen=True, slots=True)
class StateShape:
    """Recurrent state of one layer and sequence in bytes, before tensor parallelism."""

    recurrent_bytes: float
    convolution_bytes: float

    @property
    def total_bytes(self) -> float:
        """Both parts."""
        return self.recurrent_bytes + self.convolution_bytes


def kv_token_bytes(layer: Layer, model: Architecture, k: KvFormat, v: KvFormat) -> float:
    """Bytes of one token in one attention layer of the unsharded model; 0 where the layer stores nothing."""
    if not layer.kv_elements_per_token:
        return 0.0
    if model.mla is not None:
        return _latent_bytes(layer, model, k)
    keys, values = layer.head_dim or 1, layer.v_head_dim or layer.head_dim or 1
    per_element = (
        keys * k.bytes_per_element_at(layer.head_dim) + values * v.bytes_per_element_at(layer.v_head_dim)
    ) / (keys + values)
    return layer.kv_elements_per_token * per_element


def _latent_bytes(layer: Layer, model: Architecture, k: KvFormat) -> float:
    sparse = bool(model.mla and model.mla.index_topk)
    if k.id == "kv-fp8-ds-mla" or (sparse and k.id.startswith("kv-fp8")):
        return FP8_DS_MLA_BYTES
    return layer.kv_elements_per_token * k.bytes_per_element


def indexer_token_bytes(model: Architecture) -> float:
    """Bytes of one token in the sparse indexer's key cache, over all layers that have one."""
    return model.index_elements_per_token / _INDEXER_HEAD_DIM * INDEXER_KEY_BYTES


def state_shape(layer: Layer, model: Architecture, speculative_tokens: int = 0) -> StateShape:
    """State of one recurrent layer; convolution keeps kernel - 1 columns, and one more for every speculated token."""
    shape = layer.linear
    if shape is None:
        return StateShape(0.0, 0.0)
    kernel = max(1, shape.conv_kernel)
    columns = max(0, kernel - 1) + speculative_tokens
    width = shape.conv_elements / kernel
    return StateShape(shape.state_elements * state_element_bytes(layer, model), width * columns * 2.0)


def state_element_bytes(layer: Layer, model: Architecture) -> int:
    """Bytes of one element of the recurrent state as servers keep it: 4, or 2 where the model's config does not ask for fp32."""
    shape = layer.linear
    if shape is None or shape.kind in _STATE_BITS_ALWAYS_FP32:
        return 4
    if model.name in _SIXTEEN_BIT_STATES or shape.kind == "mamba1":
        return 2
    return 4 if shape.state_dtype == "fp32" else 2
