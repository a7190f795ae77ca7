"""From seconds of a step and of a prompt to what users see under a load: closed, burst, offline, arriving at random."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizing.speed.drivers import Drivers
from sizing.speed.factors import Coefficients
from sizing.speed.machine import NETWORK_GB_S
from sizing.speed.timing import Step, decode_step, prompt_s, prompt_work_s
from sizing.units import GB


@dataclass(frozen=True, slots=True)
class Rates:
    """Expected figures of a deployment, before ranges. `in_flight` counts sequences that run at once over all replicas."""

    decode_tok_s_per_user: float | None
    output_tok_s_total: float | None
    prefill_tok_s: float | None
    ttft_ms: float | None
    tpot_ms: float | None
    requests_s: float | None
    in_flight: float
    saturated: bool
    step: Step | None


@dataclass(frozen=True, slots=True)
class Pace:
    """One replica at a steady number of sequences: seconds per token and prompt, requests per second."""

    running: float
    step: Step
    token_s: float
    work_s: float
    alone_s: float
    requests_s: float


def rates(drivers: Drivers, coefficient: Coefficients) -> Rates:
    """What the deployment does under its load."""
    work = drivers.work
    prefill = prefill_rate(drivers, coefficient)
    if work.output_tokens <= 0:
        first = 1000 * (first_token_s(drivers, coefficient)) if work.new_tokens else None
        return Rates(None, None, prefill, first, None, _per_prompt(prefill, work.new_tokens), 1.0, False, None)
    if drivers.prefill_replicas:
        return _apart(drivers, coefficient, prefill)
    loads = {"closed": _closed, "offline": _offline, "burst": _burst, "poisson": _poisson}
    return loads[work.pattern](drivers, coefficient, prefill)


def _per_prompt(prefill: float | None, tokens: int) -> float | None:
    return prefill / tokens if prefill and tokens else None


def prefill_rate(drivers: Drivers, coefficient: Coefficients) -> float | None:
    """Prompt tokens per second: of one prompt, or of full batches for encoders and offline work without output."""
    work = drivers.work
    tokens = work.new_tokens or (512 if work.input_tokens == 0 else 0)
    if not tokens:
        return None
    if work.output_tokens <= 0 and (work.pattern == "offline" or work.concurrency > 1 or drivers.family == "encoder"):
        return drivers.replicas * tokens / prompt_work_s(drivers, coefficient, tokens, work.prior_tokens)
    return tokens / prompt_s(drivers, coefficient, tokens, work.prior_tokens + work.shared_tokens)


def first_token_s(drivers: Drivers, coefficient: Coefficients) -> float:
    """Time to first token on an idle replica."""
    work = drivers.work
    return coefficient.prompt_ms / 1000 + prompt_s(
        drivers, coefficient, max(1, work.new_tokens), work.prior_tokens + work.shared_tokens
    )


def pace(drivers: Drivers, coefficient: Coefficients, running: float) -> Pace:
    """A replica with `running` sequences at steady state: each decodes while the prompts of the others interrupt it."""
    work = drivers.work
    step = decode_step(drivers, coefficient, running, work.mean_context_tokens)
    token_s = step.total / step.tokens
    alone = first_token_s(drivers, coefficient)
    cost = coefficient.interference * prompt_work_s(
        drivers, coefficient, work.new_tokens, work.prior_tokens + work.shared_tokens
    )
    cycle = work.output_tokens * token_s + max(alone if running <= 1 else 0.0, running * cost)
    # A prompt that is cached as a whole and asks for no answer costs nothing.
    return Pace(running, step, token_s, cost, alone, running / cycle if cycle else math.inf)


def _limit(drivers: Drivers, wanted: float) -> float:
    return max(1.0, min(wanted, drivers.capacity, float(drivers.sequences_cap)))


def _seen_s(here: Pace, seen: float, output_tokens: int) -> float:
    """Seconds per output token as a user sees it, prompts of others included as far as they come between."""
    return here.token_s + seen * (here.running - 1) * here.work_s / max(1, output_tokens)


def _closed(drivers: Drivers, coefficient: Coefficients, prefill: float | None) -> Rates:
    work = drivers.work
    wanted = max(1.0, work.concurrency / drivers.replicas)
    here = pace(drivers, coefficient, _limit(drivers, wanted))
    ahead = (here.running - 1) * here.work_s
    wait = max(0.0, wanted - here.running) / here.requests_s
    between = here.step.total if here.running > 1 else 0.0
    first = here.alone_s + between + coefficient.queue * ahead + _prompt_queue_s(here) + 0.8 * wait
    return _result(drivers, coefficient, here, prefill, first, here.requests_s, wait > 0)


def _prompt_queue_s(here: Pace) -> float:
    """Mean wait behind the prompts of others that ask again at any time: M/D/1, at most half of all the others' prompts."""
    busy = min(0.99, here.requests_s * here.work_s)
    return min(0.5 * busy / (1 - busy), 0.5 * (here.running - 1)) * here.work_s


def _offline(drivers: Drivers, coefficient: Coefficients, prefill: float | None) -> Rates:
    work = drivers.work
    wanted = work.concurrency / drivers.replicas if work.concurrency_stated else 1e9
    if work.requests and not work.concurrency_stated:
        wanted = work.requests / drivers.replicas
    here = pace(drivers, coefficient, _limit(drivers, wanted))
    return _result(
        drivers, coefficient, here, prefill, here.running * here.work_s * 0.5 + here.alone_s, here.requests_s, True
    )


def _burst(drivers: Drivers, coefficient: Coefficients, prefill: float | None) -> Rates:
    work = drivers.work
    asked = (work.requests or work.concurrency) / drivers.replicas
    here = pace(
        drivers,
        coefficient,
        _limit(drivers, min(asked, work.concurrency / drivers.replicas if work.concurrency_stated else asked)),
    )
    lasts, first = _drain(drivers, coefficient, here, asked)
    return _result(drivers, coefficient, here, prefill, first, asked / lasts, asked > here.running)


def _drain(drivers: Drivers, coefficient: Coefficients, here: Pace, asked: float) -> tuple[float, float]:
    """(seconds until all are served, mean time to first token) of requests that are there at once.

    In waves the first places fill while prompts compete; the tail of the last wave runs at falling batch.
    """
    work = drivers.work
    wave = work.output_tokens * here.token_s
    if asked <= here.running:
        lasts = asked * here.work_s + here.alone_s + wave
        return lasts, here.alone_s + coefficient.queue * asked * here.work_s
    lasts = asked / here.requests_s + coefficient.tail * wave
    waiting = asked - here.running
    start = here.alone_s + coefficient.queue * here.running * here.work_s
    return lasts, start + waiting / asked * (0.5 * waiting / here.requests_s + here.work_s)


def _poisson(drivers: Drivers, coefficient: Coefficients, prefill: float | None) -> Rates:
    work = drivers.work
    rate = (work.rate_rps or 1.0) / drivers.replicas
    full = pace(drivers, coefficient, _limit(drivers, min(1e9, (work.requests or 1e9) / drivers.replicas)))
    if rate >= 0.95 * full.requests_s:
        return _overrun(drivers, coefficient, prefill, rate, full)
    here = steady_at(drivers, coefficient, rate)
    busy = min(0.95, rate * here.work_s)
    first = here.alone_s + 0.5 * here.step.total + 0.5 * busy / (1 - busy) * here.work_s
    served = rate if not work.requests else _finite(rate, work.requests / drivers.replicas, here, work.output_tokens)
    return _result(drivers, coefficient, here, prefill, first, served, False)


def _finite(rate: float, requests: float, here: Pace, output_tokens: int) -> float:
    return requests / (requests / rate + here.alone_s + output_tokens * here.token_s)


def _overrun(drivers: Drivers, coefficient: Coefficients, prefill: float | None, rate: float, full: Pace) -> Rates:
    """More arrives than can be served: with a finite number of requests a burst spread over its arrivals."""
    work = drivers.work
    asked = (work.requests or 1000) / drivers.replicas
    lasts, first = _drain(drivers, coefficient, full, asked)
    arrivals = asked / rate
    lasts = max(lasts, arrivals)
    return _result(
        drivers,
        coefficient,
        full,
        prefill,
        max(full.alone_s, first - 0.5 * arrivals * first / max(lasts, 1e-9)),
        asked / lasts,
        True,
    )


def _apart(drivers: Drivers, coefficient: Coefficients, prefill: float | None) -> Rates:
    """Some replicas only compute prompts, the others only decode: no step waits for a prompt, and no replica does both."""
    work, prompts = drivers.work, drivers.prefill_replicas
    decoding = replace(drivers, replicas=drivers.replicas - prompts, prefill_replicas=0)
    alone = first_token_s(drivers, coefficient) + handed_over_s(drivers)
    busy = prompt_work_s(drivers, coefficient, work.new_tokens, work.prior_tokens + work.shared_tokens)
    most = prompts / busy if busy else math.inf
    asked = _asked(decoding)
    here = _decoding_at(decoding, coefficient, asked, most, alone)
    if work.pattern == "poisson":  # alone in a replica, one request may be done before the next arrives
        here = replace(here, requests_s=min(here.requests_s, (work.rate_rps or math.inf) / decoding.replicas))
    served = decoding.replicas * here.requests_s
    used = min(0.99, served / most)
    waiting = (
        max(0.0, asked - here.running * decoding.replicas) / served if work.pattern in ("closed", "burst") else 0.0
    )
    first = max(alone + 0.5 * used / (1 - used) * busy, waiting)
    return _result(
        decoding, coefficient, here, prefill, first, here.requests_s, saturated=used > 0.98 or waiting > 2 * alone
    )


def _asked(decoding: Drivers) -> float:
    """Requests in the system: as said, or as many as there is work for."""
    work = decoding.work
    if work.pattern == "offline" and not work.concurrency_stated:
        return float(work.requests or math.inf)
    return float(work.requests or work.concurrency) if work.pattern == "burst" else float(work.concurrency)


def _decoding_at(decoding: Drivers, coefficient: Coefficients, asked: float, most_rps: float, alone_s: float) -> Pace:
    """The pace of a decoding replica at which prompts come in as fast as answers end, all requests being somewhere."""
    work, low, high = decoding.work, 1.0, _limit(decoding, math.inf)

    def too_many(running: float) -> bool:
        served = decoding.replicas * _decode_pace(decoding, coefficient, running).requests_s
        if work.pattern == "poisson":
            return served > min(work.rate_rps or math.inf, most_rps)
        return served > most_rps or asked - running * decoding.replicas < served * alone_s

    if not too_many(high):
        return _decode_pace(decoding, coefficient, high)
    for _ in range(20):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if too_many(middle) else (middle, high)
    return _decode_pace(decoding, coefficient, low)


def _decode_pace(decoding: Drivers, coefficient: Coefficients, running: float) -> Pace:
    step = decode_step(decoding, coefficient, running, decoding.work.mean_context_tokens)
    token_s = step.total / step.tokens
    return Pace(running, step, token_s, 0.0, 0.0, running / (decoding.work.output_tokens * token_s))


def handed_over_s(drivers: Drivers) -> float:
    """Seconds in which a prompt's KV cache goes over the network to the replica that decodes it."""
    size = drivers.cache.held_bytes(drivers.work.prior_tokens + drivers.work.input_tokens)
    return size / (NETWORK_GB_S * GB * drivers.tensor)


def slowest_and_fastest(drivers: Drivers, coefficient: Coefficients) -> tuple[float, float]:
    """Tokens/s of one user with every place taken, and alone: between these lies the pace at any rate of arrivals."""
    full, alone = (pace(drivers, coefficient, running).token_s for running in (_limit(drivers, 1e9), 1.0))
    return 1 / full, 1 / alone


def steady_at(drivers: Drivers, coefficient: Coefficients, rate_rps: float) -> Pace:
    """The pace at which arrivals and departures balance (Little's law): found by bisection on the sequences in flight."""
    low, high = 1.0, _limit(drivers, 1e9)
    for _ in range(14):
        middle = (low * high) ** 0.5
        if pace(drivers, coefficient, middle).requests_s < rate_rps:
            low = middle
        else:
            high = middle
    return pace(drivers, coefficient, (low * high) ** 0.5)


def _result(
    drivers: Drivers,
    coefficient: Coefficients,
    here: Pace,
    prefill: float | None,
    first_s: float,
    requests_s: float,
    saturated: bool,
) -> Rates:
    work = drivers.work
    per_second = requests_s * drivers.replicas
    return Rates(
        decode_tok_s_per_user=1 / here.token_s,
        output_tok_s_total=per_second * work.output_tokens,
        prefill_tok_s=prefill,
        ttft_ms=1000 * first_s if work.new_tokens else None,
        tpot_ms=1000 * _seen_s(here, coefficient.seen, work.output_tokens),
        requests_s=per_second,
        in_flight=here.running * drivers.replicas,
        saturated=saturated,
        step=here.step,
    )
