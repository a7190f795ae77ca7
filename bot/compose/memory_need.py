"""How much memory a model needs where no hardware is named: the number leads, by format; what holds it at the lowest price follows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.answer import Table
from bot.compose import leading
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.prices import price_cell
from bot.compose.recommended import options_for
from bot.explain import with_mark
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.sensitivity import usual_formats

_ASKS: Final = re.compile(
    r"(?:how (?:much|many|big|large)|what(?: is|'s)? (?:the )?|wie ?viele?|welche\w*)\b"
    r"[^.!?]{0,30}\b(?:v?ram|gpu memory|memory|speicher\w*|"
    r"grafikspeicher|gi?b)\b|\b(?:v?ram|speicher|memory)[- ]?(?:need|bedarf|requirements?|footprint|usage|verbrauch)|"
    r"\bv?ram\b[^.!?]{0,30}\?|\b(?:minimum|mindestens|min)\b[^.!?]{0,12}\bv?ram\b",
    re.IGNORECASE,
)
# A machine is what is asked for, whatever else the words name.
_ASKS_MACHINE: Final = re.compile(
    r"\b(?:which|what|welche\w*|was für|how many|wie ?viele?) (?:\S+ )?(?:gpus?|cards?|hardware|hw|machine|server|mac|rechner|laptop|"
    r"(?:grafik)?karten?)\b|\b(?:buy|kaufen|budget|cheap\w*|günstig\w*)\b",
    re.IGNORECASE,
)
_HOST: Final = re.compile(
    r"\b(?:system ?|host ?|cpu ?)ram\b|arbeitsspeicher|\b(?:how much|wie ?viel) ram\b", re.IGNORECASE
)
_ANY_CARD: Final[Spec] = {"memory_gb": 8192}  # needs are the same whatever the card; nothing is said of it
_BANDS: Final = ((7.5, 9.5), (3.5, 5.5))  # bits of a weight: 8 bit, 4 bit
_STEP_TOKENS: Final = 1024


def asks_memory(question: str) -> bool:
    """Whether the words ask for an amount of memory, and not for a machine."""
    return _ASKS.search(question) is not None and not _ASKS_MACHINE.search(question)


def write(draft: Draft, spec: Spec, heard: Heard, question: str, defaults: Defaults) -> bool:
    """Fills the draft where the memory of a model is what is asked; False for anything else, and where a machine is asked for."""
    if (
        not heard.asks("size")
        or not asks_memory(question)
        or _HOST.search(question)
        or spec.get("task", "inference") != "inference"
    ):
        return False
    if any((spec.get("targets") or {}).values()) or heard.asks("compare", "cost", "finetune", "rag"):
        return False
    rows = _rows(spec, defaults)
    if not rows:
        return False
    _write(draft, rows, bool(spec.get("weights")))
    _say_cheapest(draft, spec, defaults)
    draft.say("note", draft.words.text("need", "next"), draft.title("next_step"))
    return True


def write_cause(draft: Draft, spec: Spec, heard: Heard, question: str, defaults: Defaults) -> bool:
    """Fills the draft where it is asked why a model needs what it needs, and no hardware is named; False for anything else."""
    if (
        not leading.asks_why(heard, question)
        or spec.get("task", "inference") != "inference"
        or heard.asks("compare", "cost")
    ):
        return False
    rows = _rows(spec, defaults)
    told = leading.causes(draft, rows[0], heard, question) if rows else []
    if not told:
        return False
    _write(draft, rows, bool(spec.get("weights")))
    draft.headline, draft.lead = told[0], " ".join([*told[1:], draft.headline])
    draft.say("note", draft.words.text("need", "next"), draft.title("next_step"))
    return True


def _rows(spec: Spec, defaults: Defaults) -> list[Sized]:
    """The model in the format that was said, else as it was published, and in 8 and 4 bit where that is narrower."""
    plain = {**spec, "hardware": [dict(_ANY_CARD)]}
    first = size(plain, defaults)
    if not first.estimate.ok or first.parsed is None or not first.devices:
        return []
    if spec.get("weights"):
        return [first]
    tried = [size({**plain, "weights": name}, defaults) for name in usual_formats(first.parsed, defaults)]
    narrower = [one for one in tried if one.estimate.ok and _bits(one) < _bits(first) - 1]
    found = [next((one for one in narrower if low <= _bits(one) <= high), None) for low, high in _BANDS]
    return [first, *(one for one in found if one is not None)]


def _bits(sized: Sized) -> float:
    return (sized.resolved.weights.bits_per_weight or 0.0) if sized.resolved else 0.0


def _write(draft: Draft, rows: list[Sized], said: bool) -> None:
    words, first = draft.words, rows[0]
    draft.sized, draft.asks_back, draft.considered = [first], False, list(rows)
    figures = first.figures
    load = words.text("need", "load" if figures["concurrency"] > 1 else "load_one", **figures)
    if said or len(rows) == 1:
        draft.headline = words.text("need", "said", **{**figures, "load": load})
    else:
        each = [
            words.text("need", "one", need=one.figures["need_gib"], weights=one.figures["weights"])
            for one in reversed(rows)
        ]
        draft.headline = words.text("need", "open", model=figures["model"], needs=words.listed(each, "or"), load=load)
    draft.table = _table(rows, words) if len(rows) > 1 else None
    if figures["kv_token_bytes"]:
        context_gib = draft.work_out(
            "further_context",
            "token_gib * tokens",
            "GiB",
            token_gib=figures["kv_token_gib"],
            tokens=float(_STEP_TOKENS),
        )
        text = words.text("need", "grows", context_gib=context_gib)
        draft.lead = with_mark(text, draft.sources.topic("kv_cache", text))
    fields = ("context_tokens", "concurrency", "kv_cache", "model", "model.id")
    draft.assumptions = tuple(view for view in assumption_views(first, words) if view.field in fields)
    draft.actions = ("why", "export")


def _table(rows: Sequence[Sized], words: Wording) -> Table:
    keys = ("col_format", "col_weights", "col_cache", "col_need")
    cells = [
        (str(one.figures["weights"]), *(words.gib(one.figures[key]) for key in ("weights_gib", "kv_gib", "need_gib")))
        for one in rows
    ]
    return Table(
        caption=words.text("need", "caption"), columns=tuple(words.text("need", key) for key in keys), rows=tuple(cells)
    )


def _say_cheapest(draft: Draft, spec: Spec, defaults: Defaults) -> None:
    """What to take for it, in a sentence; the table is of the need."""
    found = options_for(spec, defaults)
    if not found.good:
        return
    best, words = found.good[0], draft.words
    draft.options = [best]
    price = price_cell(best.estimate.cost or {}, words)
    text = words.text("need", "cheapest", label=option_label(best, words), price=price)
    draft.say("cheaper", text, draft.title("holds_it"))
