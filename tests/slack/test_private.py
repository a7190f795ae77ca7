"""`/size`, sharing, clicks, response_url, status (faults D)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from bot import one_turn
from bot.database import engine_for
from bot.inbox import Inbox, NewTurn
from bot.reply.labels import label
from playground.workspace import Message

pytestmark = pytest.mark.anyio


async def _sized(chat: Any, text: str = "8b on a 4090") -> Any:
    """A private answer."""
    await chat.slack.slash(chat.bert, chat.channel, text)
    await chat.slack.until(lambda: any(m.blocks for m in chat.slack.private(chat.bert)), what="a private answer")
    return next(m for m in reversed(chat.slack.private(chat.bert)) if m.blocks)


async def test_a_slash_answer_is_private_and_replaces_the_progress(chat: Any) -> None:
    answer = await _sized(chat)
    await chat.idle()
    assert answer.text == "8b on a 4090"
    assert chat.slack.private(chat.bert) == [answer]
    assert [m for m in chat.slack.workspace.messages if m.user == chat.slack.app.bot_user] == []


async def test_an_answer_does_not_overtake_the_acknowledgement(chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = chat.room.voice.courtesy.quick_locale

    async def slow(user: str) -> str:
        await asyncio.sleep(0.7)
        return str(await quick(user))

    monkeypatch.setattr(chat.room.voice.courtesy, "quick_locale", slow)
    slash = asyncio.create_task(chat.slack.slash(chat.bert, chat.channel, "8b on a 4090"))
    await asyncio.sleep(0.2)
    chat.room.worker.wake()
    await slash
    await chat.slack.until(lambda: any(m.blocks for m in chat.slack.private(chat.bert)), what="a private answer")
    await chat.idle()
    assert [m.text for m in chat.slack.private(chat.bert)] == ["8b on a 4090"]


async def test_an_empty_slash_says_how_to_ask(chat: Any) -> None:
    await chat.slack.slash(chat.anna, chat.channel, "  ")
    [shown] = chat.slack.private(chat.anna)
    assert shown.text == label("de", "empty", example=label("de", "example_slash"))


async def test_a_shared_answer_starts_a_thread_that_goes_on_without_a_mention(chat: Any) -> None:
    await chat.slack.click(chat.bert, await _sized(chat), "share")
    await chat.slack.until(lambda: any(m.bot_id for m in chat.slack.workspace.messages), what="the shared answer")
    [shared] = [m for m in chat.slack.workspace.messages if m.bot_id]
    await chat.idle()
    assert (shared.channel, shared.thread_ts, shared.text) == (chat.channel.id, None, "8b on a 4090")
    assert f"<@{chat.bert.id}>" in str(shared.blocks[0])
    assert not any(e.get("action_id") == "share" for block in shared.blocks for e in block.get("elements", []))
    await chat.slack.say(chat.anna, chat.channel, "and with fp8?", thread=shared.ts)
    assert (await chat.slack.answer(shared)).text == "8b on a 4090 | and with fp8?"


async def test_sharing_twice_posts_once(chat: Any) -> None:
    answer = await _sized(chat)
    for _ in range(3):
        await chat.slack.click(chat.bert, answer, "share")
    await chat.idle()
    await chat.slack.until(lambda: len(chat.slack.private(chat.bert)) >= 4, what="two refusals and a receipt")
    assert len([m for m in chat.slack.workspace.messages if m.bot_id]) == 1
    said = [m.text for m in chat.slack.private(chat.bert)]
    assert said.count(label("en", "already_shared")) == 2
    assert said.count(label("en", "shared")) == 1


async def test_sharing_where_the_bot_is_not_a_member_says_how_to_invite_it(chat: Any) -> None:
    closed = chat.slack.workspace.add_channel("closed", chat.bert, bot=False)
    await chat.slack.slash(chat.bert, closed, "8b on a 4090")
    await chat.slack.until(lambda: any(m.blocks for m in chat.slack.private(chat.bert)))
    answer = chat.slack.private(chat.bert)[-1]
    await chat.slack.click(chat.bert, answer, "share")
    await chat.slack.until(lambda: chat.slack.private(chat.bert)[-1].text == label("en", "not_in_channel"))
    closed.members.add(chat.slack.app.bot_user)
    await chat.slack.click(chat.bert, answer, "share")
    await chat.idle()
    assert len([m for m in chat.slack.workspace.messages if m.channel == closed.id]) == 1


async def test_a_shared_post_whose_receipt_was_lost_is_not_repeated(chat: Any) -> None:
    answer = await _sized(chat)
    chat.slack.faults.plan("chat.postMessage", "lost")
    await chat.slack.click(chat.bert, answer, "share")
    await chat.idle()
    [shared] = [m for m in chat.slack.workspace.messages if m.bot_id]
    await chat.slack.say(chat.anna, chat.channel, "go on", thread=shared.ts)
    assert (await chat.slack.answer(shared)).text == "8b on a 4090 | go on"


async def test_a_button_answers_in_the_thread(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.click(chat.bert, await chat.slack.answer(question), "do:why")
    answer = await chat.slack.answer(question, 2)
    assert answer.text.startswith("why {'answer_id': ")
    assert answer.thread_ts == question.ts


async def test_a_select_re_runs_the_turn_with_its_change(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.choose(chat.bert, await chat.slack.answer(question), "assume:", 0)
    answer = await chat.slack.answer(question, 2)
    assert "'delta': {'weights': 'fp8'}" in answer.text


async def test_a_button_of_a_private_answer_answers_privately(chat: Any) -> None:
    await chat.slack.click(chat.bert, await _sized(chat), "do:cheaper")
    await chat.slack.until(lambda: any(m.text.startswith("cheaper") for m in chat.slack.private(chat.bert)))
    await chat.idle()
    assert [m for m in chat.slack.workspace.messages if m.bot_id] == []
    assert len(chat.slack.private(chat.bert)) == 2


async def test_export_comes_as_files_in_the_thread(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.click(chat.bert, await chat.slack.answer(question), "do:export")
    await chat.slack.until(lambda: len(chat.slack.answers(question)) == 4, what="three files")
    await chat.idle()
    assert [m.files[0]["name"].rpartition(".")[2] for m in chat.slack.answers(question)[1:]] == ["csv", "md", "json"]


async def test_export_of_a_private_answer_goes_to_the_asker(chat: Any) -> None:
    await chat.slack.click(chat.bert, await _sized(chat), "do:export")
    direct = chat.slack.workspace.direct(chat.bert.id)
    await chat.slack.until(lambda: len([m for m in chat.slack.workspace.messages if m.files]) == 3, what="three files")
    await chat.idle()
    assert {m.channel for m in chat.slack.workspace.messages if m.bot_id} == {direct.id}


async def test_feedback_is_kept_and_may_be_changed(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    answer = await chat.slack.answer(question)
    ident = answer.blocks[-1]["elements"][0]["positive_button"]["value"].removeprefix("+:")
    await chat.slack.click(chat.anna, answer, "feedback", f"+:{ident}")
    await chat.slack.click(chat.bert, answer, "feedback", f"+:{ident}")
    await chat.slack.click(chat.bert, answer, "feedback", f"-:{ident}")
    await chat.slack.shown(chat.bert, 2)
    assert chat.room.store.votes(ident) == {chat.anna.id: 1, chat.bert.id: -1}
    assert chat.slack.private(chat.anna)[0].text == label("de", "thanks")


async def test_a_click_on_an_answer_that_is_gone_says_so(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    answer = await chat.slack.answer(question)
    await chat.idle()
    chat.room.store.forget_thread(f"T0DOUBLE01/{chat.channel.id}/{question.ts}")
    await chat.slack.click(chat.bert, answer, "do:why")
    assert (await chat.slack.shown(chat.bert)).text == label("en", "gone")


@pytest.mark.parametrize("used", ["used up", "too old"])
async def test_a_response_url_that_is_spent_is_replaced_by_an_ephemeral_message(chat: Any, used: str) -> None:
    hold = threading.Event()
    chat.responder.hold = hold
    await chat.slack.slash(chat.bert, chat.channel, "8b on a 4090")
    [target] = chat.slack.workspace.response_urls.values()
    target.uses = 5 if used == "used up" else 0
    target.issued_at -= 0 if used == "used up" else 31 * 60
    hold.set()
    await chat.idle()
    assert [m.text for m in chat.slack.private(chat.bert)] == [label("en", "computing_private"), "8b on a 4090"]
    assert "chat.postEphemeral" in [method for method, _ in chat.slack.calls]


async def test_a_private_answer_whose_receipt_was_lost_is_not_repeated(chat: Any) -> None:
    chat.slack.faults.plan("response_url", "lost")
    await chat.slack.slash(chat.bert, chat.channel, "8b on a 4090")
    await chat.idle()
    said = [m.text for m in chat.slack.private(chat.bert)]
    assert said[0] == "8b on a 4090"
    assert len([text for text in said if text == "8b on a 4090"]) == 1


async def test_slow_answers_show_a_status_in_their_own_thread_and_clear_it(start: Any, transport: str) -> None:
    hold = threading.Event()
    async with start(transport) as chat:
        chat.responder.hold = hold
        questions = [await chat.slack.mention(chat.anna, chat.channel, f"q{n}") for n in range(2)]
        await chat.slack.until(lambda: len(chat.slack.workspace.statuses) == 2, what="a status in each thread")
        assert {status[1] for status in chat.slack.workspace.statuses} == {question.ts for question in questions}
        assert {status[2] for status in chat.slack.workspace.statuses} == {label("de", "computing")}
        chat.responder.fail = ValueError("no")
        hold.set()
        await chat.slack.shown(chat.anna, 2)
        await chat.slack.until(lambda: len(chat.slack.workspace.statuses) == 4, what="both cleared")
        assert [status[2] for status in chat.slack.workspace.statuses][2:] == ["", ""]


async def test_a_status_is_shown_again_before_slack_takes_it_away(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack clears one after two minutes."""
    assert one_turn.PROGRESS_EVERY_S < 120
    monkeypatch.setattr(one_turn, "PROGRESS_EVERY_S", 0.05)
    hold = threading.Event()
    async with start("http") as chat:
        chat.responder.hold = hold
        question = await chat.slack.mention(chat.anna, chat.channel, "q")
        await chat.slack.until(lambda: len(chat.slack.workspace.statuses) >= 3, what="a status three times")
        hold.set()
        await chat.slack.answer(question)
        await chat.idle()
        assert set(chat.slack.workspace.statuses) == {(chat.channel.id, question.ts, label("de", "computing"))}


async def test_a_status_that_a_crash_left_goes_at_the_next_attempt(start: Any, database: str) -> None:
    """In a direct message the agent session comes to rest too, though this process never said that it works."""
    async with start("http") as chat:
        cheap, direct = type(chat.responder), chat.slack.workspace.direct(chat.anna.id).id
    place = (direct, "1700000000.000009")
    key = f"T0DOUBLE01/{direct}/1700000000.000009"
    crashed = Inbox(engine_for(database), lease_s=-1.0)
    body = {"text": "q", "direct": True}
    crashed.record(NewTurn(key, key, "message", "T0DOUBLE01", direct, chat.anna.id, place[1], place[1], True, body))
    assert [turn.attempts for turn in crashed.lease("crashed", 1)] == [1]
    hold = threading.Event()
    async with start("http", responder=cheap(hold=hold)) as again:
        workspace = again.slack.workspace
        assert workspace.direct(again.anna.id).id == direct
        workspace.messages.append(Message(direct, place[1], again.anna.id, "q"))
        workspace.status_now[place], workspace.sessions[place] = "computing", "processing"
        hold.set()
        await again.idle()
        assert [message.text for message in workspace.thread(*place)] == ["q", "q"]
        assert (workspace.status_now.get(place), workspace.sessions[place]) == (None, "active")


async def test_a_status_that_fails_does_not_stop_the_answer(start: Any) -> None:
    hold = threading.Event()
    async with start("http") as chat:
        chat.slack.faults.plan("assistant.threads.setStatus", "error", "missing_scope", times=9)
        chat.responder.hold = hold
        question = await chat.slack.mention(chat.anna, chat.channel, "q")
        await chat.slack.until(lambda: len(chat.slack.faults.plans["assistant.threads.setStatus"]) > 0)
        hold.set()
        await chat.slack.answer(question)


@pytest.mark.parametrize("lang", ["de", "en"])
async def test_home_shows_examples_in_the_persons_language(chat: Any, lang: Any) -> None:
    person = chat.anna if lang == "de" else chat.bert
    await chat.slack.open_home(person)
    await chat.slack.open_home(person, tab="messages")
    await chat.slack.until(lambda: person.id in chat.slack.workspace.homes, what="home")
    shown = str(chat.slack.workspace.homes[person.id].view)
    assert all(example in shown for example in label(lang, "home_example_list").split("\n"))
