"""What a spec says that cannot be, whatever the memory: refused with the field, the value and what would work.

Layouts that an engine refuses while another would take them are blockers (`sizing.compatibility`): those are answers, these are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from sizing.degrees import in_one_machine
from sizing.devices import is_cpu, is_unified
from sizing.errors import UserError
from sizing.units import GB, GIB

if TYPE_CHECKING:  # a resolved spec is checked before it is handed out
    from sizing.resolve import Resolved


def refuse_contradictions(resolved: Resolved) -> None:
    """Raises:
    UserError: the first contradiction found.
    """
    for check in _CHECKS:
        check(resolved)


def _expert_parallel(resolved: Resolved) -> None:
    degree, moe = resolved.spec.parallel.expert or 1, resolved.architecture.moe
    if degree == 1:
        return
    name = resolved.architecture.id
    if moe is None:
        raise UserError(
            "parallel.expert",
            degree,
            f"{name} is dense: it has no experts to spread; leave parallel.expert out or set it to 1",
        )
    if degree > moe.experts:
        raise UserError(
            "parallel.expert",
            degree,
            f"{name} has {moe.experts} experts; parallel.expert {degree} is more, at most {moe.experts} work",
        )


def _pipeline(resolved: Resolved) -> None:
    degree, layers = resolved.spec.parallel.pipeline or 1, len(resolved.architecture.layers)
    if layers and degree > layers:
        raise UserError(
            "parallel.pipeline",
            degree,
            f"{resolved.architecture.id} has {layers} layers; parallel.pipeline {degree} is more, at most {layers} work",
        )


def _decode_context(resolved: Resolved) -> None:
    """Ranks of decode context parallelism are those of tensor parallelism."""
    degree, tensor = resolved.spec.parallel.context or 1, resolved.tensor
    if resolved.engine.name != "vllm" or degree == 1 or tensor % degree == 0:
        return
    works = ", ".join(str(n) for n in range(1, min(tensor, 64) + 1) if tensor % n == 0)
    raise UserError(
        "parallel.context",
        degree,
        f"parallel.context {degree} does not divide parallel.tensor {tensor}, whose ranks it shares; {works} would work",
    )


def _fixed_cache(resolved: Resolved) -> None:
    asked = resolved.spec.engine.kv_cache_memory_gib
    smallest = min((device.visible_gib for device in resolved.devices if device.visible_gib is not None), default=None)
    if asked is not None and smallest is not None and asked > smallest:
        raise UserError(
            "engine.kv_cache_memory_gib",
            asked,
            f"engine.kv_cache_memory_gib {asked:g} is per device, and the device has {smallest:.1f} GiB; give less, or none",
        )


def _kept_in_ram(resolved: Resolved) -> None:
    ram = resolved.spec.host.ram_gb
    kept, lent = resolved.spec.engine.kv_offload_gib, resolved.spec.engine.cpu_offload_gib
    if not ram:
        return
    machines = max(1, math.ceil(len(resolved.devices) / in_one_machine(resolved.devices))) if resolved.devices else 1
    for field, each, times in (
        ("engine.kv_offload_gib", kept, resolved.data),
        ("engine.cpu_offload_gib", lent, len(resolved.devices)),
    ):
        if each is not None and each * times / machines * GIB > ram * GB:
            most = f"{ram * GB / GIB * machines / times:.0f}"
            raise UserError(
                field,
                each,
                f"{field} {each:g}{f' x {times}' if times > 1 else ''} is more than the machine's RAM, host.ram_gb {ram:g}; "
                f"at most {most} would go in, less what the system needs",
                (most,),
            )


def _redundant_experts(resolved: Resolved) -> None:
    copies, moe = resolved.spec.engine.redundant_experts, resolved.architecture.moe
    if not copies:
        return
    name = resolved.architecture.id
    if moe is None:
        raise UserError(
            "engine.redundant_experts",
            copies,
            f"{name} is dense: it has no experts to copy; leave engine.redundant_experts out",
        )
    most = moe.experts * max(0, len(resolved.devices) - 1)
    if resolved.devices and copies > most:
        raise UserError(
            "engine.redundant_experts",
            copies,
            f"{copies} copies are more than one of each of the {moe.experts} experts on every further device, at most {most} help",
        )


def _prefill_replicas(resolved: Resolved) -> None:
    asked, replicas = resolved.spec.engine.prefill_replicas, resolved.data
    if asked and resolved.devices and asked >= replicas:
        raise UserError(
            "engine.prefill_replicas",
            asked,
            f"engine.prefill_replicas {asked} of {replicas} replicas (parallel.data) leave none to decode; "
            f"set parallel.data to all of them, at least {asked + 1}",
        )


# The lowest limit that drivers take is a quarter of the card's power or more: 100 of 400 W (A100 SXM), 100 of 350 (RTX 3090), 200 of
# 700 (H100 SXM), 150 of 450 (RTX 4090).
_LOWEST_LIMIT = 0.25
_ROUNDED = 0.8


def _power_limit(resolved: Resolved) -> None:
    limit = resolved.spec.host.power_limit_w
    if not limit:
        return
    for device in resolved.devices:
        known = device.accelerator
        if known is None or not known.tdp_w or is_unified(known) or is_cpu(known):
            continue
        watts = known.tdp_w / known.gpus_per_card
        if limit < _ROUNDED * _LOWEST_LIMIT * watts:
            lowest = f"{_LOWEST_LIMIT * watts:.0f} W"
            raise UserError(
                "host.power_limit_w",
                limit,
                f"host.power_limit_w {limit:g} is less than any driver sets for {device.name} ({watts:g} W): about {lowest} at least",
                (lowest,),
            )


_CHECKS: tuple[Callable[[Resolved], None], ...] = (
    _expert_parallel,
    _pipeline,
    _decode_context,
    _fixed_cache,
    _kept_in_ram,
    _redundant_experts,
    _prefill_replicas,
    _power_limit,
)
