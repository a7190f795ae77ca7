"""One spec on the hardware it names: does it fit, by how much, and what would do instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.answer import Table
from bot.compose import (
    cost_answer,
    cost_bill,
    cost_headlines,
    cost_training,
    counting,
    energy,
    fitting,
    headline,
    leading,
    limits,
    load_test,
    own_hardware,
    queueing,
    slow,
    system,
    topics,
    training,
)
from bot.compose.assumptions import assumption_views
from bot.compose.common import ALL_ACTIONS, say_warnings, say_why
from bot.compose.draft import Draft
from bot.compose.flips import add_flips, flip_text, hint_text
from bot.compose.labels import option_label
from bot.compose.measured import say_measured
from bot.compose.options import MOST_ROWS, chart, compare_table, options_table
from bot.compose.own_hardware import Way, row_labels, ways_of
from bot.compose.recommended import Options, almost_text, lack_facts, options_for, strictly_better
from bot.explain import cite_devices
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, fullest
from sizing.defaults import Defaults
from sizing.sensitivity import Flip, flips

# Options are asked for even where the hardware named does.
_ASKS_OTHERS: Final = re.compile(
    r"\b(?:what|which|welche\w*|was für|what kind of) (?:\S+ )?(?:hw|hardware|gpus?|cards?|karten?|grafikkarten?|machine|rechner|server)\b|"
    r"\b(?:what (?:do|would|should) (?:i|we) (?:need|buy|take)|was (?:brauche[n]?|nehme[n]?) (?:ich|wir)|alternativ\w*)\b|"
    r"\b(?:what|which|was|welche\w*|gibt es|geht|is there|anything|something|etwas)\b[^.!?]{0,30}\b(?:cheaper|günstiger\w*|billiger\w*)",
    re.IGNORECASE,
)


def write(draft: Draft, asked: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """The verdict first; then options, what would flip it, why, and what else was asked."""
    words, named = draft.words, asked
    asked = counting.one_of(asked, question, defaults)
    limit = queueing.at_largest(draft, asked, question, defaults) or limits.at_limit(asked, question, defaults, words)
    sized = limit.sized if limit else counting.with_count(asked, question, defaults)
    how_many = limit is None and sized is not asked
    usual = sized
    if limit is None and not how_many and leading.asks_why_slow(heard, question):
        sized = slow.as_run(sized, defaults)
    if cost_bill.leads(heard):
        sized = cost_bill.runnable(sized, defaults)
    bill = cost_bill.bill_of(draft, sized, defaults) if heard.asks("cost") else None
    enough = how_many and sized.estimate.fits and not leading.misses_targets(sized)
    counted = counting.ladder(sized, defaults) if enough else []
    options = Options() if limit or counted else _options(sized, heard, question, defaults)
    turns = _turns(sized, defaults) if limit is None else ()
    own = ways_of(sized, turns, defaults) if limit is None else []
    draft.instead = own[0].sized if own else None
    draft.sized = [sized]
    draft.options = strictly_better(options.good, sized)
    draft.considered = [*(way.sized for way in own), *(one for one, _ in options.almost)]
    draft.material.add_data([lack_facts(one) for _, lacks in options.almost for one in lacks])
    priced = _priced_headline(draft, sized, bill, heard, question, defaults)
    draft.headline = priced or (
        limit.headline if limit else _headline(sized, heard, own, question, words, how_many=how_many)
    )
    if asked is not named and not (limit or priced):
        draft.headline = words.text("leads", "one_enough", **sized.figures)
    draft.headline = f"{draft.headline} {'' if limit or priced else _instead(draft, sized)}".strip()
    second = (
        limit.more
        if limit
        else ("" if sized.estimate.fits is False else headline.verdict_headline(sized, words))
        if priced
        else _second(draft, sized, heard, own, question)
    )
    asks_cause = (
        limit is None and priced is None and leading.asks_why(heard, question) and not _ran_out(sized, question)
    )
    told = leading.causes(draft, sized, heard, question) if asks_cause else []
    if told:
        verdict = _verdict(sized, own, words)
        runs = sized.estimate.fits or leading.asks_why_slow(heard, question)
        cause_first = runs and not leading.asks_why_not(question)
        draft.headline = told[0] if cause_first else f"{verdict} {told[0]}"
        if leading.asks_why_slow(heard, question):
            verdict = _beside_a_pace(sized, verdict, words)
        second = " ".join([*([verdict] if cause_first and verdict else []), *told[1:]])
    if usual is not sized:
        draft.considered = [*draft.considered, usual]
        second = f"{words.text('leads', 'as_run', usual=usual.figures['weights'], weights=sized.figures['weights'])} {second}"
    draft.material.add_data(limit.facts if limit else {})
    draft.lead = " ".join(part for part in (second, headline.lead(sized, words)) if part)
    if counted:
        draft.options = counted
    draft.table = _table(draft, sized, counted, own, defaults)
    bars = [sized, *(way.sized for way in own), *draft.options]
    draft.chart = chart(counted or bars, words, () if counted else row_labels(bars, sized, own, words))
    if bill and priced and cost_bill.leads(heard):
        cost_answer.say(bill, question)
    if limit is None:
        _say_flips(draft, sized, turns, own)
    draft.say("cheaper", almost_text(options, sized, words), draft.title("almost"))
    say_why(draft, sized, heard, question, told=bool(told))
    topics.say_asked(draft, sized, heard)
    if bill and not (priced and cost_bill.leads(heard)):
        cost_answer.say(bill, question)
    queueing.say(draft, sized, question, defaults)
    energy.say(draft, sized, question, defaults)
    load_test.say(draft, sized, question, defaults)
    say_measured(draft, sized, speed=heard.asks("throughput"))
    say_warnings(draft, sized)
    draft.assumptions = assumption_views(sized, words)
    cite_devices([sized], draft.sources)
    draft.actions = ALL_ACTIONS


def _table(
    draft: Draft, sized: Sized, counted: Sequence[Sized], own: Sequence[Way], defaults: Defaults
) -> Table | None:
    """How many: the counts side by side; else the hardware asked about and what would do instead, or what each way of training takes."""
    words = draft.words
    if counted:
        return compare_table(counted, words)
    first = [way.sized for way in own] or ([sized] if sized.estimate.fits and draft.options else [])
    rows = [*first, *draft.options[: MOST_ROWS + 1 - len(first)]]
    table = options_table(rows, words, labels=row_labels(rows, sized, own, words))
    return table or training.ladder_table(draft, sized, defaults)


def _priced_headline(
    draft: Draft, sized: Sized, bill: cost_bill.Bill | None, heard: Heard, question: str, defaults: Defaults
) -> str | None:
    """The first sentence of an answer that was asked for money, or for what the power costs."""
    if not sized.estimate.fits:  # what the hardware costs is a fair question all the same
        asks_money = bill is not None and cost_bill.leads(heard) and sized.figures["task"] == "inference"
        price = cost_headlines.hardware_headline(bill, question) if bill is not None and asks_money else None
        return f"{headline.verdict_headline(sized, draft.words)} {price}" if price else None
    if joules := energy.headline(draft, sized, question, defaults):
        return joules
    if bill is not None and sized.figures["task"] == "training":
        return cost_training.headline(bill)
    if cost_bill.leads(heard) and bill is not None:
        return cost_headlines.headline(bill, question)
    if not leading.answered_by_targets(sized, question, draft.words) and (
        waits := queueing.headline(draft, sized, question)
    ):
        return waits
    return (
        system.energy_headline(draft, sized, question) if heard.intent == "power" and not heard.asks("fits") else None
    )


def _options(sized: Sized, heard: Heard, question: str, defaults: Defaults) -> Options:
    lacking = not sized.estimate.fits or queueing.is_overloaded(sized) or leading.misses_targets(sized)
    wanted = lacking or heard.asks("cheaper") or _ASKS_OTHERS.search(question)
    return options_for(sized.spec, defaults) if wanted and sized.figures["task"] != "training" else Options()


def _headline(sized: Sized, heard: Heard, own: Sequence[Way], question: str, words: Wording, *, how_many: bool) -> str:
    """The verdict, unless something else was asked first and can be said in a sentence."""
    if how_many and sized.estimate.fits:
        key = "count_slow" if leading.misses_targets(sized) else "count"
        return leading.with_pace(words.text("headline", key, **sized.figures), sized, heard, question, words)
    if _ran_out(sized, question):
        figures = sized.figures
        each = {"need": (fullest(sized) or sized.devices[0]).total_gib, "usable": figures["capacity_gib"]}
        return words.text("leads", "ran_out", **each)
    if (first := _asked_first(sized, heard, question, words)) is not None:
        return first
    return leading.with_pace(_verdict(sized, own, words), sized, heard, question, words)


def _instead(draft: Draft, sized: Sized) -> str:
    """What keeps the targets that the hardware asked about misses."""
    if not draft.options or not sized.estimate.fits or not leading.misses_targets(sized):
        return ""
    return draft.words.text("leads", "instead", label=option_label(draft.options[0], draft.words))


def _asked_first(sized: Sized, heard: Heard, question: str, words: Wording) -> str | None:
    """How fast it is leads where the words do not ask whether it fits at all."""
    fit = leading.asks_fit(question) and sized.figures["task"] != "training"
    return None if fit else topics.asked_headline(sized, heard, words)


def _ran_out(sized: Sized, question: str) -> bool:
    """A training run that fits by the estimate ran out of memory all the same."""
    training = sized.figures["task"] == "training" and sized.verdict == "fits"
    return training and fitting.reports_out_of_memory(question)


def _second(draft: Draft, sized: Sized, heard: Heard, own: Sequence[Way], question: str) -> str:
    """The verdict as second sentence where another one leads."""
    if _asked_first(sized, heard, question, draft.words) is None:
        return ""
    return _verdict(sized, own, draft.words)


def _verdict(sized: Sized, own: Sequence[Way], words: Wording) -> str:
    return own_hardware.headline(sized, own, words) or headline.verdict_headline(sized, words)


def _beside_a_pace(sized: Sized, verdict: str, words: Wording) -> str:
    """What memory has to do with a pace: nothing where it is ample; where requests do not all fit at once, some of them wait."""
    if sized.estimate.fits:
        return verdict if sized.verdict == "tight" else ""
    several = (sized.figures.get("concurrency") or 1) > 1
    return words.text("leads", "crowded", **sized.figures) if several else verdict


def _turns(sized: Sized, defaults: Defaults) -> tuple[Flip, ...]:
    if sized.parsed is None or sized.figures["task"] != "inference":
        return ()
    return flips(sized.parsed, sized.estimate, defaults)


def _say_flips(draft: Draft, sized: Sized, found: tuple[Flip, ...], own: Sequence[Way]) -> None:
    if sized.parsed is None or sized.figures["task"] != "inference":
        return
    if sized.verdict == "tight" and (sized.margin_gib or 0.0) < 0:
        found = tuple(flip for flip in found if flip.kind == "context")
    key = "flip" if not sized.estimate.fits else "limits"
    draft.say("flip", flip_text(found, sized, draft.words), draft.title(key))
    draft.hint = hint_text(found, sized, draft.words, own[0].kind if own else None)
    add_flips(draft, found)
