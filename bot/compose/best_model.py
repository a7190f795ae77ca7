"""Which model to take on a card: those that run on it, ranked, with one to try first and one that is faster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.runnable import MOST_ROWS, runnable, runnable_table
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.sized import Sized, size
from bot.thread import Spec
from bot.understand.planning import folded_text
from sizing.defaults import Defaults

_MODEL: Final = r"(?:modell?e?s?|llms?|ki)\b"
_TAKE: Final = r"(?:take|run|use|nehmen|nutzen|laufen|laeuft|best\w*|empf\w*|recommend)"
_ASKS: Final = re.compile(
    rf"\b(?:best\w*|staerkste\w*|strongest|smartest|kluegste\w*|largest|groesste\w*) (?:\S+ ){{0,3}}?{_MODEL}"
    rf"|\b(?:welche\w*|which|what) (?:\S+ ){{0,2}}?{_MODEL}.{{0,40}}?\b{_TAKE}"
    rf"|\b(?:empfiehl\w*|empfehlung\w*|recommend\w*) .{{0,30}}?{_MODEL}"
)
_MEMORY: Final = re.compile(r"(\d{1,4}) ?(?:gb|gib|g)\b")
# Of models at least this large against the largest, the fastest is told: a much smaller one is no rival.
_RIVAL_SHARE: Final = 0.4


def write(draft: Draft, heard: Heard, text: str, defaults: Defaults) -> bool:
    """Fills the draft where a message asks which model to take on named hardware or in so many GB; False otherwise."""
    folded = folded_text(text)
    if not _ASKS.search(folded) or any(spec.get("model") for spec in heard.specs) or len(heard.specs) > 1:
        return False
    spec = _hardware(heard, folded)
    if spec is None:
        return False
    found = runnable(spec, defaults)
    if not found:
        return False
    _write(draft, size(spec, defaults), found)
    return True


def _hardware(heard: Heard, folded: str) -> Spec | None:
    """The hardware named; a card of so many GB where only its memory is."""
    said: Spec = heard.specs[0] if heard.specs else {"task": "inference"}
    if any(entry.get("accelerator") or entry.get("memory_gb") for entry in said.get("hardware") or ()):
        return said
    memory = _MEMORY.search(folded)
    return {**said, "hardware": [{"memory_gb": float(memory[1]), "count": 1}]} if memory else None


def _write(draft: Draft, asked: Sized, found: list[Sized]) -> None:
    words = draft.words
    roomy = [one for one in found if one.verdict == "fits"] or found
    ranked = [*roomy, *(one for one in found if one not in roomy)]
    first, fast = ranked[0], _fastest(ranked)
    params = {"model": first.figures["model"], "weights": first.figures["weights"], "hardware": asked.hardware}
    draft.headline = words.text("best", "headline", **params)
    told = [words.text("best", "why", count=len(found))]
    if fast is not None and fast is not first:
        rate = fast.estimate.speed.decode_tok_s_per_user if fast.estimate.speed else None
        told.append(words.text("best", "fast", model=fast.figures["model"], weights=fast.figures["weights"], rate=rate))
    lead = " ".join([*told, words.text("best", "caution")])
    draft.lead = with_mark(lead, draft.sources.topic("model_choice", lead))
    draft.material.add(len(found))
    draft.sized, draft.options = [asked], ranked
    draft.table = runnable_table(ranked[:MOST_ROWS], words)
    draft.say("note", words.text("best", "next"), draft.title("next_step"))
    draft.assumptions = assumption_views(first, words)
    cite_devices([first], draft.sources)
    draft.actions = ("export",)


def _fastest(ranked: Sequence[Sized]) -> Sized | None:
    """The fastest of those that play in the league of the largest."""
    largest = max(float(one.figures["params_b"]) for one in ranked)
    rivals = [one for one in ranked if float(one.figures["params_b"]) >= _RIVAL_SHARE * largest and _rate(one)]
    return max(rivals, key=_rate, default=None)


def _rate(one: Sized) -> float:
    speed = one.estimate.speed
    return speed.decode_tok_s_per_user.expected if speed and speed.decode_tok_s_per_user else 0.0
