"""Whether what was found answers the question, or only shares words with it.

A question is about the things it names. Where the documents never mention one of them (a term of the field, a product, an
unusual word), they do not answer it, however near the rest sounds: "NVLink between two cards?" is not answered by a text
on two cards. So what counts is what the documents lack, weighed by what kind of word it is. And a question is about what it asks of
those things: "Who founded NVIDIA?" and "When was vLLM released?" name only what every note names, but no place says all of it
together; so the other half is how much of the question a single one of the best chunks holds. No cosine is used: its scale
differs from model to model, and BM25 alone must say the same.

The weights are a logistic regression, rounded, on the questions of `bench/retrieval`, which fits and cross-validates it.
"""

import math
import re
from dataclasses import dataclass

import numpy as np

from knowledge.analyse import Language, stem
from knowledge.glossary import ordinary, verb_bases
from knowledge.lexical import Match, Term
from knowledge.retrieve import Ranking

_SENTENCE_START = re.compile(r"(?:^|[.!?:])\W*$")

# The fit's bias is -1.97: a question that has an answer and gets none costs more than the reverse.
_BIAS = -1.82
_LACKS_TERM = -2.01
_LACKS_NAME = -1.05
_LACKS_WORD = -1.16
_COVERAGE = 0.72
_HELD = 2.93
_MOST = 2
_CHUNKS_READ = 3
_SHORTEST_WORD = 3


@dataclass(frozen=True)
class Evidence:
    """What the documents lack of a question, each counted up to 2, and how much of it one of the best chunks has.

    `terms` are terms of the field, `names` are written with a capital or a digit, `words` are other unusual words ("founded",
    "erschienen"). In [0, 1]: `coverage` weighs what the question names by how rare it is, `held` counts all its words alike.
    """

    terms: int
    names: int
    words: int
    coverage: float
    held: float


def confidence(ranking: Ranking) -> float:
    """In [0, 1]: how sure it is that the best hits answer the question."""
    if not ranking.hits:
        return 0.0
    e = evidence(ranking)
    lacking = _LACKS_TERM * e.terms + _LACKS_NAME * e.names + _LACKS_WORD * e.words
    return 1 / (1 + math.exp(-(_BIAS + lacking + _COVERAGE * e.coverage + _HELD * e.held)))


def is_answerable(ranking: Ranking) -> bool:
    return confidence(ranking) >= 0.5


def evidence(ranking: Ranking) -> Evidence:
    """The figures that `confidence` weighs."""
    match = ranking.match
    missing = [t for t, scores in zip(match.terms, match.by_term, strict=True) if not scores.any()]
    unknown = [t for t in missing if not t.in_glossary and not _says_nothing(t, ranking.lang)]
    names = [t for t in unknown if _is_name(t, ranking.question)]
    words = [t for t in unknown if _is_word(t, ranking.question)]
    places = [hit.place for hit in ranking.hits[:_CHUNKS_READ]]
    return Evidence(
        terms=min(_MOST, sum(t.domain for t in missing)),
        names=min(_MOST, len(names)),
        words=min(_MOST, len(words)),
        coverage=_coverage(match, places),
        held=_held(match, places),
    )


def _says_nothing(term: Term, lang: Language) -> bool:
    """Everyday words, single letters, and small numbers, which are part of the asker's case."""
    word = term.words[0]
    if len(word) == 1 or (word.isdigit() and len(word) < 3):
        return True
    bases = [stem(word, lang), *(verb_bases(word) if lang == "de" else ())]
    return any(base in ordinary(lang) for base in bases)


def _is_word(term: Term, question: str) -> bool:
    """No name, no number, and long enough to say something."""
    word = term.words[0]
    return len(word) >= _SHORTEST_WORD and not any(c.isdigit() for c in word) and not _is_name(term, question)


def _held(match: Match, places: list[int]) -> float:
    """The share of the words of the question that one of the chunks has, whatever kind they are of."""
    if not match.terms:
        return 0.0
    return max((sum(bool(s[place]) for s in match.by_term) / len(match.terms) for place in places), default=0.0)


def _is_name(term: Term, question: str) -> bool:
    """With a digit, or written with a capital (as German nouns are) where no sentence begins."""
    word = term.words[0]
    if any(c.isdigit() for c in word):
        return True
    written = re.search(rf"(?<!\w){re.escape(word)}", question, re.IGNORECASE)
    if written is None or not written[0][0].isupper():
        return False
    return not _SENTENCE_START.search(question[: written.start()])


def _coverage(match: Match, places: list[int]) -> float:
    """Each term weighs what its best chunk scores, so that rare ones weigh most; 0.5 where the question names nothing."""
    about = [s for t, s in zip(match.terms, match.by_term, strict=True) if (t.domain or not t.in_glossary) and s.any()]
    if not about or not places:
        return 0.5
    scores = np.array(about)
    best = scores.max(axis=1)
    return float((scores[:, places].sum(axis=0) / best.sum()).max())
