"""Where a published claim and the engine disagree, an answer that the claim concerns says so, and cites where that is worked out."""

from __future__ import annotations

from typing import Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.guard import marks_in
from bot.sized import Sized, device_counts
from knowledge.claims import Subject, concerning

_MOST: Final = 2
_SIXTEEN_BIT: Final = frozenset({"bf16", "fp16"})


def say_contradictions(draft: Draft, question: str) -> None:
    """Tells the refuted claims that concern what is sized, or that the question or a quoted passage repeats."""
    subjects = [_subject(one) for one in draft.sized]
    quoted = [part.text for part in draft.paragraphs if part.kind == "why" and _quotes_document(part.text, draft)]
    said = (
        [] if draft.sized else [draft.headline, draft.lead]
    )  # a verdict is in our own words, an explanation in those of its source
    for claim in concerning([question, *said, *quoted], subjects)[:_MOST]:
        text = draft.words.text("contradiction", "guide", title=claim.title, told=claim.told[draft.lang])
        draft.material.add_source(text, draft.lang)
        draft.say("note", with_mark(text, draft.sources.topic("contradictions", text)), draft.title("contradiction"))


def _quotes_document(text: str, draft: Draft) -> bool:
    """Our own notes repeat no claim that the engine refutes; what they share with one is its words."""
    kinds = {f"[{citation.n}]": citation.kind for citation in draft.sources.citations}
    return any(kinds.get(mark) == "document" for mark in marks_in(text))


def _subject(sized: Sized) -> Subject:
    spec, resolved = sized.parsed, sized.resolved
    return Subject(
        task=spec.task if spec else "",
        method=(spec.training.method or "") if spec and spec.training else "",
        model=resolved.architecture.id if resolved else "",
        params_b=resolved.architecture.params_total / 1e9 if resolved else 0.0,
        sixteen_bit=bool(resolved and resolved.weights.id in _SIXTEEN_BIT),
        accelerators=tuple(device_counts(sized)),
    )
