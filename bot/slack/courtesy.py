"""The language of texts around an answer, and the status while one is worked on: courtesies that may fail."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from bot.answer import Lang
from bot.inbox import Turn
from bot.logs import logger
from bot.reply.labels import label
from bot.slack.errors import BlocksRefused, translated
from bot.slack.here import Here, Spoken
from bot.surface import Refused, TryLater

log = logger()

_DAY_S: Final = 86_400.0
LOCALE_WAITS_S: Final = 0.7


class Courtesy:
    """What people are told in their language, and that somebody is at it."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self._processing: set[str] = set()
        self._locales: dict[tuple[str, str], tuple[float, Lang]] = {}

    async def language(self, turn: Spoken) -> Lang:
        """The language of texts around an answer: that of the thread, of the team, of the person."""
        state = await self.here.offload.database(self.here.store.thread_state, turn.thread_id)
        defaults = await self.here.offload.database(self.here.store.defaults, turn.team)
        return state.lang or defaults.lang or await self.locale(turn.user)

    async def locale(self, user: str) -> Lang:
        """A person's language, asked for once a day."""
        person = (self.here.me.team, user)
        known = self._locales.get(person)
        if known and time.monotonic() - known[0] < _DAY_S:
            return known[1]
        lang: Lang = "en"
        try:
            async with translated():
                found = await self.here.client.users_info(user=user, include_locale=True)
                lang = "de" if str(found["user"].get("locale", "")).startswith("de") else "en"
        except (TryLater, Refused) as error:
            log.info("locale unknown", reason=str(error))
            return lang
        self._locales[person] = (time.monotonic(), lang)
        return lang

    async def quick_locale(self, user: str) -> Lang:
        """A person's language where an acknowledgement waits for it; English where Slack is slow to tell."""
        try:
            return await asyncio.wait_for(self.locale(user), LOCALE_WAITS_S)
        except TimeoutError:
            return "en"

    async def progress(self, turn: Spoken) -> None:
        """Show in the thread that the bot works."""
        if turn.root_ts:
            await self._status(turn, label(await self.language(turn), "computing"))
            if turn.body.get("direct"):
                self._processing.add(turn.thread_id)
                await self._session(turn, "processing")

    async def settle(self, turn: Turn) -> None:
        """Take the status away where no post does it."""
        if turn.root_ts:
            await self._status(turn, "")
            await self.at_rest(turn)

    async def at_rest(self, turn: Turn) -> None:
        """An agent session ends its processing only when told; one that a crash left so is told at the next attempt."""
        if turn.body.get("direct") and (turn.thread_id in self._processing or turn.attempts > 1):
            self._processing.discard(turn.thread_id)
            await self._session(turn, "active")

    async def _session(self, turn: Spoken, status: str) -> None:
        """The status of an agent session: while it is processing, Slack shows a stop button."""
        try:
            async with translated():
                await self.here.client.agents_sessions_setStatus(
                    channel_id=turn.channel, thread_ts=str(turn.root_ts), status=status
                )
        except (TryLater, Refused, BlocksRefused) as error:
            log.info("session status not set", reason=str(error))

    async def _status(self, turn: Spoken, status: str) -> None:
        try:
            async with translated():
                await self.here.client.assistant_threads_setStatus(
                    channel_id=turn.channel, thread_ts=str(turn.root_ts), status=status
                )
        except (TryLater, Refused) as error:
            log.info("status not shown", reason=str(error))
