"""Public measurements of serving memory, carried as data: the ones nearest to a spec, with what differs from it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from sizing.catalogue.load import catalogue
from sizing.resolve import Resolved

_FARTHEST = 4.0  # a case that differs by more says nothing about the question


@dataclass(frozen=True, slots=True)
class Case:
    """One start-up somebody published. `measured` holds GiB per card, tokens and the outcome; `known` says that the log
    states every driver of its figures."""

    id: str
    model: str
    weights: str
    kv_cache: str
    accelerator: str | None
    devices: int
    engine: str
    known: bool
    date: str
    source: str
    spec: Mapping[str, Any]
    measured: Mapping[str, Any]

    @property
    def tensor(self) -> int:
        """Tensor-parallel degree."""
        return int(self.spec.get("parallel", {}).get("tensor") or 1)

    @property
    def context_tokens(self) -> int | None:
        """Longest sequence, None where the log does not say."""
        return self.spec.get("context_tokens")

    @property
    def version(self) -> str | None:
        """Engine version as written, else the month."""
        engine = self.spec.get("engine", {})
        written = engine.get("version") or engine.get("as_of")
        return None if written is None else str(written)


@dataclass(frozen=True, slots=True)
class Difference:
    """A driver that differs between a question and a measured case."""

    field: str
    asked: object
    measured: object


@dataclass(frozen=True, slots=True)
class Nearest:
    """A measured case near a question, nearest first; 0 is the same deployment."""

    case: Case
    distance: float
    differs: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in an Estimate."""
        return {
            "id": self.case.id,
            "model": self.case.model,
            "weights": self.case.weights,
            "engine": self.case.engine,
            "version": self.case.version,
            "accelerator": self.case.accelerator,
            "devices": self.case.devices,
            "tensor": self.case.tensor,
            "context_tokens": self.case.context_tokens,
            "measured": dict(self.case.measured),
            "differs": [{"field": d.field, "asked": d.asked, "measured": d.measured} for d in self.differs],
            "date": self.case.date,
            "source": self.case.source,
        }


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """Every carried case."""
    text = files("sizing").joinpath("data/measured_memory.json").read_text(encoding="utf-8")
    return tuple(Case(**row) for row in json.loads(text))


@lru_cache(maxsize=1)
def _by_family() -> Mapping[str, tuple[Case, ...]]:
    found: dict[str, list[Case]] = {}
    for case in cases():
        found.setdefault(catalogue().models[case.model].architecture or "llama", []).append(case)
    return {name: tuple(entries) for name, entries in found.items()}


def nearest(resolved: Resolved, count: int = 3) -> tuple[Nearest, ...]:
    """Up to `count` cases of the same architecture, nearest first; empty where nothing comparable was published."""
    found = [_compare(resolved, case) for case in _by_family().get(resolved.architecture.name, ())]
    near = sorted(
        (entry for entry in found if entry.distance <= _FARTHEST), key=lambda entry: (entry.distance, entry.case.id)
    )
    return tuple(near[:count])


def _compare(resolved: Resolved, case: Case) -> Nearest:
    parts = list(_parts(resolved, case))
    return Nearest(case, sum(weight for weight, _ in parts), tuple(difference for _, difference in parts))


def _parts(resolved: Resolved, case: Case) -> Iterator[tuple[float, Difference]]:
    """(weight, difference) of every driver: what moves memory most weighs most."""
    model = resolved.architecture
    if model.id != case.model:
        ratio = model.params_total / catalogue().models[case.model].params_total
        yield 0.5 + 2 * abs(math.log2(ratio)), Difference("model.id", model.id, case.model)
    device = resolved.devices[0].id if resolved.devices else None
    pairs: tuple[tuple[float, str, object, object], ...] = (
        (1.0, "engine.name", resolved.engine.name, case.engine),
        (1.0, "weights", resolved.weights.id, case.weights),
        (0.5, "kv_cache", resolved.kv_k.id, case.kv_cache),
        (0.6, "hardware.accelerator", device, case.accelerator),
        (0.8, "parallel.tensor", resolved.tensor, case.tensor),
    )
    for weight, name, asked, measured in pairs:
        if asked != measured:
            yield weight, Difference(name, asked, measured)
    if case.context_tokens and case.context_tokens != resolved.context_tokens:
        weight = 0.1 * abs(math.log2(resolved.context_tokens / case.context_tokens))
        yield weight, Difference("context_tokens", resolved.context_tokens, case.context_tokens)
