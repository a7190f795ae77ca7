"""Several specs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from bot.compose import topics
from bot.compose.assumptions import assumption_views
from bot.compose.common import say_why
from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.options import chart, compare_table
from bot.explain import cite_devices
from bot.heard import Heard
from bot.sized import Sized


def write(draft: Draft, alternatives: Sequence[Sized], heard: Heard) -> None:
    """Which of them fit, the table in the order named, and why the best one is as it is."""
    words = draft.words
    draft.sized = list(alternatives)
    best = ranked(alternatives)[0]
    draft.headline = _headline(draft, alternatives)
    draft.table = compare_table(alternatives, words)
    draft.chart = chart(alternatives, words, labels=labels(alternatives, draft))
    say_why(draft, best, heard, "")
    for one, label in zip(alternatives, labels(alternatives, draft), strict=True):
        topics.say_asked(draft, one, heard, label=label)
    draft.assumptions = assumption_views(best, words)
    cite_devices(alternatives, draft.sources)
    draft.actions = ("why", "cheaper", "export")


def labels(alternatives: Sequence[Sized], draft: Draft) -> list[str]:
    """What the alternatives are called: by hardware and format, by model too where models differ."""
    several = len({one.figures["model"] for one in alternatives}) > 1
    return [option_label(one, draft.words, with_model=several) for one in alternatives]


def ranked(alternatives: Sequence[Sized]) -> list[Sized]:
    """Those that fit first, then by what is left on the tightest device."""
    return sorted(alternatives, key=_rank)


def _rank(one: Sized) -> tuple[int, float]:
    order = {"fits": 0, "tight": 1, "no": 2}
    return order.get(one.verdict or "no", 3), -(one.margin_gib if one.margin_gib is not None else float("-inf"))


def _headline(draft: Draft, alternatives: Sequence[Sized]) -> str:
    words = draft.words
    names = dict(zip(map(id, alternatives), labels(alternatives, draft), strict=True))
    fitting = [one for one in alternatives if one.estimate.fits]
    best = names[id(ranked(alternatives)[0])]
    if not fitting:
        return words.text("headline", "compare_none_fit", label=best)
    if len(fitting) == len(alternatives):
        return words.text("headline", "compare_all_fit", label=best, count=len(alternatives))
    if len(fitting) == 1:
        key = "compare_one_tight" if fitting[0].verdict == "tight" else "compare_one_fits"
        return words.text("headline", key, label=names[id(fitting[0])])
    return words.text("headline", "compare_some_fit", labels=words.listed(names[id(one)] for one in fitting))
