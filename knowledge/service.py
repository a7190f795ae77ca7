"""What the other rooms use: `Knowledge` searches, hands out notes by topic, and keeps a team's own documents.

What searches (numpy, SciPy) and what keeps documents (SQLAlchemy) is imported where it is first used: an answer that cites
notes by topic needs neither, and both together would be half of its time.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from knowledge import glossary, ingest, notes
from knowledge.analyse import Language, detect_language
from knowledge.chunks import MOST_CHARACTERS
from knowledge.embedded import holds_documents
from knowledge.records import SHARED_TEAM, Kind, StoredChunk, StoredDocument
from knowledge.results import Change, Hit, Method, SearchResult, Status
from knowledge.settings import Settings
from sizing.errors import UserError

if TYPE_CHECKING:
    from knowledge.index import Near, VectorIndex
    from knowledge.lexical import LexicalIndex
    from knowledge.reranker import Reranker
    from knowledge.retrieve import Ranking
    from knowledge.store import Store

__all__ = ["LONGEST_QUESTION", "Change", "Hit", "Knowledge", "Progress", "SearchResult", "Status"]

Progress = Callable[[str, int, int], None]

LONGEST_QUESTION = 4_000


@dataclass(frozen=True)
class _Shelf:
    """Chunks of one kind with their lexical index, as of `version`."""

    version: str
    chunks: tuple[StoredChunk, ...]
    index: "LexicalIndex"


class Knowledge:
    """Search over notes and documents. Safe to share between threads; a search never waits for a build.

    Loading an embedding model takes some ten seconds. With `wait_for_model` false, searches go by BM25 until another thread
    has called `warm`, for callers that must answer at once.
    """

    def __init__(self, settings: Settings | None = None, *, wait_for_model: bool = True) -> None:
        self.settings = settings or Settings.from_environment()
        self._ready = wait_for_model
        self._shelves: dict[tuple[Kind, str], _Shelf] = {}
        self._building = threading.Lock()
        self._outage = ""
        self._asked_again_at = 0.0

    def search(
        self, query: str, *, lang: Language | None = None, k: int = 5, topics: Sequence[str] = (), team: str = SHARED_TEAM,
        kinds: Sequence[Kind] = ("document", "note"),
    ) -> SearchResult:  # fmt: skip
        """The k best places for a question, the team's own documents first: they were added to be asked.

        Documents and notes are ranked apart, so that our notes never push a document's passage out; notes take the last third.
        `topics` limits the notes. Raises UserError for an empty or overlong question or a k outside 1..100.
        """
        from knowledge.answerable import is_answerable

        question = _checked(query, k)
        read_as = lang or detect_language(question)
        rankings = {kind: self.ranking(kind, question, lang=read_as, team=team, topics=topics, k=k) for kind in kinds}
        known = {kind: r for kind, r in rankings.items() if r is not None}
        by_kind = {kind: is_answerable(r) for kind, r in known.items()}
        hits = _interleaved({kind: _hits(r) for kind, r in known.items()}, k)
        answerable = by_kind.get("document", by_kind.get("note", False))
        return SearchResult(answerable, tuple(hits), by_kind, "hybrid" if self._dense else "bm25", self._outage)

    def passages(self, topic: str, lang: Language) -> tuple[Hit, ...]:
        """The notes on a topic in that language, its own note first; in the other language where there is none in this."""
        found = notes.on_topic(topic)
        own = [n for n in found if n.document.lang == lang] or found
        return tuple(_hit(c, 0, 1.0) for note in own for c in note.chunks)

    def add(self, paths: Sequence[Path], *, team: str = SHARED_TEAM) -> Iterator[Change | UserError]:
        """Adds files and folders one by one; a file that is refused is yielded as the error, and nothing else is lost."""
        for path in paths:
            try:
                files = [*ingest.files_under(path)]
            except UserError as error:
                yield error
                continue
            for file in files:
                yield self._add(file, team)

    def add_url(self, address: str, *, team: str = SHARED_TEAM) -> Change | UserError:
        """Adds a page or file from a host of the operator's list."""
        from knowledge.fetch import fetch

        try:
            got = fetch(address, self.settings.url_hosts)
            return self._put(
                ingest.parse(got.content, source=got.name, origin=address, content_type=got.content_type), team
            )
        except UserError as error:
            return error

    def list(self, *, team: str = SHARED_TEAM) -> Sequence[StoredDocument]:
        """The team's documents and those shared by all."""
        return self._store.documents(kind="document", team=team)

    def has_documents(self) -> bool:
        """Whether anybody has added documents, so that an answer need not look where there is nothing."""
        known = holds_documents(self.settings.database_url)
        return bool(self._store.documents(kind="document")) if known is None else known

    def remove(self, name: str, *, team: str = SHARED_TEAM) -> Sequence[Change]:
        """Removes documents by id, source name or origin. Raises UserError where there is none."""
        found = [d for d in self.list(team=team) if d.team == team and name in (d.id, d.source, d.origin)]
        if not found:
            known = ", ".join(d.source for d in self.list(team=team)) or "none"
            raise UserError("document", name, f"No document {name!r} here; there are: {known}.")
        self._store.remove(found)
        return [Change("removed", d, 0) for d in found]

    def refresh(self, *, team: str = SHARED_TEAM) -> Iterator[Change | UserError]:
        """Reads changed files again; a file that is gone is told and its document kept."""
        for document in self.list(team=team):
            if document.origin.startswith(("http://", "https://")):
                yield self.add_url(document.origin, team=document.team)
            elif Path(document.origin).exists():
                yield self._add(Path(document.origin), document.team)
            else:
                yield Change("missing", document, 0)

    def status(self, *, team: str = SHARED_TEAM) -> Status:
        """Counts and the search method, with the reason where it is BM25 alone."""
        documents, all_notes = self.list(team=team), notes.load()
        chunks = len(self._store.chunks(documents)) + sum(len(n.chunks) for n in all_notes)
        model = self._vectors.model.choice.name if self._vectors else None
        stale = self.stale()
        message = f"hybrid search: BM25 and {model}" if model and not self._outage else (
            f"BM25 only: {self._outage}" if self._outage
            else "BM25 only: embeddings are switched off" if self.settings.embeddings == "off"
            else "BM25 only: no embedding model is installed; install the extra `embeddings` for hybrid search"
        )  # fmt: skip
        method: Method = "hybrid" if model and not self._outage else "bm25"
        return Status(len(documents), len(all_notes), chunks, method, model, not stale, message)

    def stale(self) -> Sequence[Kind]:
        """The kinds whose vectors are not those of the present content and model; none where the server is gone."""
        from knowledge.index import VectorsUnavailable

        vectors = self._vectors
        try:
            found = [kind for kind in _KINDS if vectors and not vectors.is_current(kind, self._all_chunks(kind))]
        except VectorsUnavailable as fault:
            self._lost(fault)
            return []
        self._outage = ""
        return found

    def build(self, progress: Progress | None = None) -> None:
        """Brings the vectors up to date; searches go on with the version before until the new one is complete.

        Where the server of the vectors is gone, they stay as they are, and `status` says so.
        """
        from knowledge.index import VectorsUnavailable

        with self._building:
            for kind in self.stale():
                assert self._vectors
                told = (lambda done, total, kind=kind: progress(kind, done, total)) if progress else None
                try:
                    self._vectors.build(kind, self._all_chunks(kind), told)
                except VectorsUnavailable as fault:
                    self._lost(fault)
                    return

    def _lost(self, fault: Exception) -> None:
        """Keeps why the vectors cannot be asked, and does not ask again for a while: an answer must not wait for a dead server."""
        if not self._outage:
            _log.warning("BM25 only: %s", fault)
        self._outage, self._asked_again_at = str(fault), time.monotonic() + _PATIENCE_S

    def warm(self) -> None:
        """Loads models and indexes, so that the first search is as fast as the others."""
        for kind in _KINDS:
            self._near(kind, "memory", "en", SHARED_TEAM, self._vectors)
        self._ready = True
        self.search("memory", lang="en", k=1)

    def close(self) -> None:
        """Lets go of connections to a server of vectors."""
        if self._vectors:
            self._vectors.close()

    def ranking(
        self,
        kind: Kind,
        question: str,
        *,
        lang: Language,
        team: str = SHARED_TEAM,
        topics: Sequence[str] = (),
        k: int = 10,
    ) -> "Ranking | None":
        """The hits of one kind with what they matched, before they are shown; None where there is nothing of the kind."""
        from knowledge.retrieve import rank

        shelf = self._shelf(kind, team, lang)
        if not shelf.chunks:
            return None
        keep = (
            {c.id for c in shelf.chunks if set(topics) & set(c.document.topics)} if topics and kind == "note" else None
        )
        near = self._near(kind, question, lang, team, self._dense)
        if self._reranker is None:
            return rank(shelf.index, shelf.chunks, question, lang, near, keep, k)
        from knowledge.reranker import reranked

        wide = reranked(rank(shelf.index, shelf.chunks, question, lang, near, keep, max(k, _RERANKED)), self._reranker)
        return replace(wide, hits=wide.hits[:k])

    def _near(
        self, kind: Kind, question: str, lang: Language, team: str, vectors: "VectorIndex | None"
    ) -> "Sequence[Near] | None":
        """The nearest passages; None where there are no vectors, or their server is gone."""
        if vectors is None:
            return None
        from knowledge.index import VectorsUnavailable

        try:
            near = vectors.near(kind, question, lang, sorted({team, SHARED_TEAM}))
        except VectorsUnavailable as fault:
            self._lost(fault)
            return None
        self._outage = ""
        return near

    @property
    def _dense(self) -> "VectorIndex | None":
        """The vectors, once they are loaded and as long as their server answers or has not been asked for a while."""
        lost = self._outage and time.monotonic() < self._asked_again_at
        return self._vectors if self._ready and not lost else None

    def _shelf(self, kind: Kind, team: str, lang: Language) -> _Shelf:
        """Notes have a shelf for each language, documents one for each team."""
        from knowledge.lexical import LexicalIndex

        documents = _notes_for(lang) if kind == "note" else self._store.documents(kind=kind, team=team)
        version = hashlib.sha256("".join(sorted(f"{d.id}{d.content_hash}" for d in documents)).encode()).hexdigest()
        key = (kind, lang if kind == "note" else team)
        shelf = self._shelves.get(key)
        if shelf is None or shelf.version != version:
            chunks = tuple(self._chunks(kind, documents))
            shelf = self._shelves[key] = _Shelf(version, chunks, LexicalIndex(chunks, glossary.load()))
        return shelf

    def _chunks(self, kind: Kind, documents: Sequence[StoredDocument]) -> Sequence[StoredChunk]:
        if kind == "document":
            return self._store.chunks(documents)
        wanted = {d.id for d in documents}
        return [c for n in notes.load() if n.document.id in wanted for c in n.chunks]

    def _all_chunks(self, kind: Kind) -> Sequence[StoredChunk]:
        documents = [n.document for n in notes.load()] if kind == "note" else self._store.documents(kind=kind)
        return self._chunks(kind, documents)

    def _add(self, file: Path, team: str) -> Change | UserError:
        try:
            return self._put(ingest.read(file), team)
        except UserError as error:
            return error

    def _put(self, read: ingest.Document, team: str) -> Change:
        before = next(
            (d for d in self._store.documents(kind="document", team=team) if (d.team, d.origin) == (team, read.origin)),
            None,
        )
        if before and before.content_hash == read.content_hash:
            return Change("unchanged", before, len(read.chunks))
        document = StoredDocument(
            uuid4().hex, team, "document", read.source, read.origin, read.title, read.lang, read.format,
            read.content_hash, read.size_bytes, (), time.time(),
        )  # fmt: skip
        self._store.put(document, read.chunks)
        return Change("updated" if before else "added", document, len(read.chunks))

    @cached_property
    def _store(self) -> "Store":
        from knowledge.store import Store

        return Store(self.settings.database_url)

    @cached_property
    def _vectors(self) -> "VectorIndex | None":
        if self.settings.embeddings == "off":
            return None
        from knowledge.embeddings import LocalEmbeddings, choose
        from knowledge.index import VectorIndex

        choice = choose(self.settings.embeddings)
        return VectorIndex(self.settings, self._store, LocalEmbeddings(choice, glossary.load())) if choice else None

    @cached_property
    def _reranker(self) -> "Reranker | None":
        if self.settings.reranker is None:
            return None
        from knowledge.reranker import LocalReranker

        return LocalReranker(self.settings.reranker)


_KINDS: tuple[Kind, ...] = ("document", "note")
_RERANKED = 20
_PATIENCE_S = 30.0
_log = logging.getLogger(__name__)


def _checked(query: str, k: int) -> str:
    if not query.strip():
        raise UserError("query", query, "The question is empty.")
    if len(query) > LONGEST_QUESTION:
        raise UserError(
            "query", f"{query[:40]}…", f"The question has {len(query)} characters; at most {LONGEST_QUESTION} are read."
        )
    if not 1 <= k <= 100:
        raise UserError("k", k, "k must be from 1 to 100.")
    return query


def _notes_for(lang: Language) -> Sequence[StoredDocument]:
    """Notes of equal content stand in both languages: those of the question's, the others where it lacks one."""
    found = [n.document for n in notes.load()]
    own = {d.id.removesuffix(f".{lang}") for d in found if d.lang == lang}
    return [d for d in found if d.lang == lang or d.id.rpartition(".")[0] not in own]


def _hits(ranking: "Ranking") -> list[Hit]:
    from knowledge.answerable import confidence

    sure = confidence(ranking)
    return [_hit(r.chunk, r.passage, round(r.score * sure, 4)) for r in ranking.hits]


def _hit(chunk: StoredChunk, passage: int, score: float) -> Hit:
    document, best = chunk.document, chunk.passages[passage]
    return Hit(
        source=document.source, title=document.title, section=" › ".join(best.headings), text=chunk.text[:MOST_CHARACTERS],
        score=score, kind=document.kind, lang=document.lang, topics=document.topics, passage=best.text, page=chunk.page,
        paragraph=chunk.paragraphs[0], chunk_id=chunk.id, document_id=document.id,
    )  # fmt: skip


def _interleaved(hits: dict[Kind, list[Hit]], k: int) -> list[Hit]:
    documents, own_notes = hits.get("document", []), hits.get("note", [])
    share = k // 3 if documents else k
    first = documents[: k - min(share, len(own_notes))]
    return [*first, *own_notes[: k - len(first)]]
