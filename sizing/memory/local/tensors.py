"""Local engines that hold whole tensors in 16 bit or their own formats: MLX, ExLlama, Transformers, MLC, KTransformers.

Public figures of these are few (peaks of MLX runs, torch's allocated memory); the formulas say what is live while a prompt is
processed. Ranges are wide accordingly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sizing.architecture.types import Architecture
from sizing.devices import Device
from sizing.memory.weights import bits_per_weight, weights_bytes
from sizing.resolve import Resolved
from sizing.units import MIB, ceil_div, pad_to

Kind = Literal["mlx", "exllama", "transformers", "mlc-llm", "ktransformers"]

_PREFILL_CHUNK_TOKENS = 2048
_PAGE_TOKENS = 256
# MLX frees lazily: runs show 0.55-0.7 GiB beside weights and cache for a chunk of 2048 (Mistral 7B: 9.11 GB peak at 33,898 tokens,
# of which 8.52 are weights and cache; Qwen3-4B: 3.30 GB at 2048), small models included.
_MLX_PROMPT_BYTES = 0.28 * MIB
# torch's context, kernels and cached blocks; MLX has no separate context.
_OVERHEAD_MIB: dict[Kind, float] = {
    "mlx": 100.0, "exllama": 550.0, "transformers": 800.0, "mlc-llm": 400.0, "ktransformers": 700.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TensorShares:
    """Bytes over all devices of one replica, and what stays in RAM."""

    weights: float
    host_weights: float
    kv: float
    state_per_sequence: float
    activations: float
    overhead_each: float


def kind_of(resolved: Resolved) -> Kind | None:
    """The room for an engine; None for llama.cpp and its kin with GGUF files."""
    name, weights = resolved.engine.name, resolved.weights.id
    if name == "mlx" or (name == "lm-studio" and weights.startswith("mlx")):
        return "mlx"
    if name.startswith("exllama"):
        return "exllama"
    if name in ("mlc-llm", "ktransformers"):
        return name  # type: ignore[return-value]
    return None if resolved.is_llama_family else "transformers"


def shares(resolved: Resolved, kind: Kind, sequences: int) -> TensorShares:
    """What a replica with so many sequences holds."""
    model = resolved.architecture
    weights, host = _weights(resolved, kind)
    state, conv = model.state_elements_per_sequence
    return TensorShares(
        weights=weights,
        host_weights=host,
        kv=_kv(resolved, kind) * sequences,
        state_per_sequence=4.0 * state + 2.0 * conv,
        activations=_activations(resolved, kind, sequences),
        overhead_each=_OVERHEAD_MIB[kind] * MIB,
    )


def _weights(resolved: Resolved, kind: Kind) -> tuple[float, float]:
    """(on devices, in RAM)."""
    model, chosen = resolved.architecture, resolved.weights
    given = resolved.spec.engine.file_size_gib
    total = given * 1024.0**3 if given else _stored(model, resolved, kind)
    if kind == "exllama":
        embedding = 2.0 * model.params.get("embedding", 0)
        return total - embedding, embedding
    if kind == "ktransformers" and model.is_moe:
        experts = model.expert_params * bits_per_weight(chosen) / 8
        return total - experts, experts
    return total, 0.0


def _stored(model: Architecture, resolved: Resolved, kind: Kind) -> float:
    bits = bits_per_weight(resolved.weights)
    text_only = resolved.spec.images_per_request == 0
    params = {n: c for n, c in model.params.items() if not (text_only and n in ("vision", "audio"))}
    if kind == "mlx" and bits < 16:
        wide = sum(params.get(name, 0) for name in ("norm", "vision", "audio", "other"))
        return ((sum(params.values()) - wide) * bits + wide * 16) / 8
    if kind == "exllama" and bits < 16:
        head = params.get("head", 0) or (params.get("embedding", 0) if model.tied_embeddings else 0)
        outside = params.get("embedding", 0) + params.get("head", 0)
        rest = sum(params.values()) - outside
        head_bits = max(bits, resolved.weights.head_bits or 6)
        return (rest * bits + head * head_bits + params.get("embedding", 0) * 16) / 8
    return weights_bytes(model, resolved.weights)


def _kv(resolved: Resolved, kind: Kind) -> float:
    """Cache of one sequence. MLX grows in steps of 256 tokens, ExLlama in pages of 256; both keep only the window of
    sliding layers where the model has them, Transformers too."""
    step = _PAGE_TOKENS if kind in ("mlx", "exllama") else 1
    tokens = pad_to(resolved.context_tokens, step)
    element = (resolved.kv_k.bytes_per_element + resolved.kv_v.bytes_per_element) / 2
    total = 0.0
    for layer in resolved.architecture.layers:
        kept = tokens if layer.window_tokens is None else min(tokens, pad_to(layer.window_tokens, step))
        total += layer.kv_elements_per_token * kept * element
    return total


def _activations(resolved: Resolved, kind: Kind, sequences: int) -> float:
    model = resolved.architecture
    width = _live_width(model)
    if kind == "transformers":
        tokens = (resolved.input_tokens or resolved.context_tokens) * sequences
        return 2.0 * tokens * width + 4.0 * model.vocab_size * sequences
    tokens = min(_PREFILL_CHUNK_TOKENS, resolved.input_tokens or resolved.context_tokens)
    live = 2.0 * tokens * width
    if kind == "mlx":
        live = max(2 * live, tokens * _MLX_PROMPT_BYTES)
    return live + 4.0 * model.vocab_size * sequences


def _live_width(model: Architecture) -> float:
    """Elements per token that one block holds at once: three widths of its feed-forward part and hidden states around it."""
    width = model.intermediate_size
    if model.moe is not None:
        width = max(model.moe.intermediate_size * model.moe.experts_per_token, 2 * model.hidden_size)
    return 3.0 * width + 6.0 * model.hidden_size


def split_over(devices: tuple[Device, ...], total: float) -> tuple[float, ...]:
    """Bytes on each device in proportion to its memory."""
    sizes = [device.visible_gib or 1.0 for device in devices]
    return tuple(total * size / sum(sizes) for size in sizes)


def sequences_of(resolved: Resolved) -> int:
    """Sequences that one replica holds."""
    return ceil_div(resolved.concurrency, max(1, resolved.data))
