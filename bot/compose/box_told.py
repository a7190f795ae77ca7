"""The machine around the cards in words: RAM, processor, drives, lanes, network, profile, operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.compose.focus import older_link
from bot.compose.told import Told
from sizing.devices import expand
from sizing.ecosystems import ecosystem_of
from sizing.system.ram import workers_per_gpu
from sizing.system.storage import media

EXAMPLE_GB: Final = 40.0  # of our sentences: a 70B model in 4 bit
_TOLD_MEDIA: Final = frozenset({"nvme_gen4", "object_store_32", "10gbe", "sata_ssd", "1gbe"})


def ram(told: Told) -> Iterator[str]:
    ram = told.system.ram
    if ram is None:
        yield told.text("ram_unified")
        return
    parts = {
        "offloaded": ram.offloaded_gb,
        "services": ram.services_gb,
        "files": ram.files_gb,
        "index": ram.index_gb,
        "workers": ram.workers_gb,
        "reserve": ram.reserve_gb,
    }
    shown = [told.text(f"ram_part_{name}", value=value) for name, value in parts.items() if value >= 1]
    yield told.text("ram", proposed=ram.proposed_gb, parts=told.words.listed(shown))
    if ram.rule_gb > ram.sum_gb:
        yield told.text("ram_rule", rule=ram.rule_gb)
    if ram.has_gb is not None and ram.verdict:
        yield told.text(f"ram_{ram.verdict}", has=ram.has_gb, proposed=ram.proposed_gb)
    if told.system.place.ecc_advised:
        yield told.text("ecc_advised")
    elif "ecc" in told.question.lower():
        yield told.text("ecc_not_needed")


def cpu(told: Told) -> Iterator[str]:
    cpu = told.system.cpu
    if cpu is None:
        return
    told.draft.material.add(workers_per_gpu())
    yield told.text(f"cpu_{cpu.role}", cores=cpu.cores, workers=workers_per_gpu())


def storage(told: Told) -> Iterator[str]:
    disks = told.system.storage
    if disks.models_gb:
        told.draft.material.add(3)
        told.draft.material.add(1.5)
        yield told.text(
            "disks",
            models=disks.models_gb,
            versions=3,
            system=disks.system_gb,
            databases=disks.databases_gb,
            logs=disks.logs_gb,
            proposed=disks.proposed_gb,
        )
        shown = [
            told.text("load_one", medium=told.text(f"medium_{one.medium}"), time=one.seconds)
            for one in disks.load
            if one.medium in _TOLD_MEDIA
        ]
        told.draft.material.add_data([{"seconds": one.seconds} for one in disks.load])
        low, high = disks.engine_start_s
        size = disks.load[0].seconds * disks.load[0].gb_s
        told.draft.material.add_data({"size_gb": size, "low_seconds": low, "high_seconds": high})
        yield told.text("load_from", media=told.words.listed(shown), size=size, low=low, high=high)
        return
    yield told.text("disks_bare", system=disks.system_gb, databases=disks.databases_gb, logs=disks.logs_gb)
    rates = dict(media())
    told.draft.material.add_data({"size_gb": EXAMPLE_GB})
    times = {
        name: told.draft.work_out("load", "size_gb / rate_gb_s", "s", size_gb=EXAMPLE_GB, rate_gb_s=rates[name])
        for name in ("nvme_gen4", "nvme_gen3", "sata_ssd")
    }
    yield told.text("load_rule", nvme=times["nvme_gen4"], old=times["nvme_gen3"], sata=times["sata_ssd"])


def add_link_names(told: Told) -> None:
    """Widths and generations stand in fixed texts; they are names, not figures."""
    told.draft.material.add_names(
        [*(f"x{width}" for width in (1, 4, 8, 16)), *(f"PCIe {gen}.0" for gen in range(1, 8))]
    )


def lanes(told: Told) -> Iterator[str]:
    lanes = told.system.lanes
    if lanes is None:
        return
    add_link_names(told)
    yield told.text(f"lanes_{lanes.matters}")
    if older_link(told.question) is not None:
        told.draft.material.add(lanes.gb_s, "bandwidth")
        yield told.text("lanes_old", gen=lanes.gen, width=lanes.width, rate=lanes.gb_s)
    platform = (
        told.text("lanes_platform", name=lanes.platform, lanes=lanes.platform_lanes)
        if lanes.platform
        else told.text("lanes_none")
    )
    told.draft.material.add_names([lanes.platform or ""])
    yield told.text("lanes_need", cards=lanes.cards, full=lanes.lanes_full, slots=lanes.slots, platform=platform)
    if lanes.platform_least and lanes.platform_least != lanes.platform:
        told.draft.material.add_names([lanes.platform_least])
        yield told.text("lanes_least", least=lanes.lanes_least, platform=lanes.platform_least)
    if lanes.nvlink and lanes.cards > 1:
        yield told.text("lanes_nvlink", domain=lanes.domain)
    yield told.text("lanes_mechanical")


def network(told: Told) -> Iterator[str]:
    network = told.system.network
    streams = told.spec.concurrency or told.spec.users or 1
    told.draft.material.add_data(
        {"streams": streams, "text": network.text_mbit_s, "line": network.line_gbit, "share": network.share_of_line}
    )
    yield told.text(
        f"network_{network.verdict}",
        streams=streams,
        text=network.text_mbit_s,
        share=network.share_of_line,
        line=network.line_gbit,
    )
    told.draft.material.add_data({"size_gb": EXAMPLE_GB})
    sizes = {"size_gb": EXAMPLE_GB, "line_gb_s": network.line_gb_s}
    seconds = told.draft.work_out("copy", "size_gb / line_gb_s", "s", **sizes)
    yield told.text("network_more", time=seconds, line=network.line_gbit)
    if network.between_gbit:
        yield told.text("network_servers", servers=network.servers, gbit=network.between_gbit)
    yield told.text("network_vpn")


def profile(told: Told) -> Iterator[str]:
    yield told.text(f"profile_{told.system.profile.name}")


def operation(told: Told) -> Iterator[str]:
    for key in ("backup", "versions", "access"):
        yield told.words.text("operation", key)


def ecosystem(told: Told) -> Iterator[str]:

    families = {ecosystem_of(d.accelerator).family for d in expand(told.spec.hardware) if d.accelerator is not None}
    for family in sorted(families):
        yield told.words.text("ecosystem", family)
