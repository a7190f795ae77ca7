"""Memory of local engines."""

from __future__ import annotations

from sizing.memory.plan import DevicePlan, MemoryPlan
from sizing.memory.weights import weights_bytes
from sizing.resolve import Resolved
from sizing.units import GIB


def plan_local(resolved: Resolved) -> MemoryPlan:
    """The memory plan: weights and KV cache shared evenly over the devices of a replica."""
    model, ranks = resolved.architecture, resolved.ranks_per_replica
    element = (resolved.kv_k.bytes_per_element + resolved.kv_v.bytes_per_element) / 2
    per_token = element * (model.kv_elements_per_token + model.index_elements_per_token)
    windowed = sum(
        layer.kv_elements_per_token * min(resolved.context_tokens, layer.window_tokens) for layer in model.layers if layer.window_tokens
    )
    state, conv = model.state_elements_per_sequence
    per_sequence = per_token * resolved.context_tokens + windowed * element + 4 * state + 2 * conv
    weights, kv = weights_bytes(model, resolved.weights) / ranks, per_sequence * resolved.concurrency / ranks / resolved.data
    plans = []
    for device in resolved.devices:
        usable = None if device.visible_gib is None else device.visible_gib * 0.9 * GIB
        plan = DevicePlan(device, weights, kv, 1.0 * GIB, 0.5 * GIB, usable_bytes=usable)
        plans.append(plan)
    margins = [plan.usable_bytes - plan.total_bytes for plan in plans if plan.usable_bytes is not None]
    expected = min(margins) if margins else None
    pool = None if expected is None else max(0.0, expected + kv) * ranks
    return MemoryPlan(
        devices=tuple(plans),
        margin_bytes=None if expected is None else (expected - 0.03 * weights, expected, expected + 0.03 * weights),
        kv_bytes_per_token=per_token,
        kv_bytes_per_sequence=4.0 * state + 2.0 * conv,
        kv_capacity_tokens=None if pool is None else pool / per_sequence * resolved.context_tokens,
        max_concurrency_at_context=None if pool is None else pool / per_sequence,
    )
