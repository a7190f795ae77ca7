"""Disks: what has to lie on them, how long a model takes to load from where, and how long writing a checkpoint holds a run up."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.system.facts import fact, number
from sizing.system.needs import Needs
from sizing.units import GB, GIB

# Planning figures in GB: system with drivers and containers, logs of a year, database of a chat or RAG service, and how many versions of
# the model one keeps (two formats and the one before).
_SYSTEM_GB, _LOGS_GB, _DATABASE_GB, _VERSIONS = 120.0, 40.0, 20.0, 3
_GROWTH = 1.5
_SIZES_GB = (500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)
_KEPT_CHECKPOINTS = 3
_ENGINE_START_S = (20.0, 90.0)  # fact load-time-rule: graphs and compilation, varies widely
_LINE_SHARE = 0.9  # of Ethernet's line rate that TCP carries: note of the fact ethernet
_WRITE_GB_S = 3.0  # sustained writing of an NVMe drive, planning figure


@dataclass(frozen=True, slots=True)
class LoadTime:
    """Seconds to read the model from one medium into the devices, without the engine's start."""

    medium: str
    gb_s: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Storage:
    """Parts in GB; backups lie elsewhere and count apart (`backup_gb`)."""

    system_gb: float
    models_gb: float
    data_gb: float
    databases_gb: float
    logs_gb: float
    checkpoints_gb: float
    sum_gb: float
    with_growth_gb: float
    proposed_gb: int
    backup_gb: float
    load: tuple[LoadTime, ...]
    engine_start_s: tuple[float, float]
    checkpoint_write_s: float | None


def storage_of(needs: Needs) -> Storage:
    """Capacity with growth, and load times from each usual medium."""
    models = needs.model_file_gb * _VERSIONS
    databases = (
        _DATABASE_GB + needs.index_gib * GIB / GB * 2 if needs.task == "rag" or needs.index_gib else _DATABASE_GB
    )
    checkpoints = needs.checkpoint_gb * _KEPT_CHECKPOINTS
    total = _SYSTEM_GB + models + needs.document_gb + databases + _LOGS_GB + checkpoints
    grown = total * _GROWTH
    return Storage(
        _SYSTEM_GB, models, needs.document_gb, databases, _LOGS_GB, checkpoints, total, grown,
        next((size for size in _SIZES_GB if size >= grown), _SIZES_GB[-1]), needs.document_gb + databases + needs.checkpoint_gb,
        load_times(needs.model_file_gb, needs) if needs.model_file_gb else (), _ENGINE_START_S,
        needs.checkpoint_gb / _WRITE_GB_S if needs.checkpoint_gb else None,
    )  # fmt: skip


def load_times(size_gb: float, needs: Needs) -> tuple[LoadTime, ...]:
    """From the fastest drive to the slowest line; the host link is the ceiling of each."""
    ceiling = link_gb_s(needs)
    return tuple(LoadTime(name, min(rate, ceiling), size_gb / min(rate, ceiling)) for name, rate in media())


def media() -> tuple[tuple[str, float], ...]:
    """(medium, GB/s) as planned with."""
    return (
        ("nvme_gen4", number("nvme-sequential-read", "gen4_x4")),
        ("nvme_gen3", number("nvme-sequential-read", "gen3_x4")),
        ("object_store_32", number("model-load-s3", "effective_gb_s_at_32")),
        ("10gbe", number("ethernet", "10GbE") * _LINE_SHARE),
        ("sata_ssd", number("sata-ssd")),
        ("hdd", number("hdd", "typical")),
        ("1gbe", number("ethernet", "1GbE") * _LINE_SHARE),
    )


def link_gb_s(needs: Needs) -> float:
    """What the host link of the first device takes, as it is wired."""
    device = needs.devices[0].accelerator if needs.devices else None
    generation = min(needs.host.pcie_gen or 7, (device.pcie.get("gen") if device else None) or 4)
    lanes = min(needs.host.pcie_lanes or 16, (device.pcie.get("lanes") if device else None) or 16)
    return float(_lane_gb_s(generation) * lanes) * number("pcie-achievable-fraction", "typical")


def _lane_gb_s(generation: int) -> float:
    return float(fact(f"pcie-gen{min(generation, 6)}", "x1"))


def write_seconds(size_gb: float, gb_s: float = _WRITE_GB_S) -> float:
    """Seconds that writing a checkpoint of that size holds the run up, unless it is written beside the work."""
    return size_gb / gb_s
