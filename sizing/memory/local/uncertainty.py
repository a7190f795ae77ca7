"""How far a device's sum may be off: the residuals of each part against printed buffers (bench/memory_local)."""

from __future__ import annotations

from sizing.memory.plan import DevicePlan
from sizing.resolve import Resolved
from sizing.units import MIB

# Nine in ten of 38 printed compute buffers are at most 32 % larger than computed and 24 % smaller; latent attention in
# ik_llama.cpp, whose graphs changed from month to month, can take twice as much.
_COMPUTE_MORE, _COMPUTE_LESS, _LATENT_COMPUTE_MORE = 0.30, 0.25, 1.0
CONTEXT_SPREAD_MIB = 150.0


def weights_share(resolved: Resolved) -> float:
    """80 % of files of a known mix lie within 1 %; of dynamic mixes and of hybrid models, whose linear layers each publisher
    treats in his own way, within 6 % (Qwen3.5-9B Q4_K_M: 5.1 and 6.3 % above the tool's recipe). A typical shape says less."""
    if resolved.architecture.confidence == "typical":
        return 0.06
    if resolved.spec.engine.file_size_gib is not None:
        return 0.004
    hybrid = resolved.weights.kind == "gguf-file" and bool(resolved.architecture.linear_layers)
    if hybrid or resolved.weights.id.startswith(("gguf-ud-", "ik-")):
        return 0.06
    return 0.01 if resolved.weights.kind == "gguf-file" else 0.02


def spread_bytes(resolved: Resolved, plan: DevicePlan) -> tuple[float, float]:
    """(how much more, how much less) the device may need than expected."""
    latent = resolved.architecture.mla is not None and resolved.engine.name == "ik_llama.cpp"
    rest = (
        plan.weights_bytes * weights_share(resolved) + plan.kv_bytes * 0.01 + plan.beside_bytes * 0.2 + CONTEXT_SPREAD_MIB * MIB
    )  # fmt: skip
    more = _LATENT_COMPUTE_MORE if latent else _COMPUTE_MORE
    return rest + plan.activations_bytes * more, rest + plan.activations_bytes * _COMPUTE_LESS
