"""The real app against the Slack double, over signed HTTP and over Socket Mode.

`running` starts both; `Chat` is the pair of them with two people and a channel.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp

from bot.answer import Alternative, Answer, AssumptionView, Lang
from bot.database import engine_for, migrate, sqlite_url
from bot.responder import Pipeline, Responder
from bot.settings import Settings
from bot.slack import courtesy, rights
from bot.slack.http import http_app
from bot.slack.needs import manifest
from bot.slack.room import Room
from bot.slack.serve import running as running_bot
from bot.thread import Context, ThreadState, Turn
from playground import limits
from playground.delivery import HttpTransport, SocketTransport, Transport
from playground.running import free_port, running_slack, serving
from playground.slack import Slack
from playground.workspace import App, Channel, User


@dataclass
class Cheap:
    """Answers at once with what it was asked; `hold` makes questions wait, `fail` makes them raise."""

    asked: list[str] = field(default_factory=list)
    hold: threading.Event | None = None
    fail: Exception | None = None
    change: Callable[[Answer], Answer] = lambda answer: answer

    def warm(self) -> None:
        """There is nothing to load."""

    def respond(self, text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
        self.asked.append(text)
        if self.hold is not None:
            self.hold.wait(120)
        if self.fail is not None:
            raise self.fail
        lang: Lang = thread.lang or "en"
        said = " | ".join([turn.text for turn in thread.turns] + [text])
        after = thread.add(Turn(text=text, intent="fits", specs=({},)), lang)
        return self.change(_answer(context, said, lang)), after

    def act(
        self, action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context
    ) -> tuple[Answer, ThreadState]:
        lang: Lang = thread.lang or "en"
        return _answer(context, f"{action} {dict(payload)}", lang), thread.add(Turn(text="", intent=action), lang)


def _answer(context: Context, headline: str, lang: Lang) -> Answer:
    return Answer(
        id=context.answer_id or "none",
        lang=lang,
        intent="fits",
        headline=headline,
        assumptions=(
            AssumptionView(
                field="weights", label="Format", value="Q4_K_M",
                alternatives=(Alternative(label="FP8", delta={"weights": "fp8"}),),
            ),
        ),
        actions=("why", "cheaper", "launch", "export"),
    )  # fmt: skip


@dataclass
class Chat:
    """A running bot, the double it talks to, and who is there."""

    slack: Slack
    room: Room
    bolt: AsyncApp
    responder: Any
    url: str
    anna: User
    bert: User
    channel: Channel

    def dead(self) -> list[tuple[str, str]]:
        return self.room.inbox.dead_letters()

    async def idle(self) -> None:
        """Everything recorded is done and every delivery has ended."""
        await self.slack.until(lambda: not self.slack.deliverer.busy and self.room.inbox.waiting() == 0, what="rest")


@pytest.fixture(autouse=True)
def _no_data_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever finds its data by the environment finds a folder of the test."""
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path))


# How long Slack, and the bot itself, wait for something: a crowded machine may need longer, and nothing here is about that.
_PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack waits as long as it takes: how fast an acknowledgement comes is measured by `bench.load`, not asserted here."""
    monkeypatch.setattr(limits, "ACK_SECONDS", _PATIENCE_S)
    monkeypatch.setattr(limits, "TRIGGER_SECONDS", _PATIENCE_S)
    monkeypatch.setattr(courtesy, "LOCALE_WAITS_S", _PATIENCE_S)
    monkeypatch.setattr(rights, "ACK_WAITS_S", _PATIENCE_S)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file; tests work on copies, so that migrating costs once."""
    path = tmp_path_factory.mktemp("database") / "empty.db"
    engine = engine_for(sqlite_url(path))
    migrate(engine)
    with engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1")
    engine.dispose()
    return path


@pytest.fixture
def database(empty_database: Path, tmp_path: Path) -> str:
    path = tmp_path / "sizewise.db"
    shutil.copy(empty_database, path)
    return sqlite_url(path)


@pytest.fixture(params=["http", "socket"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


Start = Callable[..., contextlib.AbstractAsyncContextManager[Chat]]


@pytest.fixture
def start(database: str, tmp_path: Path) -> Start:
    """Start a bot and a double; options are settings, a responder, a manifest, retry delays."""

    @contextlib.asynccontextmanager
    async def started(
        mode: str = "http", responder: Responder | None = None, retry_delays_s: tuple[float, ...] = (0.05, 0.2, 0.5),
        asked_for: Mapping[str, Any] | None = None, **options: Any,
    ) -> AsyncIterator[Chat]:  # fmt: skip
        app = App.from_manifest(asked_for or manifest())
        port = free_port()
        url = f"http://127.0.0.1:{port}/slack/events"
        way: Transport = HttpTransport(url, app.signing_secret) if mode == "http" else SocketTransport()
        async with running_slack(app, way, retry_delays_s=retry_delays_s) as slack:
            settings = Settings(
                _env_file=None, transport=mode, data_dir=tmp_path, port=port,
                **(_secrets(app, slack, database) | {"poll_s": 0.2} | options),
            )  # fmt: skip
            answerer = responder or Cheap()
            async with running_bot(settings, answerer) as (room, bolt), _reachable(mode, bolt, room, port, way):
                anna, bert = (
                    slack.workspace.add_user("anna", locale="de-DE"),
                    slack.workspace.add_user("bert", is_admin=True),
                )
                channel = slack.workspace.add_channel("ki-plattform", anna, bert)
                yield Chat(slack, room, bolt, answerer, url, anna, bert, channel)

    return started


def _secrets(app: App, slack: Slack, database: str) -> dict[str, Any]:
    return {
        "slack_bot_token": app.bot_token,
        "slack_app_token": app.app_token,
        "slack_signing_secret": app.signing_secret,
        "slack_api_url": f"{slack.base_url}/api/",
        "database_url": database,
    }


@contextlib.asynccontextmanager
async def _reachable(mode: str, bolt: AsyncApp, room: Room, port: int, way: Transport) -> AsyncIterator[None]:
    if mode == "http":
        async with serving(http_app(bolt, room), port):
            yield
    else:
        assert isinstance(way, SocketTransport)
        await asyncio.wait_for(way.opened.wait(), _PATIENCE_S)
        yield


@pytest.fixture
async def chat(start: Start, transport: str) -> AsyncIterator[Chat]:
    """A bot with a cheap responder, once over HTTP and once over Socket Mode; it must leave nothing to complain about."""
    async with start(transport) as found:
        yield found
        await found.idle()
        assert found.slack.workspace.complaints == []
        unacknowledged = [d for d in found.slack.deliverer.log if not d.acknowledged]
        assert unacknowledged == []


@pytest.fixture(scope="session")
def pipeline() -> Pipeline:
    """The real pipeline, loaded once."""
    found = Pipeline()
    found.warm()
    return found
