"""One turn worked out: what stood before it, its answer computed, said by the surface, and kept."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from bot import metrics
from bot.answer import Answer
from bot.attached import Attached, Enclosed, Unread, enclosed
from bot.inbox import Inbox, Turn
from bot.logs import logger
from bot.offload import Offload
from bot.processes import ComputationEnded, ComputationFault, ComputationHung
from bot.responder import Responder
from bot.settings import Settings
from bot.store import Opening, Store
from bot.surface import Begin, Discussion, FileRef, Refused, TryLater, Voice, answer_id_of
from bot.thread import Context, TeamDefaults, ThreadState
from bot.thread import Turn as Said
from bot.tracing import span

log = logger()

# A question that ends the process it is computed in is tried so often: once may be the memory that others took.
_DEADLY_ATTEMPTS: Final = 3
# A status is shown for what takes longer than this, and renewed because Slack clears it after two minutes.
_SLOW_S: Final = 0.6
PROGRESS_EVERY_S: Final = 60.0
_PROGRESS_S: Final = 2.0


class Answering:
    """Answers turns that `owner` holds. Whatever it raises says what is to become of the turn."""

    def __init__(
        self, inbox: Inbox, store: Store, voice: Voice, responder: Responder, offload: Offload, settings: Settings,
        around: Context, owner: str,
    ) -> None:  # fmt: skip
        self.inbox = inbox
        self.store = store
        self.voice = voice
        self.responder = responder
        self.offload = offload
        self.settings = settings
        self.around = around
        self.owner = owner
        # Not the turn's attempts, which also count how often a replica was killed that held it.
        self._deaths: Counter[str] = Counter()

    async def answer(self, turn: Turn) -> None:
        """The turn to its end.

        Raises:
            TryLater, Refused, LeaseLost: see there.
        """

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
        state, before = await self._before(turn, opening)
        context = self._context(turn, opening.defaults)
        if not state.turns:
            lang = opening.state.lang or opening.defaults.lang or await self.voice.locale(turn.user)
            state = state.model_copy(update={"lang": lang})
        question = await self._question(turn, before.files)
        answer, after = await self._computed(turn, question, state, context)
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
            read_until=before.read_until,
        )

    async def _catch_up(self, turn: Turn) -> None:
        """The question came late, after a failed delivery: follow-ups that overtook it were not known to be for us."""
        for missed in await self.voice.missed(turn):
            await self.offload.database(self.inbox.record, missed)

    async def _computed(
        self, turn: Turn, question: Enclosed, state: ThreadState, context: Context
    ) -> tuple[Answer, ThreadState]:
        with metrics.compute_seconds.time(), span("compute"):
            try:
                async with asyncio.timeout(self.settings.answer_timeout_s), self._showing(turn):
                    if turn.kind == "action":
                        payload = await self._payload(turn)
                        action = str(turn.body["action"])
                        return await self.offload.answer(self.responder.act, action, payload, state, context)
                    if question.told and not question.text.strip():
                        return question.alone(state.lang or "en", answer_id_of(turn.key)), state
                    answer, after = await self.offload.answer(self.responder.respond, question.text, state, context)
                    return question.stands_in(answer), after
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
            delay_s = PROGRESS_EVERY_S

    async def _question(self, turn: Turn, overheard: Sequence[FileRef]) -> Enclosed:
        """The words of a turn with what its files say. Where it has none, those of the talk before it, as far as they can be read."""
        text, own = str(turn.body.get("text") or ""), turn.body.get("files") or ()
        if turn.kind != "message" or not (own or overheard):
            return Enclosed(text)
        async with self._showing(turn):
            found = await self.voice.attached(turn, own or overheard)
            found = found if own else Attached(found.contents)
            try:
                question = await self.offload.apart(enclosed, text, found)
            except ComputationFault as error:
                log.error("files not read", turn=turn.key, reason=str(error))
                damaged = tuple(Unread(content.name, "damaged") for content in found.contents)
                question = Enclosed(text, (*damaged, *found.unread))
        metrics.count_files(question.told)
        return question

    async def _before(self, turn: Turn, opening: Opening) -> tuple[ThreadState, Discussion]:
        """What stands before a question. A form says everything itself, so nothing does.

        In a thread among people: what was said since the last look stands before the question, as data.
        """
        thread, state = opening.thread, opening.state
        if turn.body.get("fresh"):
            return ThreadState(lang=state.lang), Discussion((), None)
        if thread is None or thread.conversation or turn.kind != "message":
            return state, Discussion((), None)
        found = await self.voice.discussion(turn, thread.read_until)
        said = tuple(Said(text=text, intent="overheard") for text in found.texts)
        return state.model_copy(update={"turns": (*state.turns, *said)}), found

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
