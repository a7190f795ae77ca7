"""Writers of one process to SQLite wait for one another and lose nothing."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from bot import database
from bot.database import engine_for, reading, relaxed, sqlite_url


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    found = engine_for(sqlite_url(tmp_path / "s.db"))
    with found.begin() as connection:
        connection.execute(text("CREATE TABLE counted (n INTEGER)"))
    return found


def _add(engine: Engine, hold_s: float = 0.0) -> None:
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO counted VALUES (1)"))
        time.sleep(hold_s)


def _count(engine: Engine) -> int:
    with reading(engine) as connection:
        return int(connection.execute(text("SELECT COUNT(*) FROM counted")).scalar_one())


def test_many_writers_at_once_all_come_to_their_turn(engine: Engine) -> None:
    """SQLite alone lets a writer look again after pauses and gives up: some of these would fail."""
    engines = (engine, relaxed(engine))
    with ThreadPoolExecutor(12) as pool:
        for done in [pool.submit(_add, engines[n % 2], 0.01) for n in range(240)]:
            done.result()
    assert _count(engine) == 240
    engine.dispose()


def test_a_writer_that_fails_gives_way(engine: Engine) -> None:
    for _ in range(3):
        with pytest.raises(SQLAlchemyError), engine.begin() as connection:
            connection.execute(text("INSERT INTO nowhere VALUES (1)"))
    _add(engine)
    assert _count(engine) == 1
    engine.dispose()


def test_a_writer_that_is_kept_waiting_too_long_says_so_and_reading_goes_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_SQLITE_BUSY_MS", 50)
    holds, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO counted VALUES (1)"))
            holds.set()
            ends.wait(20)

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert holds.wait(20)
        with pytest.raises(SQLAlchemyError, match="other writers"):
            _add(engine)
        assert _count(engine) == 0
        ends.set()
        holding.result()
    _add(engine)
    assert _count(engine) == 2
    engine.dispose()
