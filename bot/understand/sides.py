"""Sides of a comparison that each name a model and a machine, or a way to spread one model: they are read side by side, not crossed."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from bot.understand.request import Request
from bot.understand.text import fold

_BARS = re.compile(r"\|")
_WORDS = re.compile(r"\s(?:vs\.?|versus|gegen|against|compared (?:to|with)|oder|or)\s", re.IGNORECASE)
_TENSOR = re.compile(r"\btp\b|\btp-?\d|tensor[- ]?parallel")
_COPIES = re.compile(
    r"\b(?:replicas?|replikat\w*|kopien|copies|data[- ]?parallel\w*|dp-?\d?|(?:zwei|vier|two|four|\d) (?:separate |getrennte |eigene )?"
    r"(?:instan\w+|server processes))\b"
)

Read = Callable[[str], Request]


def with_sides(request: Request, read: Read) -> Request:
    """The request with `other.sides` (one model and machine each) or `other.layouts` where its message compares such."""
    sides = _sides(request, read)
    if sides:
        return request.model_copy(update={"other": {**request.other, "sides": sides}})
    return _with_engines(_with_layouts(request))


def _with_engines(request: Request) -> Request:
    """Engines held against each other on a machine that is named are a comparison."""
    if not (request.other.get("engines_compared") and request.hardware and request.in_scope):
        return request
    intents = tuple(dict.fromkeys(("compare", *request.intents)))
    return request.model_copy(update={"intent": "compare", "intents": intents})


def _sides(request: Request, read: Read) -> list[dict[str, Any]]:
    if len(request.hardware) < 2 or not (request.models or request.params_b):
        return []
    for pattern in (_BARS, _WORDS):
        parts = [part for part in pattern.split(request.text) if part.strip()]
        if len(parts) == len(request.hardware):
            found = [_side(read(part)) for part in parts]
            if all(found):
                return [side for side in found if side]
    return []


def _side(one: Request) -> dict[str, Any] | None:
    """Model, machine and formats of one side; None where it does not name exactly one of each."""
    if len(one.models) + (one.params_b is not None) != 1 or len(one.hardware) != 1:
        return None
    named = one.model_dump(mode="json", include={"models", "params_b", "hardware", "weights", "kv_cache", "engine"})
    return {name: value for name, value in named.items() if value not in (None, [], ())}


def _with_layouts(request: Request) -> Request:
    """ "TP 2 against two replicas" on one machine of several cards."""
    count = request.hardware[0].count if len(request.hardware) == 1 else None
    folded = fold(request.text).folded
    if not count or count < 2 or not (_TENSOR.search(folded) and _COPIES.search(folded)):
        return request
    if request.other.get("engine_flags", {}).get("data_parallel_attention"):
        return request  # one layout: the copies are of attention, inside the tensor group
    degree = int(count)
    other = {name: value for name, value in request.other.items() if not name.startswith("parallel_")}
    layouts = [{"tensor": degree, "data": 1}, {"tensor": 1, "data": degree}]
    intents = tuple(dict.fromkeys(("compare", *request.intents)))
    return request.model_copy(update={"other": {**other, "layouts": layouts}, "intent": "compare", "intents": intents})


def requests_of(request: Request, sides: Sequence[dict[str, Any]]) -> list[Request]:
    """One request a side: what the side names, and all else as the whole says."""
    return [
        Request.model_validate(
            {**request.model_dump(), "models": (), "params_b": None, "layout": "machine", "alternatives": (), **side}
        )
        for side in sides
    ]
