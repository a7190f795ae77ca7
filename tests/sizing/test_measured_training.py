"""The carried peaks of training runs, and the nearest of them to a run."""

from typing import Any

import pytest

from sizing.engine import estimate_data
from sizing.measured_training import nearest_runs, rows
from sizing.memory.training.run import resolve_run
from sizing.spec import parse_spec


def _near(**training: Any) -> tuple[Any, ...]:
    spec = {"task": "training", "model": "Qwen2.5-7B", "hardware": [{"accelerator": "A100"}], "training": training}
    return nearest_runs(resolve_run(parse_spec(spec)))


def test_every_row_has_a_public_source_and_can_be_sized() -> None:
    carried = rows()
    assert len({row["id"] for row in carried}) == len(carried) >= 80
    for row in carried:
        assert row["source"].startswith("https://")
        assert estimate_data(row["spec"]).ok, row["id"]


@pytest.mark.parametrize("row", rows()[::16], ids=lambda row: row["id"])
def test_a_carried_run_is_its_own_nearest(row: dict[str, Any]) -> None:
    first = nearest_runs(resolve_run(parse_spec(row["spec"])))[0]
    assert (first.distance, first.differs) == (0.0, ())


def test_what_differs_is_said_and_the_nearest_come_first() -> None:
    found = _near(method="qlora", sequence_tokens=4096)
    assert [near.distance for near in found] == sorted(near.distance for near in found)
    assert {"training.sequence_tokens"} <= {difference.field for difference in found[0].differs}
    assert {near.run.method for near in found} == {"qlora"}


def test_nothing_comparable_is_no_evidence() -> None:
    spec = {"task": "training", "model": "gpt2", "hardware": [{"accelerator": "H100"}], "training": {"method": "full"}}
    assert nearest_runs(resolve_run(parse_spec(spec))) == ()


def test_an_estimate_shows_them() -> None:
    spec = {
        "task": "training",
        "model": "Llama 2 7B",
        "training": {"method": "lora"},
        "hardware": [{"accelerator": "A100"}],
    }
    shown = estimate_data(spec).measured
    assert shown
    assert {row["kind"] for row in shown} == {"training"}
    assert all(row["measured"]["peak_gib"] > 0 and row["source"].startswith("https://") for row in shown)
