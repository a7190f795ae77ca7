"""The worker: leases turns, has them answered and keeps count of failures.

Nothing here knows Slack; a surface is a `bot.surface.Voice`. What may be said once is said once because the turn is marked
before it is said (`Inbox.start_posting`) and the surface looks before it speaks again.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError
from structlog.contextvars import bind_contextvars

from bot import metrics
from bot.fairness import shares_of
from bot.inbox import Inbox, LeaseLost, Turn
from bot.logs import logger
from bot.offload import Offload
from bot.one_turn import Answering
from bot.responder import Responder
from bot.settings import Settings
from bot.store import Store
from bot.surface import Refused, TryLater, Voice, error_id_of
from bot.thread import Context
from bot.tracing import span

log = logger()

_BACKOFF_S: Final = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
_DRAIN_S: Final = 10.0
_STOPPED: Final = "stopped by the asker"


class Worker:
    """Works through the inbox until stopped."""

    def __init__(
        self, inbox: Inbox, store: Store, voice: Voice, responder: Responder, offload: Offload, settings: Settings,
        around: Context,
    ) -> None:  # fmt: skip
        self.inbox = inbox
        self.voice = voice
        self.responder = responder
        self.offload = offload
        self.settings = settings
        self.owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.answering = Answering(inbox, store, voice, responder, offload, settings, around, self.owner)
        self.shares = shares_of(settings.turns_in_hand)
        self._wake = asyncio.Event()
        self._stopping = False
        self._in_hand: set[asyncio.Task[None]] = set()
        self._of_thread: dict[str, tuple[Turn, asyncio.Task[None]]] = {}
        self._abandoned: set[str] = set()
        self._giving_up: set[str] = set()

    def wake(self) -> None:
        """There is, or may be, something to do."""
        self._wake.set()

    async def abandon(self, thread_id: str) -> None:
        """Stop what is being answered in a thread, because its asker wants so: here or, for good, in another process."""
        turn, task = self._of_thread.get(thread_id, (None, None))
        if turn and task and not task.done():
            self._abandoned.add(turn.key)
            task.cancel()
            return
        for elsewhere in await self.offload.database(self.inbox.stop, thread_id, _STOPPED):
            await self.voice.enter(elsewhere)
            await self._tell_end(elsewhere, Refused(_STOPPED, "stopped"))

    async def run(self) -> None:
        """Lease and answer until `stop`; what is in hand then gets a while to end, the rest goes back."""
        while not self._stopping:
            self._wake.clear()
            try:
                found = await self._lease()
            except SQLAlchemyError as error:
                log.error("database unavailable", error=type(error).__name__)
                found = []
            for turn in found:
                self._start(turn)
            if not found:
                await self._pause()
        await self._drain()

    async def stop(self) -> None:
        self._stopping = True
        self.wake()

    async def _lease(self) -> list[Turn]:
        free = self.settings.turns_in_hand - len(self._in_hand)
        return await self.offload.database(self.inbox.lease, self.owner, free, self.shares) if free > 0 else []

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), self.settings.poll_s)
        except TimeoutError:
            metrics.waiting.set(await self._waiting())

    async def _waiting(self) -> int:
        try:
            return await self.offload.database(self.inbox.waiting)
        except SQLAlchemyError:
            return len(self._in_hand)

    def _start(self, turn: Turn) -> None:
        task = asyncio.create_task(self._work(turn))
        self._in_hand.add(task)
        self._of_thread[turn.thread_id] = (turn, task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._in_hand.discard(task)
        for thread_id in [name for name, (_, held) in self._of_thread.items() if held is task]:
            del self._of_thread[thread_id]
        self.wake()

    async def _drain(self) -> None:
        if self._in_hand:
            await asyncio.wait(self._in_hand, timeout=_DRAIN_S)
        for task in list(self._in_hand):
            task.cancel()
        await asyncio.gather(*self._in_hand, return_exceptions=True)
        try:
            await self.offload.database(self.inbox.release, self.owner)
        except SQLAlchemyError as error:
            log.error("leases not given back", error=type(error).__name__)

    async def _work(self, turn: Turn) -> None:
        """One turn to its end, whatever that is. Here and nowhere else is any error caught."""
        bind_contextvars(turn=turn.key, id=error_id_of(turn.key), team=turn.team)
        try:
            with span("turn", turn=turn.key, id=error_id_of(turn.key), kind=turn.kind, attempt=turn.attempts):
                async with self._held(turn):
                    await self._answer_or_give_up(turn)
        except LeaseLost:
            log.warning("lease lost", turn=turn.key)
        except asyncio.CancelledError:
            if turn.key in self._abandoned:
                self._abandoned.discard(turn.key)
                await self._give_up(turn, Refused(_STOPPED, "stopped"))
            elif not self._stopping:
                log.warning("lease lost", turn=turn.key)
        except SQLAlchemyError as error:
            # The lease lapses and the turn is taken up again once the database is back.
            log.error("database unavailable", turn=turn.key, error=type(error).__name__)

    async def _answer_or_give_up(self, turn: Turn) -> None:
        if turn.attempts > self.settings.max_attempts:
            await self._give_up(turn, Refused(f"given up after {turn.attempts - 1} attempts"))
            return
        try:
            await self.voice.enter(turn)
            await self.answering.answer(turn)
            metrics.turns.labels(turn.kind, "done").inc()
            metrics.answer_seconds.observe(max(0.0, time.time() - turn.received_at))
        except TryLater as error:
            await self._try_later(turn, error)
        except Refused as error:
            await self._give_up(turn, error)
        except (LeaseLost, SQLAlchemyError):
            raise
        except Exception as error:
            # A fault of ours must end as an apology, not as silence.
            log.exception("turn failed", turn=turn.key, id=error_id_of(turn.key))
            await self._give_up(turn, Refused(f"{type(error).__name__}: {error}"))

    async def _try_later(self, turn: Turn, error: TryLater) -> None:
        if turn.attempts >= self.settings.max_attempts:
            await self._give_up(turn, Refused(str(error)))
            return
        delay_s = error.delay_s or _BACKOFF_S[min(turn.attempts, len(_BACKOFF_S)) - 1]
        log.warning("turn put back", turn=turn.key, reason=str(error), delay_s=delay_s, attempt=turn.attempts)
        await self.offload.database(self.inbox.put_back, turn.key, self.owner, delay_s, str(error), turn.attempts)
        metrics.turns.labels(turn.kind, "put back").inc()

    async def _give_up(self, turn: Turn, error: Refused) -> None:
        number = error_id_of(turn.key)
        log.error("turn given up", turn=turn.key, id=number, reason=str(error))
        self._giving_up.add(turn.key)
        try:
            await self.offload.database(self.inbox.bury, turn.key, self.owner, str(error), turn.attempts)
            await self._tell_end(turn, error)
        finally:
            self._giving_up.discard(turn.key)

    async def _tell_end(self, turn: Turn, error: Refused) -> None:
        """Tell the asker that nothing comes of a turn; it is buried already, so this is said once at most."""
        metrics.turns.labels(turn.kind, "dead").inc()
        if error.say:
            await self.voice.say(turn, error.say, id=error_id_of(turn.key))
        await self.voice.settle(turn)

    @asynccontextmanager
    async def _held(self, turn: Turn) -> AsyncIterator[None]:
        """Keeps the lease while the body runs; where it is lost, the body is cancelled."""
        body = asyncio.current_task()
        keeper = asyncio.create_task(self._keep(turn, body))
        try:
            yield
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)

    async def _keep(self, turn: Turn, body: asyncio.Task[Any] | None) -> None:
        held_until = time.monotonic() + self.inbox.lease_s
        while True:
            await asyncio.sleep(self.inbox.lease_s / 3)
            try:
                await self.offload.database(self.inbox.renew, turn.key, self.owner, turn.attempts)
                held_until = time.monotonic() + self.inbox.lease_s
            except LeaseLost:
                # Given up by us: its asker is being told, however long Slack takes.
                if turn.key in self._giving_up:
                    return
                held_until = 0.0
            except SQLAlchemyError as error:
                log.warning("lease not renewed", turn=turn.key, error=type(error).__name__)
            if body and time.monotonic() >= held_until - self.inbox.lease_s / 3:
                body.cancel()
                return
