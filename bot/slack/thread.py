"""Messages without a mention: in threads the bot takes part in, and direct messages."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext

from bot.slack.record import arrival
from bot.slack.room import Room


def register(app: AsyncApp, room: Room) -> None:
    async def said(context: AsyncBoltContext) -> None:
        await room.accept(arrival(context))

    app.event("message")(said)
