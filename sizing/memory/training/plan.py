"""Memory per device of a training or fine-tuning run."""

from __future__ import annotations

from sizing.memory.plan import DevicePlan, HostPlan, MemoryPlan
from sizing.memory.training.activations import activation_bytes
from sizing.memory.training.constants import constants_of
from sizing.memory.training.run import Run
from sizing.memory.training.states import model_share, states
from sizing.memory.training.steps import training_steps
from sizing.units import GIB

# 80 % of measured peaks lie within these shares of the estimate (bench/training, leave-one-source-out).
_DEEPSPEED_LIVE_PARAMS = 1.05e9
_LOW, _HIGH = 0.85, 1.22


def plan_training(run: Run) -> MemoryPlan:
    """Weights, gradients, optimizer states, activations and overhead on every device; offloaded states in the host."""
    held = states(run)
    constants = constants_of(run.framework)
    overhead = constants.overhead_gib * GIB + _gathered(run) + _second_models(run)
    activations = activation_bytes(run)
    slack = (constants.fragmentation - 1) * (held.weights + held.gradients + held.optimizer + activations)
    devices = tuple(
        DevicePlan(
            device,
            weights_bytes=held.weights,
            kv_bytes=0.0,
            activations_bytes=activations,
            overhead_bytes=overhead + slack,
            gradients_bytes=held.gradients,
            optimizer_bytes=held.optimizer,
            usable_bytes=None if device.visible_gib is None else (device.visible_gib - device.in_use_gib) * GIB,
        )
        for device in run.devices
    )
    return MemoryPlan(
        devices=devices,
        host=HostPlan(optimizer_bytes=held.host * max(1, len(devices))),
        margin_bytes=_margin(devices),
        derivation=lambda: training_steps(run, devices[0]) if devices else (),
    )


def _margin(devices: tuple[DevicePlan, ...]) -> tuple[float, float, float] | None:
    known = [(plan.usable_bytes, plan.total_bytes) for plan in devices if plan.usable_bytes is not None]
    if not known:
        return None
    usable, total = min(known, key=lambda pair: pair[0] - pair[1])
    return usable - total * _HIGH, usable - total, usable - total * _LOW


def _gathered(run: Run) -> float:
    """What ZeRO-3 or FSDP hold unsharded at a time, in 16 bit: some layers, and embedding and head, which are one unit each.

    DeepSpeed keeps up to stage3_max_live_parameters = 1e9 parameters gathered and prefetches 5e7 more.
    """
    if run.sharding != "zero3":
        return 0.0
    model = run.architecture
    largest = max((sum(layer.params.values()) for layer in model.layers), default=0)
    inside = constants_of(run.framework).gathered_layers * largest
    if run.is_deepspeed:
        inside = min(model.params_total, max(inside, _DEEPSPEED_LIVE_PARAMS))
    ends = model.params.get("embedding", 0) + model.params.get("head", 0)
    return 2.0 * (inside + ends) / run.tensor


def _second_models(run: Run) -> float:
    """DPO keeps a frozen reference beside a fully trained policy; PPO a reference, a reward and a value model."""
    copies = {"sft": 0.0, "dpo": 1.0, "grpo": 1.0, "ppo": 3.0}[run.objective]
    if run.method != "full":
        copies = max(0.0, copies - 1)  # the base without its adapter is the reference
    shards = run.data if run.sharding == "zero3" else 1
    return copies * 2.0 * run.architecture.params_total * model_share(run) / shards
