"""Machines that may be proposed: devices admitted by the constraints, in the numbers they are sold or rented in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.cost import board_sizes, book_of, is_complete, is_module
from sizing.defaults import Defaults
from sizing.places import Where
from sizing.prices import PriceBook
from sizing.spec import Constraints, HardwareRef, WorkloadSpec

_KINDS = frozenset({"consumer", "workstation", "datacenter", "soc", "apu", "laptop"})
_VENDORS = frozenset({"nvidia", "amd", "apple", "intel"})
# Sold in China only, rebuilt by third parties, or made for robots and mining: nobody can order them for an office or a rack.
_REGIONAL = frozenset({
    "nvidia-a800-sxm4-80gb", "nvidia-h800-sxm-80gb", "nvidia-h20-96gb", "nvidia-h20-141gb", "nvidia-l20", "nvidia-rtx-4090-d",
    "nvidia-rtx-5090-d",
})  # fmt: skip
_REBUILT = frozenset({"nvidia-rtx-4090-48gb", "nvidia-rtx-2080-ti-22gb", "nvidia-cmp-170hx-8gb"})
_TOWER_MOST, _SERVER_MOST = 4, 8
_BLOWER_GB = 48.0  # workstation cards of that size blow their heat out of the case: eight of them stand side by side
_SHORT_MM = 170
_LEAST_CAPABILITY = 7.5
_LAPTOP_CHIPS = ("apple-m", "amd-ryzen-ai-max")


@dataclass(frozen=True, slots=True)
class Machine:
    """`count` devices of one kind as they may be bought or rented together; `hardware` is how a spec names them."""

    accelerator: Accelerator
    count: int
    memory_gb: float | None = None
    owned: bool = False

    @property
    def hardware(self) -> HardwareRef:
        return HardwareRef(accelerator=self.accelerator.id, count=self.count, memory_gb=self.memory_gb)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a device was not considered."""

    candidate: str
    code: str


def machines(spec: WorkloadSpec, defaults: Defaults, place: Where) -> tuple[tuple[Machine, ...], tuple[Rejection, ...]]:
    """(machines that may be proposed, why the other devices may not)."""
    kept: list[Machine] = []
    dropped: list[Rejection] = []
    for device in catalogue().accelerators.values():
        code = barred(device, spec, defaults, place)
        found = () if code else tuple(numbers_of(device, spec, defaults, place))
        kept.extend(found)
        if not found:
            dropped.append(Rejection(device.name, code or "too_many_needed"))
    return tuple(kept), tuple(dropped)


def barred(device: Accelerator, spec: WorkloadSpec, defaults: Defaults, place: Where) -> str | None:
    """The code of the first reason why a device may not be proposed; None where it may."""
    asked = spec.constraints
    checks: tuple[Callable[[], str | None], ...] = (
        lambda: _general(device, asked),
        lambda: _vendor(device, asked),
        lambda: _available(device, book_of(defaults), place),
        lambda: _links(device, asked),
        lambda: _power(device, asked),
        lambda: _form(device, asked),
    )
    return next((code for check in checks if (code := check())), None)


def _general(device: Accelerator, asked: Constraints) -> str | None:
    if device.status == "announced":
        return "announced_only"
    if device.kind not in _KINDS or not device.memory_gb or not device.bandwidth_gb_s or device.vendor not in _VENDORS:
        return "not_a_general_accelerator"
    if device.kind == "laptop" and form_of(asked) != "laptop":
        return "laptop_part"
    if device.gpus_per_card > 1:
        return "several_chips_on_a_card"
    if device.vendor == "nvidia" and float(device.compute_capability or 0) < _LEAST_CAPABILITY:
        return "too_old"
    if "jetson" in device.id:
        return "embedded_module"
    return "regional_part" if device.id in _REGIONAL else "rebuilt_part" if device.id in _REBUILT else None


def _vendor(device: Accelerator, asked: Constraints) -> str | None:
    wanted, unwanted = _names(asked.vendor), _names(asked.exclude_vendor)
    return "vendor_excluded" if (wanted and device.vendor not in wanted) or device.vendor in unwanted else None


def _names(value: str | list[str] | None) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in ([value] if isinstance(value, str) else value or ()))


def _available(device: Accelerator, book: PriceBook, place: Where) -> str | None:
    rentable = any(place.allows(rate) for rate in book.rates(device.id))
    if not place.buys and not rentable:
        return "not_rentable_there" if book.rates(device.id) else "not_rentable"
    gone = device.status == "discontinued" and book.purchase(device.id) is None
    return "no_longer_sold" if gone and not rentable else None


def _links(device: Accelerator, asked: Constraints) -> str | None:
    fast = device.interconnect["type"] in ("nvlink", "infinity-fabric")
    if asked.nvlink is True and not fast:
        return "no_nvlink"
    return "has_nvlink" if asked.nvlink is False and fast and is_module(device) else None


def _power(device: Accelerator, asked: Constraints) -> str | None:
    return "card_draws_too_much" if asked.card_power_w and (device.tdp_w or 0.0) > asked.card_power_w else None


def _form(device: Accelerator, asked: Constraints) -> str | None:
    fits = _FORMS.get(form_of(asked) or "")
    return None if fits is None or fits(device) else "wrong_form"


def form_of(asked: Constraints) -> str | None:
    """The form asked for in one word; None for none, or one that is not known."""
    written = (asked.form or "").lower().replace("-", " ").strip()
    return _FORM_WORDS.get(written, written if written in _FORMS else None)


_FORM_WORDS = {
    "sff": "short", "short card": "short", "mini itx": "short", "low profile": "short", "server": "rack", "datacenter": "rack",
    "rack server": "rack", "2u": "rack", "4u": "rack", "notebook": "laptop", "pc": "desktop", "tower": "workstation",
    "single slot": "single_slot", "one slot": "single_slot", "1 slot": "single_slot", "mac": "mini", "mini pc": "mini",
}  # fmt: skip


def _in_a_case(device: Accelerator) -> bool:
    return is_complete(device) or (device.form_factor == "pcie-card" and device.cooling == "active")


_FORMS: dict[str, Callable[[Accelerator], bool]] = {
    "desktop": _in_a_case,
    "workstation": _in_a_case,
    "laptop": lambda device: (
        device.kind == "laptop" or (device.id.startswith(_LAPTOP_CHIPS) and "ultra" not in device.id)
    ),
    "mini": is_complete,
    "rack": lambda device: not is_complete(device),
    "1u": lambda device: (
        device.form_factor == "pcie-card" and device.cooling == "passive" and (device.tdp_w or 999) <= 350
    ),
    "short": lambda device: device.form_factor == "soc" or (device.length_mm or 999) <= _SHORT_MM,
    "single_slot": lambda device: device.slots == 1,
}
_FORM_MOST = {"desktop": 2, "workstation": 4, "laptop": 1, "mini": 1, "1u": 4, "short": 1}


def numbers_of(device: Accelerator, spec: WorkloadSpec, defaults: Defaults, place: Where) -> Iterator[Machine]:
    """The numbers of a device that can be had: as sold (boards of modules), or as rented."""
    most = min(spec.constraints.max_devices or 16, _FORM_MOST.get(form_of(spec.constraints) or "", 16), _most(device))
    sizes = board_sizes(device)
    for count in (1, 2, 3, 4, 8, 16):
        if count > most or (is_module(device) and count == 3):
            continue
        if place.buys and (not sizes or count in sizes):
            yield from (Machine(device, count, memory) for memory in _memories(device))
        elif count <= _most_rented(device, defaults, place):
            yield Machine(device, count)


def _most(device: Accelerator) -> int:
    if is_complete(device):
        return 1
    if is_module(device):
        return 16
    side_by_side = device.cooling != "active" or (
        device.kind == "workstation" and (device.memory_gb or 0.0) >= _BLOWER_GB
    )
    return _SERVER_MOST if side_by_side else _TOWER_MOST


def _memories(device: Accelerator) -> tuple[float | None, ...]:
    """A machine sold with several sizes of memory is one proposal for each; those without a price need a quote."""
    return tuple(sorted(device.memory_options_gb)) if device.memory_options_gb else (None,)


def _most_rented(device: Accelerator, defaults: Defaults, place: Where) -> int:
    allowed = [rate for rate in book_of(defaults).rates(device.id) if place.allows(rate)]
    return max((8 if rate.by_the_card else 16 if rate.count == 8 else rate.count for rate in allowed), default=0)
