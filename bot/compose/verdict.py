"""One spec on the hardware it names: does it fit, by how much, and what would do instead."""

from __future__ import annotations

from collections.abc import Sequence

from bot.answer import Table
from bot.compose import (
    cost_answer,
    cost_bill,
    cost_headlines,
    counting,
    headline,
    limits,
    queueing,
    system,
    topics,
    training,
)
from bot.compose.assumptions import assumption_views
from bot.compose.common import ALL_ACTIONS, say_warnings, say_why
from bot.compose.draft import Draft
from bot.compose.flips import add_flips, flip_text, hint_text
from bot.compose.measured import say_measured
from bot.compose.options import chart, compare_table, options_table
from bot.compose.recommended import Options, almost_text, lack_facts, options_for, strictly_better
from bot.explain import cite_devices
from bot.heard import Heard
from bot.sized import Sized
from sizing.defaults import Defaults
from sizing.sensitivity import flips

# Asking for any of these asks for options even where the hardware named does.
_WANT_OPTIONS = ("size", "cheaper")


def write(draft: Draft, asked: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """The verdict first; then options, what would flip it, why, and what else was asked."""
    words = draft.words
    limit = limits.at_limit(asked, question, defaults, words)
    sized = limit.sized if limit else counting.with_count(asked, question, defaults)
    if cost_bill.leads(heard):
        sized = cost_bill.runnable(sized, defaults)
    bill = cost_bill.bill_of(draft, sized, defaults) if heard.asks("cost") else None
    counted = counting.ladder(sized, defaults) if not limit and asked is not sized and sized.estimate.fits else []
    options = Options() if limit or counted else _options(sized, heard, defaults)
    draft.sized = [sized]
    draft.options = strictly_better(options.good, sized)
    draft.considered = [one for one, _ in options.almost]
    draft.material.add_data([lack_facts(one) for _, lacks in options.almost for one in lacks])
    priced = _priced_headline(draft, sized, bill, heard, question) if sized.estimate.fits else None
    draft.headline = priced or (limit.headline if limit else _headline(draft, asked, sized, heard))
    second = (
        limit.more if limit else headline.verdict_headline(sized, words) if priced else _second(draft, sized, heard)
    )
    draft.material.add_data(limit.facts if limit else {})
    draft.lead = " ".join(part for part in (second, headline.lead(sized, words)) if part)
    if counted:
        draft.options = counted
    draft.table = _table(draft, sized, counted, defaults)
    draft.chart = chart(counted or [sized, *draft.options], words)
    if bill and priced and cost_bill.leads(heard):
        cost_answer.say(bill, question)
    if limit is None:
        _say_flips(draft, sized, defaults)
    draft.say("cheaper", almost_text(options, sized, words), draft.title("almost"))
    say_why(draft, sized, heard, question)
    topics.say_asked(draft, sized, heard)
    if bill and not (priced and cost_bill.leads(heard)):
        cost_answer.say(bill, question)
    queueing.say(draft, sized, question)
    say_measured(draft, sized, speed=heard.asks("throughput"))
    say_warnings(draft, sized)
    draft.assumptions = assumption_views(sized, words)
    cite_devices([sized], draft.sources)
    draft.actions = ALL_ACTIONS


def _table(draft: Draft, sized: Sized, counted: Sequence[Sized], defaults: Defaults) -> Table | None:
    """How many: the counts side by side; else what would do instead, or what each way of training takes."""
    if counted:
        return compare_table(counted, draft.words)
    return options_table(draft.options, draft.words) or training.ladder_table(draft, sized, defaults)


def _priced_headline(
    draft: Draft, sized: Sized, bill: cost_bill.Bill | None, heard: Heard, question: str
) -> str | None:
    """The first sentence of an answer that was asked for money, or for what the power costs."""
    if cost_bill.leads(heard) and bill is not None:
        return cost_headlines.headline(bill, question)
    if waits := queueing.headline(draft, sized, question):
        return waits
    return (
        system.energy_headline(draft, sized, question) if heard.intent == "power" and not heard.asks("fits") else None
    )


def _options(sized: Sized, heard: Heard, defaults: Defaults) -> Options:
    wanted = not sized.estimate.fits or heard.asks(*_WANT_OPTIONS)
    return options_for(sized.spec, defaults) if wanted and sized.figures["task"] != "training" else Options()


def _headline(draft: Draft, asked: Sized, sized: Sized, heard: Heard) -> str:
    """The verdict, unless something else was asked first and can be said in a sentence."""
    words = draft.words
    if asked is not sized and sized.estimate.fits:
        return words.text("headline", "count", **sized.figures)
    return topics.asked_headline(sized, heard, words) or headline.verdict_headline(sized, words)


def _second(draft: Draft, sized: Sized, heard: Heard) -> str:
    """The verdict as second sentence where another one leads."""
    if topics.asked_headline(sized, heard, draft.words) is None:
        return ""
    return headline.verdict_headline(sized, draft.words)


def _say_flips(draft: Draft, sized: Sized, defaults: Defaults) -> None:
    if sized.parsed is None or sized.figures["task"] != "inference":
        return
    found = flips(sized.parsed, sized.estimate, defaults)
    if sized.verdict == "tight" and (sized.margin_gib or 0.0) < 0:
        found = tuple(flip for flip in found if flip.kind == "context")
    key = "flip" if not sized.estimate.fits else "limits"
    draft.say("flip", flip_text(found, sized, draft.words), draft.title(key))
    draft.hint = hint_text(found, sized, draft.words)
    add_flips(draft, found)
