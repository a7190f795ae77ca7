"""What an engine sees of a card."""

import pytest

from sizing.devices import expand
from sizing.errors import UserError
from sizing.spec import HardwareRef


@pytest.mark.parametrize(
    ("name", "visible_gib", "measured"),
    [
        ("RTX 4090", 23.52, True),
        ("H100", 79.19, True),
        ("RTX 4080", 15.7, False),
        ("L40", 44.2, False),
        ("MI210", 63.9, False),
        ("H100 MIG 3g.40gb", 39.2, False),
        ("A100 1g.10gb", 9.8, False),
    ],
)
def test_visible_memory(name: str, visible_gib: float, measured: bool) -> None:
    (device,) = expand((HardwareRef(accelerator=name, count=1),))
    assert device.visible_gib == pytest.approx(visible_gib, abs=0.1)
    assert device.visible_is_measured is measured
    assert (device.memory_gib or 0) >= (device.visible_gib or 0)


def test_what_an_engine_printed_comes_first() -> None:
    (device,) = expand((HardwareRef(accelerator="RTX 4090", engine_visible_gib=23.1),))
    assert (device.visible_gib, device.visible_is_measured) == (23.1, True)


def test_every_physical_device_is_counted_in_order() -> None:
    found = expand((HardwareRef(accelerator="RTX 3090", count=2), HardwareRef(accelerator="RTX 4090")))
    assert [(device.index, device.group, device.id) for device in found] == [
        (0, 0, "nvidia-rtx-3090"),
        (1, 0, "nvidia-rtx-3090"),
        (2, 1, "nvidia-rtx-4090"),
    ]


@pytest.mark.parametrize("entry", [HardwareRef(accelerator="RTX 9999 Ultra"), HardwareRef(count=2)])
def test_unknown_cards_are_refused_with_a_way_out(entry: HardwareRef) -> None:
    with pytest.raises(UserError) as caught:
        expand((entry,))
    assert caught.value.field == "hardware.accelerator"


def test_too_many_devices_are_refused() -> None:
    with pytest.raises(UserError, match="at most"):
        expand((HardwareRef(accelerator="H100", count=5000),))


@pytest.mark.parametrize(
    ("name", "memory_gb", "seen_gib", "ident"),
    [
        ("V100", 32, None, "nvidia-v100-sxm2-32gb"),
        ("V100", None, 31.74, "nvidia-v100-sxm2-32gb"),
        ("A100", 40, None, "nvidia-a100-sxm4-40gb"),
        ("H20", 141, None, "nvidia-h20-141gb"),
        ("RTX 5060 Ti", 16, None, "nvidia-rtx-5060-ti-16gb"),
        ("RTX 4090", 48, None, "nvidia-rtx-4090-48gb"),
        ("RTX 4090", 24, 23.5, "nvidia-rtx-4090"),
        ("H100", 40, None, "nvidia-h100-sxm-80gb"),
    ],
)
def test_the_memory_beside_a_name_tells_versions_apart(
    name: str, memory_gb: float | None, seen_gib: float | None, ident: str
) -> None:
    entry = HardwareRef(accelerator=name, memory_gb=memory_gb, engine_visible_gib=seen_gib)
    assert [device.id for device in expand((entry,))] == [ident]
