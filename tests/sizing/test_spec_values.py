"""Values that no workload has are refused by the name of their field."""

from typing import Any

import pytest

from sizing.engine import estimate_data


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"concurrency": True}, "concurrency"),
        ({"context_tokens": True}, "context_tokens"),
        ({"users": 0}, "users"),
        ({"hardware": [{"accelerator": "RTX 4090", "count": True}]}, "hardware.0.count"),
        ({"hardware": [{"accelerator": "RTX 4090", "memory_gb": True}]}, "hardware.0.memory_gb"),
        ({"engine": {"name": "vllm", "gpu_memory_utilization": True}}, "engine.gpu_memory_utilization"),
        ({"model": {"params_b": 7, "active_params_b": 70}}, "model"),
        ({"parallel": {"tensor": True}}, "parallel.tensor"),
    ],
)
def test_a_value_that_cannot_be_names_its_field(changed: dict[str, Any], field: str) -> None:
    spec = {"model": {"id": "Llama 3.1 8B"}, "hardware": [{"accelerator": "RTX 4090"}]}
    found = estimate_data(spec | changed)
    assert found.error is not None
    assert (found.ok, found.error.field) == (False, field)


def test_sequence_parallelism_may_be_switched_on() -> None:
    spec = {"model": "Llama 3.1 8B", "hardware": [{"accelerator": "RTX 4090"}], "parallel": {"sequence": True}}
    assert estimate_data(spec).ok
