""" "How did you get 60?": a figure of the last answer, opened down to the sum it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot import derivation
from bot.answer import Paragraph
from bot.compose.draft import Draft
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec, ThreadState
from sizing.defaults import Defaults

_ASKS: Final = re.compile(
    r"how (?:did|do) (?:you|we) (?:get|come|arrive|work|calculate)|where (?:does|do|did) .{0,40}\bcome|"
    r"wie komm(?:st|en|t) (?:du|sie|ihr|man|es)|wo(?:her)? komm(?:t|en)|woher (?:hast|haben|sind|ist)|wie (?:hast|haben) .{0,12}berechnet|"
    r"why (?:\d|exactly \d)|warum (?:\d|genau \d)",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,]\d{3})+(?![\d])|(?<![\w.,])\d+(?:[.,]\d+)?")


def write(draft: Draft, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    """Fills the draft where a message asks how a figure of the last answer came about; False where none is found."""
    turn = thread.last_sized
    if turn is None or not _ASKS.search(text):
        return False
    asked = [match[0] for match in _NUMBER.finditer(text)]
    deployments = [size(spec, defaults) for spec in _deployments(turn.specs, turn.options)]
    for shown in asked:
        for sized in deployments:
            if _write(draft, shown, sized):
                return True
    return False


def _deployments(specs: tuple[Spec, ...], options: tuple[Spec, ...]) -> Iterator[Spec]:
    """What the last answer spoke of: its specs, or the first option where they name no hardware."""
    for spec in specs:
        if spec.get("hardware"):
            yield spec
    yield from options[:1]


def _write(draft: Draft, shown: str, sized: Sized) -> bool:
    told = _busy(draft, shown, sized) or _steps(shown, sized, draft.words)
    if not told:
        return False
    draft.intent, draft.sized, draft.asks_back = "explain", [sized], False
    first, *rest = told
    draft.headline = f"{first.title} {first.text}".strip()
    draft.paragraphs += rest
    draft.say("note", draft.words.text("origin", "change"), draft.title("next_step"))
    draft.actions = ("why",)
    return True


def _busy(draft: Draft, shown: str, sized: Sized) -> list[Paragraph]:
    """Requests at once, from the people who use it."""
    parsed = sized.parsed
    if parsed is None or not parsed.users or str(sized.figures.get("concurrency")) != shown:
        return []
    assumed = next((one for one in sized.estimate.assumptions if one.field == "concurrency"), None)
    share = parsed.active_share or (assumed.params.get("active_share") if assumed else None)
    if not share:
        return []
    draft.material.add(float(share), "share")
    key = "busy_peak" if assumed is not None else "busy"
    params = {"concurrency": sized.figures["concurrency"], "users": parsed.users, "share": share}
    return [Paragraph(kind="derivation", text=draft.words.text("origin", key, **params))]


def _steps(shown: str, sized: Sized, words: Wording) -> list[Paragraph]:
    """The step of the derivation whose result was shown like this, and what went into it."""
    for step in sized.estimate.derivation:
        amounts = {derivation.amount(step.value, step.unit, words).split()[0].split("\N{NO-BREAK SPACE}")[0]}
        if shown in amounts:
            inputs = derivation.inputs(step, words)
            return [derivation.result(step, words), *([inputs] if inputs else [])]
    return []
