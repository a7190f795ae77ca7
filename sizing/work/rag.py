"""RAG as a service: import, embedding, index, retrieval and generation, each with its time and memory, and all together."""

from __future__ import annotations

import math
from typing import Any

from sizing.devices import Device
from sizing.resolve import resolve_model
from sizing.spec import Beside, ModelRef, Work, WorkloadSpec
from sizing.units import GIB
from sizing.work.corpus import CHUNK_TOKENS, Corpus, corpus_of
from sizing.work.encoding import Encoder, encoder, encoding_weights
from sizing.work.outcome import ranged
from sizing.work.vectors import Index, after_years, index_of

# Planning figures, each stated with the answer and open to the user's own.
GROWTH_PER_YEAR = 0.2
YEARS = 3.0
CANDIDATES = 30
PASSAGES = 8
SYSTEM_TOKENS, HISTORY_TOKENS, ANSWER_TOKENS = 800, 2000, 800
# Pages a second and core: text of born-digital PDF and office files; scanned pages through OCR on the CPU.
_PARSED_PAGES_S, _OCR_PAGES_S = 5.0, 0.3
_IMPORT_CORES = 8
_QUERY_TOKENS = 40
_SEARCH_MS = 20.0  # HNSW search with filters over millions of vectors: planning figure
_BYTES_PER_PAGE = 100_000.0  # original document on disk, text and pictures mixed

EMBEDDER, RERANKER = "BAAI/bge-m3", "BAAI/bge-reranker-v2-m3"


def context_tokens() -> int:
    """Tokens of one question: system prompt, passages, history and answer: 6,800, so 8,192."""
    needed = SYSTEM_TOKENS + PASSAGES * CHUNK_TOKENS + HISTORY_TOKENS + ANSWER_TOKENS
    return 1 << math.ceil(math.log2(needed))


def generation_spec(spec: WorkloadSpec) -> WorkloadSpec:
    """The language model's part as a workload of its own, with embedder and reranker beside it."""
    beside = spec.beside or (
        Beside(role="embedding", model=spec.work.embedder or ModelRef(id=EMBEDDER), weights="fp16"),
        Beside(role="reranker", model=spec.work.reranker or ModelRef(id=RERANKER), weights="fp16"),
    )
    context = None if spec.context_tokens or spec.input_tokens else context_tokens()
    update: dict[str, Any] = {"task": "inference", "beside": beside}
    return spec.model_copy(update=update | ({"context_tokens": context} if context else {}))


def stages(spec: WorkloadSpec, device: Device | None) -> dict[str, Any]:
    """Import, embedding, index and retrieval as plain data; generation is an Estimate of its own.

    Raises:
        UserError: an unknown embedder or reranker.
    """
    corpus, assumed = corpus_of(spec.work)
    embedder = _encoder(spec.work.embedder, EMBEDDER, corpus.chunk_tokens, device)
    reranker = _encoder(spec.work.reranker, RERANKER, corpus.chunk_tokens, device)
    dimensions = spec.work.dimensions or embedder.model.raw.get("pooled_dim") or 1024
    index = index_of(
        corpus.chunks,
        int(str(dimensions)),
        spec.work.vector_bytes or 4.0,
        spec.work.index or "hnsw",
        spec.work.replicas or 1,
    )
    growth = spec.work.growth_per_year if spec.work.growth_per_year is not None else GROWTH_PER_YEAR
    return {
        "task": "rag", "documents": corpus.documents, "pages": corpus.pages, "corpus_tokens": corpus.tokens, "chunks": corpus.chunks,
        "chunk_tokens": corpus.chunk_tokens, "context_tokens": spec.context_tokens or context_tokens(),
        "import": _import(corpus), "embedding": _embedding(embedder, corpus), "index": index.data(),
        "index_later_gib": after_years(index.ram_gib, growth, YEARS), "growth_per_year": growth, "years": YEARS,
        "documents_gb": corpus.pages * _BYTES_PER_PAGE / 1e9,
        "retrieval": _retrieval(embedder, reranker, corpus, spec.work.candidates or CANDIDATES),
        "assumed": [one.model_dump() for one in assumed],
    }  # fmt: skip


def _encoder(ref: ModelRef | None, usual: str, tokens: int, device: Device | None) -> Encoder:
    model, _ = resolve_model(ref or ModelRef(id=usual))
    weights, _ = encoding_weights(None, model, device)
    return encoder(model, weights, tokens, device)


def _import(corpus: Corpus) -> dict[str, float]:
    return {
        "cores": _IMPORT_CORES, "hours": corpus.pages / (_PARSED_PAGES_S * _IMPORT_CORES) / 3600,
        "ocr_hours": corpus.pages / (_OCR_PAGES_S * _IMPORT_CORES) / 3600,
    }  # fmt: skip


def _embedding(found: Encoder, corpus: Corpus) -> dict[str, Any]:
    read = corpus.chunks * corpus.chunk_tokens
    parts = found.bytes_on_device()
    data: dict[str, Any] = {"model": found.model.id, "memory_gib": parts.total / GIB}
    if found.tokens_s:
        low, expected, high = found.tokens_s
        data |= {
            "tokens_s": ranged(low, expected, high),
            "hours": ranged(*(read / rate / 3600 for rate in (high, expected, low))),
        }
    return data


def _retrieval(embedder: Encoder, reranker: Encoder, corpus: Corpus, candidates: int) -> dict[str, Any]:
    data: dict[str, Any] = {"search_ms": _SEARCH_MS, "candidates": candidates, "reranker": reranker.model.id,
                            "reranker_gib": reranker.bytes_on_device().total / GIB}  # fmt: skip
    if reranker.tokens_s and embedder.tokens_s:
        read = candidates * (corpus.chunk_tokens + _QUERY_TOKENS)
        data["rerank_ms"] = ranged(*(1000 * read / rate for rate in reversed(reranker.tokens_s)))
    return data


def index_only(work: Work) -> Index | None:
    """The index where only vectors are asked about."""
    pieces = work.chunks or work.documents
    if pieces is None or work.dimensions is None:
        return None
    return index_of(pieces, work.dimensions, work.vector_bytes or 4.0, work.index or "hnsw", work.replicas or 1)
