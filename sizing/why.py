"""Reasons of an inference estimate: what dominates, and which rule of the model or the hardware explains it."""

from __future__ import annotations

from collections.abc import Iterator

from sizing.devices import is_unified
from sizing.estimate import Reason, Speed
from sizing.memory.plan import MemoryPlan
from sizing.reasons import ReasonCode, Topic, reason
from sizing.resolve import Resolved
from sizing.units import gib


def reasons(resolved: Resolved, plan: MemoryPlan, speed: Speed | None) -> tuple[Reason, ...]:
    """The reasons in the order of their weight: blockers, memory, model, layout, speed."""
    return (
        *(_cannot_run(plan)),
        *_memory(plan),
        *_model(resolved, plan),
        *_layout(resolved),
        *_speed(speed),
    )


def _cannot_run(plan: MemoryPlan) -> Iterator[Reason]:
    for blocker in plan.blockers:
        yield reason(Topic.COMPATIBILITY, ReasonCode.CANNOT_RUN, blocker=blocker.code, **blocker.params)


def _memory(plan: MemoryPlan) -> Iterator[Reason]:
    total = sum(device.total_bytes for device in plan.devices)
    if not total:
        return
    weights = sum(device.weights_bytes for device in plan.devices) / total
    kv = sum(device.kv_bytes for device in plan.devices) / total
    activations = sum(device.activations_bytes for device in plan.devices) / total
    overhead = sum(device.overhead_bytes + device.graphs_bytes for device in plan.devices) / total
    rest = activations + overhead
    if kv >= max(weights, rest):
        yield reason(Topic.KV_CACHE, ReasonCode.KV_DOMINATES, share=kv, kv_gib=gib(kv * total))
    elif weights >= rest:
        yield reason(Topic.WEIGHTS, ReasonCode.WEIGHTS_DOMINATE, share=weights, weights_gib=gib(weights * total))
    else:
        topic = Topic.OVERHEAD if overhead > activations else Topic.ACTIVATIONS
        yield reason(topic, ReasonCode.REST_DOMINATES, share=rest, rest_gib=gib(rest * total))


def _model(resolved: Resolved, plan: MemoryPlan) -> Iterator[Reason]:
    model = resolved.architecture
    if model.mla is not None:
        yield reason(
            Topic.KV_MLA, ReasonCode.MLA_LATENT, latent_elements=model.mla.latent_elements, layers=len(model.layers)
        )
    elif plan.kv_bytes_per_token:
        yield reason(Topic.KV_CACHE, ReasonCode.KV_PER_TOKEN, **_per_token(resolved, plan))
    if model.sliding_elements_per_token:
        windows = {layer.window_tokens for layer in model.layers if layer.window_tokens}
        yield reason(
            Topic.SLIDING_WINDOW, ReasonCode.SLIDING_CAPS_KV, window_tokens=max(windows), layers=sum(
                1 for layer in model.layers if layer.window_tokens)
        )  # fmt: skip
    if model.linear_layers:
        yield reason(
            Topic.HYBRID_STATE,
            ReasonCode.STATE_PER_SEQUENCE,
            layers=len(model.linear_layers),
            bytes_per_sequence=plan.kv_bytes_per_sequence,
        )
    if model.moe is not None:
        yield reason(
            Topic.MOE, ReasonCode.MOE_ALL_IN_MEMORY, total_b=model.params_total / 1e9, active_b=model.params_active / 1e9,
            experts=model.moe.experts, experts_per_token=model.moe.experts_per_token,
        )  # fmt: skip


def _per_token(resolved: Resolved, plan: MemoryPlan) -> dict[str, object]:
    model = resolved.architecture
    storing = [layer for layer in model.layers if layer.kv_elements_per_token]
    first = storing[0] if storing else None
    uniform = first is not None and all(
        (layer.kv_heads, layer.head_dim, layer.window_tokens) == (first.kv_heads, first.head_dim, first.window_tokens)
        for layer in storing
    )
    return {
        "bytes_per_token": plan.kv_bytes_per_token,
        "layers": len(storing),
        "kv_heads": first.kv_heads if first and uniform else None,
        "head_dim": first.head_dim if first and uniform else None,
        "bytes_per_element": resolved.kv_k.bytes_per_element,
    }


def _layout(resolved: Resolved) -> Iterator[Reason]:
    if is_unified(resolved.devices[0].accelerator if resolved.devices else None):
        yield reason(Topic.UNIFIED_MEMORY, ReasonCode.UNIFIED_SHARED)
    if resolved.tensor > 1 and len(resolved.devices) != 1:
        yield reason(Topic.TENSOR_PARALLEL, ReasonCode.CARDS_ARE_NOT_ONE_MEMORY, degree=resolved.tensor)
    if resolved.pipeline > 1:
        yield reason(Topic.LAYER_SPLIT, ReasonCode.LAYERS_SPLIT, degree=resolved.pipeline)
    if resolved.data > 1:
        yield reason(Topic.REPLICAS, ReasonCode.REPLICAS_SERVE, degree=resolved.data)


def _speed(speed: Speed | None) -> Iterator[Reason]:
    if speed is not None and speed.decode_tok_s_per_user is not None:
        yield reason(Topic.BANDWIDTH, ReasonCode.DECODE_BANDWIDTH_BOUND, bound_by=speed.bound_by)
    if speed is not None and speed.ttft_ms is not None:
        yield reason(Topic.PREFILL, ReasonCode.PREFILL_COMPUTE_BOUND, ttft_ms=speed.ttft_ms.expected)
