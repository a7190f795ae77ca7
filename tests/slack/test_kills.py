"""A hundred questions in flight and five kill -9 of the process: a hundred answers, none lost, none doubled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.database import engine_for, sqlite_url
from bot.inbox import Inbox
from bot.slack.needs import manifest
from playground.delivery import HttpTransport, Reply
from playground.running import free_port, running_slack
from playground.slack import Slack
from playground.workspace import App, Message

pytestmark = pytest.mark.anyio

THREADS, FOLLOW_UPS, KILLS = 70, 30, 5


class PatientTransport(HttpTransport):
    """Slack repeats after one and after five minutes, by when the bot is back: here a repetition waits for that."""

    def __init__(self, url: str, secret: str) -> None:
        super().__init__(url, secret)
        self.up = asyncio.Event()

    async def send(self, kind: Any, payload: dict[str, Any], attempt: int, reason: str) -> Reply:
        if attempt:
            await self.up.wait()
        return await super().send(kind, payload, attempt, reason)


class Process:
    """The bot as a process that is killed and started again."""

    def __init__(self, slack: Slack, way: PatientTransport, port: int, database: str, data: Path) -> None:
        self.way = way
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SLACK_BOT_TOKEN": slack.app.bot_token,
            "SLACK_SIGNING_SECRET": slack.app.signing_secret,
            "SLACK_API_URL": f"{slack.base_url}/api/",
            "DATABASE_URL": database,
            "SIZEWISE_DATA_DIR": str(data),
            "SIZEWISE_TRANSPORT": "http",
            "SIZEWISE_PORT": str(port),
            "SIZEWISE_LEASE_S": "2",
            "SIZEWISE_POLL_S": "0.2",
            "SIZEWISE_BUSY_ABOVE": "1000",
            "SIZEWISE_LOG_LEVEL": "ERROR",
            "REPLICA_ANSWERS_IN_S": "0.05",
        }
        self.port = port
        self.running: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        script = str(Path(__file__).parents[2] / "bench/load/replica.py")
        self.running = await asyncio.create_subprocess_exec(sys.executable, script, env=self.environment)
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                self.way.up.set()
                return
            assert self.running.returncode is None, "the bot did not start"
            await asyncio.sleep(0.02)

    async def kill(self) -> None:
        self.way.up.clear()
        if self.running and self.running.returncode is None:
            self.running.send_signal(signal.SIGKILL)
            await self.running.wait()


@contextlib.asynccontextmanager
async def _running(database: str, data: Path) -> AsyncIterator[tuple[Slack, Process]]:
    app, port = App.from_manifest(manifest()), free_port()
    way = PatientTransport(f"http://127.0.0.1:{port}/slack/events", app.signing_secret)
    async with running_slack(app, way, retry_delays_s=(0.1, 2.0, 8.0)) as slack:
        process = Process(slack, way, port, database, data)
        await process.start()
        try:
            yield slack, process
        finally:
            await process.kill()


async def _ask(slack: Slack) -> list[tuple[Message, int]]:
    """A hundred questions, each as two events: threads, and follow-ups in some of them before anything is answered."""
    anna = slack.workspace.add_user("anna")
    channels = [slack.workspace.add_channel(f"c{n}", anna) for n in range(5)]
    asked = []
    for n in range(THREADS):
        root = await slack.mention(anna, channels[n % 5], f"question {n}")
        if n < FOLLOW_UPS:
            await slack.say(anna, channels[n % 5], f"follow-up {n}", thread=root.ts)
        asked.append((root, 2 if n < FOLLOW_UPS else 1))
        if not slack.deliverer.log[-1].acknowledged:
            # People wait a little when nothing happens; else all of them would ask while the bot is down.
            await asyncio.sleep(0.2)
    return asked


def _answered(slack: Slack) -> int:
    return len([m for m in slack.workspace.messages if m.bot_id])


async def _kill_five_times(slack: Slack, process: Process) -> None:
    for n in range(KILLS):
        await slack.until(lambda n=n: _answered(slack) >= 8 + 16 * n, 60, f"progress before kill {n + 1}")
        await process.kill()
        await process.start()


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_hundred_questions_survive_five_kills(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    database = sqlite_url(tmp_path / "s.db") if kind == "sqlite" else request.getfixturevalue("postgres")
    async with _running(database, tmp_path) as (slack, process):
        killer = asyncio.create_task(_kill_five_times(slack, process))
        asked = await _ask(slack)
        await killer
        wanted = sum(count for _, count in asked)
        await slack.until(lambda: not slack.deliverer.busy, 60, "every delivery")
        assert [delivery.payload["event"] for delivery in slack.deliverer.log if not delivery.acknowledged] == []
        await slack.until(lambda: _answered(slack) >= wanted, 90, f"{wanted} answers")
        engine = engine_for(database)
        inbox = Inbox(engine)
        await slack.until(lambda: inbox.waiting() == 0, 60, "rest")
        found = {root.text: [m.text for m in slack.answers(root)] for root, _ in asked}
        assert found == {root.text: _expected(root, count) for root, count in asked}
        assert _answered(slack) == wanted == THREADS + FOLLOW_UPS
        assert inbox.states() == {"done": wanted}
        engine.dispose()


def _expected(root: Message, count: int) -> list[Any]:
    question = root.text.partition("> ")[2]
    number = question.rpartition(" ")[2]
    return [question, f"{question} | follow-up {number}"][:count]


async def test_a_stop_lets_what_is_in_hand_end(tmp_path: Path) -> None:
    async with _running(sqlite_url(tmp_path / "s.db"), tmp_path) as (slack, process):
        anna = slack.workspace.add_user("anna")
        channel = slack.workspace.add_channel("c", anna)
        questions = [await slack.mention(anna, channel, f"q{n}") for n in range(5)]
        assert process.running is not None
        process.running.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.running.wait(), 30) == 0
        assert [len(slack.answers(question)) for question in questions] == [1] * 5
