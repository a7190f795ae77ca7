"""Engines and migrations. SQLAlchemy is used synchronously and off the event loop.

The same code then serves the terminal, Alembic and the Slack app, one driver a database is enough, and a slow disk can
only hold up a thread. Reads and writes of the Slack app go through `bot.slack.offload`.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import TimeoutError as WaitedTooLong
from sqlalchemy.pool import ConnectionPoolEntry

from knowledge.database_url import database_url

# Slack waits three seconds for an acknowledgement: give up on a locked file early enough to answer 500 and be asked again.
_SQLITE_BUSY_MS: Final = 2_000
# A server that is gone without a word is noticed: while connecting after 5 s, by unanswered probes or bytes after 15 to 25 s. One
# that is there and does not answer is for `bot.offload`, which does not wait for it.
_POSTGRES: Final = {
    "connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000,
}  # fmt: skip
_MIGRATION_LOCK: Final = 7_315_001
_WRITES: Final = "writes"


def engine_for(url: str) -> Engine:
    """An engine for a `DATABASE_URL`: SQLite in WAL mode or PostgreSQL."""
    parsed = database_url(url)
    if parsed.get_backend_name() == "postgresql":
        return create_engine(parsed, pool_pre_ping=True, pool_size=8, connect_args=dict(_POSTGRES))
    engine = create_engine(parsed)
    event.listen(engine, "connect", _set_up_sqlite)
    _Writers().watch(engine)
    return engine


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout={_SQLITE_BUSY_MS}",
        "journal_mode=WAL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


class _Writers:
    """Lets the writers of one process to SQLite one after the other.

    SQLite itself makes a second writer look again after ever longer pauses: of seven threads under load one may lose
    every time and fail after its two seconds. Who waits for a lock of ours is woken.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def watch(self, engine: Engine) -> None:
        event.listen(engine, "begin", self._begin)
        for end in ("checkin", "invalidate"):
            event.listen(engine, end, self._end)

    def _begin(self, connection: Connection) -> None:
        """Writers take the lock at once: a transaction that began as a reader could not wait for it."""
        options = connection.get_execution_options()
        mode = options.get("sqlite_begin", "IMMEDIATE")
        if mode == "IMMEDIATE":
            if not self._lock.acquire(timeout=_SQLITE_BUSY_MS / 1000):
                raise WaitedTooLong("other writers held the database for too long")
            connection.info[_WRITES] = True
            # A turn is acknowledged once it is recorded: it must outlive a power cut, so the commit reaches the disk.
            connection.exec_driver_sql(f"PRAGMA synchronous={options.get('sqlite_synchronous', 'FULL')}")
        connection.exec_driver_sql(f"BEGIN {mode}")

    def _end(self, _connection: object, record: ConnectionPoolEntry, *_: object) -> None:
        if record.info.pop(_WRITES, False):
            self._lock.release()


def relaxed(engine: Engine) -> Engine:
    """The same engine for writes that may be lost in a power cut together with all that came after them.

    A later commit that must last takes them to the disk too: SQLite's log and PostgreSQL's are written in order.
    """
    return engine.execution_options(sqlite_synchronous="NORMAL")


def reading(engine: Engine) -> Connection:
    """A connection that only reads and takes no write lock."""
    return engine.connect().execution_options(sqlite_begin="DEFERRED")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def migrate(engine: Engine) -> None:
    """Bring a database to the newest schema. Several processes may do so at once: one works, the others wait."""
    if engine.dialect.name == "sqlite" and engine.url.database:
        Path(engine.url.database).parent.mkdir(parents=True, exist_ok=True)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def revisions(engine: Engine) -> tuple[str | None, str | None]:
    """The revision a database is at, and the newest there is."""
    with reading(engine) as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    return current, ScriptDirectory.from_config(_config()).get_current_head()
