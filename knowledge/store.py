"""Our own table of documents and chunks: the truth that every index is built from (SQLite, or any SQLAlchemy URL)."""

import json
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from sqlalchemy import Engine, create_engine, delete, event, insert, inspect, select, update
from sqlalchemy.engine import Connection, Row
from sqlalchemy.pool import ConnectionPoolEntry

from knowledge.chunks import Chunk, Passage
from knowledge.database_url import database_url
from knowledge.records import SHARED_TEAM, Kind, StoredChunk, StoredDocument
from knowledge.tables import chunks as _chunks
from knowledge.tables import current as _current
from knowledge.tables import documents as _documents
from knowledge.tables import metadata
from knowledge.tables import vectors as _vectors
from sizing.errors import UserError

_CHAIN = "alembic_version"


class Store:
    """The table. Every method is one transaction."""

    def __init__(self, url: str) -> None:
        """Opens the tables, and creates them in a database that no chain of migrations owns (the embedded file).

        Raises UserError where the chain owns the database and has not created them yet.
        """
        parsed = database_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        self._engine: Engine = create_engine(parsed)
        if parsed.get_backend_name() == "sqlite":
            event.listen(self._engine, "connect", _wait_for_writers)
        self._find_or_create_tables()

    def _find_or_create_tables(self) -> None:
        present = set(inspect(self._engine).get_table_names())
        missing = set(metadata.tables) - present
        if missing and _CHAIN in present:
            names = ", ".join(sorted(missing))
            raise UserError(
                "DATABASE_URL", names, f"The database lacks {names}: start the bot once, which brings it up to date."
            )
        if missing:
            metadata.create_all(self._engine)

    def documents(self, *, kind: Kind | None = None, team: str | None = None) -> list[StoredDocument]:
        """Documents in the order they came; of one team with those shared by all where `team` is given."""
        query = select(_documents).order_by(_documents.c.added_at, _documents.c.source)
        if kind is not None:
            query = query.where(_documents.c.kind == kind)
        if team is not None:
            query = query.where(_documents.c.team.in_({team, SHARED_TEAM}))
        with self._engine.connect() as connection:
            return [_document(row) for row in connection.execute(query)]

    def chunks(self, documents: Sequence[StoredDocument]) -> list[StoredChunk]:
        """Their chunks, document by document, in order."""
        by_id = {d.id: d for d in documents}
        query = select(_chunks).order_by(_chunks.c.document_id, _chunks.c.ordinal)
        with self._engine.connect() as connection:
            rows = [row for row in connection.execute(query) if row.document_id in by_id]
        order = {identity: n for n, identity in enumerate(by_id)}
        return sorted(
            (_chunk(row, by_id[row.document_id]) for row in rows), key=lambda c: (order[c.document.id], c.ordinal)
        )

    def put(self, document: StoredDocument, chunks: Iterable[Chunk]) -> None:
        """Adds a document, in place of the one of the same team and origin."""
        with self._engine.begin() as connection:
            _drop(connection, _same_origin(connection, document))
            values = {**document.__dict__, "topics": json.dumps(document.topics)}
            connection.execute(insert(_documents).values(values))
            rows = [_row(document.id, n, chunk) for n, chunk in enumerate(chunks)]
            if rows:
                connection.execute(insert(_chunks), rows)

    def remove(self, documents: Iterable[StoredDocument]) -> None:
        with self._engine.begin() as connection:
            _drop(connection, [d.id for d in documents])

    def vectors(self, model: str, hashes: Collection[str]) -> dict[str, bytes]:
        """Vectors computed before, by the hash of their text."""
        query = select(_vectors).where(_vectors.c.model == model, _vectors.c.text_hash.in_(hashes))
        with self._engine.connect() as connection:
            return {row.text_hash: row.vector for row in connection.execute(query)}

    def put_vectors(self, model: str, vectors: dict[str, bytes]) -> None:
        """Keeps vectors; those that another process has kept meanwhile are left."""
        known = self.vectors(model, vectors.keys())
        rows = [{"model": model, "text_hash": h, "vector": v} for h, v in vectors.items() if h not in known]
        if rows:
            with self._engine.begin() as connection:
                connection.execute(insert(_vectors), rows)

    def current_index(self, kind: Kind) -> tuple[str, str] | None:
        """(version, collection) of the vectors that searches use."""
        with self._engine.connect() as connection:
            row = connection.execute(select(_current).where(_current.c.kind == kind)).first()
        return (row.version, row.collection) if row else None

    def swap_index(self, kind: Kind, version: str, collection: str) -> str | None:
        """Makes a built collection the current one; the name of the one before."""
        with self._engine.begin() as connection:
            row = connection.execute(select(_current).where(_current.c.kind == kind)).first()
            values = {"version": version, "collection": collection, "built_at": time.time()}
            if row is None:
                connection.execute(insert(_current).values(kind=kind, **values))
                return None
            connection.execute(update(_current).where(_current.c.kind == kind).values(values))
            return str(row.collection)


def _wait_for_writers(connection: object, _: ConnectionPoolEntry) -> None:
    """SQLite as several processes need it: readers do not wait for a writer, writers wait for each other."""
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.close()


def _same_origin(connection: Connection, document: StoredDocument) -> list[str]:
    query = select(_documents.c.id).where(_documents.c.team == document.team, _documents.c.origin == document.origin)
    return list(connection.scalars(query))


def _drop(connection: Connection, ids: Sequence[str]) -> None:
    connection.execute(delete(_chunks).where(_chunks.c.document_id.in_(ids)))
    connection.execute(delete(_documents).where(_documents.c.id.in_(ids)))


def _row(document_id: str, ordinal: int, chunk: Chunk) -> dict[str, object]:
    return {
        "id": f"{document_id}-{ordinal}", "document_id": document_id, "ordinal": ordinal, "text": chunk.text,
        "headings": json.dumps(chunk.headings), "page": chunk.page,
        "paragraph_first": chunk.paragraphs[0], "paragraph_last": chunk.paragraphs[1],
        "passages": json.dumps([[p.start, len(p.text), p.headings] for p in chunk.passages]),
    }  # fmt: skip


def _document(row: Row[tuple[object, ...]]) -> StoredDocument:
    return StoredDocument(**{**row._mapping, "topics": tuple(json.loads(row.topics))})


def _chunk(row: Row[tuple[object, ...]], document: StoredDocument) -> StoredChunk:
    passages = (Passage(row.text[at : at + n], tuple(h), at) for at, n, h in json.loads(row.passages))
    return StoredChunk(
        row.id, document, row.ordinal, row.text, tuple(json.loads(row.headings)), row.page,
        (row.paragraph_first, row.paragraph_last), tuple(passages),
    )  # fmt: skip
