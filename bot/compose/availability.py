"""What is left when a card or a server fails, and what a target of availability takes, in words."""

from __future__ import annotations

from collections.abc import Iterator

from bot.compose.labels import verdict_cell
from bot.compose.told import Told
from bot.sized import plain_spec, size
from sizing.availability import USUAL_TARGET, copies_left, topology
from sizing.defaults import Defaults


def availability(told: Told) -> Iterator[str]:
    target = told.spec.host.availability or USUAL_TARGET
    devices = sum(entry.count or 1 for entry in told.spec.hardware)
    found = topology(target, max(1, -(-devices // 8)), devices)
    told.draft.material.add_data(
        {"target": target * 100, "hours": found.target_downtime_h, "servers": found.servers, "devices": found.devices}
    )
    told.draft.material.add(target, "share")
    told.draft.material.add(found.target_downtime_h * 3600, "time")
    yield told.text(
        f"availability_{found.name}",
        target=target * 100,
        hours=found.target_downtime_h,
        servers=found.servers,
        devices=found.devices,
    )
    copies = told.spec.parallel.data or devices
    if devices > 1:
        left = copies_left(copies)
        told.draft.material.add(left, "share")
        yield told.text("availability_split", left=left)
        yield _left_after(told, devices)
    low, high = told.system.storage.engine_start_s
    told.draft.material.add_data({"low_seconds": low, "high_seconds": high})
    yield told.text("availability_restart", low=low, high=high)


def _left_after(told: Told, devices: int) -> str:
    """What still runs when one of several cards is gone: the most of the others on which the model fits."""
    spec = plain_spec(told.spec)
    if not spec.get("model") or len(told.spec.hardware) != 1:
        return ""
    assumed = {"context_tokens": told.context} if told.context and not spec.get("input_tokens") else {}
    rest = assumed | {key: value for key, value in spec.items() if key != "parallel"}
    for count in range(devices - 1, 0, -1):
        tried = size({**rest, "hardware": [{**spec["hardware"][0], "count": count}]}, Defaults(reserve_share=0.1))
        if tried.estimate.fits:
            told.draft.considered.append(tried)
            return told.text("availability_left", left=tried.hardware, verdict=verdict_cell(tried, told.words))
    return told.text("availability_left_none")
