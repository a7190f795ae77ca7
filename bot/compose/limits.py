"""The most that hardware carries: the longest context and the most requests, as the first sentence of an answer that asks for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from bot.compose.counting import meets
from bot.compose.quantity import quantity_of
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized, size
from sizing.defaults import Defaults
from sizing.estimate import Estimate
from sizing.memory.inference import plan_inference
from sizing.resolve import busy_at_once, resolve
from sizing.sensitivity import best_format, fits_with, largest_context, last_that_holds, most_concurrent, usual_formats
from sizing.spec import Targets, WorkloadSpec
from sizing.speed.load import with_users

_LENGTHS: Final = ("input_tokens", "output_tokens", "prior_context_tokens")
_LADDER: Final = (131072, 98304, 65536, 49152, 32768, 24576, 16384, 12288, 8192, 6144, 4096, 2048, 1024)
_MOST_REQUESTS: Final = 4096
_LATE: Final = re.compile(r"\bp ?9[059]\b|per[cz]enti\w*", re.IGNORECASE)
_MOST_USERS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Limit:
    """The deployment at its limit, the sentence that names the limit, and what goes with it."""

    sized: Sized
    headline: str
    more: str
    facts: dict[str, Any]


def at_limit(asked: Sized, question: str, defaults: Defaults, words: Wording) -> Limit | None:
    """The limit that a question asks for; None where it asks for none or nothing fits at all."""
    if asked.parsed is None or asked.parsed.task != "inference" or not asked.parsed.hardware:
        return None
    wanted = quantity_of(question)
    if wanted == "context":
        return _longest(asked, asked.parsed, defaults, words)
    if wanted == "format" and not asked.parsed.weights:
        return _widest(asked, asked.parsed, defaults, words)
    if wanted != "requests":
        return None
    return _most_requests(asked, asked.parsed, defaults, words, late=_LATE.search(question) is not None)


def _widest(asked: Sized, parsed: WorkloadSpec, defaults: Defaults, words: Wording) -> Limit | None:
    """The widest usual format that fits, and what the next wider one lacks."""
    best = best_format(parsed, defaults)
    if best is None:
        return None
    sized = size({**asked.spec, "weights": best[0]}, defaults)
    if not sized.estimate.ok or sized.margin_gib is None:
        return None
    headline = words.text("limit", "format", free=max(0.0, sized.margin_gib), **_named(sized))
    formats = usual_formats(parsed, defaults)
    wider = formats[formats.index(best[0]) - 1] if best[0] in formats[1:] else None
    short = fits_with(parsed, defaults, weights=wider).margin_gib if wider else None
    more = ""
    if wider and short is not None and short.expected < 0:
        more = words.text("limit", "format_wider", wider=names.weight_format(wider), missing=-short.expected)
    facts = {"missing_gib": -short.expected if short else None, "wider": names.weight_format(wider) if wider else None}
    return Limit(sized, headline, more, facts)


def _longest(asked: Sized, parsed: WorkloadSpec, defaults: Defaults, words: Wording) -> Limit | None:
    longest = largest_context(parsed, defaults)
    if longest is None:
        return None
    whole = asked.resolved.architecture.max_position_tokens if asked.resolved else None
    value = longest if longest == whole else _rounded_down(longest)
    free = {key: part for key, part in asked.spec.items() if key not in _LENGTHS}
    sized = size({**free, "context_tokens": value}, defaults)
    key = "context_whole" if value == whole else "context"
    named = _named(sized)
    at_once = words.text("limit", "at_once_one" if named["concurrency"] == 1 else "at_once", **named)
    headline = words.text("limit", key, value=value, at_once=at_once, **named)
    safe = None if _is_safe(sized.estimate) else _safe_length(parsed, value, defaults)
    more = words.text("limit", "context_safe", value=safe) if safe else ""
    return Limit(sized, headline, more, {"value_tokens": value, "safe_tokens": safe})


def _safe_length(parsed: WorkloadSpec, below: int, defaults: Defaults) -> int | None:
    """The longest of the usual lengths that fits even at the low end of the estimate."""
    plain = parsed.model_copy(update=dict.fromkeys(_LENGTHS))
    lengths = (length for length in _LADDER if length < below)
    return next((one for one in lengths if _is_safe(fits_with(plain, defaults, context_tokens=one))), None)


def _is_safe(found: Estimate) -> bool:
    return found.margin_gib is not None and found.margin_gib.low >= 0


def _most_requests(
    asked: Sized, parsed: WorkloadSpec, defaults: Defaults, words: Wording, *, late: bool
) -> Limit | None:
    most = most_concurrent(parsed, defaults, _MOST_REQUESTS)
    if most is None:
        return None
    held = _fast_enough(parsed, most, parsed.targets, defaults)
    if held is not None and late and parsed.targets.ttft_s:
        held = _soon_enough(parsed, held, parsed.targets.ttft_s, defaults)
    if held is None:
        return None
    floor, in_time = None, held
    if not parsed.targets.tokens_s_per_user:
        floor, held = _at_a_pace(parsed, held, defaults)
    spec = {key: value for key, value in asked.spec.items() if key not in ("users", "active_share")}
    sized = size({**spec, "concurrency": held}, defaults)
    people = _people(held, parsed.active_share or defaults.active_share)
    facts = {
        "value": held,
        "floor_tokens_s": floor,
        "people": people,
        "share": parsed.active_share or defaults.active_share,
        "memory_alone": most,
    }
    speed = sized.estimate.speed
    rate = speed.decode_tok_s_per_user if speed else None
    more = [words.text("limit", "requests_rate", rate=rate)] if rate else []
    more += [words.text("limit", "requests_people", people=people, share=facts["share"])] if people > held else []
    if held < most:
        more.append(
            words.text(
                "limit", "requests_floor" if floor and held < in_time else "requests_memory", value=most, floor=floor
            )
        )
    key = "requests_many" if held >= _MOST_REQUESTS else "requests_one" if held == 1 else "requests"
    return Limit(sized, words.text("limit", key, value=held, **_named(sized)), " ".join(more), facts)


def _fast_enough(parsed: WorkloadSpec, most: int, targets: Targets, defaults: Defaults) -> int | None:
    """The most requests of those that memory holds which meet the targets of speed; None where not even one does."""
    if meets(_with(parsed, most, defaults), targets):
        return most
    return last_that_holds(lambda count: 0.0 if meets(_with(parsed, count, defaults), targets) else -1.0, most, most)


def _soon_enough(parsed: WorkloadSpec, most: int, ttft_s: float, defaults: Defaults) -> int | None:
    """The most requests in flight of which 19 in 20 get their first token in time; None where not even one does."""

    def spare_ms(count: int) -> float:
        resolved = resolve(parsed.model_copy(update={"concurrency": count, "users": None}), defaults)
        return 1000 * ttft_s - with_users(resolved, plan_inference(resolved), count).ttft_p95_ms

    return most if spare_ms(most) >= 0 else last_that_holds(spare_ms, most, most)


def _at_a_pace(parsed: WorkloadSpec, most: int, defaults: Defaults) -> tuple[float | None, int]:
    """(tokens/s, requests): nobody serves people who wait for every word. The pace of recommendations, or half or a quarter of it where
    the hardware does not reach that even for one; memory alone where it reaches none."""
    for share in (1.0, 0.5, 0.25):
        floor = share * (defaults.min_tokens_s_per_user or 0.0)
        targets = parsed.targets.model_copy(update={"tokens_s_per_user": floor or None})
        held = _fast_enough(parsed, most, targets, defaults)
        if held is not None:
            return floor, held
    return None, most


def _with(parsed: WorkloadSpec, count: int, defaults: Defaults) -> Estimate:
    return fits_with(parsed, defaults, concurrency=count, users=None)


def _people(busy: int, share: float) -> int:
    """How many people keep that many requests in flight at most, in 19 of 20 moments."""
    found = last_that_holds(lambda users: float(busy - busy_at_once(users, share)), busy, _MOST_USERS)
    return found or busy


def _named(sized: Sized) -> dict[str, Any]:
    figures = sized.figures
    return {name: figures[name] for name in ("model", "hardware", "weights", "kv", "context", "concurrency")}


def _rounded_down(tokens: int) -> int:
    """A length that people would set: 37,412 → 36,864 (36k)."""
    return tokens // 1024 * 1024 if tokens >= 8192 else tokens // 256 * 256 or tokens
