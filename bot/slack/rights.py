"""Who may change what holds for everybody: by default those who administer the workspace, as Slack itself knows them."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from bot.logs import logger
from bot.slack.errors import BlocksRefused, translated
from bot.slack.room import Room
from bot.surface import Refused, TryLater

log = logger()

# A submitted form is acknowledged within three seconds, and the answer to it depends on this.
ACK_WAITS_S: Final = 2.0
_ADMINISTERS: Final = ("is_admin", "is_owner", "is_primary_owner")


async def may_change_settings(room: Room, user: str, *, ack_waits: bool = False) -> bool:
    """Whether a person may change the team's settings. Asked anew each time, since rights change; no answer is a no."""
    if room.settings.settings_by == "everyone":
        return True
    try:
        return await asyncio.wait_for(_administers(room, user), ACK_WAITS_S if ack_waits else None)
    except (TimeoutError, TryLater, Refused, BlocksRefused) as error:
        log.warning("rights unknown", user=user, reason=str(error) or type(error).__name__)
        return False


async def _administers(room: Room, user: str) -> bool:
    async with translated():
        found = await room.voice.client.users_info(user=user)
    known: dict[str, Any] = found["user"]
    return any(known.get(name) is True for name in _ADMINISTERS)
