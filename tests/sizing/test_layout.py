"""How devices are laid out where nobody says."""

from __future__ import annotations

from typing import Any

import pytest

from sizing.engine import estimate_data

_DEEPSEEK = {"model": {"id": "DeepSeek-V3.1"}, "weights": "fp8", "context_tokens": 8192, "engine": {"name": "vllm"}}


@pytest.mark.parametrize(
    ("accelerator", "count", "layout"),
    [
        ("H200", 8, {"parallel.tensor": 8}),
        ("A100 80GB SXM", 16, {"parallel.tensor": 8, "parallel.pipeline": 2}),
        ("H100 SXM", 32, {"parallel.tensor": 8, "parallel.pipeline": 4}),
        ("H100 SXM", 12, {"parallel.tensor": 12}),
    ],
)
def test_a_layer_stays_within_a_machine(accelerator: str, count: int, layout: dict[str, int]) -> None:
    found = estimate_data({**_DEEPSEEK, "hardware": [{"accelerator": accelerator, "count": count}]})
    taken = {each.field: each.value for each in found.assumptions if each.field.startswith("parallel.")}
    assert taken == layout


def test_a_stated_layout_is_kept() -> None:
    spec: dict[str, Any] = {
        **_DEEPSEEK,
        "hardware": [{"accelerator": "H100 SXM", "count": 16}],
        "parallel": {"tensor": 16},
    }
    found = estimate_data(spec)
    assert [each.field for each in found.assumptions if each.field.startswith("parallel.")] == []
    assert found.memory is not None and len({device.total_gib for device in found.memory.per_device}) == 1
