"""Reasons of a training estimate: what fills the memory, and what the method saves."""

from __future__ import annotations

from sizing.estimate import Reason
from sizing.memory.plan import MemoryPlan
from sizing.memory.training.run import Run
from sizing.memory.training.states import lora_params
from sizing.reasons import ReasonCode, Topic, reason
from sizing.units import gib


def training_reasons(run: Run, plan: MemoryPlan) -> tuple[Reason, ...]:
    """The largest part first, then the method, checkpointing and sharding."""
    if not plan.devices:
        return ()
    device = plan.devices[0]
    parts = {
        "weights": device.weights_bytes,
        "optimizer": (device.optimizer_bytes or 0.0) + (device.gradients_bytes or 0.0),
        "activations": device.activations_bytes,
    }
    largest = max(parts, key=lambda name: parts[name])
    topic, code = {
        "weights": (Topic.WEIGHTS, ReasonCode.WEIGHTS_DOMINATE),
        "optimizer": (Topic.OPTIMIZER_STATES, ReasonCode.OPTIMIZER_DOMINATES),
        "activations": (Topic.TRAINING_MEMORY, ReasonCode.ACTIVATIONS_DOMINATE),
    }[largest]
    found = [
        reason(
            topic, code, share=parts[largest] / device.total_bytes, **{f"{_field(largest)}_gib": gib(parts[largest])}
        )
    ]
    if run.method != "full":
        trained = lora_params(run)
        found.append(
            reason(
                Topic.QLORA if run.method == "qlora" else Topic.LORA, ReasonCode.ADAPTER_ONLY_TRAINED,
                rank=run.rank, trainable_m=trained / 1e6, share=trained / run.architecture.params_total,
            )
        )  # fmt: skip
    return tuple(found)


def _field(part: str) -> str:
    return {"weights": "weights", "optimizer": "optimizer", "activations": "rest"}[part]
