"""Formats or contexts named side by side: "8k vs 128k", "BF16, INT8 and INT4 of these models", "16, 8 or 4 bit on a 4090"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from bot.answer import Table
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.labels import margin_cell, speed_cell, verdict_cell
from bot.compose.options import chart
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec
from bot.understand.formats import read_formats
from bot.understand.text import fold
from sizing.defaults import Defaults

_JOINED: Final = re.compile(r"[\s,/]*(?:(?:und|and|oder|or|vs\.?|versus|gegen|bzw\.?)\s+)?(?:in |mit |with )?")
_BITS: Final = re.compile(r"((?:\b\d{1,2}\s*(?:,|/|und|and|or|oder|vs\.?)\s*)+\d{1,2})[ -]?bit")
_OF_BITS: Final = {"16": "bf16", "8": "8bit", "6": "q6_k", "5": "q5_k_m", "4": "4bit", "3": "q3_k_m"}
_CONTEXTS: Final = re.compile(
    r"\b(\d[\d.,]*)\s?(k?)\s?(?:tokens?|context|kontext)?\s*(?:vs\.?|versus|gegen|und|and|oder|or|statt|instead of)"
    r"\s+(?:mit |with )?(\d[\d.,]*)\s?(k?)\s?(?:tokens?\b|context|kontext|(?<=k)(?![a-z]))"
)
_MOST_ROWS = 12
_LEAST_CONTEXT = 256
_ANY_CARD: Final[Spec] = {"memory_gb": 8192}  # needs are the same whatever the card; nothing is said of it


def write(draft: Draft, heard: Heard, text: str, defaults: Defaults) -> bool:
    """A table of the variants named; False where fewer than two are named or the message compares something else."""
    specs = [spec for spec in heard.specs if spec.get("model") and spec.get("task", "inference") == "inference"]
    if not specs or len(specs) != len(heard.specs) or not heard.asks("size", "compare", "fits"):
        return False
    folded = fold(text).folded
    formats, contexts = _formats(text, folded), _contexts(folded)
    if max(len(formats), len(contexts)) < 2 or not _differ_by_model_alone(specs):
        return False
    named = bool(specs[0].get("hardware"))
    rows = [
        size(_with(spec, weights, context, named), defaults)
        for spec, weights, context in itertools.product(specs, formats or (None,), contexts or (None,))
    ][:_MOST_ROWS]
    if not all(one.estimate.ok for one in rows):
        return False
    _write(draft, rows, named, (len(specs) > 1, len(formats) > 1, len(contexts) > 1))
    return True


def _formats(text: str, folded: str) -> tuple[str, ...]:
    bits = _BITS.search(folded)
    if bits:
        return tuple(dict.fromkeys(_OF_BITS[one] for one in re.findall(r"\d+", bits[1]) if one in _OF_BITS))
    found = [one for one in read_formats(fold(text)) if one.role == "weights"]
    joined = found[:1]
    for before, one in itertools.pairwise(found):
        if _JOINED.fullmatch(folded[before.end : one.start]):
            joined.append(one)
    return tuple(dict.fromkeys(one.value for one in joined)) if len(joined) == len(found) else ()


def _contexts(folded: str) -> tuple[int, ...]:
    found = _CONTEXTS.search(folded)
    if not found:
        return ()
    first, second = (
        _tokens(found[1], found[2] or ("k" if found[4] and "k" in found[4] else "")),
        _tokens(found[3], found[4]),
    )
    return (first, second) if first != second and min(first, second) >= _LEAST_CONTEXT else ()


def _tokens(written: str, scale: str) -> int:
    plain = re.sub(r"[.,](?=\d{3}\b)", "", written).strip(".,").replace(",", ".")
    try:
        return round(float(plain) * (1024 if scale else 1))
    except ValueError:
        return 0


def _differ_by_model_alone(specs: Sequence[Spec]) -> bool:
    rests = [{key: value for key, value in spec.items() if key != "model"} for spec in specs]
    return all(rest == rests[0] for rest in rests)


def _with(spec: Spec, weights: str | None, context: int | None, named: bool) -> Spec:
    changed = dict(spec)
    if weights:
        changed["weights"] = weights
    if context:
        changed["context_tokens"] = context
    if not named:
        changed["hardware"] = [dict(_ANY_CARD)]
    return changed


def _write(draft: Draft, rows: list[Sized], named: bool, varied: tuple[bool, bool, bool]) -> None:
    words = draft.words
    labels = [_label(one, words, varied) for one in rows]
    draft.intent = "compare"
    draft.considered = [*draft.considered, *rows]
    draft.table = _table(rows, labels, named, words)
    for one, label in zip(rows, labels, strict=True):
        draft.material.add_names([label, *(str(one.figures[key]) for key in ("model", "weights", "engine"))])
        draft.material.add(one.figures["context"])
    if named:
        draft.sized = rows
        draft.headline = _fitting(rows, labels, words)
        draft.chart = chart(rows, words, labels=labels)
        cite_devices(rows, draft.sources)
        draft.actions = ("why", "export")
        draft.assumptions = assumption_views(rows[0], words)
    else:
        needs = [one.figures["need_gib"] for one in rows]
        draft.headline = words.text("variants", "needs", low=min(needs), high=max(needs))
        first = rows[0].figures
        key = "without_context" if varied[2] else "at_context"
        lead = words.text("variants", key, context=first["context"], requests=first["concurrency"])
        draft.lead = with_mark(lead, draft.sources.topic("weights", lead))
        draft.material.add(first["concurrency"])


def _label(one: Sized, words: Wording, varied: tuple[bool, bool, bool]) -> str:
    figures = one.figures
    parts = [
        str(figures["model"]),
        str(figures["weights"]),
        words.text("variants", "context", tokens=figures["context"]),
    ]
    return ", ".join(part for part, varies in zip(parts, varied, strict=True) if varies)


def _fitting(rows: Sequence[Sized], labels: Sequence[str], words: Wording) -> str:
    fits = [label for one, label in zip(rows, labels, strict=True) if one.estimate.fits]
    fails = [label for label in labels if label not in fits]
    key = "all_fit" if not fails else "none_fits" if not fits else "some_fit"
    return words.text(
        "variants", key, fits=words.listed(fits), fails=words.listed(fails), model=rows[0].figures["model"], hardware=rows[0].hardware
    )  # fmt: skip


def _table(rows: Sequence[Sized], labels: Sequence[str], named: bool, words: Wording) -> Table:
    keys = ["variant", "weights", "cache", "need", *(("verdict", "margin", "speed") if named else ())]
    cells = []
    for one, label in zip(rows, labels, strict=True):
        parts = _parts(one)
        row = [label, words.gib(parts["weights"]), words.gib(parts["cache"]), words.gib(one.figures["need_gib"])]
        cells.append(
            (*row, *((verdict_cell(one, words), margin_cell(one, words), speed_cell(one, words)) if named else ()))
        )
    return Table(
        caption=words.text("variants", "caption"),
        columns=tuple(words.label("variants", f"col_{key}") for key in keys),
        rows=tuple(cells),
    )


def _parts(one: Sized) -> dict[str, float]:
    return {
        "weights": sum(device.weights_gib for device in one.devices),
        "cache": sum(device.kv_cache_gib or 0.0 for device in one.devices),
    }
