"""The carried measurements, and the nearest of them to a question."""

from typing import Any

import pytest

from sizing.measured import Nearest, cases, nearest
from sizing.resolve import resolve
from sizing.spec import parse_spec


def near(**spec: Any) -> tuple[Nearest, ...]:
    return nearest(resolve(parse_spec(spec)))


def test_every_case_has_a_public_source_and_resolves_to_its_names() -> None:
    assert len({case.id for case in cases()}) == len(cases()) >= 100
    for case in cases():
        found = resolve(parse_spec(case.spec))
        assert case.source.startswith("https://")
        assert (found.architecture.id, found.weights.id, found.engine.name) == (case.model, case.weights, case.engine)
        assert (found.devices[0].id, len(found.devices)) == (case.accelerator, case.devices)


def test_the_same_deployment_is_nearest() -> None:
    first = near(
        model="Qwen/Qwen2.5-7B-Instruct",
        weights="bf16",
        engine={"name": "vllm"},
        hardware=[{"accelerator": "H100", "count": 2}],
        parallel={"tensor": 2},
        context_tokens=8192,
    )[0]
    assert (first.distance, first.differs) == (0, ())
    assert first.case.measured["weights_gib_per_gpu"] == 7.12


def test_what_differs_is_said() -> None:
    found = near(
        model="Qwen/Qwen2.5-7B-Instruct", weights="fp8", engine={"name": "sglang"}, hardware=[{"accelerator": "A100"}]
    )
    assert {"weights", "engine.name", "hardware.accelerator"} <= {difference.field for difference in found[0].differs}
    assert found[0].to_dict()["source"].startswith("https://")
    assert [entry.distance for entry in found] == sorted(entry.distance for entry in found)


@pytest.mark.parametrize("model", ["gpt2", "BAAI/bge-m3"])
def test_nothing_comparable_is_no_evidence(model: str) -> None:
    assert near(model=model, hardware=[{"accelerator": "H100"}]) == ()
