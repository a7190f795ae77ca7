"""Ranks chunks for a question: BM25 over words and concepts, fused with dense similarity where there is a model."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from knowledge.analyse import Language
from knowledge.lexical import LexicalIndex, Match, Scores
from knowledge.records import StoredChunk

if TYPE_CHECKING:
    from knowledge.index import Near

_OTHER_LANGUAGE = 0.93
_NEARLY_EQUAL = 0.9


@dataclass(frozen=True)
class Ranked:
    """A chunk with its score in [0, 1] among the chunks it was ranked with, and its best passage."""

    chunk: StoredChunk
    place: int
    score: float
    passage: int


@dataclass(frozen=True)
class Ranking:
    """Chunks, best first, and what the question matched."""

    question: str
    lang: Language
    hits: tuple[Ranked, ...]
    match: Match


def rank(
    index: LexicalIndex, chunks: Sequence[StoredChunk], question: str, lang: Language, near: "Sequence[Near] | None",
    keep: Set[str] | None = None, most: int = 10,
) -> Ranking:  # fmt: skip
    """The best chunks, at most `most`, of those that have anything of the question; `near` is None
    where no embedding model is in use. `keep` names the chunks that may be shown (all where it is None).
    """
    match = index.match(question, lang)
    passages = _scaled(match.passages)
    signals = [_scaled(match.chunks), _pooled(passages, index.owner, len(chunks))]
    if near:
        dense = _dense(near, chunks)
        signals.append(_pooled(dense, index.owner, len(chunks)))
        passages = passages + dense
    fused = np.asarray(np.mean(signals, axis=0)) if chunks else np.zeros(0)
    fused = fused * np.array([1.0 if c.document.lang == lang else _OTHER_LANGUAGE for c in chunks])
    order = (int(n) for n in np.argsort(-fused) if fused[n] > 0 and (keep is None or chunks[n].id in keep))
    hits = (_ranked(chunks, index.owner, passages, n, float(fused[n])) for n in order)
    return Ranking(question, lang, tuple(_merged(hits, most)), match)


def _scaled(scores: Scores) -> Scores:
    """To [0, 1] by the best: the sums of BM25 have no scale of their own."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


def _pooled(passages: Scores, owner: np.ndarray, size: int) -> Scores:
    """A chunk is as good as its best passage."""
    pooled = np.zeros(size)
    np.maximum.at(pooled, owner, passages)
    return pooled


def _dense(near: "Sequence[Near]", chunks: Sequence[StoredChunk]) -> Scores:
    """Similarities of all passages to [0, 1], whatever range of cosines the model uses.

    Only the nearest are known. The others are taken to go on downwards as far again, and to lie in the middle of that.
    """
    nearest, farthest = max(n.similarity for n in near), min(n.similarity for n in near)
    spread = (nearest - farthest) or 1.0
    scores = np.full(sum(len(c.passages) for c in chunks), 0.25)
    starts = dict(zip((c.id for c in chunks), np.cumsum([0, *(len(c.passages) for c in chunks)]), strict=False))
    for n in near:
        if n.chunk_id in starts:
            scores[starts[n.chunk_id] + n.passage] = 0.5 + 0.5 * (n.similarity - farthest) / spread
    return scores


def _ranked(chunks: Sequence[StoredChunk], owner: np.ndarray, passages: Scores, place: int, score: float) -> Ranked:
    own = np.flatnonzero(owner == place)
    return Ranked(chunks[place], place, score, int(np.argmax(passages[own])))


def _merged(hits: Iterable[Ranked], most: int) -> Iterator[Ranked]:
    """The best hits, without chunks that say what a better one says already."""
    seen: list[frozenset[str]] = []
    for hit in hits:
        words = _words(hit.chunk.text)
        if not any(len(words & s) >= _NEARLY_EQUAL * len(words | s) for s in seen):
            seen.append(words)
            yield hit
        if len(seen) >= most:
            return


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())
