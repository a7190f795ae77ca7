"""`sizewise serve`: everything put together and run until stopped."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import uvicorn
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot import logs
from bot.app import build
from bot.database import engine_for, migrate
from bot.inbox import Inbox
from bot.offload import Offload
from bot.responder import Pipeline, Responder
from bot.settings import Settings
from bot.slack.clients import identify, web_client
from bot.slack.errors import code_of, translated
from bot.slack.http import http_app, socket_silence_s
from bot.slack.reading import Identity
from bot.slack.room import Room
from bot.slack.voice import SlackVoice
from bot.store import Store
from bot.surroundings import context_for
from bot.thread import Context
from bot.worker import Refused, TryLater, Worker

log = logs.logger()

COULD_NOT_RUN: Final = 2
_LOOK_EVERY_S: Final = 5.0
_ASK_AGAIN_S: Final = 5.0


def main(settings: Settings, responder: Responder | None = None) -> int:
    """Serve Slack until stopped.

    Returns:
        0 after an ordinary stop, 1 where a supervisor should start again, 2 where something must be set up first.
    """
    if settings.missing:
        sys.stderr.write(_what_to_set(settings))
        return COULD_NOT_RUN
    logs.configure(settings.log_level, settings.log_text)
    try:
        return asyncio.run(_serve(settings, responder))
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
        server = uvicorn.Server(config)
        watch = asyncio.create_task(_watch_socket(room, server))
        await server.serve()
        watch.cancel()
        silent = (await asyncio.gather(watch, return_exceptions=True))[0] is True
        return 1 if silent or not server.started else 0


@contextlib.asynccontextmanager
async def running(settings: Settings, responder: Responder | None = None) -> AsyncIterator[tuple[Room, AsyncApp]]:
    """A bot whose worker runs, connected over its socket in Socket Mode; HTTP is served by the caller.

    Without a responder it is the pipeline with everything it can cite.
    """
    offload = Offload(settings.compute_workers)
    engine = engine_for(settings.database)
    await offload.database(migrate, engine)
    client = web_client(settings)
    me = await _identity(client)
    log.info("bot starts", team=me.team, bot_user=me.bot_user, mode=settings.mode, database=engine.dialect.name)
    inbox, store = Inbox(engine, settings.lease_s), Store(engine)
    voice = SlackVoice(client, me, store, offload, settings.strict)
    around = Context() if responder else await offload.compute(context_for, None, True, quiet=True)
    worker = Worker(inbox, store, voice, responder or await _pipeline(offload), offload, settings, around)
    room = Room(settings, me, inbox, store, offload, voice, worker)
    bolt = build(room)
    work = asyncio.create_task(worker.run())
    try:
        async with _socket(bolt, room):
            yield room, bolt
    finally:
        await worker.stop()
        await work
        offload.close()
        engine.dispose()


async def _pipeline(offload: Offload) -> Pipeline:
    pipeline = Pipeline()
    await offload.compute(pipeline.warm)
    return pipeline


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

    handler: Any = AsyncSocketModeHandler(
        bolt, room.settings.slack_app_token.get_secret_value(), web_client=web_client(room.settings, token=False)
    )
    room.socket = handler.client
    await handler.connect_async()
    try:
        yield
    finally:
        await handler.close_async()


async def _watch_socket(room: Room, server: uvicorn.Server) -> bool:
    """Ends the server when the socket is silent: it may look connected and bring nothing any more."""
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        silence_s = socket_silence_s(room)
        if silence_s is not None and silence_s > room.settings.socket_silence_s:
            log.error("socket silent", seconds=round(silence_s))
            server.should_exit = True
            return True


__all__ = ["main", "running"]
