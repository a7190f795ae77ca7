"""The app is uninstalled or its token revoked; and everything else that Slack may send."""

from __future__ import annotations

import re
from typing import Any, Final

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.logs import logger
from bot.slack.room import Room

log = logger()

_ANY: Final = re.compile(".*")


def register(app: AsyncApp, room: Room) -> None:
    """Must come last: the first listener that matches wins."""

    async def uninstalled() -> None:
        team = room.me.team
        log.error("app uninstalled", team=team)
        room.token_alive = room.workspaces.many
        await room.workspaces.forget(room.workspaces.here)
        await room.offload.at_leisure(room.store.forget_team, team)

    async def revoked(event: dict[str, Any]) -> None:
        bots = (event.get("tokens") or {}).get("bot") or []
        if room.me.bot_user in bots:
            team = room.me.team
            log.error("token revoked", team=team)
            room.token_alive = room.workspaces.many
            await room.workspaces.forget(room.workspaces.here)

    async def other_event(event: dict[str, Any]) -> None:
        # Without a listener Bolt answers 404 and Slack delivers the event three more times.
        log.info("event without a use", kind=event.get("type"))

    async def other(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        log.info("payload without a use", kind=body.get("type") or body.get("command"))

    app.event("app_uninstalled")(uninstalled)
    app.event("tokens_revoked")(revoked)
    app.event(_ANY)(other_event)
    for kind in (app.action, app.command, app.shortcut, app.view, app.options):
        kind(_ANY)(other)
