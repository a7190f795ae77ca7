"""What stands in a channel or thread already: read page by page, in order to see what was said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from bot.inbox import Turn
from bot.logs import logger
from bot.slack.errors import translated
from bot.slack.here import Here, Spoken
from bot.surface import Refused

log = logger()

_PAGE: Final = 200
_PAGES: Final = 5


class History:
    """Messages of the workspace at hand."""

    def __init__(self, here: Here) -> None:
        self.here = here

    async def since(self, turn: Turn) -> AsyncIterator[dict[str, Any]]:
        """The messages that came after a turn, in its thread or, for what starts one, in its channel."""
        cursor = ""
        for _ in range(_PAGES):
            page = await self._page(turn, cursor)
            for message in page["messages"]:
                yield message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    async def _page(self, turn: Turn, cursor: str) -> dict[str, Any]:
        """One page. Where reading is not allowed, nothing is found: an answer said twice is better than none."""
        where: dict[str, Any] = {
            "oldest": turn.ts,
            "limit": _PAGE,
            "include_all_metadata": True,
            "cursor": cursor or None,
        }
        try:
            async with translated():
                if turn.root_ts:
                    found = await self.here.client.conversations_replies(channel=turn.channel, ts=turn.root_ts, **where)
                else:
                    found = await self.here.client.conversations_history(channel=turn.channel, **where)
        except Refused as error:
            log.error("cannot look for an earlier post", turn=turn.key, reason=str(error))
            return {"messages": []}
        data: Any = found.data
        return dict(data)

    async def thread(self, turn: Spoken, since: str | None, latest: str | None) -> AsyncIterator[dict[str, Any]]:
        cursor = ""
        for _ in range(_PAGES):
            async with translated():
                page = await self.here.client.conversations_replies(
                    channel=turn.channel,
                    ts=str(turn.root_ts),
                    oldest=since,
                    latest=latest,
                    limit=_PAGE,
                    cursor=cursor or None,
                )
            for message in page["messages"]:
                yield message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    async def file_names(self, turn: Turn) -> set[str]:
        """The names of files that came after a turn."""
        return {str(file["name"]) async for message in self.since(turn) for file in message.get("files", [])}
