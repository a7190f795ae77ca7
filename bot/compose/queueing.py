"""A service under load in words: requests, how many run at once, waits and pace in the middle and at the edge, how much more would go."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.limits import Limit
from bot.explain import with_mark
from bot.sized import Sized, plain_spec, size, size_parsed
from sizing.defaults import Defaults
from sizing.enough import enough_of
from sizing.errors import UserError
from sizing.memory.inference import plan_inference
from sizing.memory.plan import MemoryPlan
from sizing.resolve import Resolved
from sizing.speed.load import Demand, LargestLoad, LoadPoint, demand, largest_load, under_load, with_users
from sizing.speed.workload import work

_WAIT: Final = re.compile(
    r"\bwarte\w*|\bwait\w*|\bqueue\w*|\bschlange\b|\bspitze\w*|\bpeak\w*|sto(?:ß|ss)zeit\w*|rush hour", re.IGNORECASE
)
_PERCENTILES: Final = re.compile(
    r"\bp\s?(?:50|90|95|99)\b|\bttft\b|\btpot\b|\bitl\b|percentile\w*|perzentil\w*|\blatenc\w*|\blatenz\w*|first token|erste[ns]? token|"
    r"antwortzeit\w*|response time",
    re.IGNORECASE,
)
_LARGEST: Final = re.compile(
    r"(?:\bmost\b|\bmax\w*|\bhow many\b|\bwie viele?\b|\bh(?:ö|oe)chst\w*|\bgr(?:ö|oe)(?:ß|ss)te\w*|\blargest\b|\bhighest\b)[^.!?]{0,60}?"
    r"(?:(?:requests?|anfragen|queries|prompts?|fragen|chats?|calls)\s?(?:/|per|pro|je|an?|in der|die)\s?"
    r"(?:s|sec\w*|sek\w*|min\w*|h|hours?|stunde|days?|tag)\b|\brps\b|\bqps\b|\brpm\b|\bload\b|\blast\b)",
    re.IGNORECASE,
)
_OTHER_LOADS: Final = frozenset(
    {"concurrency", "users", "active_share", "load", "context_tokens", "input_tokens", "output_tokens"}
)
_PER_SECOND: Final = 1.0  # from this rate on requests are told by the second, below by the minute

Source = Literal["rate", "day", "users"]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The service at the load that was said: where the load comes from, and what it does there."""

    source: Source
    asked: Demand | None
    point: LoadPoint


def headline(draft: Draft, sized: Sized, question: str) -> str | None:
    """How long people wait and how fast it flows, where that is asked; an overload always."""
    if _LARGEST.search(question):
        return None
    found = _seen(sized, question)
    if found is None or not (_WAIT.search(question) or _PERCENTILES.search(question) or _is_overrun(found)):
        return None
    words, point = draft.words, found.point
    load = _load_text(draft, sized, found)
    named = {"hardware": sized.hardware, "model": sized.figures["model"], "load": load}
    _add(draft, found)
    if not point.stable:
        return words.text("queue", "headline_overloaded", **named)
    key = "headline" if found.source == "day" and not _PERCENTILES.search(question) else "headline_percentiles"
    return words.text("queue", key, **named, **_times(point))


def is_told(sized: Sized) -> bool:
    """Whether the load is said, so that the pace under it is told here."""
    load = sized.parsed.load if sized.parsed is not None else None
    return load is not None and bool(load.rate_rps or load.requests_per_day) and _planned(sized)[0] is not None


def is_overloaded(sized: Sized) -> bool:
    """Whether more arrives than the hardware does."""
    found = _seen(sized, "") if is_told(sized) else None
    return found is not None and _is_overrun(found)


def say(draft: Draft, sized: Sized, question: str, defaults: Defaults) -> None:
    """The service at a load that is said, or whose waits are asked for."""
    found = _seen(sized, question)
    if found is None or sized.resolved is None:
        return
    _add(draft, found)
    words, point = draft.words, found.point
    told = [_demand_text(draft, found)]
    told.append(words.text("queue", "running" if point.stable else "overloaded", **_running(point)))
    if point.stable:
        told.append(words.text("queue", "percentiles", **_times(point)))
        if speed := sized.estimate.speed:
            told.append(words.text("queue", "range", span=speed.decode_tok_s_per_user))
        told.append(_whole_answer(draft, sized.resolved, point))
    told.append(_more(draft, sized, found) if not _LARGEST.search(question) else "")
    told.append(_enough(draft, sized, defaults) if _is_overrun(found) else "")
    text = " ".join(part for part in told if part)
    draft.say("note", with_mark(text, draft.sources.topic("queueing", text)), draft.title(f"queue_{found.source}"))


def at_largest(draft: Draft, asked: Sized, question: str, defaults: Defaults) -> Limit | None:
    """The deployment at the largest load that meets its targets, where that is what is asked."""
    resolved, plan = _planned(asked) if _LARGEST.search(question) else (None, None)
    if resolved is None or plan is None or asked.parsed is None:
        return None
    largest, words, load = largest_load(resolved, plan, asked.parsed.targets), draft.words, work(resolved)
    named = {"hardware": asked.hardware, "model": asked.figures["model"]}
    if largest.point is None:
        return Limit(asked, words.text("queue", f"largest_none_{largest.bound_by}", **named), "", {})
    rest = {key: part for key, part in asked.spec.items() if key not in _OTHER_LOADS}
    lengths = {"input_tokens": load.input_tokens, "output_tokens": load.output_tokens}
    sized = size({**rest, **lengths, "load": {**asked.spec.get("load", {}), "rate_rps": largest.rate_rps}}, defaults)
    _add_point(draft, largest.point)
    told = words.text(
        "queue", f"largest_{largest.bound_by}", **named, **_times(largest.point), given=load.input_tokens, written=load.output_tokens,
        rate=_rate(draft, largest.rate_rps), running=largest.concurrency,
    )  # fmt: skip
    more = words.text("queue", "lengths_assumed") if load.input_assumed or load.output_assumed else ""
    return Limit(sized, told, more, dict(lengths))


def _more(draft: Draft, sized: Sized, found: _Seen) -> str:
    """How much more would go."""
    resolved, plan = _planned(sized)
    if resolved is None or plan is None or sized.parsed is None or found.source == "users":
        return ""
    largest = largest_load(resolved, plan, sized.parsed.targets)
    return _most_text(draft, largest, found) if largest.rate_rps > 0 else ""


def _enough(draft: Draft, sized: Sized, defaults: Defaults) -> str:
    """As many of the same card as carry what arrives."""
    parsed = sized.parsed
    if parsed is None or len(parsed.hardware) != 1:
        return ""
    uncounted = tuple(entry.model_copy(update={"count": None}) for entry in parsed.hardware)
    found = enough_of(parsed.model_copy(update={"hardware": uncounted}), defaults)
    if found is None:
        return draft.words.text("queue", "enough_none", hardware=sized.hardware)
    carrying = size_parsed(found[0], defaults, plain_spec(found[0]), found[1])
    draft.considered.append(carrying)
    return draft.words.text("queue", "enough", label=option_label(carrying, draft.words))


def _most_text(draft: Draft, largest: LargestLoad, found: _Seen) -> str:
    times = largest.rate_rps / found.point.rate_rps
    draft.material.add(times)
    key = f"most_{'less_' if times < 1 else ''}{largest.bound_by}"
    return draft.words.text("queue", key, most=_rate(draft, largest.rate_rps), times=times)


def _demand_text(draft: Draft, found: _Seen) -> str:
    asked = found.asked
    if asked is None or found.source != "day":
        return ""
    key = "demand_assumed" if "requests_per_day" in asked.assumed else "demand"
    each = (asked.requests_per_day or 0.0) / asked.users if asked.users else 0.0
    draft.material.add(each)
    draft.material.add_data({"daily": asked.requests_per_day or 0.0})
    draft.material.add(asked.peak_hour_share, "share")
    rate = _rate(draft, asked.rate_rps)
    return draft.words.text(
        "queue", key, daily=asked.requests_per_day, share=asked.peak_hour_share, rate=rate, each=each
    )


def _load_text(draft: Draft, sized: Sized, found: _Seen) -> str:
    """ "5 requests a second", "the busiest hour", "32 requests at once"."""
    if found.source == "users":
        return draft.words.text("queue", "load_users", concurrency=sized.figures["concurrency"])
    if found.source == "day":
        return draft.words.text("queue", "load_day")
    return draft.words.text("queue", "load_rate", rate=_rate(draft, found.point.rate_rps))


def _whole_answer(draft: Draft, resolved: Resolved, point: LoadPoint) -> str:
    """The time until the last token, from the first token and the pace."""
    written = work(resolved).output_tokens
    draft.material.add_data({"written": written})
    times = {}
    for name, first, token in (
        ("whole", point.ttft_p50_ms, point.tpot_p50_ms),
        ("late_whole", point.ttft_p95_ms, point.tpot_p95_ms),
    ):
        inputs = {"first_token_ms": first, "token_ms": token, "output_tokens": written}
        times[name] = draft.work_out(
            f"{name}_answer", "(first_token_ms + token_ms * (output_tokens - 1)) / 1000", "s", **inputs
        )
    return draft.words.text("queue", "whole_answer", written=written, **times)


def _rate(draft: Draft, rate_rps: float) -> str:
    """Requests in the unit one would say them in."""
    key, shown = ("a_second", rate_rps) if rate_rps >= _PER_SECOND else ("a_minute", rate_rps * 60)
    draft.material.add(shown)
    draft.material.add(shown, "rate")
    return draft.words.text("queue", key, value=shown)


def _seen(sized: Sized, question: str) -> _Seen | None:
    """The service at a rate said, in the busiest hour of the questions said, or with so many requests always in flight."""
    parsed = sized.parsed
    if parsed is None:
        return None
    asks = bool(_WAIT.search(question) or _PERCENTILES.search(question))
    asked = demand(parsed)
    said = bool(parsed.load.requests_per_day or parsed.load.rate_rps)
    by_users = parsed.concurrency is not None and not said
    if not (said or asks) or (asked is None and not by_users):
        return None
    resolved, plan = _planned(sized)
    if resolved is None or plan is None:
        return None
    if asked is None or by_users:
        several = resolved.concurrency > 1
        return _Seen("users", None, with_users(resolved, plan, resolved.concurrency)) if several else None
    source: Source = "rate" if parsed.load.rate_rps else "day"
    return _Seen(source, asked, under_load(resolved, plan, asked.rate_rps))


def _is_overrun(found: _Seen) -> bool:
    return not found.point.stable and found.source != "users"


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


def _times(point: LoadPoint) -> dict[str, float]:
    return {
        "first": point.ttft_p50_ms, "late": point.ttft_p95_ms, "token": point.tpot_p50_ms, "late_token": point.tpot_p95_ms,
        "flow": point.tokens_s_per_user,
    }  # fmt: skip


def _running(point: LoadPoint) -> dict[str, float]:
    return {"running": point.concurrency, "used": min(1.0, point.utilization)}


def _add(draft: Draft, found: _Seen) -> None:
    _add_point(draft, found.point)


def _add_point(draft: Draft, point: LoadPoint) -> None:
    material = draft.material
    material.add_data({"running": point.concurrency})
    material.add(min(1.0, point.utilization), "share")
    material.add(point.tokens_s_per_user, "rate")
    for value in (point.ttft_p50_ms, point.ttft_p95_ms, point.tpot_p50_ms, point.tpot_p95_ms):
        material.add(value / 1000, "time")
