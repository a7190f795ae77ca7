"""Links: PCIe lanes and slots, NVLink domains, and the network for what a service says and moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sizing.system.facts import fact, number
from sizing.system.needs import Needs

# Lanes beside the cards: two NVMe drives and a network adapter; planning figure.
_OTHER_LANES = 2 * 4 + 8
_BYTES_PER_TOKEN_SENT = 300.0  # one streamed token as a server-sent event with its JSON: planning figure
_LINE_SHARE = 0.9
_SLOT_WIDTH = 2
_FAST_LINKS = frozenset(
    {"nvlink", "nvlink-bridge", "infinity-fabric", "xe-link", "ici", "neuronlink", "hccs", "ethernet-roce"}
)

Matters = Literal["hardly", "loading", "prefill", "much"]


@dataclass(frozen=True, slots=True)
class Lanes:
    """`slots` are expansion slots that the coolers cover; `platform` the smallest usual one with lanes for all (None: two sockets)."""

    cards: int
    lanes_full: int
    lanes_least: int
    platform_least: str | None
    slots: int
    platform: str | None
    platform_lanes: int
    matters: Matters
    gen: int
    width: int
    gb_s: float
    nvlink: bool
    domain: int


@dataclass(frozen=True, slots=True)
class Network:
    """Mbit/s of streamed text against the line, which carries `line_gb_s` of files.

    `gbit` proposed towards users, `between_gbit` between servers (None: one server).
    """

    text_mbit_s: float
    line_gbit: float
    line_gb_s: float
    share_of_line: float
    verdict: Literal["ok", "tight", "no"]
    gbit: int
    servers: int
    between_gbit: int | None


def lanes_of(needs: Needs) -> Lanes | None:
    """Lanes and slots for the cards; None where they are modules on a board of their own or no cards at all."""
    cards = [
        device for device in needs.gpus if device.accelerator is None or device.accelerator.form_factor == "pcie-card"
    ]
    if not cards:
        return None
    first = cards[0].accelerator
    boards = max(1, len(cards) // (first.gpus_per_card if first else 1))
    width = (first.pcie.get("lanes") if first else None) or 16
    gen = (first.pcie.get("gen") if first else None) or 4
    wired, lanes = min(gen, needs.host.pcie_gen or gen), min(width, needs.host.pcie_lanes or width)
    full, least = (
        boards * width + _OTHER_LANES,
        boards * (4 if needs.tensor == 1 and not needs.trains else 8) + _OTHER_LANES,
    )
    platform, has = _platform(full)
    joined = first.interconnect["type"] if first else "none"
    return Lanes(
        boards, full, least, _platform(least)[0], boards * ((first.slots if first else None) or _SLOT_WIDTH),
        platform, has, _matters(needs), wired, lanes,
        float(fact(f"pcie-gen{min(wired, 6)}", "x1")) * lanes, joined.startswith("nvlink"),
        int((first.interconnect.get("max_domain") if first else None) or 1),
    )  # fmt: skip


def _platform(lanes: int) -> tuple[str | None, int]:
    offered = sorted(fact("pcie-lanes-platform").items(), key=lambda pair: pair[1])
    return next(((name, count) for name, count in offered if count >= lanes), (None, offered[-1][1]))


def _matters(needs: Needs) -> Matters:
    """Hardly for one resident model; for loading and the first token under splits; much for offloading and training over cards."""
    if needs.host_gib >= 2 or (needs.trains and len(needs.gpus) > 1):
        return "much"
    if needs.tensor > 1:
        return "prefill"
    return "loading" if len(needs.gpus) > 1 else "hardly"


def network_of(needs: Needs) -> Network:
    """Text of all streams against the line named, else against gigabit Ethernet."""
    text = needs.tokens_s * _BYTES_PER_TOKEN_SENT * 8 / 1e6
    line = needs.host.network_gbit or 1.0
    share = text / (line * 1000 * _LINE_SHARE)
    servers = _servers(needs)
    proposed = 1 if needs.document_gb < 100 and len(needs.gpus) <= 1 and text < 300 else 10 if servers == 1 else 25
    return Network(
        text, line, line * number("ethernet", "1GbE") * _LINE_SHARE, share,
        "ok" if share < 0.5 else "tight" if share < 1 else "no", proposed, servers,
        None if servers == 1 else 400 if needs.trains or needs.tensor > 8 else 100,
    )  # fmt: skip


def _servers(needs: Needs) -> int:
    return max(1, math.ceil(len(needs.gpus) / 8))


def is_fast_link(kind: str) -> bool:
    """Whether devices talk past PCIe."""
    return kind in _FAST_LINKS
