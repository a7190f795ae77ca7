"""The stop button: what is being computed in a thread ends, and the asker is told."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.room import Room


def register(app: AsyncApp, room: Room) -> None:
    async def stopped(event: dict[str, Any]) -> None:
        if event.get("thread_ts"):
            await room.worker.abandon(f"{room.me.team}/{event['channel']}/{event['thread_ts']}")

    app.event("agent_session_stopped")(stopped)
