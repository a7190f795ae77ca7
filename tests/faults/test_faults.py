"""Faults on purpose: what the user sees, what is logged, and that nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from bot.operations.turns import DeadLetters
from bot.processes import Processes
from bot.reply.labels import label
from bot.slack.http import MAX_BODY_BYTES, readiness
from bot.surface import error_id_of

pytestmark = pytest.mark.anyio


@contextlib.contextmanager
def database_away(engine: Any, reason: str = "server closed the connection unexpectedly") -> Iterator[None]:
    """Every statement fails, as when the server is gone or the disk is full."""

    def fail(*_: Any) -> None:
        raise OperationalError("", {}, Exception(reason))

    event.listen(engine, "before_cursor_execute", fail)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", fail)


@pytest.mark.parametrize("reason", ["server closed the connection unexpectedly", "database or disk is full"])
async def test_the_database_goes_and_comes_back(start: Any, reason: str) -> None:
    """Slack gets no acknowledgement and repeats; what was in hand is answered once; readiness says why."""
    async with start("http", lease_s=1.5, retry_delays_s=(0.2, 1.0, 3.0)) as chat:
        hold = chat.responder.hold = threading.Event()
        in_hand = await chat.slack.mention(chat.anna, chat.channel, "in hand", order="mention only")
        await chat.slack.until(lambda: chat.responder.asked == ["in hand"], what="a computation")
        with database_away(chat.room.inbox.engine, reason):
            late = await chat.slack.mention(chat.bert, chat.channel, "late", order="mention only")
            assert chat.slack.deliverer.log[-1].attempts[0].status == 500
            hold.set()
            found = await readiness(chat.room)
            assert (found["ok"], found["database"]) == (False, False)
            await asyncio.sleep(0.6)
        for question, text in ((in_hand, "in hand"), (late, "late")):
            assert (await chat.slack.answer(question)).text == text
        await chat.idle()
        assert [len(chat.slack.answers(question)) for question in (in_hand, late)] == [1, 1]
        assert (await readiness(chat.room))["ok"] is True


@pytest.mark.parametrize(
    ("kind", "value", "times"),
    [("status", 500, 2), ("limit", 1, 1), ("garbage", None, 2), ("lost", None, 1), ("slow", 0.5, 1)],
)
async def test_slack_in_trouble_gets_the_answer_once(start: Any, kind: str, value: Any, times: int) -> None:
    async with start("http") as chat:
        chat.slack.faults.plan("chat.postMessage", kind, value, times)
        question = await chat.slack.mention(chat.anna, chat.channel, "patience", order="mention only")
        assert (await chat.slack.answer(question)).text == "patience"
        await chat.idle()
        assert len(chat.slack.answers(question)) == 1
        assert chat.dead() == []


async def test_an_answer_that_never_comes_ends_as_an_apology_with_an_id(start: Any) -> None:
    """A language model that hangs: the asker is told after the time limit, others are answered meanwhile."""
    async with start("http", answer_timeout_s=2.0, compute_workers=3) as chat:
        hold, cheap = threading.Event(), chat.responder.respond
        chat.responder.respond = lambda text, *rest: (hold.wait(120) if text == "hangs" else None, cheap(text, *rest))[
            1
        ]
        hanging = await chat.slack.mention(chat.anna, chat.channel, "hangs", order="mention only")
        other = await chat.slack.mention(chat.bert, chat.channel, "other", order="mention only")
        assert (await chat.slack.answer(other)).text == "other"
        notice = await chat.slack.shown(chat.anna)
        hold.set()
        [dead] = DeadLetters(chat.room.inbox.engine).unfinished()
        assert notice.text == label("de", "failed", id=dead.id)
        assert dead.error == "no answer within 2 s"
        assert chat.slack.answers(hanging) == []


async def test_a_question_that_ends_its_process_is_given_up_and_no_other_is_harmed(start: Any) -> None:
    """As where memory runs out under one question: the asker is told, an operator finds it, the bot stays up."""
    processes = Processes(2, 60.0, os.getpid, "os")
    async with start("http") as chat:
        cheap = chat.responder.respond

        def respond(text: str, *rest: Any) -> Any:
            if text == "poison":
                processes.run(os._exit, 9)
            processes.run(time.sleep, 0.02)
            return cheap(text, *rest)

        chat.responder.respond = respond
        poison = await chat.slack.mention(chat.anna, chat.channel, "poison", order="mention only")
        others = [
            await chat.slack.mention(chat.bert, chat.channel, f"other {n}", order="mention only") for n in range(12)
        ]
        for question in others:
            assert (await chat.slack.answer(question)).text == question.text.partition("> ")[2]
        notice = await chat.slack.shown(chat.anna, timeout_s=60)
        await chat.idle()
        [dead] = DeadLetters(chat.room.inbox.engine).unfinished()
        assert notice.text == label("de", "failed", id=dead.id)
        assert dead.error == "the computation ended its process, 3 times"
        assert chat.slack.answers(poison) == []
        assert [len(chat.slack.answers(question)) for question in others] == [1] * len(others)
    processes.close()


@contextlib.contextmanager
def full_disk(engine: Any) -> Iterator[None]:
    """SQLite gets no more pages than it has: what it says and does then is what it does on a full disk."""

    def at_most(connection: Any, _record: object, _proxy: object) -> None:
        connection.execute("PRAGMA max_page_count=1")

    def any_number(connection: Any, _record: object, _proxy: object) -> None:
        connection.execute("PRAGMA max_page_count=1000000000")

    event.listen(engine, "checkout", at_most)
    try:
        yield
    finally:
        event.remove(engine, "checkout", at_most)
        event.listen(engine, "checkout", any_number)


async def test_a_full_disk_loses_nothing_that_was_acknowledged(start: Any) -> None:
    """What cannot be recorded is not acknowledged and comes again; what was in hand is answered once there is room."""
    long = "how much? " * 2_000
    async with start("http", lease_s=1.5, retry_delays_s=(0.2, 1.0, 3.0)) as chat:
        hold = chat.responder.hold = threading.Event()
        in_hand = await chat.slack.mention(chat.anna, chat.channel, long, order="mention only")
        await chat.slack.until(lambda: len(chat.responder.asked) == 1, what="a computation")
        with full_disk(chat.room.inbox.engine):
            late = await chat.slack.mention(chat.bert, chat.channel, long, order="mention only")
            assert chat.slack.deliverer.log[-1].attempts[0].status == 500
            hold.set()
            await asyncio.sleep(0.6)
            assert chat.slack.answers(in_hand) == []
        for question in (in_hand, late):
            await chat.slack.answer(question)
        await chat.idle()
        parts = [{str(m.metadata) for m in chat.slack.answers(question)} for question in (in_hand, late)]
        assert [len(chat.slack.answers(question)) for question in (in_hand, late)] == [len(part) for part in parts]
        assert chat.room.inbox.states() == {"done": 2}


async def test_a_dead_letter_that_is_retried_is_answered(start: Any) -> None:
    async with start("http") as chat:
        chat.responder.fail = ValueError("a fault of ours")
        question = await chat.slack.mention(chat.anna, chat.channel, "breaks", order="mention only")
        await chat.slack.shown(chat.anna)
        chat.responder.fail = None
        letters = DeadLetters(chat.room.inbox.engine)
        assert len(letters.retry(error_id_of(chat.dead()[0][0]))) == 1
        assert (await chat.slack.answer(question)).text == "breaks"
        await chat.idle()
        assert letters.unfinished(dead_only=False) == []


@pytest.mark.parametrize("jump_s", [-3600.0, 3600.0])
async def test_a_clock_that_jumps_neither_loses_nor_doubles(start: Any, jump_s: float) -> None:
    async with start("http", lease_s=3.0) as chat:
        hold = chat.responder.hold = threading.Event()
        first = await chat.slack.mention(chat.anna, chat.channel, "before", order="mention only")
        await chat.slack.until(lambda: chat.responder.asked == ["before"], what="a computation")
        chat.room.inbox.clock = lambda: time.time() + jump_s
        hold.set()
        second = await chat.slack.mention(chat.bert, chat.channel, "after", order="mention only")
        for question, text in ((first, "before"), (second, "after")):
            assert (await chat.slack.answer(question)).text == text
        await chat.idle()
        assert [len(chat.slack.answers(question)) for question in (first, second)] == [1, 1]


async def test_deliveries_out_of_order_and_twice_are_answered_once(start: Any) -> None:
    async with start("http") as chat:
        question = await chat.slack.mention(chat.anna, chat.channel, "root", copies=3)
        follow_ups = [
            await chat.slack.say(chat.anna, chat.channel, f"f{n}", thread=question.ts, copies=2) for n in range(2)
        ]
        for delivery in reversed(list(chat.slack.deliverer.log)):
            await chat.slack.deliverer.deliver("events_api", delivery.payload)
        await chat.slack.answer(question, 3)
        await chat.idle()
        assert [m.text for m in chat.slack.answers(question)] == ["root", "root | f0", "root | f0 | f1"]
        assert len(follow_ups) == 2


class _Pieces:
    """A body that comes in pieces, without its length being told."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes

    async def parts(self) -> Any:
        for _ in range(self.size_bytes // 65_536):
            yield b"x" * 65_536


async def test_a_body_of_fifty_megabytes_is_refused_and_the_next_question_answered(start: Any) -> None:
    async with start("http") as chat, aiohttp.ClientSession() as session:
        for body in (io.BytesIO(b"x" * 50_000_000), _Pieces(50_000_000).parts()):
            with contextlib.suppress(aiohttp.ClientError, ConnectionError):
                async with session.post(chat.url, data=body) as response:
                    assert response.status == 413
        async with session.post(chat.url, data=io.BytesIO(b"x" * (MAX_BODY_BYTES + 1))) as response:
            assert response.status == 413
        question = await chat.slack.mention(chat.anna, chat.channel, "still here?")
        assert (await chat.slack.answer(question)).text == "still here?"


BODIES = [
    b"", b"{", b"[]", b"null", b"5", b'"x"', b"{}", b"\xff\xfe", b"payload=", b"payload=%7B", b"payload=[]",
    b'{"type": "event_callback"}', b'{"type": "event_callback", "event": []}', b'{"type": "event_callback", "event": "x"}',
    b'{"type": "event_callback", "team_id": {"a": 1}, "event": {"type": "message"}}',
    b'{"type": "event_callback", "team": 5, "authorizations": "x", "event": {"type": {"a": 1}}}',
    b'{"type": "event_callback", "event": {"type": "message", "user": [], "channel": {}, "ts": 1.5}}',
    b"command=%2Fsize", b"command=%2Fsize&text=x", b"command=%2Fsize&text=x&trigger_id=1&user_id=&channel_id=",
    json.dumps({"type": "event_callback", "event": {"type": "message", "text": "x" * 500_000}}).encode(),
    ("[" * 100_000).encode(), b'{"type": "block_actions", "actions": 5}', b'{"type": "block_actions", "actions": []}',
]  # fmt: skip


async def test_malformed_bodies_change_nothing(start: Any) -> None:
    """Properly signed garbage: the answer is a status, never a hanging connection, and the bot goes on."""
    async with start("http") as chat:
        way = chat.slack.deliverer.transport
        for body in BODIES:
            for kind in ("application/json", "application/x-www-form-urlencoded"):
                reply = await way.post(body, {"content-type": kind})
                assert reply.status in (200, 400, 404), (body[:80], reply.status)
        question = await chat.slack.mention(chat.anna, chat.channel, "still here?")
        assert (await chat.slack.answer(question)).text == "still here?"
        await chat.idle()
        assert chat.room.inbox.states() == {"done": 1}


async def test_a_command_may_say_payload(start: Any) -> None:
    async with start("http") as chat:
        assert (await chat.slack.slash(chat.anna, chat.channel, "payload of 10 users on a 4090")).acknowledged
        await chat.idle()
        assert chat.responder.asked == ["payload of 10 users on a 4090"]


async def test_the_asker_is_told_its_own_place(start: Any) -> None:
    """Thirty of one person wait; the first of another is worked on next and is not told to wait behind them."""
    async with start("http", turns_in_hand=1, busy_above=3) as chat:
        hold = chat.responder.hold = threading.Event()
        for number in range(8):
            await chat.slack.mention(chat.anna, chat.channel, f"flood{number}", order="mention only")
        await chat.slack.mention(chat.bert, chat.channel, "patient", order="mention only")
        await chat.slack.shown(chat.anna)
        hold.set()
        await chat.idle()
        assert chat.slack.private(chat.bert) == []
        assert chat.responder.asked.index("patient") <= 2


async def test_one_person_with_too_much_open_is_refused_alone(start: Any) -> None:
    async with start("http", refuse_above_of_person=2) as chat:
        hold = chat.responder.hold = threading.Event()
        asked = [await chat.slack.mention(chat.anna, chat.channel, f"q{n}", order="mention only") for n in range(3)]
        other = await chat.slack.mention(chat.bert, chat.channel, "other", order="mention only")
        assert (await chat.slack.shown(chat.anna)).text == label("de", "busy")
        hold.set()
        for question in (*asked[:2], other):
            await chat.slack.answer(question)
        await chat.idle()
        assert chat.slack.answers(asked[2]) == []
