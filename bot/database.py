"""Engines and migrations. SQLAlchemy is used synchronously and off the event loop.

The same code then serves the terminal, Alembic and the Slack app, one driver a database is enough, and a slow disk can
only hold up a thread. Reads and writes of the Slack app go through `bot.slack.offload`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text

# Slack waits three seconds for an acknowledgement: give up on a locked file early enough to answer 500 and be asked again.
_SQLITE_BUSY_MS: Final = 2_000
_POSTGRES: Final = "postgresql+psycopg"
_MIGRATION_LOCK: Final = 7_315_001


def engine_for(url: str) -> Engine:
    """An engine for a `DATABASE_URL`: SQLite in WAL mode or PostgreSQL."""
    parsed = make_url(url)
    if parsed.get_backend_name() in ("postgresql", "postgres"):
        options = {"connect_timeout": 5}
        return create_engine(parsed.set(drivername=_POSTGRES), pool_pre_ping=True, pool_size=8, connect_args=options)
    engine = create_engine(parsed)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout={_SQLITE_BUSY_MS}",
        "journal_mode=WAL",
        # A turn is acknowledged once it is recorded: it must outlive a power cut, so every commit reaches the disk.
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    """Writers take the lock at once: a transaction that began as a reader could not wait for it."""
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('sqlite_begin', 'IMMEDIATE')}")


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
