"""Training: what each method takes, and on how many cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bot.answer import Table
from bot.compose import headline, leading, topics
from bot.compose.assumptions import assumption_views
from bot.compose.common import say_warnings, say_why, write_fault
from bot.compose.draft import Draft
from bot.compose.labels import margin_cell, memory_cell
from bot.compose.memory_need import asks_memory
from bot.compose.runnable import has_room
from bot.explain import cite_devices
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.defaults import Defaults

_METHODS: Final = ("qlora", "lora", "full")
_COUNTS: Final = (1, 2, 4, 8, 16)
# A card of each class that people train on, where none is named.
_CARDS: Final = ("nvidia-rtx-4090", "nvidia-h100-sxm-80gb")


def write_recommendation(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """The asked method on cards people train on; the smallest number that does leads."""
    found = [one for card in _CARDS for one in _smallest(sized.spec, _method(sized.spec), card, defaults)]
    if not found:
        probe = size({**sized.spec, "hardware": [{"accelerator": _CARDS[-1], "count": _COUNTS[-1]}]}, defaults)
        write_fault(draft, probe)
        if probe.estimate.ok:
            draft.headline = draft.words.text("headline", "recommend_none", model=probe.figures["model"])
        return
    best = found[0]
    draft.sized, draft.options = [best], found
    each = draft.words.text("ui", "on_each") if len(best.devices) > 1 else ""
    draft.headline = draft.words.text("headline", "recommend", **{**best.figures, "each": each})
    draft.lead = headline.lead(best, draft.words)
    if leading.asks_why(heard, question) and (told := leading.causes(draft, best, heard, question)):
        draft.headline, draft.lead = told[0], " ".join([draft.headline, *told[1:], draft.lead])
    elif asks_memory(question):
        _lead_by_need(draft, best)
    if heard.asks("cost") and (rented := topics.rented_text(draft, best)):
        draft.headline, draft.lead = rented, draft.headline
    draft.table = ladder_table(draft, best, defaults)
    say_why(draft, best, heard, question)
    topics.say_asked(draft, best, heard)
    say_warnings(draft, best)
    draft.assumptions = assumption_views(best, draft.words)
    cite_devices([best], draft.sources)
    draft.actions = ("why", "export")


def _lead_by_need(draft: Draft, best: Sized) -> None:
    """The sum over all cards leads, the cards that hold it follow."""
    words = draft.words
    parts = headline.training_parts(dict(best.figures), words)
    need = words.text("need", "training", method=_method_name(best.spec, words), parts=parts, **best.figures)
    draft.headline, draft.lead = need, draft.headline


def _method_name(spec: Spec, words: Wording) -> str:
    method = _method(spec)
    return words.label("value", method) if words.has("value", method) else method.upper()


def ladder_table(draft: Draft, sized: Sized, defaults: Defaults) -> Table | None:
    """For QLoRA, LoRA and full training the smallest number of the card that does; None for anything but training."""
    if sized.figures["task"] != "training" or not sized.spec.get("hardware"):
        return None
    card = str(sized.spec["hardware"][0].get("accelerator") or "")
    rows = [one for method in _METHODS for one in _smallest(sized.spec, method, card, defaults)] if card else []
    if not rows:
        return None
    draft.considered = [*draft.considered, *rows]
    words = draft.words
    columns = tuple(words.text("ui", key) for key in ("col_method", "col_option", "col_memory", "col_margin"))
    return Table(
        caption=words.text("ui", "ladder_caption"), columns=columns, rows=tuple(_row(one, words) for one in rows)
    )


def _row(one: Sized, words: Wording) -> tuple[str, ...]:
    return words.label("value", _method(one.spec)), one.hardware, memory_cell(one, words), margin_cell(one, words)


def _method(spec: Spec) -> str:
    training: dict[str, Any] = spec.get("training") or {}
    return str(training.get("method") or "lora")


def _smallest(spec: Spec, method: str, card: str, defaults: Defaults) -> Iterator[Sized]:
    for count in _COUNTS:
        tried = size(_variant(spec, method, card, count), defaults)
        if has_room(tried):
            yield tried
            return


def _variant(spec: Spec, method: str, card: str, count: int) -> Spec:
    """The spec with another method; formats and splits that were said for the old one do not bind it."""
    changed = method != _method(spec)
    kept = {key: value for key, value in spec.items() if not (changed and key in ("weights", "parallel"))}
    return {
        **kept,
        "training": {**(spec.get("training") or {}), "method": method},
        "hardware": [{"accelerator": card, "count": count}],
    }
