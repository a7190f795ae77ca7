"""The tables: made by themselves in a file of their own, and by the bot's chain of migrations in a database that it owns."""

import time
from pathlib import Path

import pytest
from sqlalchemy import inspect

from bot.database import engine_for, migrate
from knowledge.records import StoredDocument
from knowledge.store import Store
from knowledge.tables import metadata
from sizing.errors import UserError

DOCUMENT = StoredDocument(
    "d1", "", "document", "a.txt", "/a.txt", "A", "en", "text", "0" * 64, 1, (), time.time()
)  # fmt: skip


def url_in(folder: Path) -> str:
    return f"sqlite:///{folder / 'state.db'}"


def test_a_file_of_its_own_needs_no_chain(tmp_path: Path) -> None:
    store = Store(url_in(tmp_path))
    store.put(DOCUMENT, [])
    assert [d.id for d in Store(url_in(tmp_path)).documents()] == ["d1"]


def test_the_chain_creates_the_tables_and_adopts_those_that_are_there(tmp_path: Path) -> None:
    Store(url_in(tmp_path)).put(DOCUMENT, [])
    engine = engine_for(url_in(tmp_path))
    migrate(engine)
    assert [d.id for d in Store(url_in(tmp_path)).documents()] == ["d1"]
    fresh = engine_for(url_in(tmp_path / "other"))
    migrate(fresh)
    assert set(metadata.tables) <= set(inspect(fresh).get_table_names())
    Store(url_in(tmp_path / "other")).put(DOCUMENT, [])


def test_a_database_of_the_chain_that_lacks_the_tables_is_told_by_name(tmp_path: Path) -> None:
    engine = engine_for(url_in(tmp_path))
    migrate(engine)
    with engine.begin() as connection:
        metadata.tables["knowledge_chunks"].drop(connection)
    with pytest.raises(UserError, match="knowledge_chunks"):
        Store(url_in(tmp_path))
