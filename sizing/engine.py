"""The engine's front door: one spec in, one Estimate out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.devices import expand, takes_bridge
from sizing.errors import UserError
from sizing.estimate import Assumption, DeviceMemory, Estimate, Failure, HostMemory, Memory
from sizing.measured import nearest
from sizing.measured_training import nearest_runs
from sizing.memory.inference import plan_inference
from sizing.memory.plan import DevicePlan, MemoryPlan
from sizing.memory.training.plan import plan_training
from sizing.memory.training.run import resolve_run
from sizing.memory.training.why import training_reasons
from sizing.resolve import Resolved, resolve
from sizing.spec import Task, WorkloadSpec, parse_spec
from sizing.speed.derivation import steps
from sizing.speed.measured import nearest_speeds
from sizing.speed.model import Forecast, as_speed, assumed, forecast
from sizing.speed.training import training_summary
from sizing.system.machine import system_of
from sizing.units import gib
from sizing.verdict import margin, verdict
from sizing.why import reasons
from sizing.work.encoding import estimate_encoding
from sizing.work.pictures import estimate_pictures
from sizing.work.rag import generation_spec, stages
from sizing.work.transcription import estimate_transcription

_BRIDGED = 2  # cards that one bridge joins


def estimate(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, *, derivation: bool = True) -> Estimate:
    """What the engine says of a spec on the hardware it names; faults come back as `ok` false with `error`."""
    try:
        return _BY_TASK.get(spec.task, _inference)(spec, defaults, derivation)
    except UserError as fault:
        return failed(spec.id, fault)


def estimate_data(data: object, defaults: Defaults = ENGINE_DEFAULTS) -> Estimate:
    """`estimate` for plain data as it comes from JSON."""
    ident = data.get("id") if isinstance(data, dict) and isinstance(data.get("id"), str | int) else None
    try:
        return _with_system(parse_spec(data), defaults)
    except UserError as fault:
        return failed(ident, fault)


def _with_system(spec: WorkloadSpec, defaults: Defaults) -> Estimate:
    """The Estimate with the machine around its devices; a search over candidates does without (see `sizing.system.machine`)."""
    found = estimate(spec, defaults)
    return found.model_copy(update={"system": system_of(spec, found).data()}) if found.ok else found


def failed(ident: str | int | None, fault: UserError) -> Estimate:
    """The Estimate of a spec that cannot be sized."""
    value = fault.value if isinstance(fault.value, str | int | float | bool | None) else str(fault.value)
    return Estimate(
        id=ident,
        ok=False,
        error=Failure(field=fault.field, message=fault.message, value=value, suggestions=fault.suggestions),
    )


def _inference(spec: WorkloadSpec, defaults: Defaults, derivation: bool) -> Estimate:
    resolved = resolve(spec, defaults)
    if not resolved.devices:
        raise UserError("hardware", None, "name the hardware to estimate on, or ask for a recommendation")
    plan = plan_inference(resolved)
    made = forecast(resolved, plan)
    speed = as_speed(made)
    result = verdict(plan, defaults.reserve_share)
    return Estimate(
        id=spec.id,
        ok=True,
        verdict=result,
        fits=None if result is None else result != "no",
        margin_gib=margin(plan),
        memory=_memory(plan),
        speed=speed,
        assumptions=(*resolved.assumptions, *_of_host(made), *_of_bridge(resolved), *assumed(made)),
        warnings=plan.warnings,
        reasons=reasons(resolved, plan, speed),
        derivation=(*plan.derivation(), *steps(made)) if derivation else (),
        measured=_measured(resolved) if derivation else (),
    )


def _of_host(made: Forecast) -> tuple[Assumption, ...]:
    """What the pace of a model that lies partly in RAM hangs on, where the RAM was not described."""
    known, host = made.known, made.known.resolved.spec.host
    if known.host_share <= 0 or known.server or host.bandwidth_gb_s or host.cpu:
        return ()
    return (Assumption(field="host.bandwidth_gb_s", value=known.machine.host_gb_s, code="two_channels"),)


def _of_bridge(resolved: Resolved) -> tuple[Assumption, ...]:
    """Two cards that a bridge could join were taken without one, where nobody named it."""
    device = resolved.devices[0].accelerator
    if resolved.tensor != _BRIDGED or resolved.spec.host.nvlink is not None or not takes_bridge(device):
        return ()
    return (Assumption(field="host.nvlink", value=False, code="no_bridge"),)


def _measured(resolved: Resolved) -> tuple[dict[str, Any], ...]:
    """The nearest public measurements of memory and of speed, with what differs from the spec."""
    memory = ({"kind": "memory", **near.to_dict()} for near in nearest(resolved))
    speeds = ({"kind": "speed", **near.to_dict()} for near in nearest_speeds(resolved))
    return (*memory, *speeds)


def _training(spec: WorkloadSpec, defaults: Defaults, derivation: bool) -> Estimate:
    run = resolve_run(spec)
    if not run.devices:
        raise UserError("hardware", None, "name the hardware to estimate on, or ask for a recommendation")
    plan = plan_training(run)
    result = verdict(plan, defaults.reserve_share)
    return Estimate(
        id=spec.id,
        ok=True,
        verdict=result,
        fits=None if result is None else result != "no",
        margin_gib=margin(plan),
        memory=_memory(plan),
        assumptions=run.assumptions,
        warnings=plan.warnings,
        reasons=training_reasons(run, plan),
        training=training_summary(run),
        derivation=plan.derivation() if derivation else (),
        measured=tuple({"kind": "training", **near.to_dict()} for near in nearest_runs(run)) if derivation else (),
    )


def _rag(spec: WorkloadSpec, defaults: Defaults, derivation: bool) -> Estimate:
    """The language model with embedder and reranker on the same devices, and the stages of the service around it."""
    found = _inference(generation_spec(spec), defaults, derivation)
    devices = expand(spec.hardware)
    return found.model_copy(update={"work": stages(spec, devices[0] if devices else None)})


_BY_TASK: Mapping[Task, Callable[[WorkloadSpec, Defaults, bool], Estimate]] = {
    "training": _training,
    "embedding": estimate_encoding,
    "reranking": estimate_encoding,
    "transcription": estimate_transcription,
    "image": estimate_pictures,
    "video": estimate_pictures,
    "rag": _rag,
}


def _memory(plan: MemoryPlan) -> Memory:
    return Memory(
        per_device=tuple(_device(device) for device in plan.devices),
        host=HostMemory(
            weights_gib=gib(plan.host.weights_bytes),
            kv_cache_gib=gib(plan.host.kv_bytes),
            activations_gib=gib(plan.host.activations_bytes),
            optimizer_gib=gib(plan.host.optimizer_bytes),
            state_gib=gib(plan.host.state_bytes),
            total_gib=gib(plan.host.total_bytes),
        ),
        kv_bytes_per_token=plan.kv_bytes_per_token,
        kv_bytes_per_sequence=plan.kv_bytes_per_sequence,
        kv_capacity_tokens=plan.kv_capacity_tokens,
        max_concurrency_at_context=plan.max_concurrency_at_context,
    )


def _device(plan: DevicePlan) -> DeviceMemory:
    return DeviceMemory(
        accelerator=plan.device.id,
        weights_gib=gib(plan.weights_bytes),
        kv_cache_gib=gib(plan.kv_bytes) if plan.optimizer_bytes is None else None,
        activations_gib=gib(plan.activations_bytes),
        overhead_gib=gib(plan.overhead_bytes),
        graphs_gib=gib(plan.graphs_bytes) if plan.optimizer_bytes is None else None,
        gradients_gib=None if plan.gradients_bytes is None else gib(plan.gradients_bytes),
        optimizer_gib=None if plan.optimizer_bytes is None else gib(plan.optimizer_bytes),
        beside_gib=gib(plan.beside_bytes) if plan.beside_bytes else None,
        total_gib=gib(plan.total_bytes),
        usable_gib=None if plan.usable_bytes is None else gib(plan.usable_bytes),
        free_gib=None if plan.left_bytes is None else gib(plan.left_bytes),
        kv_pool_gib=None if plan.pool_bytes is None else gib(plan.pool_bytes),
        state_gib=gib(plan.state_bytes) if plan.state_bytes else None,
    )
