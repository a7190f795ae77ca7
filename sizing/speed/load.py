"""Under load: from people and questions to requests, waiting times at arrivals in random order, the largest load that meets targets.

Arrivals are Poisson. Prompts queue for one server that takes a fixed time each (M/D/1: mean wait = work x u / (2 (1 - u)) at
utilisation u, the rest of the waiting time falling off exponentially); sequences queue for the places that memory and the engine
admit (Erlang's C). Sequences in flight vary like a Poisson number around their mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizing.memory.plan import MemoryPlan
from sizing.resolve import PEAK_HOUR_SHARE, Resolved
from sizing.spec import Targets, WorkloadSpec
from sizing.speed.drivers import Drivers, drivers
from sizing.speed.factors import Coefficients, shipped
from sizing.speed.serving import Pace, first_token_s, pace, rates, steady_at

QUESTIONS_PER_USER_DAY = 20.0
_Z95 = 1.645
_FULLEST = 0.9  # nearer to all that can be served, waits grow without end: a judgement


@dataclass(frozen=True, slots=True)
class Demand:
    """What a team asks in its busiest hour: requests/s, and how that was reached (`assumed` names what nobody said)."""

    rate_rps: float
    users: int | None
    requests_per_day: float | None
    peak_hour_share: float
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """The service at one arrival rate (requests/s over all replicas). Times in milliseconds, rates in tokens/s."""

    rate_rps: float
    concurrency: float
    utilization: float
    tokens_s_per_user: float
    output_tok_s_total: float
    ttft_p50_ms: float
    ttft_p95_ms: float
    tpot_p50_ms: float
    tpot_p95_ms: float
    stable: bool


@dataclass(frozen=True, slots=True)
class LargestLoad:
    """The most that meets the targets; `bound_by` says which target, or "capacity", ends it. Zero rate: even one request misses them."""

    point: LoadPoint | None
    rate_rps: float
    concurrency: float
    bound_by: str


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """The service when one device fails: the replicas that are left, and whether they carry the load."""

    replicas_left: int
    point: LoadPoint | None
    carries: bool


def demand(spec: WorkloadSpec) -> Demand | None:
    """The arrival rate of the busiest hour; None where neither users nor questions nor a rate are said."""
    load = spec.load
    assumed: list[str] = []
    share = load.peak_hour_share or PEAK_HOUR_SHARE
    if load.rate_rps:
        return Demand(load.rate_rps, spec.users, load.requests_per_day, share, ())
    daily = load.requests_per_day
    if daily is None and spec.users:
        daily = spec.users * QUESTIONS_PER_USER_DAY
        assumed.append("requests_per_day")
    if daily is None:
        return None
    if load.peak_hour_share is None:
        assumed.append("peak_hour_share")
    return Demand(daily * share / 3600, spec.users, daily, share, tuple(assumed))


def under_load(resolved: Resolved, plan: MemoryPlan, rate_rps: float) -> LoadPoint:
    """The service of the deployment at that many requests per second."""
    known = drivers(resolved, plan)
    return _at_rate(known, shipped(known.axes), rate_rps)


def with_users(resolved: Resolved, plan: MemoryPlan, concurrency: float) -> LoadPoint:
    """The service with that many requests always in flight: who has an answer asks again, so that prompts meet each other more than
    arrivals in random order do."""
    known = drivers(replace(resolved, concurrency=max(1, round(concurrency))), plan)
    factor = shipped(known.axes)
    here = pace(known, factor, max(1.0, concurrency / known.replicas))
    point = _at_rate(known, factor, 0.98 * here.requests_s * known.replicas)
    first_ms = rates(known, factor).ttft_ms or point.ttft_p50_ms
    return replace(point, ttft_p50_ms=first_ms, ttft_p95_ms=first_ms + point.ttft_p95_ms - point.ttft_p50_ms)


def largest_load(resolved: Resolved, plan: MemoryPlan, targets: Targets) -> LargestLoad:
    """The largest arrival rate at which the p95 of time to first token and the median speed per user meet the targets."""
    known = drivers(resolved, plan)
    factor = shipped(known.axes)
    top = _FULLEST * _most_rps(known, factor) * known.replicas
    if not _missed(_at_rate(known, factor, top), targets):
        return _largest(_at_rate(known, factor, top), "capacity")
    low, high = 1e-4 * top, top
    missed = _missed(_at_rate(known, factor, low), targets)
    if missed:
        return LargestLoad(None, 0.0, 0.0, missed)
    for _ in range(20):
        middle = math.sqrt(low * high)
        if _missed(_at_rate(known, factor, middle), targets):
            high = middle
        else:
            low = middle
    return _largest(_at_rate(known, factor, low), _missed(_at_rate(known, factor, high), targets) or "capacity")


def after_failure(resolved: Resolved, plan: MemoryPlan, rate_rps: float) -> AfterFailure:
    """N+1: one device fails and takes its whole replica along."""
    known = drivers(resolved, plan)
    left = known.replicas - 1
    if left < 1:
        return AfterFailure(0, None, False)
    point = _at_rate(replace(known, replicas=left), shipped(known.axes), rate_rps)
    return AfterFailure(left, point, point.stable)


def _largest(point: LoadPoint, bound_by: str) -> LargestLoad:
    return LargestLoad(point, point.rate_rps, point.concurrency, bound_by)


def _missed(point: LoadPoint, targets: Targets) -> str | None:
    if not point.stable:
        return "capacity"
    if targets.ttft_s is not None and point.ttft_p95_ms > 1000 * targets.ttft_s:
        return "ttft_s"
    if targets.tokens_s_per_user is not None and point.tokens_s_per_user < targets.tokens_s_per_user:
        return "tokens_s_per_user"
    return None


def _most_rps(known: Drivers, factor: Coefficients) -> float:
    return pace(known, factor, max(1.0, min(known.capacity, float(known.sequences_cap)))).requests_s


def _at_rate(known: Drivers, factor: Coefficients, rate_rps: float) -> LoadPoint:
    each, most = rate_rps / known.replicas, _most_rps(known, factor)
    here = steady_at(known, factor, min(each, 0.999 * most))
    used = each / most
    busy = min(0.98, each * here.work_s)
    prompt_wait = _prompt_wait_s(here, busy)
    place_wait = _place_wait_s(known, here, used)
    first = first_token_s(known, factor) + here.step.total / 2
    crowd = here.running + _Z95 * math.sqrt(here.running)
    slow = pace(known, factor, min(crowd, max(here.running, known.capacity)))
    token, slow_token = _token_s(here, known), _token_s(slow, known)
    return LoadPoint(
        rate_rps=rate_rps,
        concurrency=here.running * min(1.0, each / here.requests_s) * known.replicas,
        utilization=used,
        tokens_s_per_user=1 / token,
        output_tok_s_total=min(rate_rps, most * known.replicas) * known.work.output_tokens,
        ttft_p50_ms=1000 * (first + _quantile(busy, prompt_wait, 0.5) + _quantile(used, place_wait, 0.5)),
        ttft_p95_ms=1000 * (first + _quantile(busy, prompt_wait, 0.95) + _quantile(used, place_wait, 0.95)),
        tpot_p50_ms=1000 * token,
        tpot_p95_ms=1000 * slow_token,
        stable=used < 0.99,
    )


def _token_s(here: Pace, known: Drivers) -> float:
    return here.token_s + (here.running - 1) * here.work_s / max(1, known.work.output_tokens)


def _prompt_wait_s(here: Pace, busy: float) -> float:
    return here.work_s * busy / (2 * (1 - busy))


def _place_wait_s(known: Drivers, here: Pace, used: float) -> float:
    """Mean wait for a place: Sakasegawa's form of Erlang's C, c places each held for the time of one request."""
    places = max(1.0, min(known.capacity, float(known.sequences_cap)))
    load = min(0.999, used)
    held = known.work.output_tokens * here.token_s + here.alone_s
    return float(held / places * load ** (math.sqrt(2 * (places + 1)) - 1) / (1 - load))


def _quantile(chance_of_waiting: float, mean_wait_s: float, level: float) -> float:
    """The level's quantile of a wait that is zero with chance 1 - p and exponential otherwise."""
    chance = min(1.0, max(1e-9, chance_of_waiting))
    if chance <= 1 - level:
        return 0.0
    return mean_wait_s / chance * math.log(chance / (1 - level))


def concurrency_at(resolved: Resolved, plan: MemoryPlan, rate_rps: float) -> float:
    """Requests in flight at an arrival rate (Little's law: rate x time in the system)."""
    return under_load(resolved, plan, rate_rps).concurrency
