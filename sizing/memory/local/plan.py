"""Memory of local engines: one plan, whichever engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizing.compatibility import blockers, cautions
from sizing.devices import Device, is_cpu, is_unified
from sizing.estimate import Warning_
from sizing.memory.local import derivation
from sizing.memory.local.beside import beside_bytes, projector_bytes
from sizing.memory.local.fit import LayerFit, fit_layers, fit_whole_layers, fits, layers_per_device, rebalanced
from sizing.memory.local.llama import Layout, lay_out
from sizing.memory.local.tensors import Kind, TensorShares, kind_of, sequences_of, shares, split_over
from sizing.memory.local.uncertainty import spread_bytes
from sizing.memory.plan import DevicePlan, HostPlan, MemoryPlan
from sizing.resolve import Resolved
from sizing.units import GB, GIB, gib

_USUAL_RAM_GIB = 64.0


def plan_local(resolved: Resolved) -> MemoryPlan:
    """Where every byte lies on the devices and in RAM.

    Raises:
        UserError: a tensor override cannot be read.
    """
    kind = kind_of(resolved)
    plan = _llama(resolved) if kind is None else _tensors(resolved, kind)
    return replace(plan, blockers=blockers(resolved), warnings=plan.warnings + cautions(resolved))


def _llama(resolved: Resolved) -> MemoryPlan:
    layouts, warnings = [], []
    for one, devices in _replicas(resolved):
        layout, warning = _layout(one, devices)
        layouts.append(layout)
        warnings += warning
    plans = [plan for layout in layouts for plan in _devices(layout)]
    return _finish(resolved, _in_order(resolved, plans), _host(layouts), layouts[0], tuple(warnings[:1]))


_SPILLING = frozenset({"ollama_spills_to_ram", "offloaded_to_ram"})


def _layout(resolved: Resolved, devices: tuple[Device, ...]) -> tuple[Layout, list[Warning_]]:
    """The layout as the engine makes it; uneven splits are tuned and Ollama spills by itself before anything is refused."""
    layout = lay_out(resolved, devices)
    if fits(layout):
        return layout, []
    tuned = rebalanced(resolved, layout)
    if tuned is not None:
        return tuned, [_uneven(tuned)]
    if resolved.engine.name == "ollama" and resolved.spec.engine.gpu_layers is None and resolved.data == 1:
        spilled = fit_whole_layers(resolved)
        if spilled is not None and _ram_takes(resolved, spilled):
            return spilled, [_spills(spilled)]
    offloaded = _offloaded(resolved, devices)
    return offloaded or (layout, [])


def _offloaded(resolved: Resolved, devices: tuple[Device, ...]) -> tuple[Layout, list[Warning_]] | None:
    """Whoever names RAM beside a card means to use it: llama.cpp puts layers (experts first) there until the rest fits."""
    said = resolved.spec.engine
    placed = (said.gpu_layers, said.cpu_moe_layers, said.tensor_overrides)
    if not resolved.spec.host.ram_gb or placed != (None, None, None) or resolved.data > 1:
        return None
    found = fit_layers(resolved)
    if found is None or found.host_bytes > resolved.spec.host.ram_gb * GB:
        return None
    layout = lay_out(
        resolved, devices, gpu_layers=found.gpu_layers, cpu_moe_layers=found.cpu_moe_layers, split=found.split
    )
    params = _moved(found, layout.on_host.total)
    text = f"{gib(layout.on_host.total):.1f} GiB of it lie in RAM; generation runs at the pace of the RAM"
    return layout, [Warning_(code="offloaded_to_ram", params=params, message=text)]


def _moved(found: LayerFit, host_bytes: float) -> dict[str, object]:
    """What a launch line and a sentence need to know of a placement."""
    params: dict[str, object] = {
        "gpu_layers": found.gpu_layers, "layers": found.total_layers, "cpu_moe_layers": found.cpu_moe_layers,
        "host_gib": gib(host_bytes),
    }  # fmt: skip
    return params if found.split is None else params | {"layers_per_device": list(found.split)}


def _ram_takes(resolved: Resolved, layout: Layout) -> bool:
    """Whether the RAM takes what spills; where it was not said, as much as a large desktop has."""
    ram = resolved.spec.host.ram_gb
    return layout.placement.layers_on_devices > 0 and layout.on_host.total <= (
        ram * GB if ram else _USUAL_RAM_GIB * GIB
    )


def _uneven(layout: Layout) -> Warning_:
    counts = list(layers_per_device(layout))
    text = "--tensor-split " + ",".join(map(str, counts))
    return Warning_(
        code="uneven_split_needed",
        params={"layers_per_device": counts},
        message=f"the split in proportion to memory overfills a card; it fits with {text}",
    )


def _replicas(resolved: Resolved) -> list[tuple[Resolved, tuple[Device, ...]]]:
    """Each replica with its devices and its part of the sequences and of the RAM."""
    data = max(1, min(resolved.data, len(resolved.devices)))
    if data == 1:
        return [(resolved, resolved.devices)]
    host, size = resolved.spec.host, len(resolved.devices) // data
    if host.ram_gb:
        host = host.model_copy(update={"ram_gb": host.ram_gb / data})
    spec = resolved.spec.model_copy(update={"host": host})
    one = replace(resolved, spec=spec, concurrency=sequences_of(resolved), data=1)
    parts = [resolved.devices[n * size : (n + 1) * size] for n in range(data)]
    return [(replace(one, devices=part), part) for part in parts]


def _devices(layout: Layout) -> list[DevicePlan]:
    beside, projector = beside_bytes(layout.resolved), projector_bytes(layout.resolved)
    plans = []
    for index, (device, part) in enumerate(zip(layout.devices, layout.on_device, strict=True)):
        plan = DevicePlan(
            device,
            weights_bytes=part.weights,
            kv_bytes=part.kv,
            state_bytes=part.state,
            activations_bytes=part.compute,
            overhead_bytes=part.overhead + (projector if index == 0 else 0.0),
            beside_bytes=beside if index == 0 else 0.0,
            usable_bytes=usable_bytes(layout.resolved, device),
        )
        plans.append(with_pool(plan))
    return plans


def usable_bytes(resolved: Resolved, device: Device) -> float | None:
    """What the engine may use of a device: what the driver shows, less what others hold; of a processor its RAM."""
    if is_cpu(device.accelerator):
        ram = resolved.spec.host.ram_gb or resolved.spec.hardware[device.group].memory_gb
        return ram * GB if ram else None  # how much RAM is fitted is the owner's to say
    if device.visible_gib is None:
        return None
    return max(0.0, (device.visible_gib - device.in_use_gib) * GIB)


def with_pool(plan: DevicePlan) -> DevicePlan:
    """The plan with what remains for KV there after everything else."""
    if plan.usable_bytes is None:
        return plan
    return replace(plan, pool_bytes=max(0.0, plan.usable_bytes - plan.total_bytes + plan.kv_bytes + plan.state_bytes))


def _host(layouts: Sequence[Layout]) -> HostPlan:
    return HostPlan(
        weights_bytes=layouts[0].on_host.weights,  # replicas map one file
        kv_bytes=sum(layout.on_host.kv for layout in layouts),
        state_bytes=sum(layout.on_host.state for layout in layouts),
        activations_bytes=sum(layout.on_host.compute for layout in layouts),
    )


def _in_order(resolved: Resolved, plans: Sequence[DevicePlan]) -> tuple[DevicePlan, ...]:
    """One plan for every physical device; processors beside cards hold nothing of their own (RAM stands in the host plan)."""
    by_index = {plan.device.index: plan for plan in plans}
    idle = [
        DevicePlan(device, 0.0, 0.0, 0.0, 0.0, usable_bytes=usable_bytes(resolved, device))
        for device in resolved.devices
    ]
    return tuple(by_index.get(plan.device.index, plan) for plan in idle)


def _finish(
    resolved: Resolved, plans: tuple[DevicePlan, ...], host: HostPlan, layout: Layout, warnings: tuple[Warning_, ...]
) -> MemoryPlan:
    plans = _with_free(plans, host)
    margin = margin_bytes(resolved, plans, host)
    if margin is not None and margin[2] < 0 and resolved.spec.engine.gpu_layers is None:
        warnings += _offload_alternative(resolved)
    if margin is not None and any(warning.code in _SPILLING for warning in warnings):
        spilled = host.total_bytes - host.activations_bytes - layout.file.token_embedding_bytes
        margin = (
            min(margin[0], -spilled),
            margin[1],
            margin[2],
        )  # what the cards lack; "tight", since RAM is far slower
    tokens = layout.settings.cells
    kv = layout.kv_bytes
    state = layout.state_per_sequence
    sequence = kv / max(1, layout.settings.slots) + state
    pools = [plan.pool_bytes for plan in plans if plan.pool_bytes is not None and plan.total_bytes]
    most = sum(pools) / sequence / max(1, resolved.data) if pools and sequence else None
    return MemoryPlan(
        devices=plans,
        host=host,
        margin_bytes=margin,
        kv_bytes_per_token=kv / tokens,
        kv_bytes_per_sequence=state,
        kv_capacity_tokens=None if most is None else most * resolved.context_tokens,
        max_concurrency_at_context=most,
        warnings=warnings + _notes(resolved, layout),
        derivation=lambda: derivation.llama_steps(layout),
    )


def _with_free(plans: tuple[DevicePlan, ...], host: HostPlan) -> tuple[DevicePlan, ...]:
    """Where CPU and GPU share the memory, what was put on the CPU's side takes from the same."""
    shared = host.total_bytes if host.kv_bytes else 0.0
    return tuple(
        replace(plan, free_bytes=plan.left_bytes - shared)
        if shared and plan.left_bytes is not None and plan.total_bytes and is_unified(plan.device.accelerator)
        else plan
        for plan in plans
    )


def margin_bytes(resolved: Resolved, plans: Sequence[DevicePlan], host: HostPlan) -> tuple[float, float, float] | None:
    """(low, expected, high) of what is left on the tightest device, or in RAM where its size is known and it is shorter."""
    rows = []
    for plan in plans:
        if plan.left_bytes is not None and plan.total_bytes:
            rows.append((plan.left_bytes, spread_bytes(resolved, plan)))
    ram = resolved.spec.host.ram_gb
    if ram and host.total_bytes and not any(is_unified(plan.device.accelerator) for plan in plans):
        rows.append((ram * GB - host.total_bytes, (0.02 * host.total_bytes,) * 2))
    if not rows:
        return None
    expected, (below, above) = min(rows, key=lambda row: row[0])
    return expected - below, expected, expected + above


def _spills(layout: Layout) -> Warning_:
    total = layout.layers
    layers = layout.placement.layers_on_devices
    return Warning_(
        code="ollama_spills_to_ram",
        params={"gpu_layers": layers, "layers": total, "host_gib": gib(layout.on_host.total)},
        message=f"Ollama puts {layers} of {total} layers on the GPU and the rest into RAM; generation slows down accordingly",
    )


def _offload_alternative(resolved: Resolved) -> tuple[Warning_, ...]:
    found = fit_layers(resolved)
    if found is None:
        return ()
    params = _moved(found, found.host_bytes)
    if found.cpu_moe_layers is not None:
        text = f"fits with the experts of {found.cpu_moe_layers} layers in RAM (--n-cpu-moe {found.cpu_moe_layers})"
    else:
        text = f"fits with {found.gpu_layers} of {found.total_layers} layers on the GPU (-ngl {found.gpu_layers})"
    return (
        Warning_(code="offload_would_fit", params=params, message=f"{text}; {gib(found.host_bytes):.1f} GiB go to RAM"),
    )


def _notes(resolved: Resolved, layout: Layout) -> tuple[Warning_, ...]:
    notes = []
    if layout.is_cpu_only and usable_bytes(resolved, layout.devices[0]) is None:
        needed = gib(sum(part.total for part in layout.on_device))
        text = f"how much RAM the machine has was not said; {needed:.1f} GiB are needed"
        notes.append(Warning_(code="ram_not_stated", params={"needed_gib": needed}, message=text))
    if layout.settings.window_full and any(cache.window_tokens and cache.keys for cache in layout.caches.shapes):
        notes.append(
            Warning_(
                code="window_cache_full_size", params={}, message="sliding-window layers keep the whole context here"
            )
        )
    if layout.settings.latent == "full" and resolved.architecture.mla is not None:
        text = "this build caches full heads instead of the latent: tens of times more KV cache"
        notes.append(Warning_(code="latent_not_cached", params={}, message=text))
    if resolved.weights.id.startswith("gguf-ud-") and resolved.spec.engine.file_size_gib is None:
        text = "dynamic mixes differ by model; give the size of the file for an exact figure"
        notes.append(Warning_(code="dynamic_mix_size", params={"format": resolved.weights.id}, message=text))
    return tuple(notes)


def _tensors(resolved: Resolved, kind: Kind) -> MemoryPlan:
    sequences, data = sequences_of(resolved), max(1, min(resolved.data, len(resolved.devices)))
    held = shares(resolved, kind, sequences)
    size = len(resolved.devices) // data
    plans: list[DevicePlan] = []
    for replica in range(data):
        plans += _tensor_devices(resolved, resolved.devices[replica * size : (replica + 1) * size], held, sequences)
    ordered = _in_order(resolved, plans)
    host = HostPlan(weights_bytes=held.host_weights)
    sequence = held.kv / max(1, sequences) + held.state_per_sequence
    pools = [plan.pool_bytes for plan in ordered if plan.pool_bytes is not None and plan.total_bytes]
    most = sum(pools) / data / sequence if pools and sequence else None
    return MemoryPlan(
        devices=ordered,
        host=host,
        margin_bytes=margin_bytes(resolved, ordered, host),
        kv_bytes_per_token=held.kv / max(1, sequences) / resolved.context_tokens,
        kv_bytes_per_sequence=held.state_per_sequence,
        kv_capacity_tokens=None if most is None else most * resolved.context_tokens,
        max_concurrency_at_context=most,
        derivation=lambda: derivation.tensor_steps(resolved, held),
    )


def _tensor_devices(
    resolved: Resolved, devices: tuple[Device, ...], held: TensorShares, sequences: int
) -> list[DevicePlan]:
    cards = tuple(device for device in devices if not is_cpu(device.accelerator)) or devices
    weights, kv = split_over(cards, held.weights), split_over(cards, held.kv)
    state = split_over(cards, held.state_per_sequence * sequences)
    beside = beside_bytes(resolved)
    return [
        with_pool(
            DevicePlan(
                device,
                weights_bytes=weights[n],
                kv_bytes=kv[n],
                state_bytes=state[n],
                activations_bytes=held.activations,
                overhead_bytes=held.overhead_each,
                beside_bytes=beside if n == 0 else 0.0,
                usable_bytes=usable_bytes(resolved, device),
            )
        )
        for n, device in enumerate(cards)
    ]
