"""The answer to a turn that led to specs: verdict, options, causes, assumptions."""

from __future__ import annotations

from collections.abc import Sequence

from bot.compose import headline
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.faults import fault_text
from bot.compose.labels import option_label
from bot.compose.options import chart, compare_table, options_table
from bot.explain import cite_devices, why
from bot.sized import Sized


def write_single(draft: Draft, sized: Sized, options: Sequence[Sized]) -> None:
    """One spec on named hardware; `options` are what would do instead, or nothing."""
    words = draft.words
    draft.sized = [sized]
    draft.options = list(options)
    draft.headline = headline.verdict_headline(sized, words)
    draft.lead = headline.lead(sized, words)
    draft.table = options_table(options, words)
    draft.chart = chart([sized, *options], words)
    _speed(draft, sized)
    _capacity(draft, sized)
    _why(draft, sized)
    draft.assumptions = assumption_views(sized, words)
    cite_devices([sized], draft.sources)


def write_fault(draft: Draft, sized: Sized) -> None:
    """A spec that cannot be sized: what was not understood, and what would work."""
    draft.sized = [sized]
    error = sized.estimate.error
    draft.headline = fault_text(error, draft.words) if error else draft.words.text("headline", "unsizable")
    draft.material.add_text(draft.headline)


def write_comparison(draft: Draft, alternatives: Sequence[Sized]) -> None:
    """Several specs side by side."""
    words = draft.words
    draft.sized = list(alternatives)
    draft.headline = _compare_headline(draft, alternatives)
    draft.table = compare_table(alternatives, words)
    draft.chart = chart(alternatives, words)
    ranked = _ranked(alternatives)
    _why(draft, ranked[0])
    draft.assumptions = assumption_views(ranked[0], words)
    cite_devices(alternatives, draft.sources)


def _compare_headline(draft: Draft, alternatives: Sequence[Sized]) -> str:
    words = draft.words
    fitting = [one for one in alternatives if one.estimate.fits]
    best = option_label(_ranked(alternatives)[0], words)
    if not fitting:
        return words.text("headline", "compare_none_fit", label=best)
    if len(fitting) == len(alternatives):
        return words.text("headline", "compare_all_fit", label=best)
    if len(fitting) == 1:
        return words.text("headline", "compare_one_fits", label=option_label(fitting[0], words))
    return words.text("headline", "compare_some_fit", labels=words.listed(option_label(one, words) for one in fitting))


def _ranked(alternatives: Sequence[Sized]) -> list[Sized]:
    """Those that fit first, then by what is left on the tightest device."""
    return sorted(alternatives, key=lambda one: (not one.estimate.fits, -(one.margin_gib or float("-inf"))))


def _why(draft: Draft, sized: Sized) -> None:
    paragraph = why(sized, draft.words, draft.sources)
    if paragraph is not None:
        draft.paragraphs.append(paragraph)


def _speed(draft: Draft, sized: Sized) -> None:
    speed = sized.estimate.speed
    if speed is None or not sized.estimate.fits:
        return
    words = draft.words
    parts = []
    if speed.decode_tok_s_per_user:
        parts.append(words.text("speed", "per_user", rate=speed.decode_tok_s_per_user))
    if speed.output_tok_s_total and (sized.figures.get("concurrency") or 1) > 1:
        parts.append(words.text("speed", "total", rate=speed.output_tok_s_total))
    if speed.ttft_ms:
        parts.append(words.text("speed", "first_token", time=speed.ttft_ms))
    if parts:
        draft.say("note", ", ".join(parts) + ".", draft.title("speed"))


def _capacity(draft: Draft, sized: Sized) -> None:
    figures = sized.figures
    if sized.estimate.fits and figures.get("capacity_tokens") and "context" in figures:
        text = draft.words.text(
            "capacity", "tokens", tokens=figures["capacity_tokens"], requests=figures["capacity_requests"], **_context(sized)
        )
        draft.say("note", text, draft.title("capacity"))


def _context(sized: Sized) -> dict[str, int]:
    return {"context": sized.figures["context"]}
