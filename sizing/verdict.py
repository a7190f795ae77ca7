"""From a memory plan to a verdict: fits, tight or no, with the margin in GiB."""

from __future__ import annotations

from sizing.estimate import Range, Verdict
from sizing.memory.plan import MemoryPlan
from sizing.units import gib


def margin(plan: MemoryPlan) -> Range | None:
    """What is left on the tightest device, in GiB; negative is missing."""
    if plan.margin_bytes is None:
        return None
    low, expected, high = plan.margin_bytes
    return Range(low=gib(low), expected=gib(expected), high=gib(high))


def verdict(plan: MemoryPlan, reserve_share: float, *, as_set: bool = False) -> Verdict | None:
    """`tight` where the range of the margin crosses zero, where less than the reserve is left, or where only other settings than the
    engine's defaults make it fit (not with `as_set`); None without a known card."""
    if plan.blockers:
        return "no"
    if plan.margin_bytes is None:
        return None
    low, expected, high = plan.margin_bytes
    if expected < 0:
        reached = high if as_set else high + plan.slack.bytes
        return "tight" if reached >= 0 else "no"
    usable = min((device.usable_bytes or 0.0 for device in plan.devices), default=0.0)
    return "tight" if low < 0 or expected < reserve_share * usable else "fits"
