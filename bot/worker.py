"""The worker: leases turns, has them answered, hands the answers to the surface, keeps count of failures.

Nothing here knows Slack; a surface is a `Voice`. What may be said once is said once because the turn is marked before
it is said (`Inbox.start_posting`) and the surface looks before it speaks again.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import os
import socket
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sqlalchemy.exc import SQLAlchemyError
from structlog.contextvars import bind_contextvars

from bot import metrics
from bot.answer import Answer, Lang
from bot.fairness import shares_of
from bot.inbox import Inbox, LeaseLost, NewTurn, Turn
from bot.logs import logger
from bot.offload import Offload
from bot.processes import ComputationEnded, ComputationHung
from bot.responder import Responder
from bot.settings import Settings
from bot.store import Opening, Store
from bot.thread import Context, TeamDefaults, ThreadState
from bot.thread import Turn as Said
from bot.tracing import span

log = logger()

_BACKOFF_S: Final = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
_DRAIN_S: Final = 10.0
_STOPPED: Final = "stopped by the asker"
# A question that ends the process it is computed in is tried so often: once may be the memory that others took.
_DEADLY_ATTEMPTS: Final = 3
# A status is shown for what takes longer than this, and renewed because Slack clears it after two minutes.
_SLOW_S: Final = 0.6
_PROGRESS_EVERY_S: Final = 60.0
_PROGRESS_S: Final = 2.0


class TryLater(Exception):
    """The surface could not take the answer now, e.g. it is rate limited or away."""

    def __init__(self, reason: str, delay_s: float | None = None) -> None:
        super().__init__(reason)
        self.delay_s = delay_s


class Refused(Exception):
    """The surface will never take this answer. `say` names the text that tells the asker why, if anything can."""

    def __init__(self, reason: str, say: str | None = "failed") -> None:
        super().__init__(reason)
        self.say = say


@dataclass(frozen=True)
class Discussion:
    """What people wrote in a thread since the bot last read it, oldest first."""

    texts: tuple[str, ...]
    read_until: str | None


Begin = Callable[[], Awaitable[None]]


class Voice(Protocol):
    """What a surface owes the worker. `begin` must be awaited right before anything is said that counts."""

    async def enter(self, turn: Turn) -> None: ...
    async def progress(self, turn: Turn) -> None: ...
    async def settle(self, turn: Turn) -> None: ...
    async def locale(self, user: str) -> Lang: ...
    async def discussion(self, turn: Turn, since: str | None) -> Discussion: ...
    async def missed(self, turn: Turn) -> tuple[NewTurn, ...]: ...
    async def deliver(self, turn: Turn, answer: Answer, begin: Begin) -> None: ...
    async def share(self, turn: Turn, answer: Answer, begin: Begin) -> str: ...
    async def export(self, turn: Turn, answer: Answer, begin: Begin) -> None: ...
    async def say(self, turn: Turn, key: str, **params: object) -> None: ...


def answer_id_of(key: str) -> str:
    """The id of a turn's answer: the same after a crash, so that buttons of what was posted before go on working."""
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def error_id_of(key: str) -> str:
    """The short number that a user sees and an operator finds in the log."""
    return hashlib.sha256(f"error:{key}".encode()).hexdigest()[:8]


class Worker:
    """Works through the inbox until stopped."""

    def __init__(
        self, inbox: Inbox, store: Store, voice: Voice, responder: Responder, offload: Offload, settings: Settings,
        around: Context,
    ) -> None:  # fmt: skip
        self.inbox = inbox
        self.store = store
        self.voice = voice
        self.responder = responder
        self.offload = offload
        self.settings = settings
        self.around = around
        self.owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.shares = shares_of(settings.turns_in_hand)
        self._wake = asyncio.Event()
        self._stopping = False
        self._in_hand: set[asyncio.Task[None]] = set()
        self._of_thread: dict[str, tuple[Turn, asyncio.Task[None]]] = {}
        self._abandoned: set[str] = set()
        # Not the turn's attempts, which also count how often a replica was killed that held it.
        self._deaths: Counter[str] = Counter()

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
            await self._answer(turn)
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
        await self.offload.database(self.inbox.bury, turn.key, self.owner, str(error), turn.attempts)
        await self._tell_end(turn, error)

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
                held_until = 0.0
            except SQLAlchemyError as error:
                log.warning("lease not renewed", turn=turn.key, error=type(error).__name__)
            if body and time.monotonic() >= held_until - self.inbox.lease_s / 3:
                body.cancel()
                return

    async def _answer(self, turn: Turn) -> None:
        async def begin() -> None:
            await self.offload.database(self.inbox.start_posting, turn.key, self.owner, turn.attempts)

        if turn.kind == "share":
            await self._share(turn, begin)
        elif turn.body.get("action") == "export":
            await self.voice.export(turn, await self._stored(turn), begin)
            await self.offload.database(self.inbox.finish, turn.key, self.owner, turn.attempts)
        else:
            await self._respond(turn, begin)

    async def _respond(self, turn: Turn, begin: Begin) -> None:
        if turn.body.get("late") and turn.ts == turn.root_ts:
            await self._catch_up(turn)
        opening = await self.offload.database(self.store.opening, turn.thread_id, turn.team)
        state, read_until = await self._before(turn, opening)
        context = self._context(turn, opening.defaults)
        if not state.turns:
            lang = opening.state.lang or opening.defaults.lang or await self.voice.locale(turn.user)
            state = state.model_copy(update={"lang": lang})
        answer, after = await self._computed(turn, state, context)
        await self.offload.database(self.store.save_answer, turn.thread_id, answer)
        metrics.count_answer(answer, after.last.request if after.last else {})
        with metrics.post_seconds.time(), span("post"):
            await self.voice.deliver(turn, answer, begin)
        await self.offload.database(
            self.inbox.finish,
            turn.key,
            self.owner,
            turn.attempts,
            state=after,
            answer_id=answer.id,
            read_until=read_until,
        )

    async def _catch_up(self, turn: Turn) -> None:
        """The question came late, after a failed delivery: follow-ups that overtook it were not known to be for us."""
        for missed in await self.voice.missed(turn):
            await self.offload.database(self.inbox.record, missed)

    async def _computed(self, turn: Turn, state: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
        with metrics.compute_seconds.time(), span("compute"):
            try:
                async with asyncio.timeout(self.settings.answer_timeout_s), self._showing(turn):
                    if turn.kind == "action":
                        payload = await self._payload(turn)
                        action = str(turn.body["action"])
                        return await self.offload.answer(self.responder.act, action, payload, state, context)
                    text = str(turn.body["text"])
                    return await self.offload.answer(self.responder.respond, text, state, context)
            except (TimeoutError, ComputationHung):
                raise Refused(f"no answer within {self.settings.answer_timeout_s:g} s") from None
            except ComputationEnded as error:
                self._deaths[turn.key] += 1
                if self._deaths[turn.key] < _DEADLY_ATTEMPTS:
                    raise TryLater(str(error)) from None
                raise Refused(f"{error}, {self._deaths.pop(turn.key)} times") from None

    @asynccontextmanager
    async def _showing(self, turn: Turn) -> AsyncIterator[None]:
        """Shows that the bot works while the body is slow. Over before the answer is posted, which takes the status away."""
        showing = asyncio.create_task(self._show(turn))
        try:
            yield
        finally:
            showing.cancel()
            await asyncio.wait([showing], timeout=_PROGRESS_S)

    async def _show(self, turn: Turn) -> None:
        delay_s = _SLOW_S
        while True:
            await asyncio.sleep(delay_s)
            await self.voice.progress(turn)
            delay_s = _PROGRESS_EVERY_S

    async def _before(self, turn: Turn, opening: Opening) -> tuple[ThreadState, str | None]:
        """What stands before a question. A form says everything itself, so nothing does.

        In a thread among people: what was said since the last look stands before the question, as data.
        """
        thread, state = opening.thread, opening.state
        if turn.body.get("fresh"):
            return ThreadState(lang=state.lang), None
        if thread is None or thread.conversation or turn.kind != "message":
            return state, None
        found = await self.voice.discussion(turn, thread.read_until)
        said = tuple(Said(text=text, intent="overheard") for text in found.texts)
        return state.model_copy(update={"turns": (*state.turns, *said)}), found.read_until

    def _context(self, turn: Turn, defaults: TeamDefaults) -> Context:
        # In a channel that outsiders read, nothing internal of the team may show through an answer.
        defaults = TeamDefaults() if turn.body.get("foreign") else defaults
        return dataclasses.replace(self.around, defaults=defaults, answer_id=answer_id_of(turn.key))

    async def _stored(self, turn: Turn) -> Answer:
        stored = await self.offload.database(self.store.answer, str(turn.body["answer_id"]))
        if stored is None:
            raise Refused("the answer is gone", "gone")
        return stored.answer

    async def _payload(self, turn: Turn) -> dict[str, Any]:
        """What a click means: a select names a place in the stored answer, never a value of its own."""
        answer = await self._stored(turn)
        payload: dict[str, Any] = {"answer_id": answer.id}
        if turn.body["action"] == "change":
            payload |= _chosen(answer, str(turn.body["option"]))
        return payload

    async def _share(self, turn: Turn, begin: Begin) -> None:
        answer = await self._stored(turn)
        root_ts = await self.voice.share(turn, answer, begin)
        state = await self.offload.database(self.store.thread_state, turn.thread_id)
        await self.offload.database(
            self.store.save_thread, f"{turn.team}/{turn.channel}/{root_ts}", state,
            team=turn.team, channel=turn.channel, root_ts=root_ts,
        )  # fmt: skip
        await self.offload.database(self.inbox.finish, turn.key, self.owner, turn.attempts)
        await self.voice.say(turn, "shared")


def _chosen(answer: Answer, option: str) -> dict[str, Any]:
    """The change behind `field index:alternative index`."""
    field, _, alternative = option.partition(":")
    try:
        view = answer.assumptions[int(field)]
        choice = view.alternatives[int(alternative)]
    except (ValueError, IndexError):
        raise Refused(f"no such option: {option}", "gone") from None
    return {"field": view.field, "label": choice.label, "delta": choice.delta}
