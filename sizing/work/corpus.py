"""A corpus in documents, pages, tokens and pieces of text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sizing.estimate import Assumption
from sizing.spec import Work

# Planning figures, each stated with the answer and open to the user's own.
PAGES_PER_DOCUMENT = 5.0
TOKENS_PER_PAGE = 500
CHUNK_TOKENS = 400
OVERLAP = 0.15


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sizes of the store today."""

    documents: int
    pages: float
    tokens: float
    chunks: int
    chunk_tokens: int


def corpus_of(work: Work) -> tuple[Corpus, tuple[Assumption, ...]]:
    """Documents, pages and pieces, with what had to be assumed."""
    assumed: list[Assumption] = []
    documents = work.documents or 10_000
    pages_each = work.pages_per_document or PAGES_PER_DOCUMENT
    if work.documents is None and work.chunks is None:
        assumed.append(Assumption(field="work.documents", value=documents, code="usual_store"))
    if work.pages_per_document is None and work.chunks is None:
        assumed.append(Assumption(field="work.pages_per_document", value=pages_each, code="usual_document"))
    size = work.chunk_tokens or CHUNK_TOKENS
    tokens = documents * pages_each * TOKENS_PER_PAGE
    chunks = work.chunks or math.ceil(tokens / (size * (1 - OVERLAP)))
    if work.chunks is not None:
        tokens = work.chunks * size * (1 - OVERLAP)
    return Corpus(documents, tokens / TOKENS_PER_PAGE, tokens, chunks, size), tuple(assumed)
