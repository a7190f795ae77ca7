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


def verdict(plan: MemoryPlan, reserve_share: float) -> Verdict | None:
    """`tight` where the range of the margin crosses zero or less than the reserve is left; None without a known card."""
    if plan.blockers:
        return "no"
    if plan.margin_bytes is None:
        return None
    low, expected, high = plan.margin_bytes
    if expected < 0:
        return "tight" if high >= 0 else "no"
    usable = min((device.usable_bytes or 0.0 for device in plan.devices), default=0.0)
    return "tight" if low < 0 or expected < reserve_share * usable else "fits"
