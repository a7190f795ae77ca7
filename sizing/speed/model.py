"""The speed of a deployment: what `sizing.engine` asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sizing.estimate import Assumption, Range, Speed
from sizing.memory.plan import MemoryPlan
from sizing.resolve import Resolved
from sizing.speed.doubt import variances
from sizing.speed.drivers import Drivers, drivers
from sizing.speed.extras import ACCEPTED
from sizing.speed.factors import Coefficients, shipped
from sizing.speed.ranges import spread
from sizing.speed.serving import Rates, rates, slowest_and_fastest

_MOST_OF_PEAK = 0.95  # of a device's arithmetic; the best kernels published reach 0.8 to 0.9


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected rates of a deployment with the causes and factors that they came from, for figures and derivation alike."""

    known: Drivers
    factor: Coefficients
    said: Rates


def forecast(resolved: Resolved, plan: MemoryPlan) -> Forecast:
    """What a deployment on named devices does under its load."""
    known = drivers(resolved, plan)
    factor = shipped(known.axes)
    return Forecast(known, factor, rates(known, factor))


def assumed(made: Forecast) -> tuple[Assumption, ...]:
    """What the forecast rests on that nobody said and no measurement gave."""
    drafts = made.known.drafts
    if not drafts.proposed:
        return ()
    params = {"proposed": drafts.proposed, "gained": round(drafts.gained, 2)}
    return (Assumption(field="draft_acceptance", value=ACCEPTED, code="drafts_accepted", params=params),)


def predict(resolved: Resolved, plan: MemoryPlan) -> Speed | None:
    """Rates of the deployment with 80 % ranges; None where no device is named."""
    return as_speed(forecast(resolved, plan)) if resolved.devices else None


def as_speed(made: Forecast, *, doubted: bool = True) -> Speed:
    """Expected figures with their ranges.

    `doubted` False leaves out what is unknown of the factors, for those who go by the expected figures of many deployments: their
    ranges are too narrow to be shown.
    """
    known, said = made.known, made.said
    doubt = variances(known, made.factor, said) if doubted else {}
    steady = known.work.pattern == "poisson" and not said.saturated and said.step is not None
    limits = _limits(made) if doubted and steady else {}
    if said.prefill_tok_s:
        limits["prefill_tok_s"] = (0.0, said.prefill_tok_s * max(1.0, _MOST_OF_PEAK / made.factor.prefill_compute))

    served = "output_tok_s_total" if said.output_tok_s_total else "prefill_tok_s"

    def ranged(figure: str, expected: float | None) -> Range | None:
        if expected is None:
            return None
        known_as = served if figure == "requests_s" else figure
        low, high = spread(known, known_as, doubt.get(known_as, 0.0))
        least, most = limits.get(figure, (0.0, math.inf))
        # The expected figure may leave a limit by a rounding: 0.1 / 3 x 3 is more than 0.1.
        return Range(
            low=min(expected, max(expected * low, least)),
            expected=expected,
            high=max(expected, min(expected * high, most)),
        )

    return Speed(
        decode_tok_s_per_user=ranged("decode_tok_s_per_user", said.decode_tok_s_per_user),
        output_tok_s_total=ranged("output_tok_s_total", said.output_tok_s_total),
        prefill_tok_s=ranged("prefill_tok_s", said.prefill_tok_s),
        ttft_ms=ranged("ttft_ms", said.ttft_ms),
        tpot_ms=ranged("tpot_ms", said.tpot_ms),
        requests_s=ranged("requests_s", said.requests_s),
        bound_by=said.step.bound_by if said.step else "compute",
        in_flight=said.in_flight,
        saturated=said.saturated,
        input_tokens=known.work.input_tokens,
        output_tokens=known.work.output_tokens,
    )


def _limits(made: Forecast) -> dict[str, tuple[float, float]]:
    """What no figure under arrivals can leave: the pace of one user lies between that of a full and of an empty machine, each with the
    scatter of its own, and no more is served than arrives. Near the most that is served, slopes alone would say more than that."""
    known, said, rate = made.known, made.said, made.known.work.rate_rps or 0.0
    slowest, fastest = slowest_and_fastest(known, made.factor)
    low, high = spread(known, "decode_tok_s_per_user", 0.0)
    pace, between = said.decode_tok_s_per_user or 0.0, said.tpot_ms or 0.0
    least, most = min(slowest * low, pace), max(fastest * high, pace)
    limits = {"decode_tok_s_per_user": (least, most), "tpot_ms": (between * pace / most, between * pace / least)}
    if known.work.requests is None:
        limits["output_tok_s_total"] = (0.0, rate * known.work.output_tokens)
        limits["requests_s"] = (0.0, rate)
    return limits
