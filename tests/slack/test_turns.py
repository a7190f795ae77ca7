"""Each question is answered once, in its thread, whichever of its events comes first and however often (faults A)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from bot.reply.labels import label
from bot.slack.serve import running
from bot.surface import error_id_of
from playground.delivery import Reply

pytestmark = pytest.mark.anyio

ORDERS = ["mention first", "message first", "mention only", "message only"]


@pytest.mark.parametrize("order", ORDERS)
async def test_a_mention_is_answered_once_whichever_event_comes_first(chat: Any, order: str) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "does it fit?", order=order)
    answer = await chat.slack.answer(question)
    await chat.idle()
    assert [m.text for m in chat.slack.answers(question)] == [answer.text]
    assert answer.text == "does it fit?"
    assert answer.thread_ts == question.ts


@pytest.mark.parametrize("order", ORDERS)
async def test_a_follow_up_with_a_mention_is_answered_once(chat: Any, order: str) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one", order=order)
    await chat.slack.answer(question)
    await chat.slack.mention(chat.bert, chat.channel, "two", thread=question.ts, order=order)
    await chat.slack.answer(question, 2)
    await chat.idle()
    assert [m.text for m in chat.slack.answers(question)] == ["one", "one | two"]


async def test_events_delivered_again_are_not_answered_again(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "again?", copies=3)
    await chat.slack.answer(question)
    for delivery in list(chat.slack.deliverer.log):
        await chat.slack.deliverer.deliver("events_api", delivery.payload)
    await chat.idle()
    assert len(chat.slack.answers(question)) == 1
    assert chat.responder.asked == ["again?"]


async def test_answers_stand_in_the_thread_only(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "where?")
    await chat.slack.answer(question)
    await chat.idle()
    top_level = [m for m in chat.slack.workspace.messages if m.user == chat.slack.app.bot_user and m.thread_ts is None]
    assert top_level == []


async def test_a_slow_answer_does_not_hold_up_its_acknowledgement(start: Any, transport: str) -> None:
    hold = threading.Event()
    async with start(transport) as chat:
        chat.responder.hold = hold
        question = await chat.slack.mention(chat.anna, chat.channel, "slow")
        assert all(delivery.acknowledged for delivery in chat.slack.deliverer.log)
        assert chat.slack.answers(question) == []
        hold.set()
        await chat.slack.answer(question)
        await chat.idle()
        assert len(chat.slack.answers(question)) == 1


async def test_six_heavy_answers_do_not_delay_a_seventh_acknowledgement(start: Any, transport: str) -> None:
    hold = threading.Event()
    async with start(transport) as chat:
        chat.responder.hold = hold
        questions = [await chat.slack.mention(chat.anna, chat.channel, f"heavy {n}") for n in range(6)]
        seventh = await chat.slack.slash(chat.bert, chat.channel, "8b on a 4090")
        assert seventh.acknowledged
        assert [chat.slack.answers(question) for question in questions] == [[]] * 6
        assert chat.slack.private(chat.bert)[0].text == label("en", "computing_private")
        hold.set()
        for question in questions:
            await chat.slack.answer(question)
        await chat.idle()
        assert chat.slack.workspace.complaints == []


async def test_a_computing_thread_leaves_the_loop_its_turn(start: Any) -> None:
    """Six answers that burn the processor: the double, whose limit is Slack's three seconds, sees every acknowledgement."""
    enough = threading.Event()

    def burn(answer: Any) -> Any:
        while not enough.is_set():
            sum(range(1000))
        return answer

    async with start("http") as chat:
        chat.responder.change = burn
        for n in range(6):
            await chat.slack.mention(chat.anna, chat.channel, f"heavy {n}")
        seventh = await chat.slack.slash(chat.bert, chat.channel, "8b on a 4090")
        enough.set()
        assert seventh.acknowledged
        await chat.idle()
        assert chat.slack.workspace.complaints == []


@pytest.mark.parametrize("fault", ["disk full", "database is locked"])
async def test_a_turn_that_cannot_be_recorded_is_not_acknowledged_and_comes_again(
    start: Any, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    async with start("http") as chat:
        record, failures = chat.room.inbox.record, iter([True, True])

        def failing(*args: Any, **kwargs: Any) -> Any:
            if next(failures, False):
                raise OperationalError("INSERT", {}, Exception(fault))
            return record(*args, **kwargs)

        monkeypatch.setattr(chat.room.inbox, "record", failing)
        question = await chat.slack.mention(chat.anna, chat.channel, "kept?", order="message only")
        assert [reply.status for reply in chat.slack.deliverer.log[0].attempts] == [500]
        await chat.slack.answer(question)
        await chat.idle()
        assert [reply.status for reply in chat.slack.deliverer.log[0].attempts] == [500, 500, 200]
        assert len(chat.slack.answers(question)) == 1


async def test_over_a_socket_what_cannot_be_recorded_is_not_acknowledged(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start("socket") as chat:
        record, failures = chat.room.inbox.record, iter([True])

        def failing(*args: Any, **kwargs: Any) -> Any:
            if next(failures, False):
                raise OperationalError("INSERT", {}, Exception("disk full"))
            return record(*args, **kwargs)

        monkeypatch.setattr(chat.room.inbox, "record", failing)
        question = await chat.slack.mention(chat.anna, chat.channel, "kept?", order="message only")
        await chat.slack.answer(question)
        await chat.idle()
        assert [reply.status for reply in chat.slack.deliverer.log[0].attempts] == [0, 200]


async def test_a_delivery_with_a_retry_header_is_heard(start: Any) -> None:
    """It is not dropped for being a repetition: the first attempt may never have arrived."""
    async with start("http") as chat:
        way = chat.slack.deliverer.transport
        chat.slack.deliverer.transport = _Deaf()
        question = await chat.slack.mention(chat.anna, chat.channel, "late", order="mention only")
        chat.slack.deliverer.transport = way
        assert (await chat.slack.answer(question)).text == "late"
        assert chat.slack.deliverer.log[0].attempts[-1].status == 200


class _Deaf:
    """A way on which nothing arrives."""

    async def send(self, *_: Any) -> Reply:
        return Reply(0)


async def test_many_open_questions_are_told_that_they_wait(start: Any, transport: str) -> None:
    hold = threading.Event()
    async with start(transport, busy_above=2) as chat:
        chat.responder.hold = hold
        for n in range(3):
            await chat.slack.mention(chat.anna, chat.channel, f"q{n}")
        notice = await chat.slack.shown(chat.anna)
        hold.set()
        assert notice.text == label("de", "queued", count=2)
        await chat.idle()
        assert len([m for m in chat.slack.workspace.messages if m.user == chat.slack.app.bot_user]) == 3


async def test_too_many_open_questions_are_refused_with_a_sentence(start: Any) -> None:
    hold = threading.Event()
    async with start("http", refuse_above=1) as chat:
        chat.responder.hold = hold
        first = await chat.slack.mention(chat.anna, chat.channel, "first", order="mention only")
        await chat.slack.mention(chat.bert, chat.channel, "second", order="mention only")
        refusal = await chat.slack.shown(chat.bert)
        hold.set()
        assert refusal.text == label("en", "busy")
        await chat.slack.answer(first)
        await chat.idle()


async def test_every_question_ends_in_an_answer_or_an_error_with_an_id(chat: Any) -> None:
    chat.responder.fail = ValueError("a fault of ours")
    question = await chat.slack.mention(chat.anna, chat.channel, "breaks")
    notice = await chat.slack.shown(chat.anna)
    chat.responder.fail = None
    await chat.idle()
    [(key, error)] = chat.dead()
    assert notice.text == label("de", "failed", id=error_id_of(key))
    assert "ValueError" not in notice.text
    assert error == "ValueError: a fault of ours"
    assert chat.slack.answers(question) == []


async def test_an_apology_that_takes_longer_than_a_lease_is_said(start: Any, transport: str) -> None:
    """The turn is given up before its asker is told: that it is no longer held must not cut the telling short."""
    async with start(transport, lease_s=3.0) as chat:
        chat.responder.fail = ValueError("a fault of ours")
        chat.slack.faults.plan("chat.postEphemeral", "limit", 5)
        await chat.slack.mention(chat.anna, chat.channel, "breaks", order="mention only")
        notice = await chat.slack.shown(chat.anna, timeout_s=30)
        [(key, _)] = chat.dead()
        assert notice.text == label("de", "failed", id=error_id_of(key))
        await chat.idle()


async def test_a_failed_question_does_not_block_its_thread(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.answer(question)
    chat.responder.fail = ValueError("once")
    await chat.slack.say(chat.anna, chat.channel, "two", thread=question.ts)
    await chat.slack.shown(chat.anna)
    chat.responder.fail = None
    await chat.slack.say(chat.anna, chat.channel, "three", thread=question.ts)
    assert (await chat.slack.answer(question, 2)).text == "one | three"


async def test_an_unread_edit_a_join_a_bot_and_ourselves_are_ignored(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "first")
    await chat.slack.answer(question)
    await chat.slack.edit(question, f"<@{chat.slack.app.bot_user}> second")
    await chat.slack.say(chat.bert, chat.channel, "has joined", subtype="channel_join")
    await chat.slack.bot_says(chat.channel, f"<@{chat.slack.app.bot_user}> and you?")
    await chat.slack.bot_says(chat.channel, f"<@{chat.slack.app.bot_user}> and you?", user=chat.bert.id)
    await chat.slack.bot_says(chat.channel, "thanks!", thread=question.ts)
    await chat.slack.event(
        {"type": "message", "subtype": "message_deleted", "channel": chat.channel.id, "ts": question.ts}
    )
    await chat.idle()
    assert chat.responder.asked == ["first"]


async def test_talk_that_is_not_for_the_bot_leaves_no_trace(chat: Any) -> None:
    await chat.slack.say(chat.anna, chat.channel, "lunch?")
    root = await chat.slack.say(chat.anna, chat.channel, "and dessert?")
    await chat.slack.say(chat.bert, chat.channel, "cake", thread=root.ts)
    await chat.idle()
    assert chat.room.inbox.states() == {}
    assert chat.room.store.thread(f"T0DOUBLE01/{chat.channel.id}/{root.ts}") is None


@pytest.mark.parametrize(
    "event",
    [
        {"type": "reaction_added", "user": "U1", "reaction": "eyes", "item": {}},
        {"type": "app_context_changed", "user": "U1"},
        {"type": "member_joined_channel", "user": "U1", "channel": "C1"},
        {"type": "message", "channel": "C1", "ts": "garbage", "text": "?", "user": "U1"},
        {"type": "message"},
        {"type": "app_mention", "channel": None, "ts": 5},
    ],
    ids=lambda event: f"{event['type']}-{len(event)}",
)
async def test_events_without_a_use_are_acknowledged(chat: Any, event: dict[str, Any]) -> None:
    delivery = await chat.slack.event(event)
    assert delivery.acknowledged


async def test_replicas_share_one_inbox(start: Any) -> None:
    """Two bots on one app: each event reaches one of them at random."""
    async with start("socket") as chat:
        way = chat.slack.deliverer.transport
        async with running(chat.room.settings, chat.responder):
            await chat.slack.until(lambda: len(way.sockets) == 2, what="two sockets")
            questions = [await chat.slack.mention(chat.anna, chat.channel, f"q{n}") for n in range(10)]
            for question in questions:
                await chat.slack.answer(question)
                await chat.slack.say(chat.bert, chat.channel, "and then?", thread=question.ts)
            for n, question in enumerate(questions):
                await chat.slack.answer(question, 2)
                assert [m.text for m in chat.slack.answers(question)] == [f"q{n}", f"q{n} | and then?"]
            await chat.idle()
            assert [len(chat.slack.answers(question)) for question in questions] == [2] * 10


async def test_a_socket_asked_to_reconnect_goes_on(start: Any) -> None:
    async with start("socket") as chat:
        way = chat.slack.deliverer.transport
        before = list(way.sockets)
        await way.refresh()
        await chat.slack.until(lambda: bool(way.sockets) and way.sockets != before, what="a new socket")
        question = await chat.slack.mention(chat.anna, chat.channel, "still there?")
        await chat.slack.answer(question)
        await chat.idle()
