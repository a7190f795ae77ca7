"""One spec with what the engine says of it, and the figures that texts speak of."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bot import prices
from bot.reply import names
from bot.thread import Spec, TeamDefaults
from sizing.cost import costs
from sizing.defaults import Defaults
from sizing.engine import estimate, failed
from sizing.errors import UserError
from sizing.estimate import DeviceMemory, Estimate
from sizing.places import ANY_TRUST, where
from sizing.resolve import Resolved, resolve
from sizing.spec import HardwareRef, WorkloadSpec, parse_spec
from sizing.units import GIB

# A name that a pasted file gives itself is shown to others: names of models only, no sentences, mentions or markup.
_NAME = re.compile(r"[\w.+/-]{1,80}")
_OWNED = ("accelerator", "count", "memory_gb")


def _owned(entry: Spec) -> HardwareRef:
    return HardwareRef.model_validate({key: entry[key] for key in _OWNED if entry.get(key)})


def engine_defaults(team: TeamDefaults) -> Defaults:
    """The team's settings in the engine's terms; what the team left open keeps the engine's value."""
    base = Defaults()
    owned = tuple(_owned(entry) for entry in team.owned if entry.get("accelerator"))
    return Defaults(
        context_tokens=team.context_tokens,
        reserve_share=team.reserve_share,
        min_bits=team.min_bits,
        currency=team.currency,
        electricity_per_kwh=team.electricity_per_kwh or base.electricity_per_kwh,
        country=team.country or base.country,
        cloud=team.cloud,
        owned=owned,
        today=datetime.date.today().isoformat(),
        prices=prices.book(prices.data_dir()),
    )


@dataclass(frozen=True)
class Sized:
    """A spec, its Estimate and, where the names could be resolved, the spec without gaps."""

    spec: Spec
    parsed: WorkloadSpec | None
    estimate: Estimate
    resolved: Resolved | None

    @property
    def verdict(self) -> str | None:
        return self.estimate.verdict

    @property
    def margin_gib(self) -> float | None:
        """What is left on the tightest device; negative is missing."""
        return self.estimate.margin_gib.expected if self.estimate.margin_gib else None

    @property
    def devices(self) -> tuple[DeviceMemory, ...]:
        return self.estimate.memory.per_device if self.estimate.memory else ()

    @cached_property
    def figures(self) -> Mapping[str, Any]:
        return figures_of(self)

    @cached_property
    def hardware(self) -> str:
        """`2 × L40S`, or each kind of a mixed machine."""
        return hardware_label(self.parsed) if self.parsed else ""


def size(spec: Spec, defaults: Defaults) -> Sized:
    """The Estimate of a spec; faults stand in `estimate.error`."""
    try:
        parsed = parse_spec(spec)
    except UserError as fault:
        return Sized(spec, None, failed(None, fault), None)
    return size_parsed(parsed, defaults, spec)


def size_parsed(
    parsed: WorkloadSpec, defaults: Defaults, spec: Spec | None = None, known: Estimate | None = None
) -> Sized:
    """As `size`, for a parsed spec; `known` spares the estimate where it is at hand."""
    plain = spec if spec is not None else plain_spec(parsed)
    found = known or estimate(parsed, defaults)
    return Sized(plain, parsed, _priced(found, parsed, defaults), _resolved(parsed, defaults))


def _priced(found: Estimate, parsed: WorkloadSpec, defaults: Defaults) -> Estimate:
    """The estimate with the prices of its devices where it has none; mixed or unnamed hardware has no price."""
    devices = found.memory.per_device if found.memory else ()
    kinds = {device.accelerator for device in devices}
    if found.cost is not None or len(kinds) != 1 or None in kinds:
        return found
    place = where(parsed, defaults, ANY_TRUST)
    return found.model_copy(update={"cost": costs(str(kinds.pop()), len(devices), defaults, parsed.usage, place)})


def plain_spec(parsed: WorkloadSpec) -> Spec:
    """The spec as JSON data without what was not said."""
    said: Spec = _said(parsed.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
    return said


def _said(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _said(value) for key, value in data.items() if value not in (None, {}, [])}
    return [_said(part) for part in data] if isinstance(data, list) else data


def _resolved(parsed: WorkloadSpec, defaults: Defaults) -> Resolved | None:
    try:
        return resolve(parsed, defaults)
    except UserError:
        return None


def hardware_label(parsed: WorkloadSpec) -> str:
    """The hardware of a spec in words: `2 × L40S`, `RTX 3090 + RTX 4060 Ti 16 GB`."""
    shown = []
    for entry in parsed.hardware:
        name = _device_name(entry.accelerator, entry.memory_gb)
        shown.append(name if (entry.count or 1) == 1 else f"{entry.count} × {name}")
    return " + ".join(shown)


def _device_name(accelerator: str | None, memory_gb: float | None) -> str:
    if accelerator is None:
        return f"GPU {memory_gb:g} GB" if memory_gb else "GPU"
    from sizing.catalogue.names import find

    match = find(accelerator, "accelerator")
    if match.id is None:
        return accelerator
    stated = memory_gb or match.memory_gb
    return names.device_with_memory(match.id, stated)


def figures_of(sized: Sized) -> Mapping[str, Any]:
    """Everything a text may speak of, in the units its key names; sums are over all devices."""
    found: dict[str, Any] = {"hardware": sized.hardware, **_asked(sized)}
    if sized.devices:
        found.update(_memory(sized))
    found["task"] = sized.parsed.task if sized.parsed else "inference"
    if sized.estimate.speed:
        found["speed"] = sized.estimate.speed.model_dump(exclude_none=True)
    return found


def _asked(sized: Sized) -> dict[str, Any]:
    resolved = sized.resolved
    if resolved is None:
        return {
            "model": _written_model(sized),
            "weights": sized.spec.get("weights") or "",
            "devices": len(sized.devices),
        }
    kv = resolved.kv_k.id if resolved.kv_k.id == resolved.kv_v.id else f"{resolved.kv_k.id}/{resolved.kv_v.id}"
    return {
        "model": _written_model(sized, resolved),
        "params_b": resolved.architecture.params_total / 1e9,
        "weights": names.weight_format(_held_format(sized) or resolved.weights.id),
        "kv": names.weight_format(kv),
        "engine": names.engine(resolved.engine.name),
        "context": resolved.context_tokens,
        "longest": resolved.architecture.max_position_tokens or 0,
        "concurrency": resolved.concurrency,
        "devices": len(resolved.devices),
        "tensor": resolved.tensor,
        "pipeline": resolved.pipeline,
        "data": resolved.data,
    }


def _held_format(sized: Sized) -> str | None:
    """The format that the estimate itself assumed; training fills it by its own rules."""
    return next((str(one.value) for one in sized.estimate.assumptions if one.field == "weights"), None)


def _written_model(sized: Sized, resolved: Resolved | None = None) -> str:
    ref = sized.parsed.model if sized.parsed else None
    if ref is not None and ref.id:
        from sizing.catalogue.names import find

        return names.model(find(ref.id, "model").id or ref.id)
    if ref is not None and ref.params_b:
        return f"{ref.params_b:g}B"
    if ref is not None and ref.config is not None:
        return _named_in(ref.config)
    return names.model(resolved.architecture.name) if resolved else "?"


def _named_in(config: Mapping[str, Any]) -> str:
    """What a pasted `config.json` calls itself."""
    named = str(config.get("_name_or_path") or config.get("model_type") or "")
    return names.model(named) if _NAME.fullmatch(named) else "config.json"


def _memory(sized: Sized) -> dict[str, Any]:
    devices = sized.devices
    total = sum(device.total_gib for device in devices)
    parts = {
        "weights": sum(device.weights_gib for device in devices),
        "kv": sum(device.kv_cache_gib or 0 for device in devices),
        "activations": sum(device.activations_gib for device in devices),
        "overhead": sum(
            device.overhead_gib + (device.graphs_gib or 0) + (device.beside_gib or 0) for device in devices
        ),
        "gradients": sum(device.gradients_gib or 0 for device in devices),
        "optimizer": sum(device.optimizer_gib or 0 for device in devices),
    }
    memory = sized.estimate.memory
    usable = [room for device in devices if (room := capacity_gib(device)) is not None]
    found: dict[str, Any] = {f"{name}_gib": size for name, size in parts.items()}
    found |= {f"{name}_share": size / total if total else 0.0 for name, size in parts.items()}
    found |= {"need_gib": total, "rest_gib": parts["activations"] + parts["overhead"]}
    found["usable_gib"] = sum(usable) if len(usable) == len(devices) else None
    tightest = fullest(sized)
    found["capacity_gib"] = capacity_gib(tightest) if tightest else None
    found["host_gib"] = memory.host.total_gib if memory else 0.0
    found["kv_token_bytes"] = (memory.kv_bytes_per_token if memory else None) or 0.0
    found["kv_token_gib"] = found["kv_token_bytes"] / GIB
    if sized.margin_gib is not None:
        margin = sized.estimate.margin_gib
        found |= {"free_gib": max(0.0, sized.margin_gib), "missing_gib": max(0.0, -sized.margin_gib)}
        found |= {"low_gib": margin.low, "high_gib": margin.high} if margin else {}
    if memory and memory.kv_capacity_tokens:
        found |= {
            "capacity_tokens": memory.kv_capacity_tokens,
            "capacity_requests": memory.max_concurrency_at_context or 0.0,
        }
    return found


def capacity_gib(device: DeviceMemory) -> float | None:
    """What a device has for what `total_gib` counts: used and free together; None on an unnamed card."""
    return None if device.free_gib is None else device.total_gib + device.free_gib


def fullest(sized: Sized) -> DeviceMemory | None:
    """The device with least left; None where no memory of a device is known."""
    known = [device for device in sized.devices if device.free_gib is not None and device.total_gib]
    return min(known, key=lambda device: device.free_gib or 0.0, default=None)


def is_machine(sized: Sized) -> bool:
    """Whether the first device is a whole machine or processor rather than a card: it takes no article."""
    accelerator = sized.resolved.devices[0].accelerator if sized.resolved and sized.resolved.devices else None
    return accelerator is None or accelerator.kind not in ("consumer", "workstation", "datacenter")


def device_counts(sized: Sized) -> Mapping[str, int]:
    """How many devices of each catalogue id the estimate is on."""
    return Counter(device.accelerator for device in sized.devices if device.accelerator)
