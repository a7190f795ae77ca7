"""Which model to take on a card: those that run on it, ranked, with one to try first and one that is faster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.runnable import codes, first_choice, from_ram, runnable, runnable_table, shown_rows
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.sized import Sized, size
from bot.thread import Spec
from bot.understand.planning import folded_text
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults

_MODEL: Final = r"(?:modell?e?s?|llms?|ki)\b"
_TAKE: Final = r"(?:take|run|use|nehmen|nutzen|laufen|laeuft|best\w*|empf\w*|recommend)"
_ASKS: Final = re.compile(
    rf"\b(?:best\w*|staerkste\w*|strongest|smartest|kluegste\w*|largest|groesste\w*) (?:\S+ ){{0,3}}?{_MODEL}"
    rf"|\b(?:welche\w*|which|what) (?:\S+ ){{0,2}}?{_MODEL}.{{0,40}}?\b{_TAKE}"
    rf"|\b(?:what|was) (?:can|could|kann|koennte|laeuft|runs) (?:\S+ ){{0,8}}?(?:run|laufen|betreiben|auf|on)\b(?!.{{0,80}}\bschnell)"
    rf"|\b(?:welche\w*|which|what) (?:\S+ )?{_MODEL} (?:auf|on|fuer|for)\b"
    rf"|\b(?:empfiehl\w*|empfehlung\w*|recommend\w*) .{{0,30}}?{_MODEL}"
)
_MEMORY: Final = re.compile(r"(\d{1,4}) ?(?:gb|gib|g)\b")
_CODING: Final = re.compile(
    r"\b(?:cod(?:e|ing|er|ieren)\w*|program\w*|develop\w*|entwickl\w*|softwareentw\w*|copilot)\b"
)
# Of models at least this large against the largest, the fastest is told: a much smaller one is no rival.
_RIVAL_SHARE: Final = 0.6


def write(draft: Draft, heard: Heard, text: str, defaults: Defaults) -> bool:
    """Fills the draft where a message asks which model to take on named hardware or in so many GB; False otherwise."""
    folded = folded_text(text)
    if not _ASKS.search(folded) or any(spec.get("model") for spec in heard.specs) or len(heard.specs) > 1:
        return False
    spec = _hardware(heard, folded)
    if spec is None:
        return False
    coding = asks_for_coding(text)
    found = runnable(spec, defaults, coding)
    if not found:
        return False
    write_choice(draft, size(spec, defaults), found, coding, defaults)
    return True


def asks_for_coding(text: str) -> bool:
    """Whether the words name programming as the purpose."""
    return _CODING.search(folded_text(text)) is not None


def _hardware(heard: Heard, folded: str) -> Spec | None:
    """The hardware named; a card of so many GB where only its memory is."""
    said: Spec = heard.specs[0] if heard.specs else {"task": "inference"}
    if any(entry.get("accelerator") or entry.get("memory_gb") for entry in said.get("hardware") or ()):
        return said
    memory = _MEMORY.search(folded)
    return {**said, "hardware": [{"memory_gb": float(memory[1]), "count": 1}]} if memory else None


def write_choice(draft: Draft, asked: Sized, found: list[Sized], coding: bool, defaults: Defaults) -> None:
    """The models that run on a machine: the one to try first, a faster one, and the table."""
    words = draft.words
    first = first_choice(found, defaults, coding)
    shown = shown_rows(found, first, coding)
    fast = _fastest(shown, first, coding)
    params = {"model": first.figures["model"], "weights": first.figures["weights"], "hardware": asked.hardware}
    draft.headline = words.text("best", "headline_coding" if coding else "headline", **params)
    told = [words.text("best", "why_coding" if coding else "why", count=len(found))]
    if fast is not None and fast is not first:
        rate = fast.estimate.speed.decode_tok_s_per_user if fast.estimate.speed else None
        told.append(words.text("best", "fast", model=fast.figures["model"], weights=fast.figures["weights"], rate=rate))
    if any(from_ram(one) for one in shown):
        told.append(words.text("best", "from_ram"))
    lead = " ".join([*told, words.text("best", "caution")])
    draft.lead = with_mark(lead, draft.sources.topic("model_choice", lead))
    draft.material.add(len(found))
    draft.material.add_text(" ".join(catalogue().models[one.spec["model"]["id"]].released or "" for one in shown))
    draft.sized, draft.options, draft.asks_back = [asked], [first, *(one for one in shown if one is not first)], False
    draft.table = runnable_table(shown, words)
    draft.say("note", words.text("best", "next"), draft.title("next_step"))
    draft.assumptions = assumption_views(first, words)
    cite_devices([first], draft.sources)
    draft.actions = ("export",)


def _fastest(shown: Sequence[Sized], first: Sized, coding: bool) -> Sized | None:
    """The fastest of those that play in the league of the first choice and are made for the same."""
    least = _RIVAL_SHARE * float(first.figures["params_b"])
    alike = [one for one in shown if not coding or codes(one) == codes(first)]
    return max(
        (one for one in alike if float(one.figures["params_b"]) >= least and _rate(one)), key=_rate, default=None
    )


def _rate(one: Sized) -> float:
    speed = one.estimate.speed
    return speed.decode_tok_s_per_user.expected if speed and speed.decode_tok_s_per_user else 0.0
