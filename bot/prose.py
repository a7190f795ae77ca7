"""Cutting passages: sentences, headings and bodies, and how many words two texts share."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from knowledge.analyse import Language, stem

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ„“\"])")
_ENDS_A_SENTENCE: Final = re.compile(r"[.!?:;)\]]$")
_WORD: Final = re.compile(r"[^\W_]{2,}")
_LONGEST_HEADING = 90
# The last section of every note names levers; it says of no fact that it is so.
_NO_EVIDENCE: Final = frozenset({"Was das ändert", "What would change it"})
_COMMON: Final = frozenset(
    {
        *(
            "der",
            "die",
            "das",
            "ein",
            "eine",
            "und",
            "oder",
            "mit",
            "auf",
            "für",
            "von",
            "ist",
            "sind",
            "warum",
            "wie",
            "was",
        ),
        *(
            "wann",
            "nicht",
            "im",
            "in",
            "den",
            "dem",
            "des",
            "zu",
            "es",
            "mein",
            "meine",
            "sich",
            "wird",
            "werden",
            "ich",
            "wir",
        ),
        *(
            "the",
            "an",
            "and",
            "or",
            "with",
            "on",
            "for",
            "of",
            "is",
            "are",
            "why",
            "how",
            "what",
            "when",
            "not",
            "to",
            "it",
        ),
        *("does", "do", "my", "your", "at", "by", "so", "as", "if", "braucht", "brauchen", "need", "needs"),
    }
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, white space joined."""
    return [part for part in _SENTENCE_END.split(" ".join(text.split())) if part]


def blocks(text: str) -> list[tuple[str, str]]:
    """(heading, body) of every paragraph of a passage; a heading is a short line that ends no sentence."""
    found: list[tuple[str, str]] = []
    heading = ""
    for block in (part.strip() for part in text.split("\n\n")):
        if block and len(block) <= _LONGEST_HEADING and not _ENDS_A_SENTENCE.search(block):
            heading = block
        elif block:
            found.append((heading, block))
    return found


def body_of(hit: Any) -> str:
    """The words of the best part of a hit without its headings; of the whole hit where that part is a heading alone."""
    own = blocks(hit.passage) or blocks(hit.text)[:2]
    return "\n\n".join(body for _, body in own)


def best_section(text: str, wanted: str, lang: Language) -> str:
    """The heading of the section that says most of a sentence: shared word stems, each the less the more sections have it."""
    sections: dict[str, set[str]] = {}
    for heading, body in blocks(text):
        sections.setdefault(heading, set()).update(_stems(f"{heading} {body}", lang))
    evidence = [heading for heading in sections if heading not in _NO_EVIDENCE]
    if not evidence:
        return next(iter(sections), "")
    asked = _stems(wanted, lang)
    holders = {stem_: sum(stem_ in own for own in sections.values()) for stem_ in asked}
    weights = {stem_: math.log((len(sections) + 1) / count) for stem_, count in holders.items() if count}
    return max(evidence, key=lambda heading: sum(weights.get(stem_, 0.0) for stem_ in sections[heading]))


def _stems(text: str, lang: Language) -> set[str]:
    """Stems of telling words; figures say nothing about the subject."""
    return {stem(word, lang) for word in _words(text) if not any(sign.isdigit() for sign in word)}


def overlap(one: str, other: str) -> int:
    """How many telling words two texts share."""
    return len(_words(one) & _words(other))


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in _COMMON)
