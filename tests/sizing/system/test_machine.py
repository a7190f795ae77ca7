"""The machine around the devices: worked cases, and laws that hold for every number of cards."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.catalogue.load import catalogue
from sizing.engine import estimate, estimate_data
from sizing.errors import UserError
from sizing.spec import parse_spec
from sizing.system.machine import System, system_of
from sizing.system.power import limit_at
from sizing.system.ram import channels, ram_bound_tokens_s, shared_memory_gb
from sizing.system.storage import write_seconds


def machine(accelerator: str = "RTX 3090", count: int = 1, host: dict[str, Any] | None = None, **more: Any) -> System:
    return system_of(
        parse_spec({"hardware": [{"accelerator": accelerator, "count": count}], "host": host or {}, **more})
    )


def test_supply_is_not_the_sum() -> None:
    """Two RTX 3090 with 150 W of processor and 80 W of rest: 930 W, times 1.25 and 1.5."""
    power = machine("RTX 3090", 2).power
    assert power is not None and power.supply is not None
    supply = power.supply
    assert (power.sum_w, supply.needed_atx3_w, supply.needed_older_w) == (930.0, 1162.5, 1395.0)
    assert (supply.units, supply.proposed_w, supply.verdict) == (1, 1200, None)
    assert supply.excursion_w == 930 - 350 + 3 * 350


@pytest.mark.parametrize(("psu_w", "verdict"), [(2000, "ok"), (1600, "tight"), (1500, "no")])
def test_supply_at_hand_is_judged(psu_w: float, verdict: str) -> None:
    power = machine("RTX 3090", 4, {"psu_w": psu_w, "power_limit_w": 280}).power
    assert power is not None and power.supply is not None
    assert (power.sum_w, power.supply.verdict) == (1530.0, verdict)


@pytest.mark.parametrize(
    ("volts", "amperes", "continuous_w", "circuits", "verdict"),
    [(230, 16, 2944.0, 1, "ok"), (120, 15, 1440.0, 2, "tight"), (110, 15, 1320.0, 2, "no")],
)
def test_circuit_carries_eighty_percent_for_hours(
    volts: float, amperes: float, continuous_w: float, circuits: int, verdict: str
) -> None:
    power = machine("RTX 3090", 4, {"power_limit_w": 280, "circuit_v": volts, "circuit_a": amperes}).power
    assert power is not None
    found = power.circuits[0]
    assert (found.continuous_w, found.circuits, found.verdict) == (continuous_w, circuits, verdict)


def test_both_usual_circuits_where_none_is_named() -> None:
    power = machine().power
    assert power is not None
    assert [(one.volts, one.amperes) for one in power.circuits] == [(230.0, 16.0), (120.0, 15.0)]


@pytest.mark.parametrize(
    ("accelerator", "plugs"), [("RTX 4090", {"16-pin": 2}), ("H100 SXM", {}), ("L40S", {"16-pin": 2}), ("L4", {})]
)
def test_connectors_per_card(accelerator: str, plugs: dict[str, int]) -> None:
    power = machine(accelerator, 2).power
    assert power is not None and power.supply is not None
    assert {kind: count for kind, count in power.supply.connectors.items() if kind != "unknown"} == plugs


def test_all_of_it_becomes_heat() -> None:
    power = machine("RTX 6000 Ada", 2).power
    assert power is not None
    assert power.wall_w == pytest.approx(power.sum_w / 0.92)
    assert power.heat_btu_h == pytest.approx(power.wall_w * 3.412)
    assert power.kwh_per_day == pytest.approx(power.wall_w * 24 / 1000)


@pytest.mark.parametrize(
    ("accelerator", "count", "noise", "cooling"),
    [
        ("M4 Pro", 1, "quiet", "room"),
        ("RTX 4060 Ti 16GB", 1, "audible", "room"),
        ("RTX 4090", 1, "loud", "ventilated"),
        ("RTX 4090", 2, "loud", "air_conditioned"),
        ("L40S", 2, "server_room", "air_conditioned"),
        ("B300", 8, "server_room", "liquid"),
    ],
)
def test_where_it_may_stand(accelerator: str, count: int, noise: str, cooling: str) -> None:
    place = machine(accelerator, count).place
    assert (place.noise, place.cooling) == (noise, cooling)


def test_racks_by_what_air_carries_away() -> None:
    assert machine("H100 SXM", 8).place.racks_air == 1
    assert machine("H100 SXM", 32).place.racks_air == 2


def test_limit_follows_the_measured_curve() -> None:
    assert limit_at(1.0) == (1.0, 1.0)
    assert limit_at(0.714) == pytest.approx((0.974, 0.853))
    assert limit_at(0.1) == pytest.approx((0.167, 0.141))


@given(st.floats(0.05, 1.2), st.floats(0.05, 1.2))
def test_more_power_is_never_slower(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert limit_at(low)[0] <= limit_at(high)[0] + 1e-9
    assert limit_at(low)[1] <= limit_at(high)[1] + 1e-9
    assert all(0 < share <= 1 for share in limit_at(low))


def test_ram_follows_the_cards_where_nothing_is_offloaded() -> None:
    ram = machine("RTX 6000 Ada", 4).ram
    assert ram is not None
    assert (ram.offloaded_gb, ram.rule_gb, ram.proposed_gb) == (0.0, pytest.approx(191, abs=2), 192)


def test_ram_holds_what_is_offloaded_with_a_reserve() -> None:
    spec = parse_spec(
        {
            "model": "DeepSeek V3",
            "weights": "q4_k_m",
            "engine": {"name": "llama.cpp", "cpu_moe_layers": 58},
            "hardware": [{"accelerator": "RTX 4090"}],
        }
    )
    ram = system_of(spec, estimate(spec)).ram
    assert ram is not None
    assert ram.offloaded_gb > 350
    assert ram.sum_gb >= 1.25 * ram.offloaded_gb
    assert ram.proposed_gb == 512


@pytest.mark.parametrize(("has_gb", "verdict"), [(192, "ok"), (48, "tight"), (4, "no")])
def test_ram_at_hand_is_judged(has_gb: float, verdict: str) -> None:
    ram = machine("RTX 6000 Ada", 4, {"ram_gb": has_gb}).ram
    assert ram is not None
    assert ram.verdict == verdict


@pytest.mark.parametrize(
    ("spec", "role"),
    [
        ({"hardware": [{"accelerator": "RTX 4090"}]}, "feeds_gpu"),
        ({"hardware": [{"accelerator": "EPYC Turin"}]}, "cpu_only"),
        ({"task": "training", "hardware": [{"accelerator": "H100"}]}, "training"),
    ],
)
def test_cores_by_role(spec: dict[str, Any], role: str) -> None:
    cpu = system_of(parse_spec(spec)).cpu
    assert cpu is not None
    assert cpu.role == role
    assert cpu.bandwidth_matters == (role == "cpu_only")


def test_memory_channels_set_the_pace_of_ram() -> None:
    rates = [rate for _, rate in channels()]
    assert rates == sorted(rates)
    assert ram_bound_tokens_s(4.92e9, 89.6) == pytest.approx(14.6, abs=0.1)


def test_unified_memory_has_no_ram_slots_or_supply_of_its_own() -> None:
    found = machine("M3 Ultra")
    assert (found.ram, found.lanes) == (None, None)
    assert found.power is not None and found.power.supply is None


def test_disks_hold_models_data_and_growth_with_backups_apart() -> None:
    spec = parse_spec({"model": "Llama 3.3 70B", "weights": "fp8", "hardware": [{"accelerator": "H100", "count": 2}]})
    disks = system_of(spec, estimate(spec)).storage
    parts = (
        disks.system_gb + disks.models_gb + disks.data_gb + disks.databases_gb + disks.logs_gb + disks.checkpoints_gb
    )
    assert disks.sum_gb == pytest.approx(parts)
    assert disks.with_growth_gb == pytest.approx(1.5 * parts)
    assert disks.proposed_gb >= disks.with_growth_gb
    assert disks.models_gb == pytest.approx(3 * 72.7, rel=0.02)


def test_load_time_from_each_medium() -> None:
    spec = parse_spec({"model": "Llama 3.3 70B", "weights": "fp8", "hardware": [{"accelerator": "H100", "count": 2}]})
    load = {one.medium: one.seconds for one in system_of(spec, estimate(spec)).storage.load}
    assert load["nvme_gen4"] == pytest.approx(10.4, rel=0.02)
    assert load["1gbe"] / load["10gbe"] == pytest.approx(10.0)
    assert load["nvme_gen4"] < load["object_store_32"] < load["10gbe"] < load["sata_ssd"] < load["hdd"] < load["1gbe"]


def test_a_narrow_slot_caps_loading() -> None:
    spec = parse_spec(
        {
            "model": "Llama 3.3 70B",
            "weights": "q4_k_m",
            "hardware": [{"accelerator": "RTX 3090", "count": 2}],
            "host": {"pcie_gen": 3, "pcie_lanes": 4},
        }
    )
    load = {one.medium: one.gb_s for one in system_of(spec, estimate(spec)).storage.load}
    assert load["nvme_gen4"] == pytest.approx(3.94 * 0.85, rel=0.01)


@pytest.mark.parametrize(
    ("accelerator", "count", "more", "matters"),
    [
        ("RTX 4090", 1, {}, "hardly"),
        ("RTX 4090", 2, {}, "loading"),
        ("RTX 4090", 2, {"parallel": {"tensor": 2}}, "prefill"),
        ("RTX 4090", 2, {"task": "training"}, "much"),
    ],
)
def test_when_the_link_matters(accelerator: str, count: int, more: dict[str, Any], matters: str) -> None:
    lanes = machine(accelerator, count, **more).lanes
    assert lanes is not None
    assert lanes.matters == matters


def test_lanes_and_slots_for_one_two_and_three_cards() -> None:
    found = [machine("RTX 3090", count).lanes for count in (1, 2, 3)]
    assert [(one.lanes_full, one.slots, one.nvlink) for one in found if one] == [
        (32, 3, True),
        (48, 6, True),
        (64, 9, True),
    ]
    assert machine("H100 SXM", 8).lanes is None


@pytest.mark.parametrize(
    ("streams", "gbit", "verdict"), [(100, 10, "ok"), (100, 1, "ok"), (5000, 1, "tight"), (20000, 1, "no")]
)
def test_network_for_text(streams: int, gbit: float, verdict: str) -> None:
    network = machine("H100", 1, {"network_gbit": gbit}, concurrency=streams).network
    assert (network.text_mbit_s, network.verdict) == (pytest.approx(streams * 0.12), verdict)


def test_network_for_files_and_between_servers() -> None:
    assert 40 / machine("H100", 1, {"network_gbit": 1}).network.line_gb_s == pytest.approx(355.6, rel=0.001)
    network = machine("H100 SXM", 16).network
    assert (network.servers, network.between_gbit) == (2, 100)


@pytest.mark.parametrize(
    ("spec", "name", "because"),
    [
        ({"hardware": [{"accelerator": "RTX 4090"}]}, "A", ("one_user",)),
        ({"hardware": [{"accelerator": "RTX 4090", "count": 2}], "concurrency": 4}, "B", ("several_users",)),
        ({"hardware": [{"accelerator": "L40S", "count": 2}], "users": 200}, "C", ("many_users", "server_cards")),
        (
            {"hardware": [{"accelerator": "RTX 4090"}], "host": {"availability": 0.999}},
            "C",
            ("one_user", "must_not_fail"),
        ),
        ({"hardware": [{"accelerator": "RTX 3090", "count": 2}], "host": {"cpu": "Xeon E5 v4"}}, "B", ("one_user",)),
    ],
)
def test_profiles(spec: dict[str, Any], name: str, because: tuple[str, ...]) -> None:
    profile = system_of(parse_spec(spec)).profile
    assert (profile.name, profile.because) == (name, because)


@pytest.mark.parametrize(("more", "advised"), [({}, False), ({"users": 50}, True), ({"task": "training"}, True)])
def test_ecc_by_what_is_at_stake(more: dict[str, Any], advised: bool) -> None:
    assert machine("RTX 4090", 1, **more).place.ecc_advised is advised


def test_checkpoints_and_data_loader() -> None:
    spec = parse_spec(
        {
            "task": "training",
            "model": "Llama 3.1 8B",
            "hardware": [{"accelerator": "H100", "count": 2}],
            "training": {"method": "full"},
        }
    )
    disks = system_of(spec, estimate(spec)).storage
    assert disks.checkpoints_gb == pytest.approx(3 * 112.4, rel=0.01)
    assert disks.checkpoint_write_s == pytest.approx(37.5, rel=0.01)
    assert write_seconds(112.4) == pytest.approx(37.5, rel=0.01)
    assert shared_memory_gb(4) == 2.0


def test_unknown_hardware_is_named() -> None:
    with pytest.raises(UserError, match="unknown accelerator"):
        machine("RTX 9999")


def test_the_command_prints_the_machine_and_a_search_does_not() -> None:
    data = {"model": "Llama 3.1 8B", "hardware": [{"accelerator": "RTX 4090"}]}
    assert estimate(parse_spec(data)).system is None
    system = estimate_data(data).system
    assert (
        system is not None
        and {"ram", "cpu", "storage", "lanes", "network", "power", "place", "profile"} <= system.keys()
    )


CARDS = sorted(
    ident
    for ident, device in catalogue().accelerators.items()
    if device.vendor == "nvidia" and device.kind in ("consumer", "workstation", "datacenter")
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CARDS), st.integers(1, 15))
def test_one_card_more_never_asks_for_less(accelerator: str, count: int) -> None:
    fewer, more = machine(accelerator, count), machine(accelerator, count + 1)
    assert fewer.power is not None and more.power is not None and fewer.ram is not None and more.ram is not None
    assert more.power.sum_w > fewer.power.sum_w
    assert more.ram.proposed_gb >= fewer.ram.proposed_gb
    for found in (fewer, more):
        assert found.power is not None
        supply = found.power.supply
        assert supply is not None
        assert supply.needed_older_w > supply.needed_atx3_w > found.power.sum_w


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(catalogue().accelerators)))
def test_every_accelerator_has_a_machine(accelerator: str) -> None:
    memory_gb = catalogue().accelerators[accelerator].memory_gb or 64
    data = system_of(parse_spec({"hardware": [{"accelerator": accelerator, "memory_gb": memory_gb}]})).data()
    assert data["profile"]["name"] in ("A", "B", "C")
