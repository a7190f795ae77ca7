"""Threads: follow-ups without a mention, threads among people, order, the right root (faults B)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from bot.reply.labels import label
from bot.reply.views import home
from bot.thread import TeamDefaults
from playground.delivery import Reply

pytestmark = pytest.mark.anyio


async def test_follow_ups_need_no_mention(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.answer(question)
    await chat.slack.say(chat.bert, chat.channel, "two", thread=question.ts)
    await chat.slack.answer(question, 2)
    await chat.slack.say(chat.anna, chat.channel, "three", thread=question.ts)
    await chat.slack.answer(question, 3)
    assert [m.text for m in chat.slack.answers(question)] == ["one", "one | two", "one | two | three"]


async def test_two_quick_follow_ups_keep_their_order(start: Any, transport: str) -> None:
    hold = threading.Event()
    async with start(transport) as chat:
        chat.responder.hold = hold
        question = await chat.slack.mention(chat.anna, chat.channel, "one")
        for text in ("two", "three", "four"):
            await chat.slack.say(chat.anna, chat.channel, text, thread=question.ts)
        hold.set()
        await chat.slack.answer(question, 4)
        assert chat.responder.asked == ["one", "two", "three", "four"]
        assert [m.text for m in chat.slack.answers(question)][-1] == "one | two | three | four"


async def test_a_question_that_arrives_late_is_answered_before_those_that_wait(start: Any) -> None:
    """Deliveries overtake each other; a thread's turns run in the order of their ts."""
    hold = threading.Event()
    async with start("http", compute_workers=1) as chat:
        chat.responder.hold = hold
        question = await chat.slack.mention(chat.anna, chat.channel, "one")
        log = chat.slack.deliverer.log
        way, chat.slack.deliverer.transport = chat.slack.deliverer.transport, _Deaf()
        await chat.slack.say(chat.anna, chat.channel, "two", thread=question.ts)
        chat.slack.deliverer.transport = way
        await chat.slack.say(chat.anna, chat.channel, "three", thread=question.ts)
        await chat.slack.until(lambda: all(delivery.acknowledged for delivery in log), what="every acknowledgement")
        hold.set()
        await chat.slack.answer(question, 3)
        assert chat.responder.asked == ["one", "two", "three"]


@pytest.mark.parametrize("strict", [False, True])
async def test_a_follow_up_that_overtook_its_question_is_found(start: Any, transport: str, strict: bool) -> None:
    """The question's first delivery failed; when the follow-up came, nobody knew that the thread is ours."""
    async with start(transport, strict_channels="C000000003" if strict else "") as chat:
        way, chat.slack.deliverer.transport = chat.slack.deliverer.transport, _Deaf()
        question = await chat.slack.mention(chat.anna, chat.channel, "one")
        chat.slack.deliverer.transport = way
        follow_up = await chat.slack.say(chat.anna, chat.channel, "two", thread=question.ts)
        assert follow_up.ts > question.ts
        await chat.slack.answer(question, 1 if strict else 2)
        await chat.slack.until(lambda: chat.room.inbox.waiting() == 0)
        assert chat.responder.asked == (["one"] if strict else ["one", "two"])


async def test_a_follow_up_that_overtook_a_slow_question_is_found(start: Any, transport: str) -> None:
    """The question arrived, but later than Slack waits: it repeats what the bot knows by then."""
    async with start(transport, retry_delays_s=(1.0, 2.0, 4.0)) as chat:
        way = chat.slack.deliverer.transport
        chat.slack.deliverer.transport = slow = _Slow(way)
        question = await chat.slack.mention(chat.anna, chat.channel, "one")
        chat.slack.deliverer.transport = way
        await chat.slack.say(chat.anna, chat.channel, "two", thread=question.ts)
        await slow.arrive()
        await chat.slack.answer(question, 2)
        await chat.idle()
        assert chat.responder.asked == ["one", "two"]


class _Slow:
    """A way on which everything arrives, when told to, after Slack has stopped waiting for it."""

    def __init__(self, way: Any) -> None:
        self.way, self.held = way, list[Any]()

    async def send(self, *sent: Any) -> Reply:
        self.held.append(sent)
        return Reply(0, seconds=3.0)

    async def arrive(self) -> None:
        for sent in self.held:
            await self.way.send(*sent)


class _Deaf:
    """A way on which nothing arrives."""

    async def send(self, *_: Any) -> Reply:
        return Reply(0)


async def test_in_a_thread_among_people_each_turn_needs_a_mention(chat: Any) -> None:
    root = await chat.slack.say(chat.anna, chat.channel, "we want Llama 3.3 70B")
    await chat.slack.say(chat.bert, chat.channel, "on our 4090?", thread=root.ts)
    await chat.slack.mention(chat.anna, chat.channel, "does that fit?", thread=root.ts)
    first = await chat.slack.answer(root)
    await chat.slack.say(chat.bert, chat.channel, "told you so", thread=root.ts)
    await chat.slack.mention(chat.anna, chat.channel, "and in fp8?", thread=root.ts)
    second = await chat.slack.answer(root, 2)
    await chat.idle()
    assert first.text == "we want Llama 3.3 70B | on our 4090? | does that fit?"
    assert second.text == f"{first.text} | told you so | and in fp8?"
    assert len(chat.slack.answers(root)) == 2


async def test_a_thread_is_read_once_and_then_only_what_is_new(chat: Any) -> None:
    root = await chat.slack.say(chat.anna, chat.channel, "old")
    await chat.slack.mention(chat.anna, chat.channel, "a", thread=root.ts)
    await chat.slack.answer(root)
    await chat.slack.mention(chat.anna, chat.channel, "b", thread=root.ts)
    await chat.slack.answer(root, 2)
    reads = [args for method, args in chat.slack.calls if method == "conversations.replies"]
    assert [args.get("oldest") is None for args in reads] == [True, False]
    assert chat.slack.answers(root)[-1].text == "old | a | b"


async def test_a_thread_that_cannot_be_read_is_answered_all_the_same(chat: Any) -> None:
    chat.slack.faults.plan("conversations.replies", "error", "missing_scope")
    root = await chat.slack.say(chat.anna, chat.channel, "old")
    await chat.slack.mention(chat.anna, chat.channel, "a", thread=root.ts)
    assert (await chat.slack.answer(root)).text == "a"


async def test_a_long_thread_is_capped_and_keeps_its_root(start: Any) -> None:
    async with start("http") as chat:
        root = await chat.slack.say(chat.anna, chat.channel, "the root")
        for n in range(300):
            chat.slack.workspace.messages.append(
                type(root)(chat.channel.id, chat.slack.workspace.new_ts(), chat.bert.id, f"m{n}", root.ts)
            )
        await chat.slack.mention(chat.anna, chat.channel, "so?", thread=root.ts)
        heard = (await chat.slack.answer(root)).text.split(" | ")
        assert heard[0] == "the root"
        assert heard[1:] == [*(f"m{n}" for n in range(281, 300)), "so?"]


async def test_a_very_long_message_in_a_thread_is_cut(start: Any) -> None:
    async with start("http") as chat:
        root = await chat.slack.say(chat.anna, chat.channel, "x" * 30_000)
        await chat.slack.mention(chat.anna, chat.channel, "so?", thread=root.ts)
        await chat.slack.answer(root)
        await chat.idle()
        state = chat.room.store.thread_state(f"T0DOUBLE01/{chat.channel.id}/{root.ts}")
        assert [len(turn.text) for turn in state.turns] == [8_000, 3]


async def test_another_bot_in_the_thread_does_not_break_the_answer(chat: Any) -> None:
    root = await chat.slack.bot_says(chat.channel, "alert: GPU full")
    await chat.slack.mention(chat.anna, chat.channel, "why?", thread=root.ts)
    assert (await chat.slack.answer(root)).text == "why?"


async def test_in_a_strict_channel_follow_ups_need_a_mention(start: Any, transport: str) -> None:
    async with start(transport, strict_channels="C000000003") as chat:
        assert chat.channel.id == "C000000003"
        question = await chat.slack.mention(chat.anna, chat.channel, "one")
        await chat.slack.answer(question)
        await chat.slack.say(chat.anna, chat.channel, "psst", thread=question.ts)
        await chat.slack.mention(chat.anna, chat.channel, "two", thread=question.ts)
        assert (await chat.slack.answer(question, 2)).text == "one | two"


async def test_a_message_that_opens_by_calling_somebody_else_is_theirs(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.answer(question)
    await chat.slack.say(chat.anna, chat.channel, f"<@{chat.bert.id}> what do you think?", thread=question.ts)
    await chat.idle()
    assert chat.responder.asked == ["one"]


async def test_the_answer_goes_to_the_root_never_to_a_reply(chat: Any) -> None:
    root = await chat.slack.say(chat.anna, chat.channel, "root")
    reply = await chat.slack.mention(chat.bert, chat.channel, "here", thread=root.ts)
    answer = await chat.slack.answer(root)
    assert answer.thread_ts == root.ts != reply.ts


async def test_a_reply_also_sent_to_the_channel_is_heard(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.answer(question)
    await chat.slack.say(chat.anna, chat.channel, "two", thread=question.ts, subtype="thread_broadcast")
    assert (await chat.slack.answer(question, 2)).text == "one | two"


async def test_a_direct_message_is_answered_in_its_thread(chat: Any) -> None:
    question = await chat.slack.direct(chat.anna, "just between us")
    answer = await chat.slack.answer(question)
    await chat.slack.direct(chat.anna, "and now?", thread=question.ts)
    await chat.slack.answer(question, 2)
    assert (answer.text, answer.thread_ts) == ("just between us", question.ts)


async def test_threads_of_two_channels_share_nothing(chat: Any) -> None:
    other = chat.slack.workspace.add_channel("other", chat.anna)
    first = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.answer(first)
    second = await chat.slack.mention(chat.anna, other, "two")
    assert (await chat.slack.answer(second)).text == "two"


async def test_a_thread_has_a_cap_on_turns_a_minute(start: Any, transport: str) -> None:
    async with start(transport, turns_per_minute=3) as chat:
        question = await chat.slack.mention(chat.anna, chat.channel, "q0")
        for n in range(1, 5):
            await chat.slack.say(chat.anna, chat.channel, f"q{n}", thread=question.ts)
        await chat.slack.answer(question, 3)
        await chat.slack.shown(chat.anna, 2)
        await chat.idle()
        assert len(chat.slack.answers(question)) == 3
        assert {m.text for m in chat.slack.private(chat.anna)} == {label("de", "too_many")}


def test_home_says_that_slash_commands_do_not_work_in_threads() -> None:
    shown = {lang: str(home(lang, TeamDefaults(), ())) for lang in ("de", "en")}
    assert "nicht innerhalb eines Threads" in shown["de"]
    assert "do not work inside a Slack thread" in shown["en"]
