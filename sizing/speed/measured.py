"""Public measurements carried as data, and the ones nearest to a deployment, with what differs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from operator import itemgetter
from typing import Any

from sizing.devices import is_cpu
from sizing.resolve import Resolved
from sizing.speed.drivers import family
from sizing.speed.machine import device_class
from sizing.speed.reads import format_kind

_DIGITS = 9
_FIGURES = ("decode_tok_s_per_user", "output_tok_s_total", "prefill_tok_s", "ttft_ms", "tpot_ms")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which a measurement differs from what was asked."""

    field: str
    measured: str | float | None
    asked: str | float | None


@dataclass(frozen=True, slots=True)
class MeasuredSpeed:
    """A public measurement near a deployment. `distance` 0 is the same in everything that counts; `url` says who measured."""

    id: str
    url: str
    as_of: str | None
    model: str
    weights: str | None
    accelerator: str
    count: int
    engine: str | None
    concurrency: int | None
    input_tokens: int | None
    output_tokens: int | None
    figures: Mapping[str, float]
    distance: float
    differs: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in an Estimate."""
        return {
            "id": self.id,
            "model": self.model,
            "weights": self.weights,
            "engine": self.engine,
            "accelerator": self.accelerator,
            "devices": self.count,
            "concurrency": self.concurrency,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "measured": dict(self.figures),
            "differs": [{"field": d.field, "asked": d.asked, "measured": d.measured} for d in self.differs],
            "date": self.as_of,
            "source": self.url,
        }


@lru_cache(maxsize=1)
def load_rows() -> tuple[Mapping[str, Any], ...]:
    """The measured rows as they stand in `data/measured_speed.json`."""
    text = resources.files("sizing.speed").joinpath("data/measured_speed.json").read_text(encoding="utf-8")
    return tuple(json.loads(text))


def spec_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The workload of a measured row, as a WorkloadSpec in plain data."""
    given, produced, prior = row.get("input_tokens"), row.get("output_tokens"), row.get("prior_context_tokens")
    alone = 1 if row["scenario"] in ("single_stream", "prefill") else None
    return {
        "id": row["id"],
        "task": row.get("task", "inference"),
        "model": {"id": row["model"]},
        "weights": row.get("weights"),
        "kv_cache": row.get("kv_dtype"),
        "engine": {
            "name": row.get("engine"), "version": row.get("engine_version"), "as_of": row.get("as_of"),
            "backend": row.get("backend"), "max_num_seqs": row.get("max_num_seqs"), "file_size_gib": row.get("file_size_gib"),
        },
        "context_tokens": (given or 0) + (produced or 0) + (prior or 0) or None,
        "input_tokens": given,
        "output_tokens": produced,
        "prior_context_tokens": prior,
        "concurrency": row.get("concurrency") or alone,
        "load": row.get("load") or {},
        "hardware": [{"accelerator": row["accelerator"], "count": row.get("gpus", 1)}],
        "parallel": {"tensor": row.get("tp"), "pipeline": row.get("pp"), "data": row.get("dp")},
        "host": row.get("host") or {},
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Likeness:
    """What makes two speeds comparable."""

    device: str | None
    kind: str
    count: int
    family: str
    format: str
    model: str
    total_b: float
    active_b: float
    concurrency: float
    context_tokens: float


def likeness(resolved: Resolved) -> Likeness:
    """The likeness of a resolved deployment."""
    first = resolved.devices[0].accelerator if resolved.devices else None
    model = resolved.architecture
    used = (resolved.input_tokens or 0) + (resolved.output_tokens or 0) + resolved.prior_tokens
    return Likeness(
        device=None if first is None or (is_cpu(first) and first.vendor == "generic") else first.id,
        kind=device_class(first),
        count=len(resolved.devices),
        family=family(resolved.engine),
        format=format_kind(resolved.weights),
        model=model.id,
        total_b=round(model.params_total / 1e9, 3),
        active_b=round(model.params_active / 1e9, 3),
        concurrency=float(resolved.concurrency),
        context_tokens=float(used or min(resolved.context_tokens, 4096)),
    )


_Known = tuple[Likeness, Mapping[str, Any]]
_Found = tuple[float, str, Likeness, Mapping[str, Any]]
_Kinds = tuple[str | None, str, str, str]  # device, its class, engine family, format


@dataclass(frozen=True, slots=True)
class _Group:
    """The measurements of one model; `parts` holds them by their kinds, so that who is alike in these is told apart from others once."""

    like: Likeness
    parts: tuple[tuple[_Kinds, tuple[_Known, ...]], ...]


def _kinds(like: Likeness) -> _Kinds:
    return like.device, like.kind, like.family, like.format


@lru_cache(maxsize=1)
def _by_model() -> tuple[_Group, ...]:
    """The measurements with their likeness, those of one model together."""
    groups: dict[tuple[str, float, float], dict[_Kinds, list[_Known]]] = {}
    for row in load_rows():
        if "like" in row:
            like = Likeness(**row["like"])
            parts = groups.setdefault((like.model, like.total_b, like.active_b), {})
            parts.setdefault(_kinds(like), []).append((like, row))
    return tuple(_grouped(parts) for parts in groups.values())


def _grouped(parts: Mapping[_Kinds, list[_Known]]) -> _Group:
    first = next(iter(parts.values()))[0][0]
    return _Group(first, tuple((kinds, tuple(known)) for kinds, known in parts.items()))


@lru_cache(maxsize=256)
def _by_nearness(model: str, total_b: float, active_b: float) -> tuple[tuple[float, _Group], ...]:
    """The groups of `_by_model`, each with how far apart the models are, nearest first."""
    apart = ((_of_models(model, total_b, active_b, group.like), group) for group in _by_model())
    return tuple(sorted(apart, key=itemgetter(0)))


@lru_cache(maxsize=1)
def _measured_kinds() -> frozenset[_Kinds]:
    return frozenset(kinds for group in _by_model() for kinds, _ in group.parts)


@lru_cache(maxsize=256)
def _kinds_apart(asked: _Kinds) -> Mapping[_Kinds, float]:
    """How far every combination of kinds that was measured is from the one asked for."""
    return {kinds: _of_kinds(asked, kinds) for kinds in _measured_kinds()}


def nearest_speeds(resolved: Resolved, n: int = 3) -> tuple[MeasuredSpeed, ...]:
    """The n public measurements nearest to a deployment, nearest first, each with what differs."""
    asked = likeness(resolved)
    kinds_apart = _kinds_apart(_kinds(asked))
    best: list[_Found] = []
    farthest = math.inf
    # No part of a distance is negative: who is farther by the first part or two than the n found needs no logarithms.
    for apart, group in _by_nearness(asked.model, asked.total_b, asked.active_b):
        if apart > farthest:
            break
        for kinds, known in group.parts:
            least = apart + kinds_apart[kinds]
            if least > farthest:
                continue
            for like, row in known:
                gap = round(least + _of_loads(asked, like), _DIGITS)
                if gap <= farthest:
                    best = sorted([*best, (gap, row["id"], like, row)], key=itemgetter(0, 1))[:n]
                    farthest = best[-1][0] + 10**-_DIGITS if len(best) == n else math.inf
    return tuple(_measured(gap, like, row, asked) for gap, _, like, row in best)


def distance(one: Likeness, other: Likeness) -> float:
    """How far apart two deployments are: each factor of two in size, load or context, each other device or engine, adds up."""
    return (
        _of_models(one.model, one.total_b, one.active_b, other)
        + _of_kinds(_kinds(one), _kinds(other))
        + _of_loads(one, other)
    )


def _of_models(model: str, total_b: float, active_b: float, other: Likeness) -> float:
    return (
        2.0 * _octaves(active_b, other.active_b)
        + 0.7 * _octaves(total_b, other.total_b)
        + (0.0 if model == other.model else 0.3)
    )


def _of_kinds(one: _Kinds, other: _Kinds) -> float:
    device = 0.0 if one[0] == other[0] and one[0] else 0.8 if one[1] == other[1] else 3.0
    return device + (0.0 if one[2] == other[2] else 1.0) + (0.0 if one[3] == other[3] else 0.7)


def _of_loads(one: Likeness, other: Likeness) -> float:
    return (
        0.8 * _octaves(one.count, other.count)
        + 0.5 * _octaves(one.concurrency, other.concurrency)
        + 0.2 * _octaves(one.context_tokens, other.context_tokens)
    )


@lru_cache(maxsize=16384)
def _octaves(one: float, other: float) -> float:
    return abs(math.log2(max(one, 1e-3) / max(other, 1e-3)))


def _measured(gap: float, like: Likeness, row: Mapping[str, Any], asked: Likeness) -> MeasuredSpeed:
    return MeasuredSpeed(
        id=row["id"],
        url=row["source"],
        as_of=row.get("as_of"),
        model=row["model"],
        weights=row.get("weights"),
        accelerator=row["accelerator"],
        count=row.get("gpus", 1),
        engine=row.get("engine"),
        concurrency=row.get("concurrency"),
        input_tokens=row.get("input_tokens"),
        output_tokens=row.get("output_tokens"),
        figures={name: row["measured"][name] for name in _FIGURES if name in row["measured"]},
        distance=round(gap, 2),
        differs=_differs(like, asked),
    )


def _differs(like: Likeness, asked: Likeness) -> tuple[Difference, ...]:
    found = []
    for field, name in (
        ("model", "model"), ("weights", "format"), ("engine", "family"), ("accelerator", "device"), ("count", "count"),
        ("concurrency", "concurrency"), ("context_tokens", "context_tokens"),
    ):  # fmt: skip
        theirs, ours = getattr(like, name), getattr(asked, name)
        same = _octaves(theirs, ours) < 0.2 if isinstance(theirs, float) else theirs == ours
        if not same:
            found.append(Difference(field, theirs, ours))
    return tuple(found)
