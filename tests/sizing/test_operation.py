"""Availability, ecosystems, checklists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing import availability
from sizing.availability import copies_left, topology, upgrade
from sizing.catalogue.load import catalogue
from sizing.ecosystems import ecosystem, ecosystem_of


@pytest.mark.parametrize(
    ("target", "name", "servers", "devices", "hours"),
    [
        (0.99, "one_server", 1, 4, 87.6),
        (0.995, "n_plus_one", 2, 8, 43.8),
        (0.999, "two_sites", 2, 8, 8.76),
        (0.9999, "two_sites", 2, 8, 0.876),
    ],
)
def test_availability_leads_to_a_topology(target: float, name: str, servers: int, devices: int, hours: float) -> None:
    found = topology(target, 1, 4)
    assert (found.name, found.servers, found.devices) == (name, servers, devices)
    assert found.target_downtime_h == pytest.approx(hours)
    assert found.reached >= target - 1e-9


@given(st.floats(0.5, 0.99999), st.floats(0.5, 0.99999), st.integers(1, 8))
def test_a_higher_target_never_takes_fewer_servers(one: float, other: float, servers: int) -> None:
    low, high = sorted((one, other))
    assert topology(low, servers, servers).servers <= topology(high, servers, servers).servers


@pytest.mark.parametrize(("copies", "left"), [(1, 0.0), (2, 0.5), (4, 0.75)])
def test_what_runs_when_one_fails(copies: int, left: float) -> None:
    assert copies_left(copies) == left


@pytest.mark.parametrize(
    ("shortage", "first"),
    [
        ("vram", "more_memory_or_smaller_format"),
        ("compute", "second_card_replica"),
        ("disk", "nvme"),
        ("ram_bandwidth", "more_on_gpu"),
        ("unknown", "measure_first"),
    ],
)
def test_upgrade_follows_the_shortage(shortage: availability.Bottleneck, first: str) -> None:
    assert upgrade(shortage)[0] == first


@pytest.mark.parametrize(
    ("checklist", "items"),
    [
        (availability.BACKUP_CHECKLIST, {"restore_tested", "time_until_usable", "elsewhere_not_scratch"}),
        (availability.VERSION_MATRIX, {"driver", "framework", "engine", "way_back"}),
        (availability.DATA_PROTECTION, {"where_data_lies", "who_reads_logs", "all_services"}),
        (availability.ACCESS, {"api_not_open", "gateway_and_queue"}),
        (availability.LOAD_TEST, {"documented_profile", "normal_and_peak", "limits_of_the_test"}),
        (availability.DISTRIBUTED_JOB, {"restart_point", "spare_resources"}),
        (availability.SECOND_CARD, {"fits_case", "slot_lanes", "watts", "plugs", "cooling", "engine_splits"}),
        (availability.OFFER, {"exact_variant", "memory", "bandwidth", "formats", "form_factor", "scaling_kind"}),
        (availability.MONITORING, {"requests_waiting", "cache_usage", "first_token_p95"}),
    ],
)
def test_checklists_name_what_the_guides_ask(checklist: tuple[str, ...], items: set[str]) -> None:
    assert items <= set(checklist)


def test_purchase_begins_with_the_task_and_ends_with_hardware() -> None:
    assert availability.PURCHASE_STEPS[0] == "task"
    assert availability.PURCHASE_STEPS[-1] == "choose_hardware"
    assert len(availability.PURCHASE_STEPS) == 7


@pytest.mark.parametrize(
    ("accelerator", "family", "had"),
    [
        ("google-tpu-v5e", "tpu", "one_cloud"),
        ("aws-inferentia2", "neuron", "one_cloud"),
        ("intel-gaudi-3", "gaudi", "servers_of_eight"),
        ("nvidia-rtx-4090", "gpu", "anywhere"),
        ("apple-m4-max-40c", "unified", "anywhere"),
        ("amd-epyc-genoa", "cpu", "anywhere"),
    ],
)
def test_what_a_chip_binds_one_to(accelerator: str, family: str, had: str) -> None:
    known = catalogue().accelerators
    ident = accelerator if accelerator in known else next(one for one in known if one.startswith("apple-m4-max"))
    found = ecosystem_of(known[ident])
    assert (found.family, found.had) == (family, had)
    assert found.software


def test_laptop_npus_are_not_for_servers() -> None:
    assert "servers" in ecosystem("npu_client").not_when
