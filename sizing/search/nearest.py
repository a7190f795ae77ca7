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

Change = Literal[
    "budget",
    "power_w",
    "kv_cache",
    "weights",
    "context_tokens",
    "weights_and_context",
    "concurrency",
    "model",
    "ttft_s",
    "tokens_s_per_user",
    "tokens_s_total",
]
Best = Callable[[WorkloadSpec], Trial | None]
_Step = tuple[Change, object, object, WorkloadSpec]

_SHARES = (2, 4, 8)
_EASED = (2, 5)
_LEAST_CONTEXT = 2048
_SMALLER_MODELS = 3
_GENERATION_MONTHS = 9


@dataclass(frozen=True)
class Near:
    """One change that makes an option of a workload without one: the field, before and after, and the cheapest machine for it."""

    change: Change
    before: object
    after: object
    trial: Trial


def nearest(spec: WorkloadSpec, context_tokens: int, concurrency: int, best: Best) -> tuple[Near, ...]:
    """The changes that help, the smallest loss first; `best` looks for the cheapest option of a spec."""
    ladders = (
        *_limits(spec),
        _formats(spec),
        *_relaxed(spec),
        _contexts(spec, context_tokens),
        _requests(spec, concurrency),
        _models(spec),
    )
    found = [hit for ladder in ladders if (hit := _first(ladder, best)) is not None]
    if not found:
        found = [hit for hit in (_first(_both(spec, context_tokens), best),) if hit is not None]
    return tuple(found)


def _first(ladder: Iterator[_Step], best: Best) -> Near | None:
    """The smallest step that helps. The largest is tried first: where it does not help, no smaller one does."""
    steps = list(ladder)
    last = best(steps[-1][3]) if steps else None
    if last is None:
        return None
    for change, before, after, changed in steps[:-1]:
        hit = best(changed)
        if hit is not None:
            return Near(change, before, after, hit)
    change, before, after, _ = steps[-1]
    return Near(change, before, after, last)


def _limits(spec: WorkloadSpec) -> Iterator[Iterator[_Step]]:
    """More money, or more power: the limit is dropped, and what the cheapest machine then takes is told."""
    limits: tuple[tuple[Change, float | None], ...] = (
        ("budget", spec.targets.budget), ("power_w", spec.targets.power_w),
    )  # fmt: skip
    for name, said in limits:
        if said:
            # The period and the meaning of a budget stay: they say in what the sum is told.
            eased = spec.model_copy(update={"targets": spec.targets.model_copy(update={name: None})})
            yield iter([(name, said, None, eased)])


def _formats(spec: WorkloadSpec) -> Iterator[_Step]:
    """Where a wide format or cache was asked for: leave both open."""
    if spec.weights is not None:
        yield "weights", spec.weights, None, spec.model_copy(update={"weights": None, "kv_cache": None})
    elif spec.kv_cache is not None:
        yield "kv_cache", spec.kv_cache, None, spec.model_copy(update={"kv_cache": None})


def _relaxed(spec: WorkloadSpec) -> Iterator[Iterator[_Step]]:
    """Each target of speed by itself, at twice to five times the time."""
    names: tuple[tuple[Change, float | None, int], ...] = (
        ("ttft_s", spec.targets.ttft_s, 1), ("tokens_s_per_user", spec.targets.tokens_s_per_user, -1),
        ("tokens_s_total", spec.targets.tokens_s_total, -1),
    )  # fmt: skip
    for name, wanted, sign in names:
        if wanted:
            yield _eased(spec, name, wanted, sign)


def _eased(spec: WorkloadSpec, name: Change, wanted: float, sign: int) -> Iterator[_Step]:
    for share in _EASED:
        eased = wanted * share**sign
        yield name, wanted, eased, spec.model_copy(update={"targets": spec.targets.model_copy(update={name: eased})})


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
    """Models of the same family and kind with fewer parameters, none of a generation before; () for a bare size or a config."""
    ident = find(ref.id, "model").id if ref and ref.id else None
    model = catalogue().models.get(ident) if ident else None
    if model is None or ref is None:
        return ()
    size = resolve_model(ref)[0].params_total
    word = model.family.split()[0]
    alike = [
        other
        for other in catalogue().models.values()
        if other.modality == model.modality
        and other.family.split()[0] == word
        and other.params_total < size * 0.8
        and (other.family == model.family or _months(other.released) > _months(model.released) - _GENERATION_MONTHS)
    ]
    alike.sort(key=lambda other: (other.family == model.family, other.released or "", other.params_total), reverse=True)
    seen = sorted(alike[: _SMALLER_MODELS * 4], key=lambda other: -other.params_total)
    return tuple(other.id for other in seen[:_SMALLER_MODELS])


def _months(released: str | None) -> int:
    """Months since year 0 of "2024-07" or "2024-07-23"; 0 where the date is not known."""
    return int(released[:4]) * 12 + int(released[5:7] or 0) if released else 0
