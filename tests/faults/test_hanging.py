"""What accepts and never answers costs a bounded wait: a database behind a line that has gone silent, a server that says nothing."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from bot import database, offload
from bot.database import engine_for
from bot.inbox import Inbox
from bot.slack.http import readiness

pytestmark = pytest.mark.anyio


class Line:
    """A TCP line to a server that can go silent: connections stay open and are accepted, and nothing passes."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.open = asyncio.Event()
        self.open.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.open.wait()
        far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pass(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while content := await source.read(65_536):
                await self.open.wait()
                sink.write(content)
                await sink.drain()
        sink.close()


@contextlib.asynccontextmanager
async def line_to(url: str) -> AsyncIterator[tuple[Line, str]]:
    """A line and the address that leads over it."""
    far = make_url(url)
    line = Line(far.host or "127.0.0.1", far.port or 5432)
    server = await asyncio.start_server(line.accept, "127.0.0.1", 0)
    near = far.set(host="127.0.0.1", port=server.sockets[0].getsockname()[1])
    try:
        yield line, near.render_as_string(hide_password=False)
    finally:
        line.open.set()
        server.close()


@pytest.mark.postgres
async def test_a_database_that_hangs_and_comes_back(start: Any, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack is told so at once and repeats; what was in hand and what came meanwhile are answered once."""
    async with (
        line_to(postgres) as (line, url),
        start("http", database_url=url, lease_s=4.0, retry_delays_s=(0.5, 2, 4)) as chat,
    ):
        hold = chat.responder.hold = threading.Event()
        in_hand = await chat.slack.mention(chat.anna, chat.channel, "in hand", order="mention only")
        await chat.slack.until(lambda: chat.responder.asked == ["in hand"], what="a computation")
        monkeypatch.setattr(offload, "URGENT_S", 0.3)
        monkeypatch.setattr(offload, "DATABASE_S", 0.5)
        line.open.clear()
        late = await chat.slack.mention(chat.bert, chat.channel, "late", order="mention only")
        assert chat.slack.deliverer.log[-1].attempts[0].status == 500
        hold.set()
        found = await readiness(chat.room)
        assert (found["ok"], found["database"]) == (False, False)
        monkeypatch.undo()
        line.open.set()
        for question, text in ((in_hand, "in hand"), (late, "late")):
            assert (await chat.slack.answer(question)).text == text
        # Looked at over another line: this loop serves the one that was silent.
        engine = engine_for(postgres)
        await chat.slack.until(lambda: Inbox(engine).states() == {"done": 2}, what="rest")
        engine.dispose()
        assert [len(chat.slack.answers(question)) for question in (in_hand, late)] == [1, 1]


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that accepts connections and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield f"postgresql://sizewise@127.0.0.1:{listener.getsockname()[1]}/sizewise"


def test_a_database_that_never_says_a_word_is_given_up(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database._POSTGRES, "connect_timeout", 2)
    engine = engine_for(silent)
    with pytest.raises(OperationalError, match="timeout"), engine.connect():
        pass
    engine.dispose()


async def test_threads_that_never_end_are_noticed_at_the_end() -> None:
    """A supervisor must not wait for an interpreter that waits for them."""
    hold, pools = threading.Event(), offload.Offload(1)
    asking = asyncio.create_task(pools.at_leisure(hold.wait, 60))
    await asyncio.sleep(0.05)
    pools.close()
    assert pools.hanging(patience_s=0.1)
    hold.set()
    assert await asking
    assert not pools.hanging(patience_s=10.0)
    idle = offload.Offload(1)
    await idle.database(time.monotonic)
    idle.close()
    assert not idle.hanging(patience_s=10.0)
