"""BM25 over words and concepts, built in the process from the chunk table, so that replicas with one table agree.

Every passage is indexed by the stems of its words and by the concepts of the glossary they may mean. A word of a question
counts once, by the best of its readings (its stem in either language, or a concept): a second spelling of the same word is
no second piece of evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import bm25s
import numpy as np
from numpy.typing import NDArray

from knowledge.analyse import Compounds, Language, stem, vocabulary
from knowledge.glossary import Glossary, Reading
from knowledge.records import StoredChunk

Scores = NDArray[np.float64]

_K1, _B = 1.2, 0.6
_FURTHER_READINGS = 0.2


@dataclass(frozen=True)
class Term:
    """A word of a question: its alternative tokens, and whether it names the field."""

    words: tuple[str, ...]
    tokens: tuple[str, ...]
    domain: bool
    in_glossary: bool


@dataclass(frozen=True)
class Match:
    """What a question found: scores of chunks and of passages, and for each term the passages that have it."""

    terms: tuple[Term, ...]
    passages: Scores
    chunks: Scores
    by_term: tuple[Scores, ...] = field(default=())


class LexicalIndex:
    """Two BM25 models, of chunks and of passages."""

    def __init__(self, chunks: Sequence[StoredChunk], glossary: Glossary) -> None:
        self._glossary = glossary
        self._known_headings: dict[tuple[tuple[str, ...], Language], list[str]] = {}
        self._compounds = Compounds(glossary.knows, vocabulary(c.text for c in chunks if c.document.lang == "de"))
        self.owner = np.array([n for n, c in enumerate(chunks) for _ in c.passages], dtype=np.intp)
        texts = [[self._tokens(p.text, c.document.lang) for p in c.passages] for c in chunks]
        above = [[self._headings(p.headings, c.document.lang) for p in c.passages] for c in chunks]
        self._chunks = _model([[*head[0], *chain.from_iterable(own)] for head, own in zip(above, texts, strict=True)])
        self._passages = _model([[*h, *t] for h, t in zip(chain(*above), chain(*texts), strict=True)])
        self.size = len(chunks)

    def terms(self, question: str, lang: Language) -> tuple[Term, ...]:
        """The words of a question that may be looked for, each once."""
        readings = self._glossary.read(question, lang, self._compounds)
        return tuple({t.tokens: t for t in map(_term, readings)}.values())

    def match(self, question: str, lang: Language) -> Match:
        """Scores of all chunks and passages; zero where nothing of the question occurs."""
        terms = self.terms(question, lang)
        passages = [_score(self._passages, t, len(self.owner)) for t in terms]
        chunks = [_score(self._chunks, t, self.size) for t in terms]
        return Match(terms, _sum(passages, len(self.owner)), _sum(chunks, self.size), tuple(chunks))

    def best_possible(self, term: Term) -> float:
        """The largest score that any chunk gets for a term."""
        return float(np.max(_score(self._chunks, term, self.size), initial=0.0))

    def _headings(self, headings: tuple[str, ...], lang: Language) -> list[str]:
        """Tokens of a heading path, which many passages share."""
        key = (headings, lang)
        if key not in self._known_headings:
            self._known_headings[key] = self._tokens(" ".join(headings), lang)
        return self._known_headings[key]

    def _tokens(self, text: str, lang: Language) -> list[str]:
        return [
            token for reading in self._glossary.read(text, lang, self._compounds) for token in _indexed(reading, lang)
        ]


def _indexed(reading: Reading, lang: Language) -> list[str]:
    return [*(stem(w, lang) for w in reading.words), *(f"#{c.number}" for c in reading.concepts)]


def _term(reading: Reading) -> Term:
    """A phrase is looked for as its concept only: "learning rate" is not found where something is learnt at some rate."""
    sides: tuple[Language, Language] = ("de", "en")
    stems = [stem(reading.words[0], side) for side in sides] if len(reading.words) == 1 else []
    concepts = [f"#{c.number}" for c in reading.concepts]
    domain = any(c.domain for c in reading.concepts)
    return Term(reading.words, tuple(dict.fromkeys([*stems, *concepts])), domain, bool(concepts))


def _model(tokens: list[list[str]]) -> bm25s.BM25 | None:
    if not any(tokens):
        return None
    model = bm25s.BM25(k1=_K1, b=_B)
    model.index(tokens, show_progress=False)
    return model


def _score(model: bm25s.BM25 | None, term: Term, size: int) -> Scores:
    """The best token counts in full, further ones a little."""
    known = [t for t in term.tokens if model is not None and t in model.vocab_dict]
    if model is None or not known:
        return np.zeros(size)
    each = np.array([model.get_scores([token]) for token in known], dtype=np.float64)
    best = each.max(axis=0)
    return np.asarray(best + _FURTHER_READINGS * (each.sum(axis=0) - best))


def _sum(scores: list[Scores], size: int) -> Scores:
    return np.asarray(np.sum(scores, axis=0)) if scores else np.zeros(size)
