""" "How many L40S?": the smallest number of the named card that does."""

from __future__ import annotations

import re
from typing import Final

from bot.sized import Sized, plain_spec, size, size_parsed
from bot.thread import Spec, ThreadState
from sizing.defaults import Defaults
from sizing.enough import enough_of
from sizing.errors import UserError
from sizing.estimate import Estimate
from sizing.spec import Targets, WorkloadSpec

_HOW_MANY: Final = re.compile(r"how many|wie ?viele?\b", re.IGNORECASE)
_ONE_ENOUGH: Final = re.compile(
    r"\b(?:is|would|will|reicht|genügt|langt)\b[^.?!]{0,12}\b(?:one|eine[rs]?)\b(?! \d)[^.?!]{0,15}(?:enough|\bdo\b|genug|\?)|"
    r"\bone (?:is )?enough",
    re.IGNORECASE,
)
_COUNTS: Final = (1, 2, 4, 8, 16)
_FEWER: Final = 1


def with_count(asked: Sized, question: str, defaults: Defaults) -> Sized:
    """The spec with the number of cards that was asked for; as it is where none was asked for or none does."""
    hardware = asked.spec.get("hardware") or []
    open_count = len(hardware) == 1 and hardware[0].get("count") is None and _HOW_MANY.search(question)
    return smallest(asked, defaults) if open_count else asked


def one_of(asked: Sized, question: str, defaults: Defaults) -> Sized:
    """The deployment on one card where it is asked whether one of several is enough, and it is; as it is otherwise."""
    entries = asked.spec.get("hardware") or []
    if len(entries) != 1 or (entries[0].get("count") or 1) < 2 or not _ONE_ENOUGH.search(question):
        return asked
    alone = size({key: part for key, part in _counted(asked.spec, 1).items() if key != "parallel"}, defaults)
    return alone if alone.verdict == "fits" else asked


def asks_how_many(question: str) -> bool:
    """Whether a number is asked for."""
    return _HOW_MANY.search(question) is not None


def counted(specs: tuple[Spec, ...], thread: ThreadState, defaults: Defaults) -> tuple[Spec, ...]:
    """Specs of a thread that began with "how many": the number found then stands for the turns after."""
    asked = any(_HOW_MANY.search(turn.text) for turn in thread.turns if turn.text)
    if not asked or len(specs) != 1 or not specs[0].get("model") or len(specs[0].get("hardware") or ()) != 1:
        return specs
    found = smallest(size(specs[0], defaults), defaults)
    return (found.spec,)


def smallest(asked: Sized, defaults: Defaults) -> Sized:
    """The deployment on the smallest number of its card that does, where the number is open; where none is fast enough, the fastest
    that holds it, and as it is where none does that."""
    if asked.parsed is None or asked.spec["hardware"][0].get("count") is not None:
        return asked
    too_slow: list[Sized] = []
    for count in _COUNTS:
        tried = size(_counted(asked.spec, count), defaults)
        if tried.estimate.verdict == "fits" and meets(tried.estimate, asked.parsed.targets):
            return tried
        too_slow += [tried] if tried.estimate.verdict == "fits" else []
    return _searched(asked, asked.parsed, defaults) or max(too_slow, key=_rate, default=asked)


def _rate(one: Sized) -> float:
    speed = one.estimate.speed
    return speed.decode_tok_s_per_user.expected if speed and speed.decode_tok_s_per_user else 0.0


def _searched(asked: Sized, parsed: WorkloadSpec, defaults: Defaults) -> Sized | None:
    """Split in other ways, or with a narrower cache: what the search finds on the same card."""
    try:
        found = enough_of(parsed, defaults) if parsed.task == "inference" and asked.estimate.ok else None
    except UserError:
        return None
    return size_parsed(found[0], defaults, plain_spec(found[0]), found[1]) if found else None


def ladder(sized: Sized, defaults: Defaults) -> list[Sized]:
    """The counts around the one that does: the one before it, itself, and the next."""
    chosen = int(sized.spec["hardware"][0]["count"])
    fewer = [count for count in _COUNTS if count < chosen][-_FEWER:]
    more = [count for count in _COUNTS if count > chosen][:1]
    rows = [size(_counted(sized.spec, count), defaults) for count in (*fewer, *more)]
    sound = [*rows, sized]
    return sorted((one for one in sound if one.estimate.ok), key=lambda one: int(one.spec["hardware"][0]["count"]))


def _counted(spec: Spec, count: int) -> Spec:
    return {**spec, "hardware": [{**spec["hardware"][0], "count": count}]}


def meets(estimate: Estimate, targets: Targets) -> bool:
    """Whether the expected speed is what was wished; a target that no figure answers counts as met."""
    return not missed(estimate, targets)


def missed(estimate: Estimate, targets: Targets) -> list[tuple[str, float, float]]:
    """(target, wanted, expected) of every target that the expected speed misses: seconds wanted and milliseconds expected for
    the first token, tokens a second for the others."""
    speed = estimate.speed
    if speed is None:
        return []
    rows = (
        ("tokens_s_per_user", targets.tokens_s_per_user, speed.decode_tok_s_per_user, 1.0, True),
        ("tokens_s_total", targets.tokens_s_total, speed.output_tok_s_total, 1.0, True),
        ("ttft_s", targets.ttft_s, speed.ttft_ms, 1000.0, False),
    )
    return [
        (name, wanted, got.expected)
        for name, wanted, got, scale, more_is_better in rows
        if wanted and got and (got.expected / scale < wanted if more_is_better else got.expected / scale > wanted)
    ]
