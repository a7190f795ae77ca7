"""A backup is one zip file: a manifest and each table as JSON Lines, read in one transaction while the bot runs.

It is restored into an empty database of either kind, so that it is also the way from SQLite to PostgreSQL. What can be
built again (the vectors of documents) is left out. Tokens stay sealed; the keys that open them are not in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, MetaData, Table, func, insert, select

from bot.database import migrate, reading, revisions
from bot.schema import metadata
from bot.version import __version__
from sizing.errors import UserError

_FORMAT: Final = 1
_BATCH: Final = 500
_MANIFEST: Final = "manifest.json"
# Built anew from the documents where it is missing.
_DERIVED: Final = frozenset({"knowledge_vectors", "knowledge_index"})
# Nobody who started an installation before the restore can end it after.
_PASSING: Final = frozenset({"oauth_states"})


def backup(engine: Engine, path: Path, documents: Engine | None = None) -> dict[str, int]:
    """Write a backup; rows by table. `documents` is the database of documents where it is another one.

    Raises:
        UserError: the file exists, or its folder does not.
    """
    if path.exists():
        raise UserError("file", str(path), "this file exists; name another one")
    if not path.parent.is_dir():
        raise UserError("file", str(path), f"there is no folder {path.parent}; make it first")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("xb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            unfinished.chmod(0o600)
            found = _write_all(archive, engine, documents)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return {name: entry["rows"] for name, entry in found.items()}


def _write_all(archive: zipfile.ZipFile, engine: Engine, documents: Engine | None) -> dict[str, dict[str, Any]]:
    written: dict[str, dict[str, Any]] = {}
    with _snapshot(engine) as connection:
        for table in metadata.sorted_tables:
            if table.name not in _PASSING:
                written[table.name] = _write(archive, connection, table)
    with _snapshot(documents or engine) as connection:
        for table in _document_tables(connection):
            written[table.name] = _write(archive, connection, table)
    manifest = {"format": _FORMAT, "version": __version__, "revision": revisions(engine)[0], "tables": written}
    archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
    return written


def _snapshot(engine: Engine) -> Connection:
    """All tables as they were at one moment."""
    if engine.dialect.name == "postgresql":
        return engine.connect().execution_options(isolation_level="REPEATABLE READ")
    return reading(engine)


def _document_tables(connection: Connection) -> list[Table]:
    found = MetaData()
    found.reflect(connection, only=lambda name, _: name.startswith("knowledge_") and name not in _DERIVED)
    return found.sorted_tables


def _write(archive: zipfile.ZipFile, connection: Connection, table: Table) -> dict[str, Any]:
    digest, rows = hashlib.sha256(), 0
    with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as file:
        for row in connection.execution_options(yield_per=_BATCH).execute(select(table).order_by(*table.primary_key)):
            line = json.dumps(dict(row._mapping), ensure_ascii=False, default=_bytes).encode() + b"\n"
            file.write(line)
            digest.update(line)
            rows += 1
    return {"rows": rows, "sha256": digest.hexdigest()}


def _bytes(value: object) -> dict[str, str]:
    if isinstance(value, bytes | memoryview):
        return {"base64": base64.b64encode(bytes(value)).decode("ascii")}
    raise TypeError(f"cannot keep a {type(value).__name__}")


def restore(path: Path, engine: Engine, documents: Engine | None = None) -> dict[str, int]:
    """Fill an empty database from a backup, all of it or nothing; rows by table.

    Raises:
        UserError: there is no such file, it is no backup, is damaged, or the database is not empty.
    """
    if not path.exists():
        raise UserError("file", str(path), f"there is no file {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read(_MANIFEST))
            return _restore(archive, manifest, engine, documents or engine)
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as fault:
        raise UserError("file", str(path), f"this is no whole backup of Sizewise ({type(fault).__name__})") from None


def _restore(archive: zipfile.ZipFile, manifest: dict[str, Any], engine: Engine, documents: Engine) -> dict[str, int]:
    tables: dict[str, dict[str, Any]] = manifest["tables"]
    if manifest["format"] != _FORMAT:
        raise UserError("file", manifest["format"], f"made by version {manifest['version']}; restore it with that one")
    migrate(engine)
    with engine.begin() as connection:
        ours = [table for table in metadata.sorted_tables if table.name in tables]
        _fill(archive, connection, ours, tables)
    with documents.begin() as connection:
        _fill(archive, connection, [table for table in _document_tables(connection) if table.name in tables], tables)
    return {name: int(entry["rows"]) for name, entry in tables.items()}


def _fill(
    archive: zipfile.ZipFile, connection: Connection, wanted: list[Table], tables: dict[str, dict[str, Any]]
) -> None:
    for table in wanted:
        if connection.execute(select(func.count()).select_from(table)).scalar_one():
            raise UserError("database", table.name, "the database is not empty; restore into a new one")
    for table in wanted:
        if _digest(archive, table.name) != tables[table.name]["sha256"]:
            raise ValueError(table.name)
        for batch in _batches(_rows(archive, table.name)):
            connection.execute(insert(table), batch)


def _digest(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(f"{name}.jsonl") as file:
        digest = hashlib.sha256()
        for line in file:
            digest.update(line)
    return digest.hexdigest()


def _rows(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, Any]]:
    with archive.open(f"{name}.jsonl") as file:
        for line in file:
            yield {column: _unpacked(value) for column, value in json.loads(line).items()}


def _unpacked(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) and value.keys() == {"base64"} else value


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
