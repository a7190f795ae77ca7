"""Which card for pictures, video, speech or an archive to embed: cards whose pace for that work is known, the cheapest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bot.answer import Table
from bot.compose import pictures, work
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.labels import margin_cell, memory_cell
from bot.compose.memory_need import asks_memory
from bot.compose.prices import price_cell
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults

_TOPICS: Final[Mapping[str, str]] = {
    "image": "image_video", "video": "image_video", "transcription": "transcription", "embedding": "embedding", "reranking": "embedding",
}  # fmt: skip
# The public measurements of such work are on these makers' cards; a figure for others would be the formula alone.
_MEASURED_MAKERS: Final[Mapping[str, frozenset[str]]] = {
    "image": frozenset({"nvidia"}),
    "video": frozenset({"nvidia"}),
    "transcription": frozenset({"nvidia"}),
    "embedding": frozenset({"nvidia", "amd"}),
    "reranking": frozenset({"nvidia", "amd"}),
}
_KINDS: Final = frozenset({"consumer", "workstation", "datacenter"})
_MOST_ROWS: Final = 4
_MOST_CARDS: Final = 8
_FASTER: Final = 1.25  # a dearer card that is not faster by this much is no choice of its own


def write(draft: Draft, spec: Spec, heard: Heard, question: str, defaults: Defaults) -> bool:
    """Fills the draft where such work is asked about without hardware; False for anything else, and where conditions bind the choice."""
    bound = any((spec.get(name) or {}) for name in ("constraints", "targets", "usage"))
    if (
        spec.get("task") not in _TOPICS
        or not spec.get("model")
        or spec.get("hardware")
        or bound
        or len(heard.specs) != 1
    ):
        return False
    found = _frontier(sorted(_candidates(spec, defaults), key=_price))
    if not found:
        return False
    _write(draft, found, question, defaults)
    return True


def _candidates(spec: Spec, defaults: Defaults) -> Iterator[Sized]:
    """Cards that are sold, hold the work with room to spare, have a price and a known pace; as many as the streams need."""
    for ident, card in catalogue().accelerators.items():
        measured = card.vendor in _MEASURED_MAKERS[str(spec["task"])]
        if card.kind not in _KINDS or card.status != "shipping" or not measured:
            continue
        one = size({**spec, "hardware": [{"accelerator": ident, "count": 1}]}, defaults)
        count = int((one.estimate.work or {}).get("devices_for_streams") or 1)
        if 1 < count <= _MOST_CARDS:
            one = size({**spec, "hardware": [{"accelerator": ident, "count": count}]}, defaults)
        if one.verdict == "fits" and count <= _MOST_CARDS and _pace(one) and _price(one):
            yield one


def _price(one: Sized) -> float:
    cost = one.estimate.cost or {}
    bought = cost.get("whole") if cost.get("machine") else cost.get("buy")
    return float((bought or {}).get("amount") or 0.0)


def _pace(one: Sized) -> float:
    """More is faster: pictures, chunks, hours of speech or searches in a given time."""
    found = one.estimate.work or {}
    for name, sign in (("hours", -1), ("seconds", -1), ("search_ms", -1), ("real_time_batched", 1), ("tokens_s", 1)):
        if found.get(name):
            value = float(found[name]["expected"])
            return value if sign > 0 else 1 / value
    return 0.0


def _frontier(by_price: list[Sized]) -> list[Sized]:
    """The cheapest, then each dearer one that is clearly faster than those before it."""
    kept: list[Sized] = []
    for one in by_price:
        if not kept or _pace(one) >= _FASTER * _pace(kept[-1]):
            kept.append(one)
    return kept[:_MOST_ROWS]


def _write(draft: Draft, found: list[Sized], question: str, defaults: Defaults) -> None:
    words, best = draft.words, found[0]
    draft.sized, draft.options, draft.asks_back = [best], found, False
    for one in found:
        draft.material.add_data(one.estimate.work or {})
    told = words.text("cards", "headline", hardware=best.hardware, model=best.figures["model"], pace=_told(draft, best))
    need = pictures.need_headline(draft, best.spec, defaults) or ""
    first, second = (need, told) if need and asks_memory(question) else (told, need)
    draft.headline, draft.lead = first, second
    draft.table = _table(draft, found)
    left_out = words.text("cards", "left_out")
    draft.say(
        "note", with_mark(left_out, draft.sources.topic(_TOPICS[str(best.spec["task"])], left_out)), draft.title("mind")
    )
    draft.assumptions = assumption_views(best, words)
    cite_devices([best], draft.sources)
    draft.actions = ("why", "export")


def _table(draft: Draft, found: list[Sized]) -> Table:
    words = draft.words
    columns = ("col_option", "col_memory", "col_margin", "col_time", "col_cost")
    rows = tuple(
        (
            f"{one.hardware}, {one.figures['weights']}",
            memory_cell(one, words),
            margin_cell(one, words),
            _told(draft, one),
            price_cell(one.estimate.cost or {}, words),
        )
        for one in found
    )
    return Table(
        caption=words.text("ui", "options_caption"),
        columns=tuple(words.text("ui", name) for name in columns),
        rows=rows,
    )


def _told(draft: Draft, one: Sized) -> str:
    """The pace in the terms of the work."""
    found, words = one.estimate.work or {}, draft.words
    if found.get("seconds"):
        work.add_times(draft, found["seconds"])
        key = "video" if found["frames"] > 1 else "picture"
        return words.text("cards", key, time=work.span_time(found["seconds"], words), **_picture(found))
    if found.get("hours"):
        seconds = work.hours_as_seconds(found["hours"])
        work.add_times(draft, seconds)
        return words.text("cards", "job", time=work.span_time(seconds, words))
    if found.get("wanted_streams"):
        return words.text("cards", "streams", streams=_streams(found, words))
    return _rate(found, words)


def _rate(found: Mapping[str, Any], words: Wording) -> str:
    if found.get("real_time_batched"):
        return words.text("cards", "real_time", pace=found["real_time_batched"])
    return (
        words.text("cards", "tokens", rate=found["tokens_s"])
        if found.get("tokens_s")
        else words.text("ui", "unknown_value")
    )


def _streams(found: Mapping[str, Any], words: Wording) -> str:
    return words.text("work", "live_about", **found["live_streams"])


def _picture(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("width", "height", "steps", "frames")}
