"""Who is heard, what is never said (faults E), and requests that are not Slack's."""

from __future__ import annotations

import json
import time
from typing import Any

import aiohttp
import pytest

from bot.answer import Alternative, AssumptionView, Citation, Command, Paragraph, Table
from bot.slack.http import readiness
from playground.delivery import sign
from playground.workspace import OTHER_TEAM

pytestmark = pytest.mark.anyio

MENTIONS = "<!channel> <!here> <!everyone> <!subteam^S1|x> <@U1> <#C1|x> <!date^1^{date}|x> <https://evil.example/?q=1|click> & <b>"


def _hostile(answer: Any) -> Any:
    return answer.model_copy(
        update={
            "headline": MENTIONS,
            "lead": MENTIONS,
            "table": Table(caption=MENTIONS, columns=(MENTIONS,), rows=((MENTIONS,),)),
            "paragraphs": (Paragraph(kind="why", title=MENTIONS, text=f"{MENTIONS} ```{MENTIONS}"),),
            "commands": (Command(title=MENTIONS, code=f"echo ``` {MENTIONS}"),),
            "citations": (Citation(n=1, title=MENTIONS, source="https://x.example/a?b=1|<!here>"),),
            "assumptions": (
                AssumptionView(
                    field="f", label=MENTIONS, value=MENTIONS, alternatives=(Alternative(label=MENTIONS, delta={}),)
                ),
            ),
        }
    )


@pytest.mark.parametrize("refused", [False, True], ids=["blocks", "text"])
async def test_mentions_and_links_from_anywhere_are_defused(chat: Any, refused: bool) -> None:
    chat.responder.change = _hostile
    if refused:
        chat.slack.faults.plan("chat.postMessage", "error", "invalid_blocks")
    question = await chat.slack.mention(chat.anna, chat.channel, MENTIONS)
    answer = await chat.slack.answer(question)
    anywhere, markup = json.dumps([answer.text, answer.blocks]), [answer.text, *_mrkdwn(answer.blocks)]
    assert not any(form in anywhere for form in ("<!", "<@", "<#"))
    assert not any(form in text for form in ("<http", "<b>") for text in markup)
    assert (answer.blocks == []) == refused


def _mrkdwn(part: Any) -> list[str]:
    """Every text that Slack reads as mark-up."""
    if isinstance(part, dict):
        own = [part["text"]] if part.get("type") == "mrkdwn" else []
        return own + [text for value in part.values() for text in _mrkdwn(value)]
    return [text for item in part for text in _mrkdwn(item)] if isinstance(part, list) else []


async def test_outsiders_of_shared_channels_are_not_heard(chat: Any) -> None:
    shared = chat.slack.workspace.add_channel("with-partner", chat.anna)
    shared.shared_with = OTHER_TEAM
    outsider = chat.slack.workspace.add_user("eve", team=OTHER_TEAM)
    shared.members.add(outsider.id)
    await chat.slack.mention(outsider, shared, "what do you pay for an H100?")
    question = await chat.slack.mention(chat.anna, shared, "fits?")
    answer = await chat.slack.answer(question)
    await chat.slack.say(outsider, shared, "and the price?", thread=question.ts)
    await chat.slack.click(outsider, answer, "do:cheaper")
    await chat.idle()
    assert chat.responder.asked == ["fits?"]
    assert len(chat.slack.answers(question)) == 1


async def test_a_member_whose_workspace_is_not_told_is_not_heard_in_a_shared_channel(chat: Any) -> None:
    event = {"type": "app_mention", "user": "U9", "channel": "C9", "ts": "1700000000.000001", "text": "hi"}
    shared = chat.slack.workspace.add_channel("with-partner")
    shared.shared_with = OTHER_TEAM
    await chat.slack.event(event, shared)
    await chat.idle()
    assert chat.responder.asked == []


async def test_where_outsiders_read_along_the_teams_own_data_stays_out(start: Any) -> None:
    seen = []

    async with start("http") as chat:
        from bot.thread import TeamDefaults

        chat.room.store.set_defaults("T0DOUBLE01", TeamDefaults(electricity_per_kwh=0.11))
        respond = chat.responder.respond

        def watched(text: str, thread: Any, context: Any) -> Any:
            seen.append(context.defaults.electricity_per_kwh)
            return respond(text, thread, context)

        chat.responder.respond = watched
        shared = chat.slack.workspace.add_channel("with-partner", chat.anna)
        shared.shared_with = OTHER_TEAM
        await chat.slack.answer(await chat.slack.mention(chat.anna, shared, "fits?"))
        await chat.slack.answer(await chat.slack.mention(chat.anna, chat.channel, "fits?"))
    assert seen == [None, 0.11]


async def test_two_bots_do_not_talk_for_ever(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.answer(question)
    for _ in range(5):
        await chat.slack.bot_says(chat.channel, f"<@{chat.slack.app.bot_user}> interesting!", thread=question.ts)
    await chat.idle()
    assert len(chat.slack.answers(question)) == 1


async def test_errors_are_shown_to_the_asker_alone(chat: Any) -> None:
    chat.responder.fail = RuntimeError("secret detail")
    await chat.slack.mention(chat.anna, chat.channel, "breaks")
    notice = await chat.slack.shown(chat.anna)
    await chat.idle()
    assert [m for m in chat.slack.workspace.messages if m.bot_id] == []
    assert "secret detail" not in notice.text


async def test_unfurling_is_off_and_nothing_else_is_posted(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "fits?")
    answer = await chat.slack.answer(question)
    assert (answer.sent["unfurl_links"], answer.sent["unfurl_media"]) == (False, False)
    posts = {method for method, _ in chat.slack.calls if method.startswith("chat.")}
    assert posts == {"chat.postMessage"}


@pytest.mark.parametrize("code", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_a_revoked_token_ends_turns_without_noise(chat: Any, code: str) -> None:
    chat.slack.workspace.revoked = code
    await chat.slack.mention(chat.anna, chat.channel, "anyone there?")
    await chat.slack.until(lambda: len(chat.dead()) == 1, what="a dead letter")
    chat.slack.workspace.revoked = None
    assert [error for _, error in chat.dead()] == [code]
    assert chat.slack.private(chat.anna) == []


async def test_a_token_that_slack_takes_back_is_reported_by_readiness(chat: Any) -> None:
    await chat.slack.event({"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [chat.slack.app.bot_user]}})
    await chat.slack.until(lambda: not chat.room.token_alive)
    assert (await readiness(chat.room))["ok"] is False


async def test_uninstalling_removes_what_the_workspace_left(chat: Any) -> None:
    question = await chat.slack.mention(chat.anna, chat.channel, "one")
    await chat.slack.answer(question)
    await chat.idle()
    await chat.slack.event({"type": "app_uninstalled"})
    await chat.slack.until(lambda: chat.room.inbox.states() == {}, what="an empty inbox")
    assert chat.room.store.thread(f"T0DOUBLE01/{chat.channel.id}/{question.ts}") is None


def _event(chat: Any) -> bytes:
    event = {"type": "app_mention", "user": chat.anna.id, "channel": chat.channel.id, "ts": "1700000000.000001"}
    event |= {"text": f"<@{chat.slack.app.bot_user}> hi", "team": "T0DOUBLE01"}
    return json.dumps({"type": "event_callback", "team_id": "T0DOUBLE01", "event_id": "Ev1", "event": event}).encode()


async def test_requests_that_are_not_slacks_are_refused(start: Any) -> None:
    async with start("http") as chat:
        body, now = _event(chat), str(int(time.time()))
        old, secret = str(int(time.time()) - 600), chat.slack.app.signing_secret
        way, kind = chat.slack.deliverer.transport, {"content-type": "application/json"}
        cases = {
            "wrong secret": {"x-slack-signature": sign("other", now, body)},
            "garbage": {"x-slack-signature": "v0=00"},
            "old": {"x-slack-request-timestamp": old, "x-slack-signature": sign(secret, old, body)},
            "of another body": {"x-slack-signature": sign(secret, now, body + b" ")},
        }
        found = {name: (await way.post(body, kind | headers)).status for name, headers in cases.items()}
        assert found == dict.fromkeys(cases, 401)
        await chat.idle()
        assert chat.responder.asked == []
        assert (await way.post(body, kind)).status == 200


async def test_slack_may_verify_the_address(start: Any) -> None:
    async with start("http") as chat:
        body = json.dumps({"type": "url_verification", "challenge": "c1"}).encode()
        reply = await chat.slack.deliverer.transport.post(body, {"content-type": "application/json"})
        assert (reply.status, reply.body) == (200, {"challenge": "c1"})


async def test_health_readiness_and_metrics(start: Any) -> None:
    async with start("http") as chat, aiohttp.ClientSession(chat.url.removesuffix("/slack/events")) as session:
        await chat.slack.answer(await chat.slack.mention(chat.anna, chat.channel, "counted"))
        await chat.idle()
        async with (
            session.get("/healthz") as healthy,
            session.get("/readyz") as ready,
            session.get("/metrics") as metrics,
        ):
            assert (healthy.status, ready.status) == (200, 200)
            assert 'sizewise_received_total{kind="message",outcome="new"}' in await metrics.text()
        await chat.room.worker.stop()
        await chat.slack.until(lambda: chat.room.work.done())
        async with session.get("/readyz") as ready:
            assert (ready.status, (await ready.json())["worker"]) == (503, False)


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 500), (b"\xff\xfe", 400), (b"[]", 500), (b"null", 500), (b"x" * 1_000_001, 413), (b"", 404)],
    ids=["cut", "no text", "list", "null", "too large", "empty"],
)
async def test_bodies_that_are_no_payload_do_no_harm(start: Any, body: bytes, status: int) -> None:
    async with start("http") as chat:
        reply = await chat.slack.deliverer.transport.post(body, {"content-type": "application/json"})
        assert 400 <= reply.status <= 500, status
        question = await chat.slack.mention(chat.anna, chat.channel, "still there?")
        await chat.slack.answer(question)


async def test_a_silent_socket_is_reported(start: Any) -> None:
    async with start("socket", socket_silence_s=30.0) as chat:
        await chat.slack.until(lambda: chat.room.socket.last_ping_pong_time is not None, what="a first ping")
        assert (await readiness(chat.room))["ok"] is True
        chat.room.socket.last_ping_pong_time -= 31
        found = await readiness(chat.room)
        assert (found["ok"], found["database"], found["token"]) == (False, True, True)
