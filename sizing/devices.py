"""Physical devices of a deployment and how much of their memory an engine sees."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.errors import UserError
from sizing.spec import HardwareRef
from sizing.units import GB, GIB

# What the driver keeps of a card's nominal memory, as a share, where no log names the figure: measured totals of 26 cards lie
# 1.0-2.2 % under the binary size without ECC (3090: 23.58 of 24), 7.6-8.2 % with inline ECC on GDDR6 (L4: 22.03 of 24) and at
# 99.0-99.6 % of the nominal GiB for HBM (H100: 79.19 of 80).
_VISIBLE_GDDR = 0.981
_VISIBLE_GDDR6_ECC = 0.92
_VISIBLE_HBM = 0.99
_VISIBLE_UNIFIED = 0.95
# Between nvidia-smi's total and what CUDA hands to an engine: 0.47 GiB of 24 (4090), 0.46 of 80 (H100), 0.6 of 140 (H200).
_CONTEXT_GIB = 0.44
_CONTEXT_SHARE = 0.0011
_VISIBLE_SLICE = 0.98
_PEER = re.compile(r"\bpeer\b", re.IGNORECASE)
_MIG = re.compile(r"(?:\bmig[\s-]*)?\b(?P<compute>\d+)g\.(?P<memory>\d+)gb(?:\+me)?\b(?:[\s-]*mig\b)?", re.IGNORECASE)
_MAX_DEVICES = 4096
_MEMORY_TOLERANCE = (
    2.05  # cards are rebuilt with twice their memory (RTX 3080 20 GB), and pairs sold as one (H100 NVL 188 GB)
)
# Memory that cards are sold with: what an engine sees is a little less than one of these.
_SOLD_GB = (6, 8, 10, 11, 12, 16, 20, 22, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 192, 256, 288)


@dataclass(frozen=True, slots=True)
class Device:
    """One physical device. `visible_gib` is what the engine is told the card has; `in_use_gib` is taken by others already.

    Of a slice, `bandwidth_share` and `compute_share` say what part of the whole card's it has.
    """

    index: int
    group: int
    name: str
    accelerator: Accelerator | None
    memory_gib: float | None
    visible_gib: float | None
    visible_is_measured: bool
    in_use_gib: float
    bandwidth_share: float = 1.0
    compute_share: float = 1.0

    @property
    def id(self) -> str | None:
        """Catalogue id, None for an unnamed card."""
        return self.accelerator.id if self.accelerator else None


def is_unified(accelerator: Accelerator | None) -> bool:
    """Whether CPU and GPU share one memory."""
    return accelerator is not None and accelerator.kind in ("soc", "apu")


def is_cpu(accelerator: Accelerator | None) -> bool:
    """Whether the device is a processor with its RAM."""
    return accelerator is not None and accelerator.kind == "cpu"


def has_fabric(accelerator: Accelerator | None) -> bool:
    """Whether cards of this kind talk to each other over NVLink, NVSwitch or Infinity Fabric."""
    if accelerator is None or accelerator.kind != "datacenter":
        return False
    kind = accelerator.interconnect["type"].lower()
    return any(name in kind for name in ("nvlink", "infinity", "xgmi"))


def takes_bridge(accelerator: Accelerator | None) -> bool:
    """Whether two cards of this kind may be joined by an NVLink bridge that is bought apart: consumer and workstation cards.

    Most machines have none, so that such cards talk over PCIe unless a bridge is named.
    """
    if accelerator is None or accelerator.kind not in ("consumer", "workstation"):
        return False
    return accelerator.interconnect["type"] == "nvlink"


def visible_gib(accelerator: Accelerator, memory_gb: float | None) -> tuple[float | None, bool]:
    """(GiB an engine sees, whether a log says so) for a card with that memory; None where its memory is unknown."""
    nominal = memory_gb or accelerator.memory_gb
    if nominal is None:
        return None, False
    same = memory_gb is None or accelerator.memory_gb is None or abs(memory_gb - accelerator.memory_gb) < 0.02 * nominal
    if accelerator.vendor == "apple":
        return accelerator.metal_limit_gib_for(memory_gb) or nominal * 0.75, False
    if accelerator.engine_visible_gib and same:
        return accelerator.engine_visible_gib, True
    if accelerator.smi_total_gib and same:
        return accelerator.smi_total_gib * (1 - _CONTEXT_SHARE) - _CONTEXT_GIB, False
    return nominal * _visible_share(accelerator), False


def _visible_share(accelerator: Accelerator) -> float:
    memory = accelerator.memory_type
    if is_unified(accelerator) or is_cpu(accelerator):
        return _VISIBLE_UNIFIED
    if memory.startswith("HBM"):
        return _VISIBLE_HBM if accelerator.vendor == "nvidia" else 0.998
    if accelerator.ecc and memory == "GDDR6" and accelerator.kind == "datacenter":
        return _VISIBLE_GDDR6_ECC
    return _VISIBLE_GDDR if accelerator.vendor == "nvidia" else 0.995


def expand(hardware: tuple[HardwareRef, ...]) -> tuple[Device, ...]:
    """One Device for every physical device named, in order.

    Raises:
        UserError: an unknown accelerator, one without a known memory size, or one with more in use than it has.
    """
    devices: list[Device] = []
    for group, entry in enumerate(hardware):
        for device in _group(entry, group):
            _refuse_overfull(device)
            devices.append(_at(device, len(devices)))
            if len(devices) > _MAX_DEVICES:
                raise UserError("hardware.count", entry.count, f"at most {_MAX_DEVICES} devices can be sized at once")
    return tuple(devices)


def _refuse_overfull(device: Device) -> None:
    if device.visible_gib is not None and device.in_use_gib > max(device.visible_gib, device.memory_gib or 0.0):
        raise UserError(
            "hardware.in_use_gib",
            device.in_use_gib,
            f"hardware.in_use_gib {device.in_use_gib:g} is more than {device.name} has: {device.visible_gib:.1f} GiB",
        )


def _at(device: Device, index: int) -> Device:
    return replace(device, index=index)


def _group(entry: HardwareRef, group: int) -> list[Device]:
    if entry.accelerator is None:
        return [_unnamed(entry, group)] * (entry.count or 1)
    slice_gb = _MIG.search(entry.accelerator)
    if slice_gb:
        return [_slice(entry, slice_gb, group)] * (entry.count or 1)
    match = find(entry.accelerator, "accelerator")
    if match.parts:
        if _PEER.search(entry.accelerator) and match.id is not None:
            raise UserError(
                "hardware.accelerator",
                entry.accelerator,
                f"which device is the peer in {entry.accelerator!r}? Give every device an entry of its own in hardware",
            )
        return [
            _known(part.id, part.memory_gb, part.name, entry, group)
            for part in match.parts
            for _ in range(part.count or 1)
        ]
    if match.id is None and match.memory_gb:
        return [_unnamed(entry.model_copy(update={"memory_gb": entry.memory_gb or match.memory_gb}), group)] * (
            entry.count or 1
        )
    if match.id is None:
        hint = f"; did you mean {', '.join(match.suggestions)}?" if match.suggestions else ""
        raise UserError(
            "hardware.accelerator",
            entry.accelerator,
            f"unknown accelerator {entry.accelerator!r}{hint}",
            match.suggestions,
        )
    ident = _version_with(match.id, entry.accelerator, entry)
    count = (entry.count or 1) * catalogue().accelerators[ident].gpus_per_card
    return [_known(ident, match.memory_gb, entry.accelerator, entry, group)] * count


def _version_with(ident: str, name: str, entry: HardwareRef) -> str:
    """The version of a card that has the memory said beside its name: "V100" with 32 GB is not the customary one with 16.
    Two cards with the memory of one that no vendor sells are two usual ones, counted together."""
    said = entry.memory_gb or next((size for size in _SOLD_GB if size >= (entry.engine_visible_gib or 0.0)), None)
    own = catalogue().accelerators[ident].memory_gb
    if not said or not own or not (entry.memory_gb or entry.engine_visible_gib) or abs(said - own) < 0.15 * own:
        return ident
    version = find(f"{name} {said:g}GB", "accelerator")
    if version.id is None or version.memory_differs:
        return ident
    reworked = (
        catalogue().accelerators[version.id].msrp_usd is None and catalogue().accelerators[ident].kind == "consumer"
    )
    together = abs(said - own * (entry.count or 1)) < 0.02 * said
    return ident if reworked and together else version.id


def _slice(entry: HardwareRef, found: re.Match[str], group: int) -> Device:
    """A MIG slice of a card: "H100 3g.40gb" has 40 GB of its own, of which an engine sees 39.2 GiB.

    Memory and its bandwidth are dealt in eighths, compute in sevenths (NVIDIA, MIG user guide): 3g.40gb of 80 GB is 4/8 and 3/7.
    """
    name = (entry.accelerator or "").replace(found.group(), "").strip(" -()")
    whole = _known(find(name, "accelerator").id, None, name, entry.model_copy(update={"memory_gb": None}), group)
    memory_gb = float(found.group("memory"))
    seen = entry.engine_visible_gib or memory_gb * _VISIBLE_SLICE
    of_card = whole.accelerator.memory_gb if whole.accelerator else None
    eighths = round(8 * memory_gb / of_card) if of_card else 8
    return replace(
        whole,
        memory_gib=memory_gb,
        visible_gib=seen,
        visible_is_measured=entry.engine_visible_gib is not None,
        bandwidth_share=min(8, max(1, eighths)) / 8,
        compute_share=min(7, max(1, int(found.group("compute")))) / 7,
    )


def _known(ident: str | None, stated_gb: float | None, name: str, entry: HardwareRef, group: int) -> Device:
    if ident is None:
        raise UserError("hardware.accelerator", name, f"unknown accelerator {name!r}")
    accelerator = catalogue().accelerators[ident]
    memory_gb = _of_one_card(accelerator, entry, stated_gb)
    seen, measured = visible_gib(accelerator, memory_gb)
    if entry.engine_visible_gib:
        seen, measured = entry.engine_visible_gib, True
    nominal = memory_gb or accelerator.memory_gb
    # GDDR and LPDDR are sold in GiB in effect (24 "GB" are 24 GiB), HBM in decimal GB.
    binary = not accelerator.memory_type.startswith("HBM")
    memory_gib = None if nominal is None else max(nominal * (1.0 if binary else GB / GIB), seen or 0.0)
    return Device(0, group, accelerator.name, accelerator, memory_gib, seen, measured, entry.in_use_gib or 0.0)


def _of_one_card(accelerator: Accelerator, entry: HardwareRef, stated_gb: float | None) -> float | None:
    """The memory said of a card, or None where it is that of all cards together.

    Raises:
        UserError: no version of the card has that much. Less may be what a share of it has.
    """
    said = entry.memory_gb or stated_gb
    most = max((accelerator.memory_gb or 0.0, *accelerator.memory_options_gb))
    fixed = accelerator.kind not in ("cpu", "apu", "soc") or accelerator.memory_options_gb
    seen = entry.engine_visible_gib or 0.0
    together = {(entry.count or 1) * accelerator.gpus_per_card, entry.count or 1, accelerator.gpus_per_card}
    if most and said and not seen and any(n > 1 and abs(said - most * n) <= 0.02 * said for n in together):
        return None
    if not most or not fixed or max(said or 0.0, seen) <= most * _MEMORY_TOLERANCE:
        return said
    field, value = ("memory_gb", said) if said and said > most * _MEMORY_TOLERANCE else ("engine_visible_gib", seen)
    has = " or ".join(f"{size:g}" for size in sorted({most, *accelerator.memory_options_gb}))
    raise UserError(
        f"hardware.{field}",
        value,
        f"{accelerator.name} has {has} GB of memory, not {value:g}; leave the memory out, or name the card that has it",
        (f"{most:g} GB",),
    )


def _unnamed(entry: HardwareRef, group: int) -> Device:
    if entry.memory_gb is None and entry.engine_visible_gib is None:
        raise UserError("hardware.accelerator", None, "which accelerator is it? Name the card, or give memory_gb")
    seen = entry.engine_visible_gib or (entry.memory_gb * _VISIBLE_GDDR if entry.memory_gb else None)
    return Device(
        0, group, "unknown", None, entry.memory_gb, seen, entry.engine_visible_gib is not None, entry.in_use_gib or 0.0
    )
