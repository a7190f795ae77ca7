"""What the engine needs to know of a model: its layers, and its parameters by class of tensor.

Formulas for memory and speed ask these types, never the catalogue entry, so that a catalogue model, a `config.json` and a bare
"13B" travel the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

LayerKind = Literal["full", "sliding", "chunked", "linear", "cross", "none"]
TensorClass = Literal[
    "embedding", "head", "attention", "kv_projection", "mla_down", "indexer", "linear_mixer", "cross_attention",
    "mlp", "expert", "shared_expert", "router", "norm", "vision", "audio", "per_layer_embedding", "mtp", "other",
]  # fmt: skip
Confidence = Literal["catalogue", "config", "typical"]


@dataclass(frozen=True, slots=True)
class LinearShape:
    """State of one linear-attention, Mamba or short-convolution layer, in elements per sequence."""

    kind: str
    state_elements: int
    conv_elements: int
    heads: int
    conv_kernel: int
    state_dtype: str


@dataclass(frozen=True, slots=True)
class Layer:
    """One block of the decoder (or encoder).

    `kv_elements_per_token` counts keys and values of one token on an unsharded model; 0 where the layer stores none (linear
    layers, layers that share another layer's cache). `window_tokens` caps how many tokens a sliding layer keeps.
    """

    index: int
    kind: LayerKind
    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    kv_elements_per_token: int
    window_tokens: int | None
    linear: LinearShape | None
    is_moe: bool
    params: Mapping[TensorClass, int]


@dataclass(frozen=True, slots=True)
class MlaShape:
    """Multi-head latent attention: one latent per token, not split by tensor parallelism."""

    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    index_head_dim: int | None
    index_heads: int | None
    index_topk: int | None

    @property
    def latent_elements(self) -> int:
        """Elements cached per token and layer: 512 + 64 = 576 for DeepSeek V3."""
        return self.kv_lora_rank + self.qk_rope_head_dim


@dataclass(frozen=True, slots=True)
class MoeShape:
    """A mixture of experts."""

    experts: int
    experts_per_token: int
    shared_experts: int
    intermediate_size: int
    moe_layers: int


@dataclass(frozen=True)
class Architecture:
    """A model as the engine sees it. Parameter counts are exact where `confidence` is "catalogue"."""

    id: str
    family: str
    modality: str
    name: str
    confidence: Confidence
    params_total: int
    params_active: int
    native_dtype: str
    checkpoint_gb: float | None
    hidden_size: int
    intermediate_size: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab_size: int
    tied_embeddings: bool
    max_position_tokens: int | None
    layers: tuple[Layer, ...]
    outside: Mapping[TensorClass, int]
    mla: MlaShape | None
    moe: MoeShape | None
    attention_type: str
    index_elements_per_token: int
    mtp_params: int
    mtp_layers: int
    has_kv_figures: bool
    components: tuple[Mapping[str, object], ...] = ()
    notes: str | None = None
    raw: Mapping[str, object] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def params(self) -> Mapping[TensorClass, int]:
        """Parameters by class over the whole model, without MTP (multi-token prediction) modules."""
        total: dict[TensorClass, int] = dict(self.outside)
        for layer in self.layers:
            for name, count in layer.params.items():
                total[name] = total.get(name, 0) + count
        return total

    @cached_property
    def kv_elements_per_token(self) -> int:
        """Keys and values of one token over the layers that keep the full context."""
        return sum(layer.kv_elements_per_token for layer in self.layers if layer.window_tokens is None)

    @cached_property
    def sliding_elements_per_token(self) -> int:
        """Keys and values of one token over the layers that keep only a window."""
        return sum(layer.kv_elements_per_token for layer in self.layers if layer.window_tokens is not None)

    @cached_property
    def linear_layers(self) -> tuple[Layer, ...]:
        """Layers with a constant state per sequence."""
        return tuple(layer for layer in self.layers if layer.linear is not None)

    @cached_property
    def state_elements_per_sequence(self) -> tuple[int, int]:
        """(recurrent state, convolution state) elements of one sequence over all linear layers."""
        shapes = [layer.linear for layer in self.layers if layer.linear is not None]
        return sum(s.state_elements for s in shapes), sum(s.conv_elements for s in shapes)

    @property
    def is_moe(self) -> bool:
        """True for a mixture of experts."""
        return self.moe is not None

    @property
    def expert_params(self) -> int:
        """Parameters of the routed experts."""
        return self.params.get("expert", 0)
