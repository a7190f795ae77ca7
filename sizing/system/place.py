"""Where the machine may stand: noise, cooling, rack, ECC, and which of the three profiles it belongs to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from sizing.spec import Host
from sizing.system.needs import Needs
from sizing.system.power import Platform

Noise = Literal["quiet", "audible", "loud", "server_room"]
Cooling = Literal["room", "ventilated", "air_conditioned", "liquid"]
ProfileName = Literal["A", "B", "C"]

# Planning figures: what an ordinary office loses by air exchange, what a rack takes with air, and where vendors go over to liquid.
_ROOM_W, _VENTILATED_W, _RACK_AIR_W = 500.0, 1200.0, 20_000.0
_LIQUID_CARD_W = 1100.0
_QUIET_W, _AUDIBLE_W = 300.0, 650.0


@dataclass(frozen=True, slots=True)
class Place:
    """`ecc_devices` None where the catalogue does not say; `racks_air` at 20 kW each."""

    noise: Noise
    office: bool
    cooling: Cooling
    racks_air: int
    ecc_devices: bool | None
    ecc_advised: bool
    passive_cards: bool


@dataclass(frozen=True, slots=True)
class Profile:
    """A single seat, a workstation or a central server, and the codes of what made it so."""

    name: ProfileName
    because: tuple[str, ...]


def platform_of(needs: Needs) -> Platform:
    """Desktop for one or two ordinary cards, workstation up to four, server beyond and for server cards."""
    cards = needs.gpus
    known = [device.accelerator for device in cards if device.accelerator is not None]
    if any(card.form_factor not in ("pcie-card", "host") or card.cooling == "passive" for card in known):
        return "server"
    named = (needs.host.cpu or "").lower()
    if len(cards) > 4 or "epyc" in named or "xeon" in named:
        return "server"
    return "workstation" if len(cards) > 2 or "threadripper" in named else "desktop"


def place_of(needs: Needs, platform: Platform, wall_w: float) -> Place:
    """Noise and cooling by power and build, ECC by what is at stake."""
    devices = [device.accelerator for device in needs.devices if device.accelerator is not None]
    passive = any(device.cooling == "passive" for device in devices)
    noise = _noise(platform, passive, wall_w)
    ecc = [device.ecc for device in devices]
    return Place(
        noise, noise in ("quiet", "audible"), _cooling(needs, wall_w), max(1, math.ceil(wall_w / _RACK_AIR_W)),
        None if not ecc or None in ecc else all(ecc), needs.trains or (needs.users or needs.streams) > 10, passive,
    )  # fmt: skip


def _noise(platform: Platform, passive: bool, wall_w: float) -> Noise:
    if platform == "server":
        return "server_room"
    if wall_w <= _QUIET_W:
        return "quiet"
    return "audible" if wall_w <= _AUDIBLE_W and not passive else "loud"


def _cooling(needs: Needs, wall_w: float) -> Cooling:
    hottest = max((d.accelerator.tdp_w or 0.0 for d in needs.devices if d.accelerator is not None), default=0.0)
    if hottest >= _LIQUID_CARD_W:
        return "liquid"
    return "room" if wall_w <= _ROOM_W else "ventilated" if wall_w <= _VENTILATED_W else "air_conditioned"


def profile_of(needs: Needs) -> Profile:
    """By load first: not the company decides but how much runs at once, and what may stand still."""
    people = needs.users or needs.streams
    server_cards = platform_of(replace(needs, host=Host())) == "server"
    because = [code for code, holds in (
        ("many_users", people > 10), ("several_users", 1 < people <= 10), ("one_user", people == 1), ("many_cards", len(needs.gpus) > 2),
        ("server_cards", server_cards), ("trains", needs.trains), ("must_not_fail", (needs.host.availability or 0) >= 0.999),
    ) if holds]  # fmt: skip
    if people > 10 or server_cards or (needs.host.availability or 0) >= 0.999:
        return Profile("C", tuple(because))
    if people > 1 or len(needs.gpus) > 1 or needs.trains:
        return Profile("B", tuple(because))
    return Profile("A", tuple(because))
