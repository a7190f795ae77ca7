"""Activations of a training step, in bytes per device.

Per layer after Korthikanti et al. 2022 (arXiv:2205.05198), with the terms of today's blocks (grouped-query attention, gated MLP,
RMSNorm in fp32) instead of the paper's 34 s b h; logits and their gradients apart, since vocabularies have grown past hidden sizes.
"""

from __future__ import annotations

from sizing.architecture.parameters import UNGATED_MLP
from sizing.architecture.types import Architecture, Layer
from sizing.memory.training.constants import constants_of
from sizing.memory.training.run import Run
from sizing.memory.training.targets import targeted

# Over a GPTQ or AWQ base the loss is taken from fp16 logits: 2 bytes, their gradient 2. Qwen's own table (Q-LoRA rows) has
# 1.2 MB a token for 14B where its 16-bit LoRA rows have 2.8: the difference is 10 bytes per vocabulary entry.
_FP16_HEAD = 4.0


def activation_bytes(run: Run) -> float:
    """What one micro-batch keeps for the backward pass, the live layer and the logits included."""
    model = run.architecture
    constants = constants_of(run.framework)
    layers = model.layers[: max(1, -(-len(model.layers) // run.pipeline))]
    in_flight = run.pipeline if run.pipeline > 1 else 1  # 1F1B keeps as many micro-batches as there are stages
    per_layer = [layer_bytes_per_token(run, model, layer) for layer in layers]
    boundary = 2.0 * model.hidden_size / (run.tensor if run.splits_sequence else 1)
    if run.checkpointing == "full":
        kept = boundary * len(layers) + constants.live_layers * max(per_layer)
    elif run.checkpointing == "selective":
        kept = constants.selective_share * sum(per_layer)
    else:
        kept = sum(per_layer)
    return run.tokens * (kept * in_flight + logits_bytes_per_token(run))


def layer_bytes_per_token(run: Run, model: Architecture, layer: Layer) -> float:
    """Saved by one layer for one token, all in flight: norms, projections, attention, MLP."""
    hidden, split = model.hidden_size, run.tensor
    outside_split = run.tensor if run.splits_sequence else 1
    norms = 2 * (2 * hidden + 4 * hidden) / outside_split  # input in 16 bit and its fp32 copy, twice a layer
    queries = layer.heads * layer.head_dim
    keys = layer.kv_heads * (layer.head_dim + layer.v_head_dim)
    attention = 2 * (2 * queries + keys + hidden) / split
    scores = 0.0 if run.flash_attention else 5.0 * layer.heads * run.sequence_tokens / split
    return norms + attention + scores + _mlp(model, layer) / split + _adapter_inputs(run, model, layer) / split


def _mlp(model: Architecture, layer: Layer) -> float:
    """Gate, up, activation and product in 16 bit; a mixture keeps the experts that a token visits."""
    matrices = 2 if model.name in UNGATED_MLP else 4
    if layer.is_moe and model.moe is not None:
        visited = model.moe.experts_per_token + model.moe.shared_experts
        return 2.0 * matrices * visited * model.moe.intermediate_size + 4.0 * model.hidden_size * visited
    return 2.0 * matrices * model.intermediate_size


def _adapter_inputs(run: Run, model: Architecture, layer: Layer) -> float:
    """Adapters keep a dropped-out copy of their input (16 bit) for each targeted projection."""
    if run.method == "full":
        return 0.0
    width = model.moe.intermediate_size if layer.is_moe and model.moe else model.intermediate_size
    inputs = {"q": model.hidden_size, "k": model.hidden_size, "v": model.hidden_size, "o": layer.heads * layer.v_head_dim,
              "gate": model.hidden_size, "up": model.hidden_size, "down": width}  # fmt: skip
    share = constants_of(run.framework).adapter_inputs
    return share * 2.0 * sum(size for name, size in inputs.items() if targeted(run.targets, name))


def logits_bytes_per_token(run: Run) -> float:
    """Logits in 16 bit, their fp32 copy and gradients; fused or chunked losses keep a fraction."""
    per_entry = constants_of(run.framework).logits_bytes
    if run.weights.id.startswith(("gptq", "awq")):
        per_entry = min(per_entry, _FP16_HEAD)
    return per_entry * run.architecture.vocab_size / run.tensor
