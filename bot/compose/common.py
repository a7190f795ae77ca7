"""Parts that several kinds of answers share."""

from __future__ import annotations

from bot.answer import Action
from bot.compose import passages
from bot.compose.draft import Draft
from bot.compose.faults import fault_text
from bot.compose.warnings import warning_text
from bot.explain import why
from bot.heard import Heard
from bot.sized import Sized
from bot.thread import Spec
from sizing.errors import UserError
from sizing.spec import WorkloadSpec, parse_spec

ALL_ACTIONS: tuple[Action, ...] = ("why", "compare", "cheaper", "launch", "loadtest", "export")


def parsed_or_none(spec: Spec) -> WorkloadSpec | None:
    """The spec as the engine reads it; None where a field of it is at fault."""
    try:
        return parse_spec(spec)
    except UserError:
        return None


def write_fault(draft: Draft, sized: Sized) -> None:
    """A spec that cannot be sized: what was not understood, and what would work."""
    draft.sized = [sized]
    error = sized.estimate.error
    draft.headline = fault_text(error, draft.words) if error else draft.words.text("headline", "unsizable")
    draft.material.add_text(draft.headline)


def say_why(draft: Draft, sized: Sized, heard: Heard, question: str, *, told: bool = False) -> None:
    """The dominant cause unless it is `told` already; what the sources say where an explanation was asked for."""
    paragraph = None if told else why(sized, draft.words, draft.sources)
    if paragraph is not None:
        draft.paragraphs.append(paragraph)
    if heard.asks("explain"):
        passages.say_explanation(draft, question, named=True)


def say_warnings(draft: Draft, sized: Sized) -> None:
    for warning in sized.estimate.warnings:
        draft.say("warning", warning_text(warning, draft.words), draft.title("warning"))
