"""`/size …`: answered to the asker alone, with a button that shares the answer."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext

from bot.answer import Lang
from bot.reply.labels import label
from bot.slack.needs import COMMAND
from bot.slack.record import arrival
from bot.slack.room import Outcome, Room

# An unknown person's language costs a call; the acknowledgement must not wait for a slow one.
_LOCALE_S: Final = 0.7
_TEXTS: Final[dict[Outcome, str]] = {"new": "computing_private", "too many": "too_many", "busy": "busy"}


def register(app: AsyncApp, room: Room) -> None:
    async def size(ack: AsyncAck, command: dict[str, Any], context: AsyncBoltContext) -> None:
        found = arrival(context)
        lang = await _language(room, str(command.get("user_id")))
        if found.outcome in _TEXTS:
            await ack(text=label(lang, _TEXTS[found.outcome]), response_type="ephemeral")
        elif found.outcome == "ignored":
            await ack(text=label(lang, "empty", example=label(lang, "example_slash")), response_type="ephemeral")
        else:
            await ack()
        room.worker.wake()

    app.command(COMMAND)(size)


async def _language(room: Room, user: str) -> Lang:
    try:
        return await asyncio.wait_for(room.voice.locale(user), _LOCALE_S)
    except TimeoutError:
        return "en"
