"""Vectors of all passages in Chroma: one collection a version, built aside and swapped in when it is complete.

A version is named by the content and the model. While a new one is built, searches use the one before; it is deleted
when the version after next is swapped in. Vectors are kept in our own table by the hash of their text, so adding one document computes
that document's vectors only.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from knowledge.analyse import Language
from knowledge.embeddings import LocalEmbeddings
from knowledge.records import Kind, StoredChunk
from knowledge.settings import Settings
from knowledge.store import Store
from sizing.errors import UserError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from langchain_chroma import Chroma

Progress = Callable[[int, int], None]

_BATCH = 128
_NEAREST = 60


@dataclass(frozen=True)
class Near:
    """A passage near a question: its chunk, its number in the chunk, and the cosine of the two vectors."""

    chunk_id: str
    passage: int
    similarity: float


class VectorsUnavailable(Exception):
    """The vectors cannot be asked: the server is gone, or it has lost the collection. The message says which."""


class KeptEmbeddings(Embeddings):
    """Embeddings that are computed once for a text and kept in our table."""

    def __init__(self, model: LocalEmbeddings, store: Store) -> None:
        self.model = model
        self._store = store

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        hashes = [hashlib.sha256(t.encode()).hexdigest() for t in texts]
        kept = self._store.vectors(self.model.name, hashes)
        missing = [h not in kept for h in hashes]
        fresh = [t for t, m in zip(texts, missing, strict=True) if m]
        if fresh:
            computed = [np.asarray(v, dtype=np.float32).tobytes() for v in self.model.embed_documents(fresh)]
            added = dict(zip((h for h, m in zip(hashes, missing, strict=True) if m), computed, strict=True))
            self._store.put_vectors(self.model.name, added)
            kept |= added
        return [np.frombuffer(kept[h], dtype=np.float32).tolist() for h in hashes]

    def embed_query(self, text: str) -> list[float]:
        return self.model.embed_query(text)


class VectorIndex:
    """The vectors of notes and of documents."""

    def __init__(self, settings: Settings, store: Store, model: LocalEmbeddings) -> None:
        self.model = model
        self._settings = settings
        self._store = store
        self._kept = KeptEmbeddings(model, store)
        self._open: dict[str, Chroma] = {}

    def version(self, chunks: Sequence[StoredChunk]) -> str:
        """Content and model: what tells one version from another."""
        parts = [self.model.name, *sorted(f"{c.id}:{c.document.content_hash}:{len(c.passages)}" for c in chunks)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def is_current(self, kind: Kind, chunks: Sequence[StoredChunk]) -> bool:
        """Whether a complete version of this content is there; also asks a server that may have lost it.

        Raises VectorsUnavailable where the server cannot be reached.
        """
        current = self._store.current_index(kind)
        return current is not None and current[0] == self.version(chunks) and self._is_there(current[1])

    def _is_there(self, name: str) -> bool:
        if not self._settings.chroma_url:
            return True
        with _reachable(self._settings.chroma_url):
            return any(collection.name == name for collection in self._client.list_collections())

    def build(self, kind: Kind, chunks: Sequence[StoredChunk], progress: Progress | None = None) -> None:
        """Builds the collection of these chunks aside, then swaps it in. Raises VectorsUnavailable."""
        with _reachable(self._settings.chroma_url):
            self._build(kind, chunks, progress)

    def _build(self, kind: Kind, chunks: Sequence[StoredChunk], progress: Progress | None) -> None:
        version = self.version(chunks)
        name = f"{kind}-{version[:16]}-{hashlib.sha256(np.random.default_rng().bytes(16)).hexdigest()[:8]}"
        collection = self._collection(name, new=True)
        documents, ids = _documents(chunks)
        for at in range(0, len(documents), _BATCH):
            collection.add_documents(documents[at : at + _BATCH], ids=ids[at : at + _BATCH])
            if progress:
                progress(min(at + _BATCH, len(documents)), len(documents))
        before = self._store.swap_index(kind, version, name)
        self._delete_older(kind, {name, before})

    def near(self, kind: Kind, question: str, lang: Language, teams: Sequence[str]) -> list[Near]:
        """Passages nearest to the question, nearest first; none where no version is complete yet.

        Raises VectorsUnavailable.
        """
        current = self._store.current_index(kind)
        if current is None:
            return []
        vector = self.model.embed_question(question, lang)
        allowed: dict[str, Any] | None = {"team": {"$in": list(teams)}} if kind == "document" else None
        with _reachable(self._settings.chroma_url):
            found = self._collection(current[1]).similarity_search_by_vector_with_relevance_scores(
                vector, k=_NEAREST, filter=allowed
            )
        return [Near(d.metadata["chunk"], d.metadata["passage"], 1.0 - distance) for d, distance in found]

    def _collection(self, name: str, new: bool = False) -> "Chroma":
        """A collection by name; one that is not `new` and that a server has lost is not made anew, empty, in its place."""
        from langchain_chroma import Chroma

        if name not in self._open:
            self._open[name] = Chroma(
                client=self._client, collection_name=name, embedding_function=self._kept,
                collection_metadata={"hnsw:space": "cosine", "hnsw:search_ef": 200}, create_collection_if_not_exists=new,
            )  # fmt: skip
        return self._open[name]

    def close(self) -> None:
        """Lets go of the connections to a server; the next search opens them again."""
        from chromadb.api.client import Client

        client = self.__dict__.pop("_client", None)
        if isinstance(client, Client):
            client.close()
        self._open.clear()

    def _delete_older(self, kind: Kind, keep: set[str | None]) -> None:
        for collection in self._client.list_collections():
            if collection.name.startswith(f"{kind}-") and collection.name not in keep:
                self._client.delete_collection(collection.name)
                self._open.pop(collection.name, None)

    @cached_property
    def _client(self) -> "ClientAPI":
        if not self._settings.chroma_url:
            import chromadb
            from chromadb.config import Settings as ChromaSettings

            quiet = ChromaSettings(anonymized_telemetry=False)
            return chromadb.PersistentClient(str(self._settings.data / "chroma"), settings=quiet)
        address = urlsplit(self._settings.chroma_url)
        if not address.hostname or address.scheme not in ("http", "https"):
            raise UserError(
                "CHROMA_URL", self._settings.chroma_url, "CHROMA_URL must be an address such as http://chroma:8000."
            )
        ssl = address.scheme == "https"
        from knowledge.chroma_client import client_of

        return client_of(address.hostname, address.port or (443 if ssl else 8000), ssl=ssl)


@contextmanager
def _reachable(server: str | None) -> Iterator[None]:
    """Turns what the client raises where a server is gone into VectorsUnavailable; an embedded index keeps its own faults."""
    if server is None:
        yield
        return
    import httpx
    from chromadb.errors import ChromaError

    try:
        yield
    # The client tells a refused connection by a plain ValueError.
    except (httpx.HTTPError, ChromaError, ConnectionError, ValueError) as fault:
        raise VectorsUnavailable(f"the Chroma server {server} does not answer ({type(fault).__name__})") from fault


def passage_text(chunk: StoredChunk, number: int) -> str:
    """What is embedded of a passage: the headings above it, then its text."""
    passage = chunk.passages[number]
    heading = " ".join(h for h in passage.headings if h not in passage.text)
    return f"{heading}\n{passage.text}" if heading else passage.text


def _documents(chunks: Sequence[StoredChunk]) -> tuple[list[Document], list[str]]:
    found = [(c, n) for c in chunks for n in range(len(c.passages))]
    documents = [
        Document(
            passage_text(c, n), metadata={"chunk": c.id, "passage": n, "team": c.document.team, "lang": c.document.lang}
        )
        for c, n in found
    ]
    return documents, [f"{c.id}#{n}" for c, n in found]
