"""What the listeners share: settings, identity, inbox, store, voice, worker."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from bot.fairness import Shares
from bot.inbox import Inbox, NewTurn, Recorded
from bot.offload import Offload
from bot.settings import Settings
from bot.slack.reading import Identity
from bot.slack.voice import SlackVoice
from bot.slack.workspaces import Workspaces
from bot.store import Store
from bot.worker import Worker

Outcome = Literal["new", "duplicate", "too many", "busy", "gone", "ignored"]


@dataclass(frozen=True)
class Arrival:
    """What became of a payload in the middleware; a listener finds it in Bolt's context."""

    outcome: Outcome
    turn: NewTurn | None = None
    reason: str = ""


@dataclass
class Room:
    """Everything a running bot has."""

    settings: Settings
    workspaces: Workspaces
    inbox: Inbox
    store: Store
    offload: Offload
    voice: SlackVoice
    worker: Worker
    token_alive: bool = True
    socket: Any = None
    work: asyncio.Task[None] | None = None

    async def strict(self) -> frozenset[str]:
        """Channels in which the team wants a mention every time."""
        found = await self.offload.database(self.store.defaults, self.me.team)
        return self.settings.strict | frozenset(found.strict_channels)

    @property
    def me(self) -> Identity:
        """Who we are in the workspace of the request at hand."""
        return self.workspaces.here.me

    async def record(self, turn: NewTurn, *, revive: bool = False) -> Recorded:
        """Put a turn into the inbox, within what a person and a workspace may have waiting there."""
        most_open = Shares(self.settings.refuse_above_of_person, self.settings.refuse_above)
        return await self.offload.urgent(
            self.inbox.record, turn, most_per_minute=self.settings.turns_per_minute, most_open=most_open, revive=revive
        )

    async def accept(self, arrival: Arrival) -> None:
        """After the acknowledgement: set the worker going, or say why nothing happens yet."""
        turn = arrival.turn
        if turn is None:
            return
        if arrival.outcome == "new":
            self.worker.wake()
            await self._tell_queue(turn)
        elif arrival.outcome in ("too many", "busy"):
            await self.voice.say(turn, arrival.outcome.replace(" ", "_"))
        elif arrival.outcome == "duplicate" and turn.body.get("late") and turn.ts == turn.root_ts:
            await self._catch_up(turn)

    async def _catch_up(self, turn: NewTurn) -> None:
        """The question was heard, but so late that Slack repeats it: what was asked below it meanwhile had no known thread."""
        for missed in await self.voice.missed(turn):
            if await self.offload.database(self.inbox.record, missed) == "new":
                self.worker.wake()

    async def _tell_queue(self, turn: NewTurn) -> None:
        if await self.offload.database(self.inbox.waiting) <= self.settings.busy_above:
            return
        ahead = await self.offload.database(self.inbox.ahead, turn.key)
        if ahead >= self.settings.busy_above:
            await self.voice.say(turn, "queued", count=ahead)
