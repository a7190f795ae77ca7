"""Answers from the sources alone: passages of notes and documents, each with its citation."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.prose import body_of, overlap, sentences

_MOST_PASSAGES = 2
_BESIDE_FIGURES = 1
_MOST_SENTENCES = 3
_LONGEST_QUERY = 600
_SEARCHED = 8
_LEAST_TITLE_WORDS: Final = 2
_ITEM: Final = re.compile(r"(?:^|\s)(?:-|\d\.)\s(?=[A-ZÄÖÜ0-9])")
_LIST_ITEMS: Final = 2


def write_explanation(draft: Draft, question: str, *, named: bool = False) -> bool:
    """Fills the draft from the best passages; False where no source answers the question.

    `named` takes only sources whose title shares words with the question.
    """
    found = [hit for hit in _hits(draft, question) if not named or _title_match(question, hit.title)]
    if not found:
        return False
    draft.intent = "explain"
    first, *rest = _told(found[0])
    mark = draft.sources.passage(found[0])
    draft.headline = first if rest else with_mark(first, mark)
    draft.lead = with_mark(" ".join(rest), mark) if rest else ""
    for hit in found[1:]:
        draft.say("why", with_mark(_short(hit), draft.sources.passage(hit)))
    return True


def say_explanation(draft: Draft, question: str, *, named: bool = False) -> None:
    """Adds what the sources say on a question to an answer that also has figures.

    `named` takes only a source whose title shares words with the question.
    """
    found = [hit for hit in _hits(draft, question) if not named or _title_match(question, hit.title)]
    for hit in found[:_BESIDE_FIGURES]:
        draft.say("why", with_mark(_short(hit), draft.sources.passage(hit)))


def _short(hit: Any) -> str:
    """The beginning of a passage: the place is cited, and an export does not repeat the source."""
    return " ".join(_told(hit)[:_MOST_SENTENCES])


def _told(hit: Any) -> list[str]:
    """The sentences of a passage without a question that heads it; none where it is a list and no prose."""
    body = body_of(hit)
    if len(_ITEM.findall(body)) >= _LIST_ITEMS:
        return []
    found = sentences(body)
    return found[1:] if found and found[0].endswith("?") else found


def _hits(draft: Draft, question: str) -> list[Any]:
    library = draft.sources.library
    if library is None or not question.strip():
        return []
    result = library.search(question[:_LONGEST_QUERY], lang=draft.lang, k=_SEARCHED)
    # Documents that do not answer must not keep the notes, which do, from answering.
    answering = (hit for hit in result.hits if result.by_kind.get(hit.kind))
    ranked = sorted((hit for hit in answering if _told(hit)), key=lambda hit: -_title_match(question, hit.title))
    named = [hit for hit in ranked if _title_match(question, hit.title)]
    kept = {body_of(hit): hit for hit in named or ranked}
    return list(kept.values())[:_MOST_PASSAGES]


def _title_match(question: str, title: str) -> int:
    """Words that question and title share; a single one may be chance."""
    shared = overlap(question, title)
    return shared if shared >= _LEAST_TITLE_WORDS else 0
