"""The answer to a turn that led to specs: verdict, options, causes, assumptions."""

from __future__ import annotations

from collections.abc import Sequence

from bot.compose import headline, passages, topics
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.faults import fault_text
from bot.compose.flips import flip_text, most
from bot.compose.labels import option_label
from bot.compose.options import chart, compare_table, options_table
from bot.compose.recommended import Options, almost_text, options_for, strictly_better
from bot.compose.runnable import SELECTION, runnable, runnable_table
from bot.compose.warnings import warning_text
from bot.explain import cite_devices, why
from bot.heard import Heard
from bot.sized import Sized, size
from sizing.defaults import Defaults
from sizing.sensitivity import flips

# Asking for any of these asks for options even where the hardware named does.
_WANT_OPTIONS = ("size", "cheaper")


def write_single(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """One spec: on the hardware it names, or what hardware it needs, or what that hardware can run."""
    if not sized.spec.get("model"):
        _write_runnable(draft, sized, heard, defaults)
    elif not sized.spec.get("hardware"):
        _write_recommendation(draft, sized, heard, question, defaults)
    elif not sized.estimate.ok:
        write_fault(draft, sized)
    else:
        _write_verdict(draft, sized, heard, question, defaults)


def _write_verdict(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    words = draft.words
    wants_options = not sized.estimate.fits or heard.asks(*_WANT_OPTIONS)
    options = options_for(sized.spec, defaults) if wants_options else Options()
    draft.sized = [sized]
    draft.options = strictly_better(options.good, sized)
    draft.considered = [one for one, _ in options.almost]
    draft.headline = headline.verdict_headline(sized, words)
    draft.lead = headline.lead(sized, words)
    draft.table = options_table(draft.options, words)
    draft.chart = chart([sized, *draft.options], words)
    if sized.parsed is not None:
        _say_flips(draft, sized, defaults)
    draft.say("cheaper", almost_text(options, words), draft.title("almost"))
    _say_why(draft, sized, heard, question)
    topics.say_asked(draft, sized, heard)
    _say_warnings(draft, sized)
    draft.assumptions = assumption_views(sized, words)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "compare", "cheaper", "launch", "loadtest", "export")


def _say_flips(draft: Draft, sized: Sized, defaults: Defaults) -> None:
    on_the_edge = sized.verdict == "tight" and (sized.margin_gib or 0.0) < 0
    if sized.parsed is None or sized.spec.get("task", "inference") != "inference" or on_the_edge:
        return
    found = flips(sized.parsed, sized.estimate, defaults)
    key = "flip" if not sized.estimate.fits else "limits"
    draft.say("flip", flip_text(found, sized, draft.words), draft.title(key))
    draft.flips = [flip.estimate for flip in found]
    draft.material.add_data([{"before": flip.before, "after": flip.after, "most": most(flip)} for flip in found])


def _say_why(draft: Draft, sized: Sized, heard: Heard, question: str) -> None:
    paragraph = why(sized, draft.words, draft.sources)
    if paragraph is not None:
        draft.paragraphs.append(paragraph)
    if heard.asks("explain"):
        passages.say_explanation(draft, question)


def _say_warnings(draft: Draft, sized: Sized) -> None:
    for warning in sized.estimate.warnings:
        draft.say("warning", warning_text(warning, draft.words), draft.title("warning"))


def _write_recommendation(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    words = draft.words
    options = options_for(sized.spec, defaults)
    draft.considered = [one for one, _ in options.almost]
    if options.error is not None:
        draft.sized = [sized]
        draft.headline = fault_text(options.error, words)
        draft.material.add_text(draft.headline)
        return
    if not options.good:
        draft.headline = words.text("headline", "recommend_none", model=sized.figures["model"])
        draft.sized = [one for one, _ in options.almost[:1]] or [sized]
        draft.say("cheaper", almost_text(options, words), draft.title("almost"))
        return
    best = options.good[0]
    draft.sized, draft.options = [best], list(options.good)
    draft.headline = _recommend_headline(best, draft)
    draft.lead = headline.lead(best, words)
    draft.table = options_table(draft.options, words)
    draft.chart = chart(draft.options, words)
    draft.say("cheaper", almost_text(options, words), draft.title("almost"))
    _say_why(draft, best, heard, question)
    topics.say_asked(draft, best, heard)
    draft.assumptions = assumption_views(best, words)
    cite_devices([best], draft.sources)
    draft.actions = ("why", "compare", "cheaper", "launch", "loadtest", "export")


def _recommend_headline(best: Sized, draft: Draft) -> str:
    words = draft.words
    each = words.text("ui", "on_each") if len(best.devices) > 1 else ""
    key = "recommend_tight" if best.verdict == "tight" else "recommend"
    figures = {**best.figures, "label": option_label(best, words), "each": each}
    return words.text("headline", key, **figures)


def _write_runnable(draft: Draft, sized: Sized, heard: Heard, defaults: Defaults) -> None:
    words = draft.words
    probe = size({**sized.spec, "model": {"id": SELECTION[0]}}, defaults)
    if not probe.estimate.ok:
        write_fault(draft, probe)
        return
    found = runnable(sized.spec, defaults)
    key = "runnable" if found else "runnable_none"
    draft.headline = words.text("headline", key, hardware=sized.hardware, count=len(found))
    draft.sized, draft.options = [sized], found
    draft.material.add(len(found))
    if found:
        draft.table = runnable_table(found, words)
        topics.say_asked(draft, found[0], heard)
        draft.assumptions = assumption_views(found[0], words)
        cite_devices(found[:1], draft.sources)


def write_fault(draft: Draft, sized: Sized) -> None:
    """A spec that cannot be sized: what was not understood, and what would work."""
    draft.sized = [sized]
    error = sized.estimate.error
    draft.headline = fault_text(error, draft.words) if error else draft.words.text("headline", "unsizable")
    draft.material.add_text(draft.headline)


def write_comparison(draft: Draft, alternatives: Sequence[Sized], heard: Heard) -> None:
    """Several specs side by side."""
    words = draft.words
    draft.sized = list(alternatives)
    draft.headline = _compare_headline(draft, alternatives)
    draft.table = compare_table(alternatives, words)
    draft.chart = chart(alternatives, words)
    best = _ranked(alternatives)[0]
    _say_why(draft, best, heard, "")
    for one in alternatives:
        topics.say_asked(draft, one, heard)
    draft.assumptions = assumption_views(best, words)
    cite_devices(alternatives, draft.sources)
    draft.actions = ("why", "cheaper", "export")


def _compare_headline(draft: Draft, alternatives: Sequence[Sized]) -> str:
    words = draft.words
    fitting = [one for one in alternatives if one.estimate.fits]
    best = option_label(_ranked(alternatives)[0], words)
    if not fitting:
        return words.text("headline", "compare_none_fit", label=best)
    if len(fitting) == len(alternatives):
        return words.text("headline", "compare_all_fit", label=best)
    if len(fitting) == 1:
        key = "compare_one_tight" if fitting[0].verdict == "tight" else "compare_one_fits"
        return words.text("headline", key, label=option_label(fitting[0], words))
    return words.text("headline", "compare_some_fit", labels=words.listed(option_label(one, words) for one in fitting))


def _ranked(alternatives: Sequence[Sized]) -> list[Sized]:
    """Those that fit first, then by what is left on the tightest device."""
    return sorted(alternatives, key=lambda one: (not one.estimate.fits, -(one.margin_gib or float("-inf"))))
