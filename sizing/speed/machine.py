"""The hardware as the speed model sees it: bandwidth, compute peaks, links, and the class that calibration speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.devices import Device, takes_bridge
from sizing.spec import Host
from sizing.system.power import limit_at

DeviceClass = Literal[
    "geforce", "rtx", "nvidia-gddr", "nvidia-hbm", "nvidia-soc", "radeon", "instinct", "apu", "apple", "arc", "max",
    "gaudi", "neuron", "tpu", "ascend", "cpu", "other",
]  # fmt: skip
Operand = Literal["16bit", "fp8", "int8", "fp4"]
LinkKind = Literal["none", "nvlink", "pcie", "pcie-consumer", "fabric", "network"]

# Where the catalogue has no figure: the class's typical bandwidth in GB/s, and FP16 TFLOPS per GB/s of bandwidth, both medians
# over the catalogue's entries of that class (HBM2e accelerators for "ascend" and "other").
_TYPICAL_BANDWIDTH_GB_S: dict[DeviceClass, float] = {"ascend": 1200.0, "other": 1600.0, "cpu": 80.0}
_TFLOPS_PER_GB_S: dict[DeviceClass, float] = {
    "geforce": 0.08, "rtx": 0.25, "nvidia-gddr": 0.25, "nvidia-hbm": 0.25, "nvidia-soc": 0.4, "radeon": 0.1, "instinct": 0.25,
    "apu": 0.15, "apple": 0.034, "arc": 0.23, "max": 0.25, "gaudi": 0.25, "neuron": 0.22, "tpu": 0.25, "ascend": 0.25,
    "other": 0.25,
}  # fmt: skip
_CPU_TFLOPS = 2.5  # 16 cores with 256-bit FMA at 5 GHz, or 24 at 3.3: cores make up for clocks
_CPU_CORES = 16
# Machines that hold one device, whose power nobody limits per card.
_SINGLE: frozenset[DeviceClass] = frozenset({"cpu", "apple", "apu", "nvidia-soc"})
_NO_HOST = Host()
_DEFAULT_HOST_GB_S = 83.2  # two channels of DDR5-5200, the usual desktop

# Rough rates of a link where vendors give none: GB/s one way per device, and microseconds a collective takes before bytes move.
_PCIE_LANE_GB_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
NETWORK_GB_S = 25.0  # 200 Gbit/s for each device, usual between nodes of accelerators


@dataclass(frozen=True, slots=True)
class Link:
    """How devices of one tensor-parallel group talk: GB/s one way for each device."""

    kind: LinkKind
    gb_s: float


@dataclass(frozen=True)
class Machine:
    """Devices as used by one deployment.

    `bandwidth_gb_s` is per device (the slowest under tensor parallelism, the share-weighted harmonic mean under layer split).
    `peak_tflops` are dense peaks per device by operands; those that the device lacks are absent, 16 bits are always there.
    """

    accelerator: Accelerator | None
    kind: DeviceClass
    architecture: str
    device_id: str
    count: int
    bandwidth_gb_s: float
    peak_tflops: dict[Operand, float]
    bandwidth_known: bool
    link: Link
    host_gb_s: float
    pcie_gb_s: float
    visible_gib: float


def device_class(accelerator: Accelerator | None) -> DeviceClass:
    """The class whose calibration holds for a device."""
    if accelerator is None:
        return "other"
    vendor, kind = accelerator.vendor, accelerator.kind
    if kind == "cpu":
        return "cpu"
    if vendor == "nvidia":
        return _nvidia_class(accelerator)
    if kind == "apu":
        return "apu"
    if vendor == "amd":
        return "instinct" if kind == "datacenter" else "radeon"
    if vendor == "intel":
        return "gaudi" if kind == "asic" else "max" if kind == "datacenter" else "arc"
    named: dict[str, DeviceClass] = {"apple": "apple", "aws": "neuron", "google": "tpu", "huawei": "ascend"}
    return named.get(vendor, "other")


def _nvidia_class(accelerator: Accelerator) -> DeviceClass:
    if accelerator.kind == "soc":
        return "nvidia-soc"
    if accelerator.memory_type.startswith("HBM"):
        return "nvidia-hbm"
    if accelerator.kind in ("consumer", "laptop"):
        return "geforce"
    return "rtx" if accelerator.kind == "workstation" else "nvidia-gddr"


def machine(
    devices: tuple[Device, ...], host: Host, *, tensor: int, layer_split: bool, short_sums: bool = False
) -> Machine:
    """The machine of a deployment; unknown figures are filled with the class's typical ones.

    `short_sums`: the engine adds up in 16 bits, which GeForce does at twice the rate of 32.
    """
    accelerator = devices[0].accelerator if devices else None
    kind = device_class(accelerator)
    named = accelerator
    if kind == "cpu":
        named = _host_cpu(host.cpu) or accelerator
    bandwidth, known = _bandwidth(devices, host, kind, layer_split)
    reading, computing = _under_limit(accelerator, host, kind)
    if devices:
        reading, computing = reading * devices[0].bandwidth_share, computing * devices[0].compute_share
    return Machine(
        accelerator=accelerator,
        kind=kind,
        architecture=_architecture(named, kind),
        device_id=named.id if named else "unknown",
        count=max(1, len(devices)),
        bandwidth_gb_s=bandwidth * reading,
        peak_tflops=_peaks(accelerator, kind, bandwidth, host, computing, short_sums=short_sums),
        bandwidth_known=known,
        link=link(accelerator, kind, tensor, host),
        host_gb_s=host_bandwidth_gb_s(host),
        pcie_gb_s=_pcie_gb_s(accelerator, host),
        visible_gib=min((d.visible_gib or d.memory_gib or 24.0 for d in devices), default=24.0),
    )


def _under_limit(accelerator: Accelerator | None, host: Host, kind: DeviceClass) -> tuple[float, float]:
    """(bandwidth, compute) that a power limit per card leaves, as shares: memory keeps its clock long, the cores do not."""
    if accelerator is None or not accelerator.tdp_w or not host.power_limit_w or kind in _SINGLE:
        return 1.0, 1.0
    return limit_at(host.power_limit_w * accelerator.gpus_per_card / accelerator.tdp_w)


def _peaks(
    accelerator: Accelerator | None, kind: DeviceClass, bandwidth: float, host: Host, share: float, *, short_sums: bool
) -> dict[Operand, float]:
    found = peaks(accelerator, kind, bandwidth, short_sums=short_sums)
    if kind == "cpu" and host.cpu_cores:
        share *= host.cpu_cores / _CPU_CORES
    return found if share == 1 else {name: rate * share for name, rate in found.items()}


def _architecture(accelerator: Accelerator | None, kind: DeviceClass) -> str:
    if accelerator is None:
        return "unknown"
    if kind == "apple" or (kind == "cpu" and accelerator.vendor == "apple"):
        return accelerator.id.removeprefix("apple-")[:2]  # the generation: m1 … m6
    return accelerator.architecture.split(" (")[0].lower().replace(" ", "-")


@lru_cache(maxsize=256)
def _host_cpu(name: str | None) -> Accelerator | None:
    if not name:
        return None
    ident = find(name, "accelerator").id
    return catalogue().accelerators.get(ident) if ident else None


def host_bandwidth_gb_s(host: Host) -> float:
    """GB/s of the host's RAM: as stated, of the named CPU, or two channels of DDR5."""
    if host.bandwidth_gb_s:
        return host.bandwidth_gb_s
    cpu = _host_cpu(host.cpu)
    return cpu.bandwidth_gb_s if cpu is not None and cpu.bandwidth_gb_s else _DEFAULT_HOST_GB_S


def _bandwidth(devices: tuple[Device, ...], host: Host, kind: DeviceClass, layer_split: bool) -> tuple[float, bool]:
    if kind == "cpu" and (host.bandwidth_gb_s or host.cpu):
        return host_bandwidth_gb_s(host), True
    rates = [device.accelerator.bandwidth_for(device.memory_gib) if device.accelerator else None for device in devices]
    known = [rate or _TYPICAL_BANDWIDTH_GB_S.get(kind, 400.0) for rate in rates] or [400.0]
    if not layer_split or len(set(known)) == 1:
        return min(known), all(rates)
    shares = [device.visible_gib or 1.0 for device in devices]
    return sum(shares) / sum(share / rate for share, rate in zip(shares, known, strict=True)), all(rates)


@lru_cache(maxsize=1024)
def peaks(
    accelerator: Accelerator | None, kind: DeviceClass, bandwidth_gb_s: float, *, short_sums: bool = False
) -> dict[Operand, float]:
    """Dense TFLOPS by operands; 16 bits is always there."""
    guess = _CPU_TFLOPS if kind == "cpu" else bandwidth_gb_s * _TFLOPS_PER_GB_S[kind]
    if accelerator is None:
        return {"16bit": guess}
    half = max((accelerator.peak_tflops(name) or 0.0 for name in ("bf16", "fp16", "fp32")), default=0.0)
    by_sum = accelerator.tflops.get("fp16")
    if short_sums and isinstance(by_sum, Mapping):
        half = max(half, by_sum.get("fp16_acc") or 0.0)
    found: dict[Operand, float] = {"16bit": half or guess}
    narrow: tuple[tuple[Operand, float | None], ...] = (
        ("fp8", accelerator.fp8_tflops), ("int8", accelerator.int8_tops), ("fp4", accelerator.fp4_tflops),
    )  # fmt: skip
    found.update({name: rate for name, rate in narrow if rate})
    return found


def link(accelerator: Accelerator | None, kind: DeviceClass, tensor: int, host: Host = _NO_HOST) -> Link:
    """The link of a tensor-parallel group of that size; beyond the fast domain it is the network."""
    if tensor <= 1 or accelerator is None:
        return Link("none", 0.0) if tensor <= 1 else Link("pcie", 25.0)
    between = accelerator.interconnect
    network = Link("network", _network_gb_s(kind, host))
    rate, domain = between.get("gb_s"), between.get("max_domain")
    joined = not takes_bridge(accelerator) if host.nvlink is None else host.nvlink
    if between["type"] == "nvlink" and joined and domain and tensor <= domain:
        return Link("nvlink", (rate or 600) / 2)
    if between["type"] in ("infinity-fabric", "xe-link", "ici", "neuronlink", "hccs", "ethernet-roce"):
        return Link("fabric", (rate or 200) / 2) if tensor <= (domain or 8) else network
    if tensor > 8 or kind in _SINGLE:
        return network
    return Link("pcie-consumer" if kind in ("geforce", "arc") else "pcie", _pcie_gb_s(accelerator, host))


def _network_gb_s(kind: DeviceClass, host: Host) -> float:
    """GB/s for each device: as stated where every machine holds one device, else as usual between nodes of accelerators."""
    if host.network_gbit and kind in _SINGLE:
        return host.network_gbit / 8
    return NETWORK_GB_S


def _pcie_gb_s(accelerator: Accelerator | None, host: Host) -> float:
    """GB/s one way between a card and its host: the slower of the card's link and of the slot, as far as either is known."""
    gen, lanes = (accelerator.pcie["gen"], accelerator.pcie["lanes"]) if accelerator else (None, None)
    gen, lanes = min(gen or 4, host.pcie_gen or 7), min(lanes or 16, host.pcie_lanes or 16)
    return _PCIE_LANE_GB_S.get(gen, 2.0) * lanes
