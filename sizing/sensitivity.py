"""What would flip the verdict, and how far a workload can go on given hardware.

Every point is a memory plan of the engine's own, never a formula beside it; speed is only estimated for the few specs that are handed
back. Limits are found by secants on what is left of the tightest device, which falls almost in a line with requests and with context:
four to eight plans instead of a few dozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.devices import is_unified
from sizing.engine import estimate
from sizing.engines import LLAMA_FAMILY
from sizing.errors import UserError
from sizing.estimate import Estimate
from sizing.memory.inference import plan_inference
from sizing.memory.plan import MemoryPlan
from sizing.named_format import resolve_kv_format
from sizing.resolve import Resolved, resolve
from sizing.search.candidates import SERVED, setups
from sizing.spec import WorkloadSpec
from sizing.units import gib

FlipKind = Literal["context", "concurrency", "weights", "kv_cache", "attention", "devices"]

_SERVER_FORMATS = ("bf16", "fp8", "awq-int4")
_LOCAL_FORMATS = ("gguf-q8_0", "gguf-q6_k", "gguf-q5_k_m", "gguf-q4_k_m")
_LADDER = (131072, 98304, 65536, 49152, 32768, 24576, 16384, 12288, 8192, 6144, 4096, 3072, 2048, 1024)
_GRAIN_TOKENS = 256
_MOST_TOKENS = 10**7
_MOST_REQUESTS = 4096
_SECANTS = 6


@dataclass(frozen=True, slots=True)
class Flip:
    """One change that turns the verdict: the field, its value before and after, and the estimate after it."""

    kind: FlipKind
    before: object
    after: object
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Marginal:
    """What a little more costs in memory, in GiB over all devices: 1,024 tokens for every request in flight, and one request more."""

    per_1k_tokens_gib: float
    per_request_gib: float


def fits_with(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, **changes: object) -> Estimate:
    """The estimate of a spec with some fields changed."""
    return estimate(spec.model_copy(update=changes), defaults, derivation=False)


def turning(now: Estimate, others: Iterable[WorkloadSpec], defaults: Defaults = ENGINE_DEFAULTS) -> Estimate | None:
    """The estimate of the first of other specs whose verdict is the opposite of `now`; None where all agree or nothing is judged."""
    if now.fits is None:
        return None
    estimates = (estimate(other, defaults, derivation=False) for other in others)
    return next((found for found in estimates if found.fits is not None and found.fits is not now.fits), None)


def last_that_holds(left: Callable[[int], float], guess: int, upper: int) -> int | None:
    """The largest whole number up to `upper` where `left` (falling) is not negative; None where it is so for none."""
    low, high = 0, upper + 1
    at_low: float | None = None
    at_high: float | None = None
    probe = min(max(1, guess), upper)
    for turn in range(64):
        value = left(probe)
        if value >= 0:
            low, at_low = probe, value
        else:
            high, at_high = probe, value
        if high - low <= 1:
            break
        probe = _next(low, high, at_low, at_high, turn)
    return low or None


def _next(low: int, high: int, at_low: float | None, at_high: float | None, turn: int) -> int:
    """Doubling or halving until both ends are known, then where the line between them crosses zero, bisection if that drags on."""
    if at_high is None:
        return min(low * 2, high - 1)
    if at_low is None:
        return max(1, high // 2)
    if turn >= _SECANTS or at_high == float("-inf"):
        return (low + high) // 2
    crossing = low + int((high - low) * at_low / (at_low - at_high))
    return min(max(crossing, low + 1), high - 1)


def _plan(spec: WorkloadSpec, defaults: Defaults) -> MemoryPlan | None:
    try:
        return plan_inference(resolve(spec, defaults))
    except UserError:
        return None


def _left(spec: WorkloadSpec, defaults: Defaults) -> float:
    """Bytes left on the tightest device as expected; minus infinity where it cannot run."""
    plan = _plan(spec, defaults)
    return float("-inf") if plan is None or plan.blockers or plan.margin_bytes is None else plan.margin_bytes[1]


def largest_context(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, upper: int | None = None) -> int | None:
    """The longest context in tokens (to 256) that fits at the concurrency of the spec, at most the model's own; None where none does."""
    plain = spec.model_copy(update={"input_tokens": None, "output_tokens": None, "prior_context_tokens": None})
    resolved = resolve(plain, defaults)
    most = min(upper or _MOST_TOKENS, resolved.architecture.max_position_tokens or _MOST_TOKENS)

    def left(grains: int) -> float:
        return _left(plain.model_copy(update={"context_tokens": min(grains * _GRAIN_TOKENS, most)}), defaults)

    found = last_that_holds(left, resolved.context_tokens // _GRAIN_TOKENS, -(-most // _GRAIN_TOKENS))
    return None if found is None else min(found * _GRAIN_TOKENS, most)


def most_concurrent(
    spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, upper: int = _MOST_REQUESTS
) -> int | None:
    """The most requests in flight at the context of the spec; None where not even one fits."""
    now = _plan(spec, defaults)
    guess = int((now.max_concurrency_at_context if now else None) or 1)
    return last_that_holds(
        lambda count: _left(spec.model_copy(update={"concurrency": count, "users": None}), defaults), guess, upper
    )


most_users = most_concurrent


def usual_formats(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> tuple[str, ...]:
    """Number formats that the spec's engine runs on its device, the widest first, none below the team's bits."""
    resolved = resolve(spec, defaults)
    local = resolved.engine.kind != "server"
    device = resolved.devices[0].accelerator if resolved.devices else None
    if device is None or spec.task not in SERVED:
        return _LOCAL_FORMATS if local else _SERVER_FORMATS
    free = spec.model_copy(
        update={
            "weights": None,
            "kv_cache": None,
            "engine": spec.engine.model_copy(update={"name": resolved.engine.name}),
        }
    )
    found = setups(device, free, resolved.architecture, spec.constraints.min_bits or defaults.min_bits, 1)
    widest = sorted((one for one in found if one.kv_cache is None), key=lambda one: -one.bits)
    return tuple(one.weights for one in widest) or (_LOCAL_FORMATS if local else _SERVER_FORMATS)


def formats_that_fit(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> Iterator[tuple[str, Estimate]]:
    """The engine's usual number formats that fit, the widest first, each with its estimate."""
    for name in usual_formats(spec, defaults):
        if _left(spec.model_copy(update={"weights": name}), defaults) >= 0:
            yield name, fits_with(spec, defaults, weights=name)


def best_format(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> tuple[str, Estimate] | None:
    """The widest number format of the engine's usual ones that fits, with its estimate."""
    return next(formats_that_fit(spec, defaults), None)


def marginal(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> Marginal | None:
    """What a thousand tokens more for each request, and one request more, take on this hardware; None where it cannot be planned."""
    resolved = resolve(spec, defaults)
    here = spec.model_copy(
        update={"context_tokens": resolved.context_tokens, "concurrency": resolved.concurrency, "users": None}
    )
    now = _held(here, defaults)
    longer = _held(here.model_copy(update={"context_tokens": resolved.context_tokens + 1024}), defaults)
    more = _held(here.model_copy(update={"concurrency": resolved.concurrency + 1}), defaults)
    if now is None or longer is None or more is None:
        return None
    return Marginal(gib(longer - now), gib(more - now))


def _held(spec: WorkloadSpec, defaults: Defaults) -> float | None:
    plan = _plan(spec, defaults)
    return None if plan is None else sum(device.total_bytes for device in plan.devices) + plan.host.total_bytes


# Beyond a rack or two nobody asks which single change would do, and every probe plans each rank.
_MOST_DEVICES = 128


def flips(spec: WorkloadSpec, now: Estimate, defaults: Defaults = ENGINE_DEFAULTS) -> tuple[Flip, ...]:
    """Single changes that turn "no" into "fits" (or, for a workload that fits, the points where it stops to)."""
    if not now.ok or now.fits is None or (now.memory and len(now.memory.per_device) > _MOST_DEVICES):
        return ()
    return tuple(_rescues(spec, defaults)) if not now.fits else tuple(_limits(spec, defaults))


def _rescues(spec: WorkloadSpec, defaults: Defaults) -> Iterator[Flip]:
    resolved = resolve(spec, defaults)
    yield from _shorter(spec, resolved.context_tokens, defaults)
    if resolved.concurrency > 1:
        fewer = most_concurrent(spec, defaults, resolved.concurrency - 1)
        if fewer:
            yield Flip(
                "concurrency", resolved.concurrency, fewer, fits_with(spec, defaults, concurrency=fewer, users=None)
            )
    smaller = best_format(spec, defaults)
    if smaller:
        yield Flip("weights", resolved.weights.id, *smaller)
    yield from _narrower_cache(spec, resolved, defaults)
    yield from _attention_apart(spec, resolved, defaults)
    yield from _more_devices(spec, defaults)


# What each engine keeps its cache in below 16 bit on any card that runs it at all, the widest first.
_CACHES: dict[str, tuple[str, ...]] = {
    "vllm": ("fp8",), "sglang": ("fp8",), "tensorrt-llm": ("fp8",), "tgi": ("fp8",), "lmdeploy": ("int8", "int4"),
    "mlx": ("kv-mlx-8bit", "kv-mlx-4bit"), "exllamav2": ("q8_0", "q4_0"), "exllamav3": ("kv-exl3-8bit", "kv-exl3-6bit", "kv-exl3-4bit"),
    **dict.fromkeys(LLAMA_FAMILY, ("q8_0", "q5_1", "q4_0")),
}  # fmt: skip


def narrower_caches(resolved: Resolved) -> tuple[str, ...]:
    """Cache formats of the engine that are narrower than what there is now, said or not, the widest first."""
    now, engine = max(resolved.kv_k.bits_per_element, resolved.kv_v.bits_per_element), resolved.engine.name
    return tuple(name for name in _CACHES.get(engine, ()) if resolve_kv_format(name, engine).bits_per_element < now)


def _narrower_cache(spec: WorkloadSpec, resolved: Resolved, defaults: Defaults) -> Iterator[Flip]:
    for name in narrower_caches(resolved):
        if _left(spec.model_copy(update={"kv_cache": name}), defaults) >= 0:
            before = None if spec.kv_cache is None else resolved.kv_k.id
            yield Flip("kv_cache", before, name, fits_with(spec, defaults, kv_cache=name))
            return


def _attention_apart(spec: WorkloadSpec, resolved: Resolved, defaults: Defaults) -> Iterator[Flip]:
    """Attention in data parallel: latents (MLA) lie whole on every rank of a tensor split, so each rank then keeps its own sequences and
    only the experts are spread."""
    ranks = resolved.tensor
    latent = resolved.architecture.mla is not None and resolved.architecture.is_moe
    said = spec.parallel.tensor or spec.parallel.data or spec.engine.data_parallel_attention is not None
    able = resolved.engine.name in ("vllm", "sglang") and resolved.pipeline == resolved.data == 1
    if not latent or said or ranks < 2 or not able:
        return
    apart: dict[str, object] = {
        "parallel": spec.parallel.model_copy(update={"tensor": 1, "data": ranks, "expert": ranks}),
        "engine": spec.engine.model_copy(update={"data_parallel_attention": True}),
    }
    if _left(spec.model_copy(update=apart), defaults) >= 0:
        yield Flip("attention", ranks, ranks, fits_with(spec, defaults, **apart))


def _shorter(spec: WorkloadSpec, context: int, defaults: Defaults) -> Iterator[Flip]:
    """The longest of the usual lengths that fits; a prompt longer than that gives way."""
    longest = largest_context(spec, defaults, context)
    after = next((tokens for tokens in _LADDER if longest is not None and tokens <= longest and tokens < context), None)
    if after is not None:
        given = spec.input_tokens if spec.input_tokens and spec.input_tokens < after else None
        yield Flip("context", context, after, fits_with(spec, defaults, context_tokens=after, input_tokens=given))


def _more_devices(spec: WorkloadSpec, defaults: Defaults) -> Iterator[Flip]:
    if len(spec.hardware) != 1 or spec.parallel.tensor or spec.parallel.pipeline:
        return
    entry = spec.hardware[0]
    first = resolve(spec, defaults).devices[0].accelerator
    for factor in (2, 4, 8) if not is_unified(first) else ():
        count = (entry.count or 1) * factor
        hardware = (entry.model_copy(update={"count": count}),)
        if _left(spec.model_copy(update={"hardware": hardware}), defaults) >= 0:
            yield Flip("devices", entry.count or 1, count, fits_with(spec, defaults, hardware=hardware))
            return


def _limits(spec: WorkloadSpec, defaults: Defaults) -> Iterator[Flip]:
    resolved = resolve(spec, defaults)
    most = most_concurrent(spec, defaults)
    if most and most < _MOST_REQUESTS:
        yield Flip(
            "concurrency", resolved.concurrency, most + 1, fits_with(spec, defaults, concurrency=most + 1, users=None)
        )
    longest = largest_context(spec, defaults)
    if longest:
        after = longest + (_GRAIN_TOKENS if longest % _GRAIN_TOKENS == 0 else 1)
        yield Flip("context", resolved.context_tokens, after, fits_with(spec, defaults, context_tokens=after))
