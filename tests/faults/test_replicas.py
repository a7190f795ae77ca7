"""Two replicas on PostgreSQL, one process on SQLite, kill -9 under load. The long version: `python -m bench.load survive`."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.load.survive import survive
from bot.database import sqlite_url

pytestmark = pytest.mark.anyio

QUESTIONS, KILLS = 100, 5


@pytest.mark.parametrize(
    ("kind", "replicas"), [("sqlite", 1), pytest.param("postgresql", 2, marks=pytest.mark.postgres)]
)
async def test_nothing_is_lost_or_doubled_when_replicas_are_killed(
    kind: str, replicas: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    database = sqlite_url(tmp_path / "s.db") if kind == "sqlite" else request.getfixturevalue("postgres")
    found = await survive(
        database, tmp_path, replicas=replicas, questions=QUESTIONS, kills=KILLS, answers_in_s=0.1, lease_s=2.0
    )  # fmt: skip
    assert (found.answers, found.missing, found.doubled, found.out_of_order) == (QUESTIONS, [], 0, 0)
    assert found.states == {"done": QUESTIONS}
