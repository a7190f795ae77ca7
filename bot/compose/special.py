"""Turns that are about something else than a model on a card: logs, the machine, corpora, services, training from scratch."""

from __future__ import annotations

import re
from typing import Final

from bot.compose import (
    advice,
    availability,
    best_model,
    budget,
    costs,
    diagnosis,
    ecosystems,
    energy,
    focus,
    format_support,
    leading,
    machine,
    nvlink,
    ram_need,
    service,
    singles,
    slow,
    system,
    training_rooms,
    training_time,
    variants,
    work,
    work_cards,
)
from bot.compose.common import parsed_or_none
from bot.compose.draft import Draft
from bot.heard import Heard
from bot.sized import Sized, size
from bot.thread import Spec, ThreadState
from sizing.defaults import Defaults
from sizing.errors import UserError
from sizing.work.rag import index_only

_WORK_TASKS: Final = frozenset({"embedding", "reranking", "transcription", "image", "video"})
_SERVICE_WORDS: Final = re.compile(r"rerank|parsing|ragflow|\brag\b|embedd|dokument|document", re.IGNORECASE)


def write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    """Fills the draft where the turn is one of these; the first that fits."""
    if heard.clicked or heard.wish or not heard.in_scope:
        return False
    try:
        return _write(draft, heard, text, thread, defaults)
    except UserError:
        return False  # a name in it is unknown: the ordinary way says which, and what would work


def _write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    spec: Spec = heard.specs[0] if heard.specs else {}
    return (
        (not leading.asks_of_failed_start(heard, text) and budget.write(draft, heard, text, thread, defaults))
        or diagnosis.write(draft, heard, text, thread, defaults)
        or slow.write(draft, heard, text, thread, defaults)
        or availability.write(draft, heard, text, thread, defaults)
        or singles.write(draft, heard, text, defaults)
        or format_support.write(draft, heard, defaults)
        or nvlink.write(draft, heard, defaults)
        or best_model.write(draft, heard, text, defaults)
        or _write_work(draft, spec, heard, defaults)
        or work_cards.write(draft, spec, heard, text, defaults)
        or training_rooms.write(draft, spec, heard, text)
        or training_time.write(draft, spec, heard, defaults)
        or _write_service(draft, spec, heard, text, defaults)
        or energy.write(draft, text, defaults)
        or variants.write(draft, heard, text, defaults)
        or (heard.intent == "cost" and _write_cost(draft, spec, heard, defaults))
        or ecosystems.write(draft, spec, text)
        or advice.write(draft, spec, text)
        or ram_need.write(draft, spec, heard, text, defaults)
        or machine.write(draft, spec, heard, text, defaults)
    )


def say_beside(draft: Draft, sized: Sized, heard: Heard) -> None:
    """What these rooms add to a verdict: prices named, what fits a training run."""
    from bot.compose import fitting

    if heard.asks("cost"):
        costs.say_prices(draft, sized, heard)
    if sized.parsed is not None and sized.parsed.task == "training":
        fitting.say_fitting(draft, sized)
    elif (
        heard.intent in ("power", "system")
        or _names_part(draft, heard)
        or (sized.parsed is not None and sized.parsed.host.power_limit_w)
    ):
        system.say_parts(draft, sized, heard, draft.sources.query)


def _names_part(draft: Draft, heard: Heard) -> bool:
    """A part of the machine is asked for in this message, and not only in one before it."""
    return heard.asks("power", "system") and bool(focus.focuses(draft.sources.query))


def _write_cost(draft: Draft, spec: Spec, heard: Heard, defaults: Defaults) -> bool:
    return costs.write_unnamed(draft, spec, heard, defaults) or costs.write_flat(draft, spec, heard, defaults)


def _write_work(draft: Draft, spec: Spec, heard: Heard, defaults: Defaults) -> bool:
    if (
        len(heard.specs) != 1
        or spec.get("task") not in _WORK_TASKS
        or not spec.get("model")
        or not spec.get("hardware")
    ):
        return False
    return work.write(draft, size(spec, defaults), defaults)


def _write_service(draft: Draft, spec: Spec, heard: Heard, text: str, defaults: Defaults) -> bool:
    if heard.intent != "rag" and not (heard.asks("rag") and spec.get("work")):
        return False
    parsed = parsed_or_none(spec)
    index = index_only(parsed.work) if parsed is not None and not spec.get("model") else None
    if index is not None:
        work.write_index(draft, index)
        return True
    if not (spec.get("work") or spec.get("users") or _whole_service(text)):
        return False
    return service.write(draft, spec, defaults)


def _whole_service(text: str) -> bool:
    """At least two stages of a service named: an explanation of RAG alone is none of ours."""
    return len({match[0].lower() for match in _SERVICE_WORDS.finditer(text)}) >= 2
