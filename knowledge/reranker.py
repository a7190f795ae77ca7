"""A cross-encoder that reads question and passage together, where the operator names one that is on this machine."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from knowledge.embeddings import in_hub_cache, silence
from knowledge.retrieve import Ranking
from sizing.errors import UserError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_WEIGHT = 0.5


class Reranker(Protocol):
    """Relevance of passages to a question; larger is better, the scale is the model's."""

    def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]: ...


class LocalReranker:
    """A sentence-transformers cross-encoder, loaded when first needed and never from a network."""

    def __init__(self, name: str) -> None:
        """Raises UserError where the model is not on this machine."""
        if not Path(name).is_dir() and not in_hub_cache(name):
            raise UserError(
                "SIZEWISE_RERANKER",
                name,
                f"No model at {name!r}: SIZEWISE_RERANKER takes a folder or an id in the hub's cache.",
            )
        self._name = name

    def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        return [float(s) for s in self._model.predict([(question, p) for p in passages], show_progress_bar=False)]

    @cached_property
    def _model(self) -> "CrossEncoder":
        from sentence_transformers import CrossEncoder

        silence()
        model: CrossEncoder = CrossEncoder(self._name, device="cpu", local_files_only=True)
        return model


def reranked(ranking: Ranking, reranker: Reranker) -> Ranking:
    """The same hits in a new order: half the rank they had, half what the cross-encoder makes of their best passages."""
    if len(ranking.hits) < 2:
        return ranking
    raw = np.asarray(
        reranker.scores(ranking.question, [h.chunk.passages[h.passage].text for h in ranking.hits]), dtype=float
    )
    spread = float(raw.max() - raw.min()) or 1.0
    scaled = (raw - raw.min()) / spread
    scores = [(1 - _WEIGHT) * h.score + _WEIGHT * float(s) for h, s in zip(ranking.hits, scaled, strict=True)]
    hits = [replace(h, score=s) for h, s in zip(ranking.hits, scores, strict=True)]
    return replace(ranking, hits=tuple(sorted(hits, key=lambda h: -h.score)))
