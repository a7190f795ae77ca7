"""The busiest hour in words: requests, how many run at once, waits in the middle and at the edge, and how much more would go."""

from __future__ import annotations

import re
from typing import Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.sized import Sized
from sizing.errors import UserError
from sizing.memory.inference import plan_inference
from sizing.memory.plan import MemoryPlan
from sizing.resolve import Resolved
from sizing.speed.load import Demand, LoadPoint, after_failure, demand, largest_load, under_load

_WAIT: Final = re.compile(
    r"\bwarte\w*|\bwait\w*|\bqueue\w*|\bschlange\b|\bspitze\w*|\bpeak\w*|sto(?:ß|ss)zeit\w*|\bp95\b|rush hour",
    re.IGNORECASE,
)
_FAILS: Final = re.compile(r"ausf(?:all|äll|aell)|\bfails?\b|\bdies\b|n\+1|redundan", re.IGNORECASE)


def headline(draft: Draft, sized: Sized, question: str) -> str | None:
    """How long people wait at the peak, where that is asked."""
    found = _at_peak(sized) if _WAIT.search(question) else None
    if found is None:
        return None
    asked, point = found
    if not point.stable:
        return draft.words.text("queue", "headline_overloaded", hardware=sized.hardware, model=sized.figures["model"])
    _add(draft, asked, point)
    return draft.words.text(
        "queue", "headline", first=point.ttft_p50_ms, late=point.ttft_p95_ms, hardware=sized.hardware
    )


def say(draft: Draft, sized: Sized, question: str) -> None:
    """The busiest hour of a service whose questions are said, or whose waits are asked for."""
    said = sized.parsed is not None and bool(sized.parsed.load.requests_per_day or sized.parsed.load.rate_rps)
    found = _at_peak(sized) if said or _WAIT.search(question) else None
    if found is None or sized.resolved is None or sized.parsed is None:
        return
    asked, point = found
    _add(draft, asked, point)
    words = draft.words
    told = [_demand_text(draft, asked)]
    params = {
        "running": point.concurrency, "used": point.utilization, "first": point.ttft_p50_ms, "late": point.ttft_p95_ms,
        "rate": point.tokens_s_per_user,
    }  # fmt: skip
    told.append(words.text("queue", "at_peak" if point.stable else "overloaded", **params))
    told += _more(draft, sized, asked, question)
    text = " ".join(part for part in told if part)
    draft.say("note", with_mark(text, draft.sources.topic("queueing", text)), draft.title("queue"))


def _more(draft: Draft, sized: Sized, asked: Demand, question: str) -> list[str]:
    resolved, plan = _planned(sized)
    if resolved is None or plan is None or sized.parsed is None:
        return []
    words, told = draft.words, []
    largest = largest_load(resolved, plan, sized.parsed.targets)
    if largest.rate_rps > 0:
        times = largest.rate_rps / asked.rate_rps
        for value in (largest.rate_rps * 60, times):
            draft.material.add(value)
        told.append(words.text("queue", f"most_{largest.bound_by}", minute=largest.rate_rps * 60, times=times))
    if _FAILS.search(question):
        after = after_failure(resolved, plan, asked.rate_rps)
        if after.replicas_left:
            draft.material.add(after.replicas_left)
            key = "after_failure" if after.carries else "after_failure_not"
            told.append(words.text("queue", key, left=after.replicas_left))
    return told


def _demand_text(draft: Draft, asked: Demand) -> str:
    if not asked.requests_per_day:
        return draft.words.text("queue", "rate", minute=asked.rate_rps * 60)
    key = "demand_assumed" if "requests_per_day" in asked.assumed else "demand"
    each = asked.requests_per_day / asked.users if asked.users else 0.0
    draft.material.add(each)
    return draft.words.text(
        "queue", key, daily=asked.requests_per_day, share=asked.peak_hour_share, minute=asked.rate_rps * 60, each=each
    )  # fmt: skip


def _at_peak(sized: Sized) -> tuple[Demand, LoadPoint] | None:
    asked = demand(sized.parsed) if sized.parsed is not None else None
    if asked is None:
        return None
    resolved, plan = _planned(sized)
    return None if resolved is None or plan is None else (asked, under_load(resolved, plan, asked.rate_rps))


def _planned(sized: Sized) -> tuple[Resolved | None, MemoryPlan | None]:
    """The deployment with its plan; nothing where not even one request has room, or it writes no text."""
    memory = sized.estimate.memory
    room = memory.max_concurrency_at_context if memory else None
    if (
        sized.resolved is None
        or sized.figures["task"] != "inference"
        or not (sized.estimate.fits or (room or 0.0) >= 1)
    ):
        return None, None
    try:
        return sized.resolved, plan_inference(sized.resolved)
    except UserError:
        return None, None


def _add(draft: Draft, asked: Demand, point: LoadPoint) -> None:
    material = draft.material
    material.add_data(
        {"daily": asked.requests_per_day or 0.0, "minute": asked.rate_rps * 60, "running": point.concurrency}
    )
    material.add(asked.peak_hour_share, "share")
    material.add(point.utilization, "share")
    material.add(point.tokens_s_per_user, "rate")
    for value in (point.ttft_p50_ms, point.ttft_p95_ms):
        material.add(value / 1000, "time")
