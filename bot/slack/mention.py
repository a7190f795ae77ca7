"""`@sizewise …` in a channel."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext

from bot.slack.record import arrival
from bot.slack.room import Room


def register(app: AsyncApp, room: Room) -> None:
    async def mentioned(context: AsyncBoltContext) -> None:
        await room.accept(arrival(context))

    app.event("app_mention")(mentioned)
