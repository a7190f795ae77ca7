"""The Bolt app: middleware, listeners, one file a surface."""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.slack import action, command, defaults, forms, home, lifecycle, mention, stop, thread
from bot.slack.clients import web_client
from bot.slack.record import Recorder
from bot.slack.room import Room


def build(room: Room) -> AsyncApp:
    """The app of a running bot. It knows who it is: no request waits for `auth.test`, none is lost to its failure."""
    settings = room.settings

    async def authorize(team_id: str | None, enterprise_id: str | None) -> Any:
        found = await room.workspaces.find(team_id or "", enterprise_id)
        if found is None:
            return None
        me = found.me
        ids = {"enterprise_id": me.enterprise, "team_id": me.team, "bot_user_id": me.bot_user, "bot_id": me.bot_id}
        return AuthorizeResult(**ids, bot_token=found.token)

    log, client = logging.getLogger("slack_bolt"), web_client(settings, token=False, session=room.voice.here.session)
    app = AsyncApp(logger=log, authorize=authorize, client=client, signing_secret=settings.signing_secret)
    app.use(Recorder(room).record)
    for surface in (mention, thread, command, action, forms, defaults, home, stop, lifecycle):
        surface.register(app, room)
    return app
