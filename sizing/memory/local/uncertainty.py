"""How far a device's sum may be off: the residuals of each part against printed buffers (bench/memory_local)."""

from __future__ import annotations

from sizing.memory.plan import DevicePlan
from sizing.resolve import Resolved
from sizing.units import MIB

_COMPUTE_SHARE = 0.25
_CONTEXT_MIB = 150.0


def weights_share(resolved: Resolved) -> float:
    """80 % of files of a known mix lie within 1 %, of dynamic mixes within 5 %; a typical shape says little of a real model."""
    if resolved.architecture.confidence == "typical":
        return 0.06
    if resolved.spec.engine.file_size_gib is not None:
        return 0.004
    if resolved.weights.id.startswith(("gguf-ud-", "ik-")):
        return 0.05
    return 0.01 if resolved.weights.kind == "gguf-file" else 0.02


def spread_bytes(resolved: Resolved, plan: DevicePlan) -> tuple[float, float]:
    """(how much more, how much less) the device may need than expected."""
    spread = (
        plan.weights_bytes * weights_share(resolved) + plan.activations_bytes * _COMPUTE_SHARE
        + plan.kv_bytes * 0.01 + plan.beside_bytes * 0.2 + _CONTEXT_MIB * MIB
    )  # fmt: skip
    return spread, spread
