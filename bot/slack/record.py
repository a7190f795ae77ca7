"""The global middleware that writes a turn into the inbox before Bolt acknowledges it.

Bolt acknowledges events before their listeners run: what is not recorded by then is lost in a crash. If the write
fails, Bolt answers 500 (or, over a socket, nothing) and Slack delivers again.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest

from bot import metrics
from bot.inbox import NewTurn
from bot.logs import logger
from bot.slack.needs import SUBCOMMANDS
from bot.slack.reading import (
    addressed,
    click_of,
    mentions,
    message_of,
    turn_of_click,
    turn_of_command,
    turn_of_message,
    workspace_of,
)
from bot.slack.room import Arrival, Room

log = logger()

ARRIVAL: Final = "sizewise_arrival"
_IGNORED: Final = Arrival("ignored")


def arrival(context: Mapping[str, Any]) -> Arrival:
    """What the middleware found out about this payload."""
    found = context.get(ARRIVAL)
    return found if isinstance(found, Arrival) else _IGNORED


class Recorder:
    """The middleware, bound to a room."""

    def __init__(self, room: Room) -> None:
        self.room = room

    async def record(
        self,
        body: dict[str, Any],
        request: AsyncBoltRequest,
        context: AsyncBoltContext,
        next: Callable[[], Awaitable[None]],
    ) -> None:
        with metrics.record_seconds.time():
            await self.room.workspaces.enter(*workspace_of(body))
            found = await self._arrival(body, late="x-slack-retry-num" in request.headers)
        kind = found.turn.kind if found.turn else str(body.get("type") or "command")
        metrics.received.labels(kind, found.outcome).inc()
        if found.reason:
            log.info("ignored", kind=kind, reason=found.reason)
        context[ARRIVAL] = found
        await next()

    async def _arrival(self, body: dict[str, Any], late: bool) -> Arrival:
        if body.get("type") == "event_callback":
            known = (body.get("event") or {}).get("type") in ("message", "app_mention")
            return await self._message(body, late) if known else _IGNORED
        if "command" in body:
            return await self._command(body)
        return await self._click(body) if body.get("type") == "block_actions" else _IGNORED

    async def _message(self, body: dict[str, Any], late: bool) -> Arrival:
        room = self.room
        message = message_of(body, room.me)
        if isinstance(message, str):
            return Arrival("ignored", reason=message)
        certain = message.direct or mentions(message.text, room.me)
        thread = (
            None
            if certain or not message.thread_ts
            else await room.offload.urgent(room.store.thread, message.thread_id)
        )
        strict = await room.strict() if message.thread_ts and not certain else frozenset()
        if not addressed(message, room.me, thread, strict):
            return Arrival("ignored", reason="not addressed")
        return await self._record(turn_of_message(message, room.me, late=late))

    async def _command(self, body: dict[str, Any]) -> Arrival:
        words = str(body.get("text") or "").split()
        if not words or words[0].casefold() in SUBCOMMANDS:
            return _IGNORED
        turn = turn_of_command(body, self.room.me, time.time())
        self.room.voice.whispers.acknowledgements.expect(turn.key)
        return await self._record(turn)

    async def _click(self, body: dict[str, Any]) -> Arrival:
        room = self.room
        click = click_of(body, room.me)
        if isinstance(click, str):
            return Arrival("ignored", reason=click)
        stored = await room.offload.urgent(room.store.answer, click.answer_id)
        thread = await room.offload.urgent(room.store.thread, stored.thread_id) if stored else None
        if thread is None or (thread.team, thread.channel) != (room.me.team, click.channel):
            return Arrival("gone")
        return await self._record(turn_of_click(click, thread, room.me), revive=click.action == "share")

    async def _record(self, turn: NewTurn, *, revive: bool = False) -> Arrival:
        return Arrival(await self.room.record(turn, revive=revive), turn)
