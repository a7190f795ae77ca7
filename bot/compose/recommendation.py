"""A workload without hardware: what to take."""

from __future__ import annotations

import re

from bot.compose import headline, load_test, pictures, queueing, topics, training
from bot.compose.assumptions import assumption_views
from bot.compose.common import ALL_ACTIONS, say_why, write_fault
from bot.compose.draft import Draft
from bot.compose.faults import fault_text
from bot.compose.labels import option_label
from bot.compose.measured import say_measured
from bot.compose.options import chart, options_table
from bot.compose.prices import has_old_price
from bot.compose.proposals import (
    budget_params,
    choice_text,
    lost_text,
    nearest_labels,
    nearest_text,
    notes_text,
    tiers_text,
)
from bot.compose.recommended import Options, almost_text, lack_facts, options_for
from bot.explain import cite_devices
from bot.heard import Heard
from bot.sized import Sized, size
from sizing.defaults import Defaults

_ASKS_MEMORY = re.compile(r"v?ram\b|speicher|memory|\bGB\b", re.IGNORECASE)
# Where no search is possible, the need is told on a card that holds nearly everything.
_PROBE = {"accelerator": "nvidia-h200-sxm-141gb", "count": 1}


def write(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """The option that meets the workload at the lowest cost, then the next ones."""
    if sized.spec.get("task") == "training":
        training.write_recommendation(draft, sized, heard, question, defaults)
        return
    options = options_for(sized.spec, defaults)
    draft.considered = [one for one, _ in options.almost]
    draft.material.add_data([lack_facts(one) for _, lacks in options.almost for one in lacks])
    if options.error is not None:
        _write_need(draft, sized, heard, question, options, defaults)
    elif not options.good:
        _write_nothing(draft, sized, options)
    else:
        _write_options(draft, options, heard, question, defaults)
        draft.headline, draft.lead = _led_by_need(draft, sized, question, defaults)


def _write_options(draft: Draft, options: Options, heard: Heard, question: str, defaults: Defaults) -> None:
    words = draft.words
    best = options.good[0]
    draft.sized, draft.options = [best], list(options.good)
    draft.headline = _headline(best, draft)
    draft.lead = headline.lead(best, words)
    draft.table = options_table(draft.options, words)
    draft.chart = chart(draft.options, words)
    budgeted = best.parsed is not None and best.parsed.targets.budget is not None
    tiers = tiers_text(options, words) if budgeted else ""
    draft.say("note", tiers or choice_text(options, words), draft.title("choice"))
    _add_reasons(draft, options)
    draft.say("note", lost_text(options, words), draft.title("lost"))
    draft.say("note", notes_text(options, words), draft.title("mind"))
    if has_old_price(one.estimate.cost for one in options.good):
        draft.say("note", words.text("cost", "old"))
    draft.say("cheaper", almost_text(options, best, words), draft.title("almost"))
    say_why(draft, best, heard, question)
    topics.say_asked(draft, best, heard)
    queueing.say(draft, best, question, defaults)
    load_test.say(draft, best, question, defaults)
    say_measured(draft, best)
    draft.assumptions = assumption_views(best, words)
    cite_devices([best], draft.sources)
    draft.actions = ALL_ACTIONS


def _add_reasons(draft: Draft, options: Options) -> None:
    """The figures of why an option stands behind the first, with their dimensions."""
    for entry in (entry for why in options.why for entry in why):
        params = entry.get("params", {})
        if "share" in params:
            draft.material.add(params["share"], "share")
            draft.material.add(1 + params["share"])
        for name in ("got", "wanted"):
            if name in params:
                draft.material.add(params[name], "rate")
        draft.material.add_data({name: params[name] for name in ("bits", "count") if name in params})


def _led_by_need(draft: Draft, sized: Sized, question: str, defaults: Defaults) -> tuple[str, str]:
    """Of a pipeline for pictures the need in its formats stands beside the option, and before it where memory is asked for."""
    need = pictures.need_headline(draft, sized.spec, defaults)
    if need is None:
        return draft.headline, draft.lead
    return (need, draft.headline) if _ASKS_MEMORY.search(question) else (draft.headline, need)


def _headline(best: Sized, draft: Draft) -> str:
    words = draft.words
    each = words.text("ui", "on_each") if len(best.devices) > 1 else ""
    key = "recommend_tight" if best.verdict == "tight" else "recommend"
    return words.text("headline", key, **{**best.figures, "each": each})


def _write_nothing(draft: Draft, sized: Sized, options: Options) -> None:
    """What would work with one thing changed, what almost does and what it lacks; a budget that is too small is told what would do."""
    words = draft.words
    draft.headline = words.text("headline", "recommend_none", model=sized.figures["model"])
    draft.sized = [one for one, _ in options.almost[:1]] or [sized]
    draft.considered = [*draft.considered, *(one for _, one in options.nearest)]
    draft.material.add_data([{near.change: [near.before, near.after]} for near, _ in options.nearest])
    money = next(((near, one) for near, one in options.nearest if near.change == "budget" and near.after), None)
    if money is not None:
        near, one = money
        draft.material.add_money({"amount": near.before, "planning_amount": near.after})
        params = budget_params(near, one, words)
        draft.headline = words.text(
            "headline", "recommend_none_budget", model=sized.figures["model"], **params, label=option_label(one, words)
        )
    draft.lead = headline.lead(draft.sized[0], words) if draft.sized[0].estimate.ok else ""
    draft.table = options_table(
        [one for _, one in options.nearest], words, "nearest_caption", nearest_labels(options, words)
    )
    draft.say("flip", nearest_text(options, words), draft.title("nearest"))
    draft.say("cheaper", almost_text(options, sized, words), draft.title("almost"))
    if has_old_price(one.estimate.cost for _, one in options.nearest):
        draft.say("note", words.text("cost", "old"))
    draft.assumptions = assumption_views(draft.sized[0], words)


def _write_need(draft: Draft, sized: Sized, heard: Heard, question: str, options: Options, defaults: Defaults) -> None:
    """No search for this kind of work: what it needs, on a card large enough to tell."""
    probe = size({**sized.spec, "hardware": [_PROBE]}, defaults)
    if not probe.estimate.ok:
        write_fault(draft, probe)
        if options.error is not None and probe.estimate.error is None:
            draft.headline = fault_text(options.error, draft.words)
        return
    draft.sized = [probe]
    draft.headline = draft.words.text("headline", "need", **probe.figures)
    draft.lead = draft.words.text("lead", "need_on", **probe.figures)
    say_why(draft, probe, heard, question)
    draft.assumptions = assumption_views(probe, draft.words)
