"""`sizewise serve`: everything put together and run until stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import aiohttp
import uvicorn
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import Engine

from bot import language_model, logs
from bot.app import build
from bot.database import engine_for, migrate
from bot.inbox import Inbox
from bot.offload import Offload
from bot.operations.data import Holdings
from bot.operations.upkeep import forget_what_is_old
from bot.outgoing import allowed, guard
from bot.responder import Responder
from bot.settings import Settings
from bot.slack.clients import connections, identify, web_client
from bot.slack.errors import code_of, translated
from bot.slack.here import Here
from bot.slack.http import http_app, socket_silence_s
from bot.slack.installations import Installations, Vault
from bot.slack.reading import Identity
from bot.slack.room import Room
from bot.slack.voice import SlackVoice
from bot.slack.workspaces import Workspace, Workspaces
from bot.store import Store
from bot.surface import Refused, TryLater
from bot.thread import Context
from bot.worker import Worker

log = logs.logger()

COULD_NOT_RUN: Final = 2
_LOOK_EVERY_S: Final = 5.0
_ASK_AGAIN_S: Final = 5.0


def main(settings: Settings, responder: Responder | None = None) -> int:
    """Serve Slack until stopped.

    Returns:
        0 after an ordinary stop, 1 where a supervisor should start again, 2 where something must be set up first.

    Raises:
        ModelUnavailable: SIZEWISE_LLM names a model that cannot be loaded.
    """
    if settings.missing:
        sys.stderr.write(_what_to_set(settings))
        return COULD_NOT_RUN
    language_model.check()
    logs.configure(settings.log_level, settings.log_text)
    guard(allowed(settings, os.environ))
    try:
        return asyncio.run(_serve(settings, responder))
    except Refused as error:
        sys.stderr.write(
            f"sizewise: Slack refuses the app token ({error}): make one with connections:write and set SLACK_APP_TOKEN.\n"
        )
        return COULD_NOT_RUN
    except SlackApiError as error:
        sys.stderr.write(
            f"sizewise: Slack refuses the bot token ({code_of(error)}): install the app anew and set SLACK_BOT_TOKEN.\n"
        )
        return COULD_NOT_RUN


def _what_to_set(settings: Settings) -> str:
    missing = "\n".join(f"  {name}" for name in settings.missing)
    return (
        f"sizewise: to answer in Slack, set these variables (or put them into a file named .env):\n{missing}\n"
        "Create the app from manifest.yaml at https://api.slack.com/apps; `sizewise doctor` checks the set-up. "
        "Without Slack: `sizewise chat`.\n"
    )


async def _serve(settings: Settings, responder: Responder | None) -> int:
    async with running(settings, responder) as (room, bolt):
        config = uvicorn.Config(
            http_app(bolt, room), host=settings.host, port=settings.port, log_level="warning", access_log=False,
            timeout_graceful_shutdown=5,
        )  # fmt: skip
        server = _Server(config)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, server.stop)
        watch = asyncio.create_task(_watch(room, server))
        await server.serve()
        watch.cancel()
        code = 0 if server.asked_to_stop else 1
    if room.offload.hanging():
        # The interpreter would wait for these threads, and a supervisor for the interpreter; their turns are given back or lapse.
        log.error("work does not end", code=code)
        os._exit(code)
    return code


class _Server(uvicorn.Server):
    """Leaves signals to us: uvicorn's own way ends the process before the worker has given back its turns."""

    asked_to_stop = False

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.asked_to_stop = self.should_exit = True


@contextlib.asynccontextmanager
async def running(settings: Settings, responder: Responder | None = None) -> AsyncIterator[tuple[Room, AsyncApp]]:
    """A bot whose worker runs, connected over its socket in Socket Mode; HTTP is served by the caller.

    Without a responder it is the pipeline with everything it can cite.
    """
    processes = None
    if responder is None:
        # Imported here: whoever brings a responder of their own need not load the pipeline.
        from bot.answering import InProcesses, processes_for

        processes = processes_for(settings.compute_workers, settings.answer_timeout_s)
        responder = InProcesses(processes)
    offload = Offload(settings.compute_workers, processes)
    engine = engine_for(settings.database)
    try:
        await offload.at_leisure(migrate, engine)
        async with connections() as session:
            room = await _room(settings, engine, offload, session, responder)
            bolt = build(room)
            async with _working(room), _socket(bolt, room):
                yield room, bolt
    finally:
        offload.close()
        engine.dispose()


async def _room(
    settings: Settings, engine: Engine, offload: Offload, session: aiohttp.ClientSession, responder: Responder
) -> Room:
    workspaces = await _workspaces(settings, engine, offload, session)
    inbox, store = Inbox(engine, settings.lease_s), Store(engine)
    voice = SlackVoice(Here(workspaces, store, offload, session), settings.strict)
    worker = Worker(inbox, store, voice, responder, offload, settings, Context())
    return Room(settings, workspaces, inbox, store, offload, voice, worker)


@contextlib.asynccontextmanager
async def _working(room: Room) -> AsyncIterator[None]:
    """The worker and the upkeep run while the body does; at the end the worker gives back what it holds."""
    holdings = Holdings(room.inbox.engine)
    room.work = asyncio.create_task(_work(room.worker, room.offload))
    upkeep = asyncio.create_task(forget_what_is_old(holdings, room.offload, room.settings.retention_days))
    try:
        yield
    finally:
        upkeep.cancel()
        await room.worker.stop()
        await asyncio.gather(room.work, return_exceptions=True)


async def _work(worker: Worker, offload: Offload) -> None:
    """Answer until stopped. Questions are recorded from the start, while what answers them is still being loaded."""
    await offload.answer(worker.responder.warm)
    await worker.run()


async def _workspaces(
    settings: Settings, engine: Engine, offload: Offload, session: aiohttp.ClientSession
) -> Workspaces:  # fmt: skip
    """The workspace of the bot token or, with the app's OAuth credentials instead, all that install the app."""
    if settings.slack_client_id and not settings.slack_bot_token:
        installed = Installations(engine, Vault.of(settings.sealing_keys))
        log.info("bot starts", mode=settings.mode, database=engine.dialect.name, workspaces="all that install it")
        return Workspaces(None, installed, offload, lambda token: web_client(settings, token=token, session=session))
    client = web_client(settings, session=session)
    me = await _identity(client)
    log.info(
        "bot starts", team=me.team, bot=me.bot_id, bot_user=me.bot_user, mode=settings.mode,
        database=engine.dialect.name,
    )  # fmt: skip
    return Workspaces(Workspace(me, client, settings.bot_token))


async def _identity(client: AsyncWebClient) -> Identity:
    """Who we are; where Slack is away or busy, asked again until it is not.

    Raises:
        SlackApiError: the token is not accepted.
    """
    while True:
        try:
            async with translated():
                return await identify(client)
        except TryLater as error:
            log.warning("Slack does not answer", reason=str(error))
            await asyncio.sleep(error.delay_s or _ASK_AGAIN_S)
        except Refused:
            # Said again without translation: the caller names Slack's own code.
            return await identify(client)


@contextlib.asynccontextmanager
async def _socket(bolt: AsyncApp, room: Room) -> AsyncIterator[None]:
    if room.settings.mode != "socket" or room.settings.slack_app_token is None:
        yield
        return
    from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

    await _check_app_token(room.settings)
    handler: Any = AsyncSocketModeHandler(
        bolt, room.settings.slack_app_token.get_secret_value(), web_client=web_client(room.settings, token=False)
    )
    room.socket = handler.client
    await handler.connect_async()
    try:
        yield
    finally:
        await handler.close_async()


async def _check_app_token(settings: Settings) -> None:
    """The socket client would ask for ever with a token that is refused.

    Raises:
        Refused: the token is not accepted.
    """
    token = settings.slack_app_token.get_secret_value() if settings.slack_app_token else ""
    try:
        async with translated():
            await web_client(settings, token=False).apps_connections_open(app_token=token)
    except TryLater as error:
        log.warning("Slack does not answer", reason=str(error))


async def _watch(room: Room, server: _Server) -> None:
    """Ends the server, for the supervisor to start again, when the worker has died or the socket is silent.

    A socket may look connected and bring nothing any more.
    """
    while not server.should_exit:
        await asyncio.sleep(_LOOK_EVERY_S)
        silence_s = socket_silence_s(room)
        if room.work is not None and room.work.done():
            log.error("worker died", error=repr(room.work.exception()))
            server.should_exit = True
        elif silence_s is not None and silence_s > room.settings.socket_silence_s:
            log.error("socket silent", seconds=round(silence_s))
            server.should_exit = True


__all__ = ["main", "running"]
