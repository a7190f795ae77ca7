"""Public peaks of training runs, carried as data: the ones nearest to a run, with what differs from it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from sizing.measured import Difference
from sizing.memory.training.run import Run, resolve_run
from sizing.spec import parse_spec

_FARTHEST = 4.0  # a run that differs by more says nothing about the question


@dataclass(frozen=True, slots=True)
class NearestRun:
    """A published run near a question, nearest first; 0 is the same run. `row` is the measurement as carried."""

    row: Mapping[str, Any]
    run: Run
    distance: float
    differs: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in an Estimate; the peak is that of the fullest device, in GiB."""
        run = self.run
        return {
            "id": self.row["id"],
            "model": run.architecture.id,
            "weights": run.weights.id,
            "method": run.method,
            "engine": run.spec.engine.name,
            "accelerator": run.devices[0].id if run.devices else None,
            "devices": len(run.devices),
            "sequence_tokens": run.sequence_tokens,
            "micro_batch": run.micro_batch,
            "measured": {"peak_gib": self.row["peak_gib"]},
            "differs": [{"field": d.field, "asked": d.asked, "measured": d.measured} for d in self.differs],
            "date": self.row["date"],
            "source": self.row["source"],
        }


def rows() -> list[dict[str, Any]]:
    """The carried measurements: a spec, its peak in GiB on the fullest device, whether every setting is known, and the source."""
    text = files("sizing").joinpath("data/measured_training.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@lru_cache(maxsize=1)
def _runs() -> tuple[tuple[Mapping[str, Any], Run], ...]:
    return tuple((row, resolve_run(parse_spec(row["spec"]))) for row in rows())


def nearest_runs(run: Run, count: int = 3) -> tuple[NearestRun, ...]:
    """Up to `count` published runs of the same method and kind of model, nearest first; empty where nothing comparable was published."""
    alike = [
        _compare(run, row, other)
        for row, other in _runs()
        if (other.method, other.architecture.name) == (run.method, run.architecture.name)
    ]
    near = [found for found in alike if found.distance <= _FARTHEST]
    return tuple(sorted(near, key=lambda found: (found.distance, found.row["id"]))[:count])


def _compare(run: Run, row: Mapping[str, Any], other: Run) -> NearestRun:
    parts = list(_parts(run, other))
    return NearestRun(row, other, sum(weight for weight, _ in parts), tuple(difference for _, difference in parts))


def _parts(run: Run, other: Run) -> Iterator[tuple[float, Difference]]:
    """(weight, difference) of every driver: what moves memory most weighs most."""
    if run.architecture.id != other.architecture.id:
        ratio = run.architecture.params_total / other.architecture.params_total
        yield 0.5 + 2 * abs(math.log2(ratio)), Difference("model.id", run.architecture.id, other.architecture.id)
    pairs: tuple[tuple[float, str, object, object], ...] = (
        (1.0, "training.sharding", run.sharding, other.sharding),
        (1.0, "training.offload", run.offload, other.offload),
        (0.8, "training.checkpointing", run.checkpointing, other.checkpointing),
        (0.8 if run.framework else 0.2, "engine.name", run.framework or None, other.framework),
        (0.6, "training.precision", run.precision, other.precision),
        (0.5, "weights", run.weights.id, other.weights.id),
        (0.5, "training.optimizer", run.optimizer, other.optimizer),
        (0.3, "hardware.accelerator", _device(run), _device(other)),
        (0.1, "training.lora_rank", run.rank, other.rank),
    )
    for weight, name, asked, measured in pairs:
        if asked != measured:
            yield weight, Difference(name, asked, measured)
    for weight, name, wanted, known in (
        (0.4, "training.sequence_tokens", run.sequence_tokens, other.sequence_tokens),
        (0.4, "training.micro_batch", run.micro_batch, other.micro_batch),
        (0.3, "hardware.count", len(run.devices), len(other.devices)),
    ):
        if wanted != known:
            yield weight * abs(math.log2(max(1, wanted) / max(1, known))), Difference(name, wanted, known)


def _device(run: Run) -> str | None:
    return run.devices[0].id if run.devices else None
