"""What a running bot keeps, and for how long."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bot.database import engine_for
from bot.settings import Settings
from bot.store import Store
from bot.thread import ThreadState

pytestmark = pytest.mark.anyio

_DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("options", "kept"),
    [({}, {"364 days"}), ({"retention_days": 30.0}, set()), ({"retention_days": 0.0}, {"364 days", "366 days"})],
)
async def test_threads_are_kept_for_a_year_or_as_long_as_is_set(
    start: Any, database: str, options: dict[str, float], kept: set[str]
) -> None:
    engine = engine_for(database)
    threads = {"364 days": 364, "366 days": 366, "today": 0}
    for name, days in threads.items():
        Store(engine, lambda days=days: time.time() - days * _DAY_S).save_thread(name, ThreadState(), team="T0DOUBLE01")
    async with start("http", **options) as chat:
        known = chat.room.store
        expected = kept | {"today"}
        await chat.slack.until(lambda: {name for name in threads if known.thread(name)} == expected, what="the upkeep")
        question = await chat.slack.mention(chat.anna, chat.channel, "still here?")
        await chat.slack.answer(question)
        assert {name for name in threads if known.thread(name)} == expected
    engine.dispose()


def test_a_year_is_the_default() -> None:
    assert Settings(_env_file=None).retention_days == 365.0
