"""The one question that an answer may ask back: a fact about the workload that was assumed and on which the verdict hangs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from bot.answer import Alternative, AssumptionView
from bot.heard import Heard
from bot.sized import Sized, size
from bot.specs import merged
from bot.understand.number_words import NUMBER_WORDS
from bot.understand.request import Assumption
from sizing.catalogue.names import find
from sizing.defaults import Defaults
from sizing.errors import UserError
from sizing.sensitivity import turning
from sizing.spec import WorkloadSpec, parse_spec

# Only facts that the asker knows, the weightiest first; a format or an engine is a choice, offered as a button.
_ASKED = ("model", "hardware", "context_tokens", "concurrency")
# A figure is asked where so many times what was assumed would turn the verdict; far more is another workload.
_WITHIN = {"context_tokens": 4.0, "concurrency": 10.0}


def open_question(sized: Sized, views: Sequence[AssumptionView], defaults: Defaults) -> AssumptionView | None:
    """The assumption that one of its own alternatives would turn the verdict of; None where the answer stands either way."""
    if sized.parsed is None or sized.estimate.fits is None:
        return None
    by_field = {view.field: view for view in views}
    for field in _ASKED:
        view = by_field.get(field)
        if view and turning(sized.estimate, _specs(sized, _near(sized, field, view.alternatives)), defaults):
            return view
    return None


def decided(heard: Heard, defaults: Defaults) -> Heard:
    """A word that names several cards ("a 6000") is taken for the customary one where all of them lead to the same verdict.

    Otherwise the question stays, with a button for each card.
    """
    cards = cards_of(heard)
    if len(cards) < 2:
        return heard
    spec = heard.specs[0]
    sized = [size(merged(spec, {"hardware": [card]}), defaults) for card in cards]
    names = [str(card["accelerator"]) for card in cards]
    reading = Assumption(field="hardware", value=names[0], why="customary_default", others=tuple(names[1:]))
    others = [one.parsed for one in sized[1:] if one.parsed is not None]
    if sized[0].estimate.fits is None or turning(sized[0].estimate, others, defaults):
        return heard
    return replace(heard, specs=(sized[0].spec,), clarify=None, readings=(*heard.readings, reading))


_CARD = re.compile(r"(?P<count>[a-zA-Z]+|\d{1,3}) ?x? ?(?P<name>\d{4})(?:er|s)?\b")


def cards_of(heard: Heard) -> list[dict[str, Any]]:
    """The cards that an ambiguous word may mean, the customary one first, in the number said."""
    if heard.clarify is None or heard.clarify.code != "ambiguous_word" or len(heard.specs) != 1:
        return []
    said = _CARD.search(heard.clarify.values[0]) if heard.clarify.values else None
    if said is None or not heard.specs[0].get("model") or heard.specs[0].get("hardware"):
        return []
    match = find(said["name"], "accelerator", False)
    word = said["count"].lower()
    count = int(word) if word.isdigit() else int(NUMBER_WORDS.get(word, 1))
    return [{"accelerator": ident, "count": count} for ident in match.candidates]


def _near(sized: Sized, field: str, alternatives: Iterable[Alternative]) -> list[dict[str, Any]]:
    """The changes that are near enough to what was assumed."""
    most = _WITHIN.get(field)
    taken = _taken(sized, field) if most else None
    return [
        other.delta for other in alternatives if most is None or (taken is not None and other.delta[field] <= most * taken)
    ]  # fmt: skip


def _taken(sized: Sized, field: str) -> float | None:
    found = next((one.value for one in sized.estimate.assumptions if one.field == field), None)
    return float(found) if isinstance(found, (int, float)) else None


def _specs(sized: Sized, deltas: Iterable[dict[str, Any]]) -> Iterable[WorkloadSpec]:
    for delta in deltas:
        try:
            yield parse_spec(merged(sized.spec, delta))
        except UserError:
            continue
