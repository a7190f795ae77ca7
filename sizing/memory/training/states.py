"""Weights, gradients and optimizer states of a training run, in bytes per device.

Bytes per parameter: ZeRO (Rajbhandari et al. 2020, arXiv:1910.02054) for mixed precision, QLoRA (Dettmers et al. 2023,
arXiv:2305.14314) for frozen 4-bit bases; 8-bit and 4-bit optimizers as their libraries store moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sizing.architecture.types import Architecture, Layer, TensorClass
from sizing.memory.gguf import ByIdentity
from sizing.memory.training.constants import constants_of
from sizing.memory.training.run import Run
from sizing.memory.training.targets import Targets, on_the_head, targeted
from sizing.memory.weights import bits_per_weight

# What bitsandbytes, GPTQ and HQQ leave in 16 bit under training.
_UNQUANTIZED: frozenset[TensorClass] = frozenset(
    {"embedding", "head", "norm", "router", "vision", "audio", "other", "indexer"}
)
_MOMENT_BYTES = {
    "adamw": 8.0,
    "adam": 8.0,
    "muon": 4.0,
    "lion": 4.0,
    "sgd": 0.0,
    "sgd-momentum": 4.0,
    "adafactor": 0.1,
    "galore": 2.0,
}


@dataclass(frozen=True, slots=True)
class States:
    """Bytes on one device, and those that offload moved to the host (per device)."""

    weights: float
    gradients: float
    optimizer: float
    host: float
    trainable_params: int


def states(run: Run) -> States:
    """The states of one device."""
    return _full(run) if run.method == "full" else _adapter(run)


def _full(run: Run) -> States:
    model = run.architecture
    share = model_share(run)
    params = model.params_total * share
    weight, gradient, moments = _bytes_per_param(run)
    divide = run.data
    weights = params * weight / (divide if run.sharding == "zero3" else 1)
    gradients = params * gradient / (divide if run.sharding in ("zero2", "zero3") else 1)
    optimizer = params * moments / (divide if run.sharding != "none" else 1)
    host = 0.0
    if run.offload:
        host, optimizer = optimizer, 0.0
        if run.sharding == "zero3" or "param" in run.offload:
            host, weights = host + weights, 0.0
    return States(weights, gradients, optimizer, host, model.params_total)


def _bytes_per_param(run: Run) -> tuple[float, float, float]:
    """(weights, gradients, optimizer with master copy) in bytes per parameter."""
    moments = _moments(run.optimizer)
    if run.precision == "16-bit":
        return 2.0, 2.0, moments / 2 if moments >= 4 else moments
    if run.precision == "fp32":
        return 4.0, 4.0, moments
    if run.sharding == "zero3" or run.compiled:
        return 4.0, 4.0, moments  # FSDP keeps fp32 shards and gathers 16-bit copies layer by layer
    return 2.0, 4.0 if run.sharding == "none" else 2.0, moments + 4.0


def _moments(optimizer: str) -> float:
    name = optimizer.replace("_", "-")
    if "8bit" in name or "8-bit" in name:
        return 0.0 if "paged" in name else 2.0
    if "4bit" in name or "4-bit" in name:
        return 1.0
    if "paged" in name:
        return 0.0
    return next((size for key, size in _MOMENT_BYTES.items() if name.startswith(key)), 8.0)


def _adapter(run: Run) -> States:
    share = model_share(run)
    shards = run.data if run.sharding == "zero3" else 1
    base = frozen_bytes(run) * share / shards
    trainable = lora_params(run)
    moments = _moments(run.optimizer)
    per_adapter = trainable * share / shards
    weights, gradients, optimizer = 4.0 * per_adapter, 4.0 * per_adapter, moments * per_adapter
    host = 0.0
    if run.offload and "cpu" in run.offload:
        host, base = base, 0.0
    return States(base + weights, gradients, optimizer, host, trainable)


def frozen_bytes(run: Run) -> float:
    """Bytes of the frozen base model over all devices."""
    bits = bits_per_weight(run.weights)
    if bits >= 15:
        return run.architecture.params_total * bits / 8
    return sum(
        count * (_unquantized_bytes(run) if name in _UNQUANTIZED else bits / 8)
        for name, count in run.architecture.params.items()
    )


def _unquantized_bytes(run: Run) -> float:
    """What a k-bit format leaves alone: fp32 where PEFT's preparation casts it, else 16 bit."""
    return 4.0 if constants_of(run.framework).upcasts_wide and run.sharding != "zero3" else 2.0


def model_share(run: Run) -> float:
    """The share of the model's parameters on one device under tensor, pipeline and expert parallelism."""
    model = run.architecture
    if run.expert > 1 and model.moe is not None:
        rest = model.params_total - model.expert_params
        return (
            rest / (run.tensor * run.pipeline) + model.expert_params / (max(run.expert, run.tensor) * run.pipeline)
        ) / model.params_total
    return 1 / (run.tensor * run.pipeline)


def lora_params(run: Run) -> int:
    """Trainable parameters of the adapters: rank x (inputs + outputs) of every targeted projection."""
    return run.rank * _adapter_widths(ByIdentity(run.architecture), run.targets) + _head_adapter(run)


@lru_cache(maxsize=512)
def _adapter_widths(key: ByIdentity, targets: Targets) -> int:
    return sum(
        ins + outs
        for layer in key.model.layers
        for name, (ins, outs) in projections(key.model, layer).items()
        if targeted(targets, name)
    )


def _head_adapter(run: Run) -> int:
    if not on_the_head(run.targets):
        return 0
    return run.rank * (run.architecture.hidden_size + run.architecture.vocab_size)


def projections(model: Architecture, layer: Layer) -> dict[str, tuple[int, int]]:
    """(inputs, outputs) of the projections of a layer; experts of a mixture count once each."""
    hidden, queries, values = model.hidden_size, layer.heads * layer.head_dim, layer.heads * layer.v_head_dim
    keys = layer.kv_heads * layer.head_dim
    found: dict[str, tuple[int, int]] = {}
    if layer.kind not in ("linear", "none"):
        found |= {
            "q": (hidden, queries),
            "k": (hidden, keys),
            "v": (hidden, layer.kv_heads * layer.v_head_dim),
            "o": (values, hidden),
        }
    width = model.intermediate_size if not layer.is_moe else model.moe.intermediate_size if model.moe else 0
    if width and not layer.is_moe:
        found |= {"gate": (hidden, width), "up": (hidden, width), "down": (width, hidden)}
    return found
