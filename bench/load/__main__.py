"""`python -m bench.load survive|load`: replicas under load and under kill -9, with a table of what came of it.

The PostgreSQL server is that of SIZEWISE_TEST_POSTGRES; a database of its own is made there and dropped.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import create_engine, text

from bench.load.load import load
from bench.load.survive import survive
from bot.database import sqlite_url

_SERVER = "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"


@contextlib.contextmanager
def database(kind: str, data: Path) -> Iterator[str]:
    """A fresh database's URL: a file in `data`, or one on the server."""
    if kind == "sqlite":
        yield sqlite_url(data / "sizewise.db")
        return
    engine = create_engine(os.environ.get("SIZEWISE_TEST_POSTGRES", _SERVER), isolation_level="AUTOCOMMIT")
    name = f"sizewise_load_{uuid.uuid4().hex[:8]}"
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield engine.url.set(database=name).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        engine.dispose()


def _print(row: dict[str, object]) -> None:
    for name, value in row.items():
        print(f"{name:>30}  {value}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("what", choices=("survive", "load"))
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, database(asked.database, Path(folder)) as url:
        data = Path(folder)
        if asked.what == "load":
            _print(asyncio.run(load(url, data, replicas=asked.replicas, seconds=asked.seconds)).row())
            return 0
        run = survive(url, data, replicas=asked.replicas, questions=asked.questions, kills=asked.kills)
        found = asyncio.run(run)
        _print(dataclasses.asdict(found))
        return 0 if (found.lost, found.doubled, found.out_of_order) == (0, 0, 0) else 1


if __name__ == "__main__":
    raise SystemExit(main())
