"""Options side by side: what differs, who is ahead in which figure, and the cause in model or machine."""

from __future__ import annotations

from typing import Any

import pytest

from sizing.compare import Comparison, compare, differences
from sizing.defaults import CHAT_DEFAULTS
from sizing.engine import estimate
from sizing.spec import parse_spec

BASE: dict[str, Any] = {
    "model": "Llama 3.3 70B",
    "weights": "awq",
    "context_tokens": 8192,
    "concurrency": 4,
    "engine": {"name": "vllm"},
}


def compared(*changes: dict[str, Any]) -> Comparison:
    specs = [parse_spec(BASE | change) for change in changes]
    return compare(specs, [estimate(spec, CHAT_DEFAULTS, derivation=False) for spec in specs], CHAT_DEFAULTS)


def on(accelerator: str, count: int = 1, **more: Any) -> dict[str, Any]:
    return {"hardware": [{"accelerator": accelerator, "count": count}], **more}


def test_differences_name_the_fields() -> None:
    specs = [parse_spec(BASE | on("L40S", 2)), parse_spec(BASE | on("L40S", 4) | {"weights": "fp8", "id": "b"})]
    assert {row.field: row.values for row in differences(specs)}["weights"] == ("awq", "fp8")
    assert "id" not in {row.field for row in differences(specs)}


@pytest.mark.parametrize(
    ("first", "other", "codes"),
    [
        (
            on("RTX 6000 Ada", 2),
            on("RTX PRO 6000 Max-Q"),
            {"not_tensor_parallel", "not_tensor_over_pcie"},
        ),
        (on("H200"), on("H200", weights="fp8"), {"bits_per_weight"}),
        (
            on("H200", 2),
            on("H200", 2, parallel={"tensor": 1, "data": 2}),
            {"copies_of_the_model", "not_tensor_parallel"},
        ),
        (
            on("RTX PRO 6000 Max-Q"),
            on("M5 Ultra", weights="q4_k_m", engine={"name": "llama.cpp"}),
            {"unified_memory", "not_batching_server", "memory_gib", "bandwidth_gb_s"},
        ),
    ],
)
def test_causes(first: dict[str, Any], other: dict[str, Any], codes: set[str]) -> None:
    assert {cause.code for cause in compared(first, other).causes} >= codes


def test_outcomes_say_who_is_ahead() -> None:
    found = compared(on("RTX 6000 Ada", 2), on("H200"))
    ahead = {outcome.figure: outcome.best for outcome in found.outcomes}
    assert ahead["tokens_s_total"] == 1 and ahead["ttft_ms"] == 1
    assert found.best is not None


def test_none_fits_leaves_no_best() -> None:
    assert compared(on("RTX 3060 12GB"), on("RTX 4090")).best is None


def test_an_option_that_cannot_be_sized_does_not_spoil_the_others() -> None:
    found = compared(on("no such card"), on("H200"))
    assert found.best == 1 and found.causes == ()


def test_any_number_of_options() -> None:
    found = compared(on("L40S", 2), on("H200"), on("RTX PRO 6000 Max-Q"), on("A100 80GB", 2))
    assert len(found.estimates) == 4 and all(len(outcome.values) == 4 for outcome in found.outcomes)
    assert {cause.option for cause in found.causes} == {1, 2, 3}
