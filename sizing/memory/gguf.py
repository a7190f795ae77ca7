"""Bytes of a GGUF file, tensor by tensor: which block type each file mix gives to which tensor, and what a row of blocks takes.

Rules after llama.cpp's quantization tool (`llama_tensor_get_type`, src/llama-quant.cpp) and ik_llama.cpp's
(src/llama-quantize.cpp), described in our own words; sizes of blocks from ggml-common.h. Checked against the sizes of model
buffers that logs print: Qwen3-30B-A3B Q4_K_M without experts 784.4 MiB (computed 783.8), Kimi-K2 IQ3_XXS in ik_llama.cpp within 2 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sizing.architecture.parameters import GATED_QUERY, UNGATED_MLP
from sizing.architecture.types import Architecture, Layer, TensorClass
from sizing.catalogue.entries import Format
from sizing.memory.gguf_types import BITS, Mix, Spot, fallback, mix_of, tensor_type

_F32_BITS = 32.0
_EXPERT_SUFFIX = "_exps.weight"


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight tensor as the file names it, in bytes."""

    name: str
    size_bytes: float

    @property
    def is_expert(self) -> bool:
        """Whether it holds routed experts, the part that `exps=CPU` moves to RAM."""
        return self.name.endswith(_EXPERT_SUFFIX)


@dataclass(frozen=True)
class GgufFile:
    """A file's tensors in bytes. `output_bytes` is 0 where the token embedding serves as output too (tied)."""

    layers: tuple[tuple[Tensor, ...], ...]
    token_embedding_bytes: float
    per_layer_embedding_bytes: float
    output_bytes: float
    other_bytes: float
    tied: bool

    @cached_property
    def experts_bytes(self) -> float:
        """All routed experts."""
        return sum(tensor.size_bytes for layer in self.layers for tensor in layer if tensor.is_expert)

    @cached_property
    def layers_bytes(self) -> float:
        """All repeating layers."""
        return sum(tensor.size_bytes for layer in self.layers for tensor in layer)

    @cached_property
    def total_bytes(self) -> float:
        """The whole file (metadata aside)."""
        return (
            self.layers_bytes
            + self.token_embedding_bytes
            + self.per_layer_embedding_bytes
            + self.output_bytes
            + self.other_bytes
        )

    @cached_property
    def output_on_device_bytes(self) -> float:
        """What the output layer takes where it is computed: a second copy of the embedding when tied (gemma-7b: 796.9 MiB)."""
        return self.token_embedding_bytes if self.tied else self.output_bytes

    @cached_property
    def largest_expert_bytes(self) -> float:
        """The largest expert tensor: what one upload of experts kept in RAM takes on the card."""
        return max((t.size_bytes for layer in self.layers for t in layer if t.is_expert), default=0.0)


class ByIdentity:
    """Hashes an architecture by identity, so that a cache can be keyed by it (the architecture holds mappings)."""

    __slots__ = ("model",)

    def __init__(self, model: Architecture) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.model is self.model


def gguf_file(
    model: Architecture,
    chosen: Format,
    engine: str = "llama.cpp",
    file_bytes: float | None = None,
    params_in_file: float | None = None,
) -> GgufFile:
    """The file of a model in a format, scaled to `file_bytes` where the size of the real file is known.

    `params_in_file` (a count) tells whether a latent-attention file holds the joint projection beside the absorbed ones.
    """
    mix = mix_of(chosen, engine, is_gpt_oss=model.name == "gpt_oss")
    return _file(ByIdentity(model), mix, file_bytes, _has_joint_projection(model, mix, params_in_file))


def _has_joint_projection(model: Architecture, mix: Mix, params_in_file: float | None) -> bool:
    """ik_llama.cpp's own DeepSeek files hold k_b, v_b and kv_b: 672.05 B parameters where the checkpoint has 671.03 B."""
    if model.mla is None:
        return False
    if params_in_file is None:
        return mix.is_ik
    doubled = sum(layer.heads for layer in model.layers if layer.params.get("mla_down")) * model.mla.kv_lora_rank
    return params_in_file > model.params_total + 0.6 * doubled * (model.mla.qk_nope_head_dim + model.mla.v_head_dim)


@lru_cache(maxsize=256)
def _file(key: ByIdentity, mix: Mix, file_bytes: float | None, joint: bool) -> GgufFile:
    if file_bytes is not None:
        return _scaled(_file(key, mix, None, joint), file_bytes)
    model = key.model
    rows = tuple(tuple(_layer(model, mix, layer, joint)) for layer in model.layers)
    params = model.params
    outer, inner = _embedding_bits(model, mix)
    if mix.factor != 1:
        rows = tuple(tuple(Tensor(t.name, t.size_bytes * mix.factor) for t in layer) for layer in rows)
    embedding_bits = outer if model.tied_embeddings else inner
    return GgufFile(
        layers=rows,
        token_embedding_bytes=params.get("embedding", 0) * embedding_bits / 8,
        per_layer_embedding_bytes=params.get("per_layer_embedding", 0) * embedding_bits / 8,
        output_bytes=params.get("head", 0) * outer / 8,
        other_bytes=_other_bytes(params.get("other", 0), model.params_total, mix),
        tied=model.tied_embeddings,
    )


def _other_bytes(elements: int, total: int, mix: Mix) -> float:
    """Norms and biases stay in 32 bit; a residual that is negative or too large for them counts at the main type."""
    return elements * (_F32_BITS if 0 < elements < 0.02 * total else BITS[mix.main]) / 8


def _embedding_bits(model: Architecture, mix: Mix) -> tuple[float, float]:
    row = model.hidden_size
    spot = _spot(model, mix, 0)
    output, embedding = tensor_type("output", spot), tensor_type("token_embd", spot)
    return BITS[fallback(output, row)], BITS[fallback(embedding, row)]


def _spot(model: Architecture, mix: Mix, layer: int) -> Spot:
    grouped = model.heads // max(1, model.kv_heads) if model.mla is None else 1
    experts = model.moe.experts if model.moe else 0
    return Spot(mix, layer, len(model.layers), grouped, experts, model.tied_embeddings)


def _layer(model: Architecture, mix: Mix, layer: Layer, joint: bool) -> Iterator[Tensor]:
    spot = _spot(model, mix, layer.index)
    for stem, role, elements, row in _parts(model, layer, joint):
        if elements <= 0:
            continue
        bits = _F32_BITS if role == "f32" else BITS[fallback(tensor_type(role, spot), row)]
        yield Tensor(f"blk.{layer.index}.{stem}.weight", elements * bits / 8)


def _parts(model: Architecture, layer: Layer, joint: bool) -> Iterator[tuple[str, str, float, int]]:
    """(name, role in the mix, elements, length of a row) of a layer's tensors."""
    hidden, params = model.hidden_size, layer.params
    yield from _mixer(model, layer, joint)
    ungated = model.name in UNGATED_MLP
    yield from _feed_forward("", params.get("mlp", 0), hidden, model.intermediate_size or hidden, ungated)
    yield from _feed_forward("_shexp", params.get("shared_expert", 0), hidden, hidden, ungated)
    width = model.moe.intermediate_size if model.moe else hidden
    yield from _feed_forward("_exps", params.get("expert", 0), hidden, width, ungated)
    yield "ffn_gate_inp", "f32", params.get("router", 0), hidden
    for rest in ("indexer", "cross_attention", "norm"):
        yield rest, "default", params.get(rest, 0), hidden


def _feed_forward(
    suffix: str, total: float, hidden: int, width: int, ungated: bool
) -> Iterator[tuple[str, str, float, int]]:
    share = total / (2 if ungated else 3)
    if not ungated:
        yield f"ffn_gate{suffix}", "ffn_gate", share, hidden
    yield f"ffn_up{suffix}", "ffn_up", share, hidden
    yield f"ffn_down{suffix}", "ffn_down", share, width


def _mixer(model: Architecture, layer: Layer, joint: bool) -> Iterator[tuple[str, str, float, int]]:
    params, hidden = layer.params, model.hidden_size
    if params.get("mla_down"):
        yield from _latent_attention(model, params, joint)
    elif params.get("attention"):
        yield from _attention(model, layer)
    linear = params.get("linear_mixer", 0)
    if linear and layer.linear is not None and layer.linear.kind == "gated_deltanet":
        # in-projection of queries, keys and values; the gate and the out-projection take what is left
        inner = layer.linear.conv_elements / max(1, layer.linear.conv_kernel) * hidden
        yield "attn_qkv", "attn_v", min(inner, linear), hidden
        yield "ssm_out", "default", max(0.0, linear - inner), hidden
    else:
        yield "ssm_in", "default", linear, hidden


def _attention(model: Architecture, layer: Layer) -> Iterator[tuple[str, str, float, int]]:
    query = layer.heads * layer.head_dim * (2 if model.name in GATED_QUERY else 1)
    out = layer.heads * layer.v_head_dim
    attention, hidden = layer.params["attention"], model.hidden_size
    yield "attn_q", "attn_q", attention * query / max(1, query + out), hidden
    yield "attn_output", "attn_output", attention * out / max(1, query + out), out or hidden
    pair = layer.params.get("kv_projection", 0)
    shared = pair <= hidden * layer.kv_heads * layer.head_dim  # one matrix for both (global layers of Gemma 4)
    keys = pair if shared else pair * layer.head_dim / max(1, layer.head_dim + layer.v_head_dim)
    yield "attn_k", "attn_k", keys, hidden
    yield "attn_v", "attn_v", pair - keys, hidden


def _latent_attention(
    model: Architecture, params: Mapping[TensorClass, int], joint: bool
) -> Iterator[tuple[str, str, float, int]]:
    mla = model.mla
    if mla is None:
        return
    hidden, heads = model.hidden_size, model.heads
    rank = mla.q_lora_rank
    query = (rank or hidden) * heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
    keys = mla.kv_lora_rank * heads * mla.qk_nope_head_dim
    values = mla.kv_lora_rank * heads * mla.v_head_dim
    out = heads * mla.v_head_dim * hidden
    scale = params["attention"] / max(1, query + keys + values + out)
    down = hidden * mla.latent_elements
    yield "attn_q_a", "mla_q", max(0.0, params["mla_down"] - down * scale), hidden
    yield "attn_kv_a_mqa", "mla_k", min(down * scale, params["mla_down"]), hidden
    yield ("attn_q_b" if rank else "attn_q"), "mla_q", query * scale, rank or hidden
    yield "attn_k_b", "mla_k", keys * scale, mla.qk_nope_head_dim
    yield "attn_v_b", "mla_k", values * scale, mla.kv_lora_rank
    if joint:
        yield "attn_kv_b", "mla_k", (keys + values) * scale, mla.kv_lora_rank
    yield "attn_output", "attn_output", out * scale, heads * mla.v_head_dim


def _scaled(file: GgufFile, file_bytes: float) -> GgufFile:
    """The file with its real size: custom recipes differ in the experts first, else in the repeating layers as a whole."""
    missing = file_bytes - file.total_bytes
    experts, layers = file.experts_bytes, file.layers_bytes
    if experts > 0 and experts + missing > 0.5 * experts:
        factor, only_experts = 1 + missing / experts, True
    elif layers > 0 and layers + missing > 0:
        factor, only_experts = 1 + missing / layers, False
    else:
        return _shrunk(file, file_bytes / file.total_bytes)
    rows = tuple(
        tuple(Tensor(t.name, t.size_bytes * (factor if t.is_expert or not only_experts else 1.0)) for t in layer)
        for layer in file.layers
    )
    return GgufFile(
        rows, file.token_embedding_bytes, file.per_layer_embedding_bytes, file.output_bytes, file.other_bytes, file.tied
    )


def _shrunk(file: GgufFile, factor: float) -> GgufFile:
    rows = tuple(tuple(Tensor(t.name, t.size_bytes * factor) for t in layer) for layer in file.layers)
    return GgufFile(
        rows,
        file.token_embedding_bytes * factor,
        file.per_layer_embedding_bytes * factor,
        file.output_bytes * factor,
        file.other_bytes * factor,
        file.tied,
    )
