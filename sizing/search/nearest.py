"""When nothing works as asked: the nearest thing that does, one change at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.resolve import resolve_model
from sizing.search.trial import Trial
from sizing.spec import ModelRef, WorkloadSpec

Change = Literal["kv_cache", "weights", "context_tokens", "weights_and_context", "concurrency", "model"]
Best = Callable[[WorkloadSpec], Trial | None]
_Step = tuple[Change, object, object, WorkloadSpec]

_SHARES = (2, 4, 8)
_LEAST_CONTEXT = 2048
_SMALLER_MODELS = 3


@dataclass(frozen=True)
class Near:
    """One change that makes an option of a workload without one: the field, before and after, and the cheapest machine for it."""

    change: Change
    before: object
    after: object
    trial: Trial


def nearest(spec: WorkloadSpec, context_tokens: int, concurrency: int, best: Best) -> tuple[Near, ...]:
    """The changes that help, the smallest loss first; `best` looks for the cheapest option of a spec."""
    found: list[Near] = []
    ladders = (
        _formats(spec),
        _contexts(spec, context_tokens),
        _requests(spec, concurrency),
        _both(spec, context_tokens),
        _models(spec),
    )
    for ladder in ladders:
        hit = _first(ladder, best)
        if hit is not None and (hit.change != "weights_and_context" or not found):
            found.append(hit)
    return tuple(found)


def _first(ladder: Iterator[_Step], best: Best) -> Near | None:
    for change, before, after, changed in ladder:
        hit = best(changed)
        if hit is not None:
            return Near(change, before, after, hit)
    return None


def _formats(spec: WorkloadSpec) -> Iterator[_Step]:
    """Where a wide format or cache was asked for: leave both open."""
    if spec.weights is not None:
        yield "weights", spec.weights, None, spec.model_copy(update={"weights": None, "kv_cache": None})
    elif spec.kv_cache is not None:
        yield "kv_cache", spec.kv_cache, None, spec.model_copy(update={"kv_cache": None})


def _contexts(spec: WorkloadSpec, tokens: int) -> Iterator[_Step]:
    for share in _SHARES:
        shorter = max(_LEAST_CONTEXT, tokens // share)
        if shorter < tokens:
            fitting = spec.input_tokens if spec.input_tokens and spec.input_tokens < shorter else None
            yield (
                "context_tokens",
                tokens,
                shorter,
                spec.model_copy(update={"context_tokens": shorter, "input_tokens": fitting}),
            )


def _both(spec: WorkloadSpec, tokens: int) -> Iterator[_Step]:
    """Where a format was asked for: leave it open, and shorten the context."""
    if spec.weights is None and spec.kv_cache is None:
        return
    for _, before, after, changed in _contexts(spec, tokens):
        yield "weights_and_context", before, after, changed.model_copy(update={"weights": None, "kv_cache": None})


def _requests(spec: WorkloadSpec, concurrency: int) -> Iterator[_Step]:
    for share in _SHARES:
        if concurrency // share >= 1:
            yield (
                "concurrency",
                concurrency,
                concurrency // share,
                spec.model_copy(update={"concurrency": concurrency // share, "users": None}),
            )


def _models(spec: WorkloadSpec) -> Iterator[_Step]:
    for smaller in smaller_models(spec.model):
        named = spec.model.id if spec.model else None
        yield "model", named, smaller, spec.model_copy(update={"model": ModelRef(id=smaller), "weights": None})


def smaller_models(ref: ModelRef | None) -> tuple[str, ...]:
    """Models of the same family and kind with fewer parameters, the largest of them first; () for a bare size or a config."""
    ident = find(ref.id, "model").id if ref and ref.id else None
    model = catalogue().models.get(ident) if ident else None
    if model is None or ref is None:
        return ()
    size = resolve_model(ref)[0].params_total
    word = model.family.split()[0]
    alike = [
        other
        for other in catalogue().models.values()
        if other.modality == model.modality and other.family.split()[0] == word and other.params_total < size * 0.8
    ]
    alike.sort(key=lambda other: (other.family == model.family, other.released or "", other.params_total), reverse=True)
    seen = sorted(alike[: _SMALLER_MODELS * 4], key=lambda other: -other.params_total)
    return tuple(other.id for other in seen[:_SMALLER_MODELS])
