"""How many requests are in flight where only their arrival is said: it depends on how fast the hardware of the spec answers."""

from __future__ import annotations

import math
from dataclasses import replace

from sizing.errors import UserError
from sizing.estimate import Assumption
from sizing.memory.inference import plan_inference
from sizing.resolve import Resolved
from sizing.speed.load import demand, under_load

_Z95 = 1.645


def at_arrivals(resolved: Resolved) -> Resolved:
    """With as many requests in flight as there are in 19 of 20 moments at the rate said, on the devices named.

    5 requests/s that take 6 s each: 30 on average, 30 + 1.645 roots = 40. Beyond the room that memory gives, requests wait for a place;
    where not even one has room, the first guess stays.
    """
    asked = demand(resolved.spec)
    if asked is None or not resolved.devices:
        return resolved
    try:
        plan = plan_inference(resolved)
        point = under_load(resolved, plan, asked.rate_rps)
    except UserError:
        return resolved
    room = math.floor((plan.max_concurrency_at_context or 0.0) * resolved.data)
    if room < 1:
        return resolved
    busy = max(1, min(room, math.ceil(point.concurrency + _Z95 * math.sqrt(point.concurrency) - 1e-9)))
    return replace(resolved, concurrency=busy, assumptions=tuple(_with(one, busy) for one in resolved.assumptions))


def _with(one: Assumption, busy: int) -> Assumption:
    return one.model_copy(update={"value": busy}) if one.field == "concurrency" else one
