"""Several specs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.compose import topics
from bot.compose.alternatives import is_counted
from bot.compose.assumptions import assumption_views
from bot.compose.common import say_why
from bot.compose.compared import costs_text, say_causes, say_money, winner_text
from bot.compose.draft import Draft
from bot.compose.flips import add_flips, keeping_text
from bot.compose.labels import is_short, option_label
from bot.compose.options import chart, compare_table
from bot.compose.prices import has_old_price
from bot.explain import cite_devices
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.defaults import Defaults
from sizing.sensitivity import flips

_MOST_TURNED: Final = 3


def write(draft: Draft, alternatives: Sequence[Sized], heard: Heard, defaults: Defaults) -> None:
    """Who is ahead and by what, the table in the order named, and what makes the difference."""
    words = draft.words
    draft.sized = list(alternatives)
    best = ranked(alternatives)[0]
    names = dict(zip(map(id, alternatives), short_names(alternatives, draft), strict=True))
    draft.material.add_names(names.values())
    winner = winner_text(draft, alternatives, names, heard)
    verdict = winner or _headline(draft, alternatives, names)
    costs = (
        costs_text(draft, alternatives, names)
        if heard.intent == "cost" and (not winner or len(alternatives) > 2)
        else ""
    )
    draft.headline = costs or verdict
    told = [verdict if costs else "", _counted(alternatives, heard, words), _short(draft, alternatives, names)]
    draft.lead = " ".join(part for part in told if part)
    draft.table = compare_table(alternatives, words, labels(alternatives, draft))
    draft.chart = chart(alternatives, words, labels=labels(alternatives, draft))
    _say_flips(draft, alternatives, names, defaults)
    say_causes(draft, alternatives, names, defaults)
    if heard.asks("cost"):
        say_money(draft, alternatives, names, defaults)
    if has_old_price(one.estimate.cost for one in alternatives):
        draft.say("note", words.text("cost", "old"))
    say_why(draft, best, heard, "")
    for one, label in zip(alternatives, labels(alternatives, draft), strict=True):
        topics.say_asked(draft, one, heard, label=label)
    draft.assumptions = assumption_views(best, words)
    cite_devices(alternatives, draft.sources)
    draft.actions = ("why", "cheaper", "export")


def labels(alternatives: Sequence[Sized], draft: Draft) -> list[str]:
    """What the alternatives are called: by hardware and format, by model too where models differ."""
    several = len({one.figures["model"] for one in alternatives}) > 1
    engines = len({one.figures.get("engine") for one in alternatives}) > 1
    return [option_label(one, draft.words, with_model=several, with_engine=engines) for one in alternatives]


def short_names(alternatives: Sequence[Sized], draft: Draft) -> list[str]:
    """What sets them apart and no more: the model, the hardware, the format; the whole label where that is not enough."""
    keys = (
        ("engine", "model", "hardware", "weights") if _same_machine(alternatives) else ("model", "hardware", "weights")
    )
    told = [key for key in keys if len({one.figures.get(key) for one in alternatives}) > 1]
    names = [", ".join(str(one.figures[key]) for key in told) for one in alternatives]
    return names if all(names) and len(set(names)) == len(names) else labels(alternatives, draft)


def _same_machine(alternatives: Sequence[Sized]) -> bool:
    return len({one.hardware for one in alternatives}) == 1


def ranked(alternatives: Sequence[Sized]) -> list[Sized]:
    """Those that fit first, by what is left on the tightest device; then the others by how many times too large they are."""
    return sorted(alternatives, key=_rank)


def _rank(one: Sized) -> tuple[int, float]:
    order = {"fits": 0, "tight": 1, "no": 2}
    place = order.get(one.verdict or "no", 3)
    if one.margin_gib is None:
        return place, float("inf")
    return place, -one.margin_gib if one.margin_gib >= 0 else _times_too_large(one)


def _times_too_large(one: Sized) -> float:
    """Needed over usable on the fullest device: a GiB short on a card of 24 GiB is more than one on a card of 80."""
    return max(
        (device.total_gib / device.usable_gib for device in one.devices if device.usable_gib), default=float("inf")
    )


def _counted(alternatives: Sequence[Sized], heard: Heard, words: Wording) -> str:
    """How many of each the load needs, where nobody said how many."""
    if len(heard.specs) != len(alternatives) or not all(one.estimate.fits for one in alternatives):
        return ""
    found = [one for spec, one in zip(heard.specs, alternatives, strict=True) if not is_counted(spec)]
    if not any(len(one.devices) > 1 for one in found):
        return ""
    figures = alternatives[0].figures
    labels = words.listed([one.hardware if len(one.devices) > 1 else f"1 × {one.hardware}" for one in found], "or")
    return words.text(
        "side_by_side", "counted", labels=labels, concurrency=figures["concurrency"], context=figures["context"]
    )


def _short(draft: Draft, alternatives: Sequence[Sized], names: Mapping[int, str]) -> str:
    """What those that do not fit lack."""
    words = draft.words
    told = [
        words.text(
            "side_by_side",
            "short_each" if len(one.devices) > 1 else "short",
            label=names[id(one)],
            missing_gib=-one.margin_gib,
        )
        for one in alternatives
        if one.margin_gib is not None and one.margin_gib < 0
    ]
    return " ".join(told)


def _say_flips(draft: Draft, alternatives: Sequence[Sized], names: Mapping[int, str], defaults: Defaults) -> None:
    """What would turn each option that does not fit."""
    told = []
    for one in [one for one in alternatives if one.estimate.fits is False and one.parsed is not None][:_MOST_TURNED]:
        if one.parsed is None or one.parsed.task != "inference":
            continue
        found = flips(one.parsed, one.estimate, defaults)
        told.append(f"{names[id(one)]}: {keeping_text(found, one, draft.words)}")
        add_flips(draft, found)
    draft.say("flip", " ".join(told), draft.title("flip"))


def _headline(draft: Draft, alternatives: Sequence[Sized], names: Mapping[int, str]) -> str:
    """Fewer than two fit: which one, or which comes closest."""
    words = draft.words
    fitting = [one for one in alternatives if one.estimate.fits]
    if not fitting:
        return words.text("headline", "compare_none_fit", label=names[id(ranked(alternatives)[0])])
    tight = "compare_one_short" if is_short(fitting[0]) else "compare_one_tight"
    key = tight if fitting[0].verdict == "tight" else "compare_one_fits"
    return words.text("headline", key, label=names[id(fitting[0])])
