"""The machine around the devices of a deployment, part by part.

Computed on demand from a spec and its Estimate (`system_of`), not inside the search over candidates: a recommendation tries thousands
of layouts and shows the machine of a handful.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sizing.estimate import Estimate
from sizing.spec import WorkloadSpec
from sizing.system.links import Lanes, Network, lanes_of, network_of
from sizing.system.needs import Needs, needs_of
from sizing.system.place import Place, Profile, place_of, platform_of, profile_of
from sizing.system.power import Platform, Power, power_of
from sizing.system.ram import Cpu, Ram, cpu_of, ram_of
from sizing.system.storage import Storage, storage_of


@dataclass(frozen=True, slots=True)
class System:
    """Every part is None where it does not apply: a Mac has no slots, a rented accelerator no power supply of ours."""

    platform: Platform
    ram: Ram | None
    cpu: Cpu | None
    storage: Storage
    lanes: Lanes | None
    network: Network
    power: Power | None
    place: Place
    profile: Profile

    def data(self) -> dict[str, Any]:
        """As plain data for `Estimate.system`; parts that do not apply are left out."""
        return {name: part for name, part in _plain(self).items() if part is not None}


_PLAIN_ALREADY = frozenset({str, int, float, bool, type(None)})


def _plain(value: Any) -> Any:
    """As `dataclasses.asdict`, which copies every value it meets and takes five times as long."""
    if type(value) in _PLAIN_ALREADY:
        return value
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(part) for part in value)
    names = getattr(value, "__dataclass_fields__", None)
    return value if names is None else {name: _plain(getattr(value, name)) for name in names}


def system_of(spec: WorkloadSpec, estimate: Estimate | None = None, *, tensor: int | None = None) -> System:
    """The machine for a spec, with what its Estimate says of memory, speed and checkpoints.

    Raises:
        UserError: unknown hardware.
    """
    return machine(needs_of(spec, estimate, tensor=tensor))


def machine(needs: Needs) -> System:
    """The machine for needs that are already known."""
    platform = platform_of(needs)
    power = power_of(needs, platform)
    return System(
        platform, ram_of(needs), cpu_of(needs), storage_of(needs), lanes_of(needs), network_of(needs), power,
        place_of(needs, platform, power.wall_w if power else 0.0), profile_of(needs),
    )  # fmt: skip
