"""Running it: from a target of availability to a number of copies and sites, and the checklists of operation as codes.

Two independent servers of 99 % each are reachable 1 - 0.01 x 0.01 = 99.99 % of the time, as long as network, power and software do not
fail together; they do, so a share of every failure is counted as common to one site.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from sizing.diagnose import Bottleneck

TopologyName = Literal["one_server", "n_plus_one", "two_sites"]

HOURS_PER_YEAR = 8760.0
# Planning figures: what one maintained server reaches with repair on the next day, and the share of its failures that takes the site along
# (network, power, cooling, a faulty update rolled out everywhere).
_ONE_SERVER, _COMMON_SHARE = 0.99, 0.1
# What is planned for where nobody names a target: a working day and a half of downtime a year.
USUAL_TARGET = 0.995

BACKUP_CHECKLIST = (
    "own_documents",
    "index_sources",
    "settings_and_prompts",
    "adapters_and_checkpoints",
    "model_checksums",
    "elsewhere_not_scratch",
    "restore_tested",
    "time_until_usable",
)
VERSION_MATRIX = ("driver", "cuda_or_rocm", "framework", "engine", "model_revision", "container_image", "way_back")
DATA_PROTECTION = ("where_data_lies", "who_reads_logs", "retention", "processors", "all_services", "deletion")
ACCESS = ("who_changes_models", "who_reads_prompts", "consoles", "api_not_open", "gateway_and_queue")
MONITORING = (
    "requests_waiting",
    "cache_usage",
    "first_token_p95",
    "tokens_per_second",
    "errors",
    "gpu_memory",
    "temperature_and_power",
    "disk_space",
)
LOAD_TEST = (
    "documented_profile",
    "lengths_typical_and_longest",
    "normal_and_peak",
    "first_token_and_rate",
    "errors_counted",
    "limits_of_the_test",
)
DISTRIBUTED_JOB = ("restart_point", "spare_resources", "progress_of_the_whole", "nodes_and_links")
SECOND_CARD = ("fits_case", "slot_lanes", "watts", "plugs", "cooling", "engine_splits")
OFFER = (
    "exact_variant",
    "memory",
    "bandwidth",
    "formats",
    "form_factor",
    "scaling_kind",
    "local_data_fate",
    "price_conditions",
)
PURCHASE_STEPS = (
    "task",
    "test_data",
    "compare_models",
    "compare_formats",
    "measure_memory",
    "wanted_speed",
    "choose_hardware",
)

_UPGRADE: dict[Bottleneck, tuple[str, ...]] = {
    "vram": ("more_memory_or_smaller_format", "second_card_split"),
    "bandwidth": ("faster_memory", "smaller_format"),
    "compute": ("second_card_replica", "faster_card"),
    "cpu": ("faster_processor", "more_on_gpu"),
    "ram_bandwidth": ("more_on_gpu", "more_channels"),
    "pcie": ("wider_slots", "replicas_instead_of_split"),
    "disk": ("nvme",),
    "queue": ("second_card_replica", "limit_load"),
    "none": ("nothing_yet",),
    "unknown": ("measure_first",),
}


@dataclass(frozen=True, slots=True)
class Topology:
    """`reached` is what the topology comes to by arithmetic, `downtime_h` of it a year; `servers` and `devices` over all sites."""

    name: TopologyName
    target_share: float
    target_downtime_h: float
    reached: float
    downtime_h: float
    servers: int
    sites: int
    devices: int

    def data(self) -> dict[str, Any]:
        return asdict(self)


def topology(target: float, servers: int = 1, devices: int = 1) -> Topology:
    """The smallest topology that reaches a target, for a service that needs `servers` servers with `devices` devices in all."""
    offers = _offers(target, servers, devices)
    return next((found for found in offers if found.reached >= target - 1e-12), offers[-1])


def _offers(target: float, servers: int, devices: int) -> tuple[Topology, ...]:
    one = _ONE_SERVER**servers
    per_server = devices / servers
    spare = _with_spare(servers)
    both = 1 - (1 - one) ** 2
    return (
        _made("one_server", target, one, servers, 1, devices),
        _made("n_plus_one", target, spare, servers + 1, 1, round(per_server * (servers + 1))),
        _made("two_sites", target, both, 2 * servers, 2, 2 * devices),
    )


def _made(name: TopologyName, target: float, reached: float, servers: int, sites: int, devices: int) -> Topology:
    return Topology(
        name, target, (1 - target) * HOURS_PER_YEAR, reached, (1 - reached) * HOURS_PER_YEAR, servers, sites, devices
    )


def _with_spare(servers: int) -> float:
    """At least `servers` of `servers` + 1 up, and nothing common failing: one plus a spare comes to 99.89 %."""
    up = _ONE_SERVER
    own = up ** (servers + 1) + (servers + 1) * up**servers * (1 - up)
    return own * (1 - (1 - up) * _COMMON_SHARE)


def copies_left(copies: int, failed: int = 1) -> float:
    """Share of the throughput that remains when copies fail; a model split over all devices has none left."""
    return max(0, copies - failed) / copies


def upgrade(bottleneck: Bottleneck) -> tuple[str, ...]:
    """What to change by shortage, the cheapest first."""
    return _UPGRADE[bottleneck]
