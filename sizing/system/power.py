"""Watts: sum of the parts, supply with reserve and excursions, connectors, circuit, heat, and what a power limit costs."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.system.facts import fact, number
from sizing.system.needs import Needs

# Planning figures, not measured: a desktop, workstation and server processor under load, and boards, drives and fans beside it.
_CPU_W = {"desktop": 150.0, "workstation": 280.0, "server": 350.0}
_BASE_W = {"desktop": 80.0, "workstation": 130.0, "server": 250.0}
# Largest supply that plugs into an ordinary socket: planning figure for retail units (1,600 W) and server modules (3,000 W).
_LARGEST_PSU_W = {"desktop": 1600.0, "workstation": 1600.0, "server": 3000.0}
_STANDARD_PSU_W = (450, 550, 650, 750, 850, 1000, 1200, 1300, 1500, 1600, 2000, 2200, 2400, 3000)
# Sum of TDPs x 1.25 with ATX 3.x, x 1.5 with older units: catalogue fact psu-headroom (own convention after Intel's example).
_ATX3_FACTOR, _OLDER_FACTOR = 1.25, 1.5
# Continuous load on a circuit: 80 % of its rating (US code for continuous loads; the same as planning figure in Europe).
_CONTINUOUS_SHARE = 0.8
_BTU_H_PER_W = 3.412
_EXCURSION_PSU = 2.0  # ATX 3.0 supplies stand 200 % of their rating for 100 microseconds: fact atx3-excursion
_LEAST_ON_A_BOARD = 4
_UNKNOWN_CARD_W = 350.0  # planning figure for a card whose power the catalogue lacks

# Speed against power limit: share of the card's TDP -> (share of writing speed, share of reading speed), RTX 3090 with llama.cpp:
# https://llmgarage.ai/power-limit-tokens-per-second-benchmark (prefill at 198k, decode at 4k context, six cards). A second report on one
# 3090 (https://jeanfbrito.github.io/posts/rtx-3090-power-limit-sweet-spot/) agrees: below 1 % lost at 280 W, collapse under 200 W;
# a 5060 Ti loses 1 % at 83 % (https://inventivehq.com/blog/gpu-power-limit-tokens-per-watt).
_LIMITED: tuple[tuple[float, float, float], ...] = (
    (1.0, 1.0, 1.0), (0.857, 0.993, 0.943), (0.714, 0.974, 0.853), (0.571, 0.941, 0.601), (0.429, 0.862, 0.258), (0.286, 0.167, 0.141),
)  # fmt: skip

Platform = Literal["desktop", "workstation", "server"]
_CONNECTOR = re.compile(r"(?:(\d+)x )?(16-pin|12-pin|8-pin EPS|8-pin|6-pin)")
_VERDICTS = Literal["ok", "tight", "no"]


@dataclass(frozen=True, slots=True)
class Supply:
    """A supply for the sum of the parts. `verdict` judges the one the user has (None: none named)."""

    needed_atx3_w: float
    needed_older_w: float
    proposed_w: int
    units: int
    excursion_w: float
    excursion_ok: bool
    connectors: dict[str, int]
    has_w: float | None
    verdict: _VERDICTS | None


@dataclass(frozen=True, slots=True)
class Circuit:
    """What a circuit carries for hours, and what is drawn from it at the wall."""

    volts: float
    amperes: float
    rated_w: float
    continuous_w: float
    wall_w: float
    circuits: int
    verdict: _VERDICTS


@dataclass(frozen=True, slots=True)
class Limit:
    """A power limit per card: the shares of writing and reading speed that remain, low estimate of a measured curve."""

    watts: float
    share_of_tdp: float
    saved_w: float
    decode_share: float
    prefill_share: float


@dataclass(frozen=True, slots=True)
class Power:
    """Everything in watts; `heat_btu_h` is the same heat in the unit of air conditioners."""

    cards_w: float
    card_w: float
    card_tdp_w: float
    cpu_w: float
    base_w: float
    sum_w: float
    wall_w: float
    efficiency: float
    idle_w: float
    heat_btu_h: float
    kwh_per_day: float
    supply: Supply | None
    circuits: tuple[Circuit, ...]
    limit: Limit | None


def power_of(needs: Needs, platform: Platform) -> Power | None:
    """The electrical side of a machine; None where no device's power is known."""
    if not needs.devices:
        return None
    tdp = [_tdp_w(device.accelerator) for device in needs.devices]
    cards = [min(watts, needs.host.power_limit_w or watts) for watts in tdp]
    whole_machine = not needs.gpus
    modules = sum(_is_module(device.accelerator) for device in needs.gpus)
    cpu_w = 0.0 if whole_machine else _cpu_w(needs.host.cpu, platform)
    base_w = 0.0 if whole_machine else around_w(platform, modules) - _CPU_W[platform]
    total = sum(cards) + cpu_w + base_w
    efficiency = gold_efficiency(needs.host.circuit_v)
    wall = total / efficiency
    return Power(
        cards_w=sum(cards), card_w=max(cards), card_tdp_w=max(tdp), cpu_w=cpu_w, base_w=base_w, sum_w=total, wall_w=wall,
        efficiency=efficiency, idle_w=_idle_w(needs, platform), heat_btu_h=wall * _BTU_H_PER_W, kwh_per_day=wall * 24 / 1000,
        supply=None if whole_machine else _supply(needs, platform, cards, tdp, total),
        circuits=_circuits(needs, wall), limit=_limit(needs, max(tdp)),
    )  # fmt: skip


def around_w(platform: Platform, modules: int = 0) -> float:
    """Processor, board, drives and fans under load; a board of eight modules brings switches, network and fans of its own."""
    if modules >= _LEAST_ON_A_BOARD:
        low, high = fact("base-watts", "server_8gpu_hgx_without_gpu")
        return float(low + high) / 2 * max(1, modules // 8)
    return _CPU_W[platform] + _BASE_W[platform]


def _tdp_w(accelerator: Accelerator | None) -> float:
    if accelerator is None:
        return _UNKNOWN_CARD_W
    return (accelerator.tdp_w or _class_w(accelerator)) / accelerator.gpus_per_card


def _class_w(accelerator: Accelerator) -> float:
    """Planning figures where vendors give none: small boxes, laptops and chips of clouds."""
    return {"soc": 150.0, "apu": 120.0, "laptop": 120.0, "cpu": 150.0}.get(accelerator.kind, _UNKNOWN_CARD_W)


def _cpu_w(name: str | None, platform: Platform) -> float:
    ident = find(name, "accelerator").id if name else None
    known = catalogue().accelerators.get(ident) if ident else None
    return known.tdp_w if known is not None and known.kind == "cpu" and known.tdp_w else _CPU_W[platform]


def gold_efficiency(volts: float | None) -> float:
    """Efficiency of an 80 PLUS Gold supply at half load; lower on 115 V mains."""
    table = fact("80plus-115v-gold") if volts is not None and volts < 150 else fact("80plus-230v-eu", "gold")
    return float(table[1]) / 100


def _idle_w(needs: Needs, platform: Platform) -> float:
    """Middle of the facts' planning ranges: the machine without load, each card with a model loaded."""
    if not needs.gpus:
        return 10.0 * len(needs.devices)
    low, high = fact(
        "base-watts",
        {"desktop": "desktop_idle", "workstation": "workstation_idle", "server": "server_1s_idle"}[platform],
    )
    each = fact("gpu-idle-watts", "datacenter_sxm" if _is_module(needs.gpus[0].accelerator) else "consumer")
    return float((low + high) / 2 + len(needs.gpus) * sum(each) / 2)


def _is_module(accelerator: Accelerator | None) -> bool:
    return accelerator is not None and accelerator.form_factor in ("sxm", "oam", "module")


def _supply(needs: Needs, platform: Platform, cards: list[float], tdp: list[float], total: float) -> Supply:
    needed, older = total * _ATX3_FACTOR, total * _OLDER_FACTOR
    largest = _LARGEST_PSU_W[platform]
    units = max(1, math.ceil(needed / largest))
    each = needed / units
    proposed = next((size for size in _STANDARD_PSU_W if size >= each), int(largest))
    has = needs.host.psu_w
    # One card at the allowed excursion while the others draw what they are limited to; a limit does not bind within 100 microseconds.
    excursion = total - cards[0] + number("gpu-transient-pcie5") * max(tdp)
    rating = has or proposed * units
    return Supply(
        needed, older, proposed, units, excursion, excursion <= _EXCURSION_PSU * rating, connectors(needs), has,
        None if has is None else _judged(total, needed, has),
    )  # fmt: skip


def _judged(total: float, needed: float, has: float) -> _VERDICTS:
    return "ok" if has >= needed else "tight" if has >= total else "no"


def connectors(needs: Needs) -> dict[str, int]:
    """Plugs by kind over all cards; cards of which the catalogue knows none are counted as unknown."""
    found: Counter[str] = Counter()
    for device in needs.gpus:
        written = device.accelerator.power_connectors if device.accelerator else None
        if written is None:
            found["unknown"] += 0 if _is_module(device.accelerator) else 1
        for count, kind in _CONNECTOR.findall(written or ""):
            found[kind] += int(count or 1)
    return {kind: count for kind, count in found.items() if count}


_USUAL_CIRCUITS = ((230.0, 16.0), (120.0, 15.0))


def _circuits(needs: Needs, wall_w: float) -> tuple[Circuit, ...]:
    """The circuit that was named, else the usual ones of Europe and of North America."""
    amperes, volts = needs.host.circuit_a, needs.host.circuit_v
    if amperes:
        return (_circuit(volts or (230.0 if amperes == 16 else 120.0 if amperes == 15 else 230.0), amperes, wall_w),)
    if volts:
        return (_circuit(volts, 16.0 if volts > 150 else 15.0, wall_w),)
    return tuple(_circuit(v, a, wall_w) for v, a in _USUAL_CIRCUITS)


def _circuit(volts: float, amperes: float, wall_w: float) -> Circuit:
    rated = volts * amperes
    continuous = rated * _CONTINUOUS_SHARE
    verdict: _VERDICTS = "ok" if wall_w <= continuous else "tight" if wall_w <= rated else "no"
    return Circuit(volts, amperes, rated, continuous, wall_w, max(1, math.ceil(wall_w / continuous)), verdict)


def limit_at(share: float) -> tuple[float, float]:
    """(writing, reading) speed that remains at that share of the card's TDP, between the measured points."""
    if share >= 1:
        return 1.0, 1.0
    for (high, *fast), (low, *slow) in itertools.pairwise(_LIMITED):
        if share >= low:
            part = (share - low) / (high - low)
            return slow[0] + part * (fast[0] - slow[0]), slow[1] + part * (fast[1] - slow[1])
    return _LIMITED[-1][1], _LIMITED[-1][2]


def _limit(needs: Needs, tdp_w: float) -> Limit | None:
    """The limit asked for, else 80 % as the usual first trial; only for cards that have one."""
    if not needs.gpus:
        return None
    watts = min(needs.host.power_limit_w or 0.8 * tdp_w, tdp_w)
    decode, prefill = limit_at(watts / tdp_w)
    return Limit(watts, watts / tdp_w, (tdp_w - watts) * len(needs.gpus), decode, prefill)
