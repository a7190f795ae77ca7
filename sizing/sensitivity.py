"""What would flip the verdict, and how far a workload can go on given hardware. Every answer is an estimate, not a formula of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.engine import estimate
from sizing.estimate import Estimate
from sizing.spec import WorkloadSpec

FlipKind = Literal["context", "concurrency", "weights", "kv_cache", "devices"]

_FORMATS_BY_ENGINE: dict[str, tuple[str, ...]] = {
    "server": ("bf16", "fp8", "awq-int4"),
    "local": ("gguf-q8_0", "gguf-q6_k", "gguf-q5_k_m", "gguf-q4_k_m"),
}
_KV_BY_ENGINE: dict[str, str] = {"server": "fp8", "local": "q8_0"}
_CONTEXTS = (131072, 65536, 32768, 16384, 8192, 4096)


@dataclass(frozen=True, slots=True)
class Flip:
    """One change that turns the verdict: the field, its value before and after, and the estimate after it."""

    kind: FlipKind
    before: object
    after: object
    estimate: Estimate


def fits_with(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, **changes: object) -> Estimate:
    """The estimate of a spec with some fields changed."""
    return estimate(spec.model_copy(update=changes), defaults, derivation=False)


def largest(fits: Callable[[int], bool], upper: int) -> int | None:
    """The largest whole number up to `upper` for which `fits` holds, given that it holds for all below; None if for none."""
    if not fits(1):
        return None
    low, high = 1, 2
    while high <= upper and fits(high):
        low, high = high, high * 2
    high = min(high, upper + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def largest_context(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, upper: int = 1 << 22) -> int | None:
    """The longest context in tokens that fits for the concurrency of the spec; None where not even one token does."""
    plain = spec.model_copy(update={"input_tokens": None, "output_tokens": None, "prior_context_tokens": None})
    return largest(lambda tokens: bool(fits_with(plain, defaults, context_tokens=tokens).fits), upper)


def most_concurrent(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, upper: int = 4096) -> int | None:
    """The most requests in flight at the context of the spec; None where not even one fits."""
    return largest(lambda count: bool(fits_with(spec, defaults, concurrency=count, users=None).fits), upper)


def best_format(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> tuple[str, Estimate] | None:
    """The widest number format of the engine's usual ones that fits, with its estimate."""
    for name in _usual_formats(spec):
        result = fits_with(spec, defaults, weights=name)
        if result.fits:
            return name, result
    return None


def flips(spec: WorkloadSpec, now: Estimate, defaults: Defaults = ENGINE_DEFAULTS) -> tuple[Flip, ...]:
    """Single changes that turn "no" into "fits" (or, for a workload that fits, the points where it stops to)."""
    if not now.ok or now.fits is None:
        return ()
    return tuple(_rescues(spec, defaults)) if not now.fits else tuple(_limits(spec, defaults))


def _rescues(spec: WorkloadSpec, defaults: Defaults) -> Iterable[Flip]:
    context = spec.context_tokens or defaults.context_tokens or 8192
    for tokens in _CONTEXTS:
        if tokens < context and (result := fits_with(spec, defaults, context_tokens=tokens, input_tokens=None)).fits:
            yield Flip("context", context, tokens, result)
            break
    concurrency = spec.concurrency or 1
    fewer = most_concurrent(spec, defaults, concurrency) if concurrency > 1 else None
    if fewer and fewer < concurrency:
        yield Flip("concurrency", concurrency, fewer, fits_with(spec, defaults, concurrency=fewer, users=None))
    smaller = best_format(spec, defaults)
    if smaller:
        yield Flip("weights", spec.weights, smaller[0], smaller[1])
    if spec.kv_cache is None and (result := fits_with(spec, defaults, kv_cache=_KV_BY_ENGINE[_kind(spec)])).fits:
        yield Flip("kv_cache", None, _KV_BY_ENGINE[_kind(spec)], result)
    yield from _more_devices(spec, defaults)


def _more_devices(spec: WorkloadSpec, defaults: Defaults) -> Iterable[Flip]:
    if len(spec.hardware) != 1 or spec.parallel.tensor or spec.parallel.pipeline:
        return
    entry = spec.hardware[0]
    for factor in (2, 4, 8):
        count = (entry.count or 1) * factor
        result = fits_with(spec, defaults, hardware=(entry.model_copy(update={"count": count}),))
        if result.fits:
            yield Flip("devices", entry.count or 1, count, result)
            return


def _limits(spec: WorkloadSpec, defaults: Defaults) -> Iterable[Flip]:
    most = most_concurrent(spec, defaults)
    if most:
        yield Flip("concurrency", spec.concurrency, most + 1, fits_with(spec, defaults, concurrency=most + 1, users=None))
    longest = largest_context(spec, defaults)
    if longest:
        yield Flip("context", spec.context_tokens, longest + 1, fits_with(spec, defaults, context_tokens=longest + 1))


def _kind(spec: WorkloadSpec) -> str:
    name = (spec.engine.name or "").lower()
    weights = (spec.weights or "").lower()
    local = any(word in name for word in ("llama", "ollama", "studio")) or weights.startswith(("q", "gguf", "iq", "ud-"))
    return "local" if local else "server"


def _usual_formats(spec: WorkloadSpec) -> tuple[str, ...]:
    return _FORMATS_BY_ENGINE[_kind(spec)]
