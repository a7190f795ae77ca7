"""RAM, CPU and memory channels: by what lies and runs on the host, never by a universal figure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sizing.system.facts import fact, number
from sizing.system.needs import Needs
from sizing.units import GB, GIB

# Planning figures in GB, each open to the user's own: operating system, engine process with its pinned buffers, other services (database,
# workflow tool, proxy, monitoring) on a shared server, file processing (parsing, page cache of documents).
_SYSTEM_GB, _ENGINE_GB, _FILES_GB = 4.0, 4.0, 8.0
SERVICES_GB = 16.0
_RESERVE_SHARE = 0.25
_LEAST_OF_RULE = 0.25  # planning figure: with less, files are read from disk again and again while they load, and nothing runs beside
_SIZES_GB = (16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144)
_EFFICIENCY = 0.8  # share of the nominal rate that a CPU reaches: fact achievable-memory-fraction
# A worker of a PyTorch DataLoader with tokenised text: planning figure; images and audio take several times as much.
_WORKER_GB, _WORKERS_PER_GPU = 1.5, 4
_SHM_PER_WORKER_GB = 0.5

Role = Literal["feeds_gpu", "offload", "cpu_only", "training", "unified"]


@dataclass(frozen=True, slots=True)
class Ram:
    """Parts in GB; `rule_gb` is the sum of the devices' memory (servers keep at least as much RAM), `has_gb` what was named."""

    offloaded_gb: float
    services_gb: float
    files_gb: float
    index_gb: float
    workers_gb: float
    reserve_gb: float
    sum_gb: float
    rule_gb: float
    proposed_gb: int
    has_gb: float | None
    verdict: Literal["ok", "tight", "no"] | None


@dataclass(frozen=True, slots=True)
class Cpu:
    """Cores by role. `channels` and `bandwidth_gb_s` matter only where the host computes; `platforms` is what common sockets offer."""

    role: Role
    cores: int
    has_cores: int | None
    bandwidth_matters: bool
    platforms: tuple[tuple[str, float], ...]


def ram_of(needs: Needs) -> Ram | None:
    """RAM of the host; None where the device is a machine with one memory for all."""
    if not needs.gpus and needs.devices and not _is_cpu_only(needs):
        return None
    offloaded = needs.host_gib * GIB / GB
    services = (
        _SYSTEM_GB
        + _ENGINE_GB * max(1, needs.data)
        + (needs.host.services_gb or (SERVICES_GB if _shared(needs) else 0.0))
    )
    index = needs.index_gib * GIB / GB
    workers = _WORKER_GB * _WORKERS_PER_GPU * len(needs.gpus) if needs.trains else 0.0
    parts = offloaded + services + _FILES_GB + index + workers
    reserve = _RESERVE_SHARE * parts
    rule = number("ram-to-vram") * sum(_memory_gb(device.memory_gib) for device in needs.gpus)
    wanted = max(parts + reserve, rule)
    proposed = next((size for size in _SIZES_GB if size >= wanted * 0.98), math.ceil(wanted / 1024) * 1024)
    has = needs.host.ram_gb
    verdict: Literal["ok", "tight", "no"] | None = None
    if has is not None:
        least = max(offloaded + _SYSTEM_GB + _ENGINE_GB, _LEAST_OF_RULE * rule)
        verdict = "ok" if has >= wanted * 0.98 else "tight" if has >= least else "no"
    return Ram(offloaded, services, _FILES_GB, index, workers, reserve, parts + reserve, rule, proposed, has, verdict)


def _memory_gb(gib: float | None) -> float:
    return gib or 0.0  # cards and modules are both sold in binary sizes: a "24 GB" card asks for 24 "GB" of modules


def _shared(needs: Needs) -> bool:
    return (needs.users or needs.streams) > 4 or needs.task == "rag"


def _is_cpu_only(needs: Needs) -> bool:
    return any(device.accelerator is not None and device.accelerator.kind == "cpu" for device in needs.devices)


def cpu_of(needs: Needs) -> Cpu | None:
    """Cores and memory channels by what the processor has to do; None for machines that come with theirs."""
    if not needs.gpus and needs.devices and not _is_cpu_only(needs):
        return None
    role = _role(needs)
    return Cpu(role, _cores(role, needs), needs.host.cpu_cores, role in ("offload", "cpu_only"), channels())


def _role(needs: Needs) -> Role:
    if needs.trains:
        return "training"
    if not needs.gpus:
        return "cpu_only"
    return "offload" if needs.host_gib >= 2 else "feeds_gpu"


def _cores(role: Role, needs: Needs) -> int:
    """Planning figures: two cores a card and four for the rest feed GPUs; memory-bound work takes one physical core per 15 GB/s of
    bandwidth; training adds the workers of its data loaders."""
    cards = max(1, len(needs.gpus))
    services = 4 if _shared(needs) else 0
    if role == "training":
        return 4 + cards * (2 + _WORKERS_PER_GPU)
    if role == "feeds_gpu":
        return max(6, 4 + 2 * cards + services)
    return max(12, 8 + 2 * cards) + services


def channels() -> tuple[tuple[str, float], ...]:
    """(platform, nominal GB/s) from two channels of desktop DDR5 to twelve channels of server DDR5, one socket each."""
    server = fact("server-memory")
    wanted = (
        "Threadripper 9000 4ch DDR5-6400",
        "EPYC Rome/Milan 8ch DDR4-3200",
        "EPYC Genoa 12ch DDR5-4800",
        "EPYC Turin 12ch DDR5-6400",
    )
    return (("2ch DDR5-5600", number("ddr5-5600-dual")), *((name, float(server[name])) for name in wanted))


def ram_bound_tokens_s(bytes_per_token: float, nominal_gb_s: float) -> float:
    """Upper bound of tokens a second where that many bytes are read from RAM for each of them."""
    return nominal_gb_s * 1e9 * _EFFICIENCY / bytes_per_token


def shared_memory_gb(workers: int) -> float:
    """Shared memory (/dev/shm) that data-loader workers pass batches through; containers give 64 MB unless told otherwise."""
    return workers * _SHM_PER_WORKER_GB


def workers_per_gpu() -> int:
    """Where to start with data-loader workers; raise step by step and watch waits and memory."""
    return _WORKERS_PER_GPU
