"""The double behaves as Slack does: errors, retries, triggers, response_url, uploads, sockets, rates."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from playground.api.calls import METHODS
from playground.delivery import Deliverer, HttpTransport, Reply, SocketTransport, sign
from playground.faults import Faults
from playground.running import running_slack
from playground.slack import Slack
from playground.workspace import App

pytestmark = pytest.mark.anyio

MANIFEST: dict[str, Any] = {
    "oauth_config": {
        "scopes": {"bot": ["chat:write", "files:write", "channels:history", "app_mentions:read", "commands"]}
    },
    "settings": {"event_subscriptions": {"bot_events": ["app_mention", "message.channels"]}},
    "features": {"slash_commands": [{"command": "/size"}]},
}
TEXT = [{"type": "section", "text": {"type": "mrkdwn", "text": "x"}}]
QUIET = {"unfurl_links": False, "unfurl_media": False}


class Recording:
    """A transport that answers as told and remembers what it was given."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.seen: list[tuple[str, int, str]] = []

    async def send(self, kind: str, payload: dict[str, Any], attempt: int, reason: str) -> Reply:
        self.seen.append((payload.get("event", {}).get("type", kind), attempt, reason))
        return self.replies.pop(0) if self.replies else Reply(200)


@contextlib.asynccontextmanager
async def _slack(*replies: Reply, **options: Any) -> AsyncIterator[tuple[Slack, AsyncWebClient, Recording]]:
    way = Recording(*replies)
    app = App.from_manifest(MANIFEST)
    async with running_slack(app, way, **options) as slack:
        yield slack, AsyncWebClient(app.bot_token, base_url=f"{slack.base_url}/api/", retry_handlers=[]), way


async def _error(call: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


async def test_errors_of_posting() -> None:
    async with _slack() as (slack, client, _):
        anna = slack.workspace.add_user("anna")
        channel, closed = slack.workspace.add_channel("c", anna), slack.workspace.add_channel("d", anna, bot=False)
        old = slack.workspace.add_channel("e", anna)
        old.archived = True
        post = client.chat_postMessage
        long = [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}}] * 5
        assert await _error(post(channel="C9", text="x")) == "channel_not_found"
        assert await _error(post(channel="c", text="x")) == "channel_not_found"
        assert await _error(post(channel=closed.id, text="x")) == "not_in_channel"
        assert await _error(post(channel=old.id, text="x")) == "is_archived"
        assert await _error(client.api_call("chat.postMessage", json={"channel": channel.id})) == "no_text"
        assert await _error(post(channel=channel.id, text="x", blocks=[{"type": "blink"}])) == "invalid_blocks"
        assert await _error(post(channel=channel.id, text="x", blocks=long)) == "msg_blocks_too_long"
        assert await _error(post(channel=channel.id, text="x", thread_ts="1.0")) == "thread_not_found"
        assert (
            await _error(post(channel=channel.id, text="x", metadata={"event_type": ""})) == "invalid_metadata_format"
        )
        assert await _error(client.chat_update(channel=channel.id, ts="1.0", text="x")) == "message_not_found"
        assert await _error(client.users_info(user=anna.id)) == "missing_scope"
        assert await _error(client.api_call("chat.shout")) == "unknown_method"
        assert slack.workspace.messages == []


async def test_tokens() -> None:
    async with _slack() as (slack, client, _):
        wrong = AsyncWebClient("xoxb-wrong", base_url=client.base_url, retry_handlers=[])
        assert await _error(wrong.auth_test()) == "invalid_auth"
        assert (
            await _error(AsyncWebClient(None, base_url=client.base_url, retry_handlers=[]).auth_test()) == "not_authed"
        )
        assert await _error(client.apps_connections_open(app_token=slack.app.bot_token)) == "not_allowed_token_type"
        slack.workspace.revoked = "token_revoked"
        assert await _error(client.auth_test()) == "token_revoked"


async def test_what_slack_lets_pass_is_complained_of() -> None:
    async with _slack() as (slack, client, _):
        anna = slack.workspace.add_user("anna")
        channel = slack.workspace.add_channel("c", anna)
        root = await client.chat_postMessage(channel=channel.id, text="x", **QUIET)
        reply = await client.chat_postMessage(channel=channel.id, text="x", thread_ts=root["ts"], **QUIET)
        await client.chat_postMessage(channel=channel.id, text="x", thread_ts=reply["ts"], **QUIET)
        await client.chat_postMessage(channel=channel.id, text="<!here> x", unfurl_links=False)
        await client.api_call("chat.postMessage", json={"channel": channel.id, "blocks": TEXT, **QUIET})
        assert slack.workspace.complaints == [
            f"chat.postMessage: thread_ts {reply['ts']} is a reply, not a root",
            "chat.postMessage: a broadcast mention",
            "chat.postMessage: unfurl_media is not off",
            "chat.postMessage: blocks without text, notifications show nothing",
        ]


async def test_a_mention_is_two_events_of_one_message() -> None:
    async with _slack() as (slack, _, way):
        anna = slack.workspace.add_user("anna")
        channel = slack.workspace.add_channel("c", anna)
        await slack.mention(anna, channel, "hi")
        await slack.mention(anna, channel, "hi", order="message first", copies=2)
        await slack.mention(anna, slack.workspace.add_channel("closed", anna, bot=False), "hi")
        assert [kind for kind, _, _ in way.seen] == [
            "app_mention",
            "message",
            "message",
            "message",
            "app_mention",
            "app_mention",
        ]
        ids = [delivery.payload["event_id"] for delivery in slack.deliverer.log]
        assert len(set(ids)) == len(ids)


async def test_the_bots_own_messages_come_back_to_it() -> None:
    async with _slack() as (slack, client, _):
        channel = slack.workspace.add_channel("c")
        await client.chat_postMessage(channel=channel.id, text="x", **QUIET)
        await slack.until(lambda: bool(slack.deliverer.log))
        event = slack.deliverer.log[0].payload["event"]
        assert (event["type"], event["bot_id"], event["user"]) == ("message", slack.app.bot_id, slack.app.bot_user)


async def test_events_that_fail_are_repeated_three_times_with_the_reason() -> None:
    replies = [Reply(500), Reply(0, None, 3.1), Reply(404), Reply(500)]
    async with _slack(*replies, retry_delays_s=(0.0, 0.01, 0.02)) as (slack, _, way):
        await slack.event({"type": "app_mention"})
        await slack.until(lambda: not slack.deliverer.busy)
        assert way.seen == [
            ("app_mention", 0, ""), ("app_mention", 1, "http_error"), ("app_mention", 2, "http_timeout"),
            ("app_mention", 3, "http_error"),
        ]  # fmt: skip


async def test_the_app_may_refuse_further_attempts() -> None:
    way = Recording(Reply(500, None, 0.0, {"x-slack-no-retry": "1"}))
    deliverer = Deliverer(way, (0.0,))
    await deliverer.deliver("events_api", {"event": {"type": "x"}})
    while deliverer.busy:
        await asyncio.sleep(0)
    assert len(way.seen) == 1


async def test_a_slash_that_is_not_acknowledged_is_shown_as_an_error_and_not_repeated() -> None:
    async with _slack(Reply(500)) as (slack, _, way):
        anna = slack.workspace.add_user("anna")
        await slack.slash(anna, slack.workspace.add_channel("c", anna), "x")
        assert slack.workspace.complaints == ["/size failed: http_error"]
        assert len(way.seen) == 1


@pytest.mark.parametrize("body", ["quick", {"text": "quick", "response_type": "ephemeral"}])
async def test_what_an_acknowledgement_says_is_shown_to_one(body: Any) -> None:
    async with _slack(Reply(200, body)) as (slack, _, _):
        anna = slack.workspace.add_user("anna")
        await slack.slash(anna, slack.workspace.add_channel("c", anna), "x")
        assert [m.text for m in slack.private(anna)] == ["quick"]


async def test_a_response_url_has_five_uses_in_half_an_hour() -> None:
    async with _slack() as (slack, _, _), aiohttp.ClientSession() as session:
        anna = slack.workspace.add_user("anna")
        channel = slack.workspace.add_channel("c", anna)
        first, second = (slack.new_response_url(anna, channel, None) for _ in range(2))
        found = []
        for _ in range(6):
            async with session.post(first, json={"text": "x", "replace_original": True}) as response:
                found.append((response.status, await response.text()))
        slack.workspace.response_urls[second].issued_at -= 1801
        async with session.post(second, json={"text": "x"}) as response:
            found.append((response.status, await response.text()))
        async with session.post(f"{first}9", json={"text": "x"}) as response:
            found.append((response.status, await response.text()))
        assert found == [(200, "ok")] * 5 + [(404, "used_url"), (404, "expired_url"), (404, "no_such_url")]
        assert len(slack.private(anna)) == 1


async def test_a_trigger_opens_one_view_within_three_seconds() -> None:
    view = {"type": "modal", "title": {"type": "plain_text", "text": "t"}, "blocks": TEXT}
    async with _slack() as (slack, client, _):
        trigger, late = slack.workspace.new_trigger(), slack.workspace.new_trigger()
        opened = await client.views_open(trigger_id=trigger, view=view)
        slack.workspace.triggers[late].issued_at -= 3.1
        assert await _error(client.views_open(trigger_id=trigger, view=view)) == "exchanged_trigger_id"
        assert await _error(client.views_open(trigger_id=late, view=view)) == "expired_trigger_id"
        assert await _error(client.views_open(trigger_id="none", view=view)) == "invalid_trigger_id"
        await client.views_update(view_id=opened["view"]["id"], hash=opened["view"]["hash"], view=view)
        stale = client.views_update(view_id=opened["view"]["id"], hash=opened["view"]["hash"], view=view)
        assert await _error(stale) == "hash_conflict"
        for _ in range(2):
            await client.views_push(trigger_id=slack.workspace.new_trigger(), view=view)
        assert (
            await _error(client.views_push(trigger_id=slack.workspace.new_trigger(), view=view)) == "push_limit_reached"
        )


READS = MANIFEST | {"oauth_config": {"scopes": {"bot": ["chat:write", "files:read"]}}}


@pytest.mark.parametrize(
    ("asked_for", "headers", "status", "content"),
    [
        (READS, {"Authorization": "Bearer {token}"}, 200, b"0123456789"),
        (READS, {"Authorization": "Bearer {token}", "Range": "bytes=0-3"}, 206, b"0123"),
        (READS, {"Authorization": "Bearer {token}", "Range": "bytes=-3"}, 206, b"789"),
        (READS, {"Authorization": "Bearer {token}", "Range": "bytes=6-"}, 206, b"6789"),
        (READS, {"Authorization": "Bearer {token}", "Range": "bytes=20-"}, 416, b""),
        (READS, {}, 302, b""),
        (READS, {"Authorization": "Bearer xoxb-other"}, 302, b""),
        (MANIFEST, {"Authorization": "Bearer {token}"}, 302, b""),
    ],
)
async def test_a_private_file_is_given_to_whoever_may_read_it(
    asked_for: dict[str, Any], headers: dict[str, str], status: int, content: bytes
) -> None:
    app = App.from_manifest(asked_for)
    async with running_slack(app, Recording()) as slack, aiohttp.ClientSession() as session:
        anna = slack.workspace.add_user("anna")
        file = slack.upload(anna, "a b.log", b"0123456789")
        await slack.say(anna, slack.workspace.add_channel("c", anna), "look", files=[file])
        sent = {name: value.format(token=app.bot_token) for name, value in headers.items()}
        async with session.get(file["url_private_download"], headers=sent, allow_redirects=False) as response:
            assert (response.status, await response.read()) == (status, content)
            assert status != 302 or "/signin" in response.headers["location"]


@pytest.mark.parametrize(
    ("asked_for", "shared_with_the_app", "mode", "error"),
    [
        (READS, True, "hosted", None),
        (MANIFEST, True, "hosted", "missing_scope"),
        (READS, False, "hosted", "file_not_found"),
        (READS, True, "tombstone", "file_deleted"),
    ],
)
async def test_what_is_known_of_a_file_is_told_to_whoever_may_see_it(
    asked_for: dict[str, Any], shared_with_the_app: bool, mode: str, error: str | None
) -> None:
    app = App.from_manifest(asked_for)
    async with running_slack(app, Recording()) as slack:
        anna = slack.workspace.add_user("anna")
        file = slack.upload(anna, "a.log", b"x")
        channel = slack.workspace.add_channel("c", anna, bot=shared_with_the_app)
        await slack.say(anna, channel, "look", files=[file])
        slack.workspace.files[file["id"]]["mode"] = mode
        client = AsyncWebClient(app.bot_token, base_url=f"{slack.base_url}/api/", retry_handlers=[])
        if error:
            assert await _error(client.files_info(file=file["id"])) == error
        else:
            found: Any = (await client.files_info(file=file["id"]))["file"]
            assert (found["channels"], found["size"], "content" in found) == ([channel.id], 1, False)


async def test_files_are_uploaded_in_three_steps() -> None:
    async with _slack() as (slack, client, _):
        channel = slack.workspace.add_channel("c")
        root = await client.chat_postMessage(channel=channel.id, text="x", **QUIET)
        await client.files_upload_v2(channel=channel.id, thread_ts=root["ts"], filename="a.csv", content="a,b")
        [file] = slack.workspace.files.values()
        message = slack.workspace.messages[-1]
        assert (file["name"], file["content"], message.thread_ts) == ("a.csv", b"a,b", root["ts"])
        assert message.files[0]["id"] == file["id"]


async def test_threads_are_paged_and_metadata_is_shown_only_on_demand() -> None:
    metadata = {"event_type": "e", "event_payload": {"k": 1}}
    async with _slack() as (slack, client, _):
        channel = slack.workspace.add_channel("c")
        root = (await client.chat_postMessage(channel=channel.id, text="root", **QUIET))["ts"]
        for n in range(3):
            await client.chat_postMessage(channel=channel.id, text=f"{n}", thread_ts=root, metadata=metadata, **QUIET)
        page = await client.conversations_replies(channel=channel.id, ts=root, limit=3)
        rest = await client.conversations_replies(
            channel=channel.id,
            ts=root,
            limit=3,
            cursor=page["response_metadata"]["next_cursor"],
            include_all_metadata=True,
        )
        assert [m["text"] for m in page["messages"]] == ["root", "0", "1"]
        assert not any("metadata" in m for m in page["messages"])
        assert [(m["text"], m["metadata"]) for m in rest["messages"]] == [("2", metadata)]


async def test_planned_faults() -> None:
    async with _slack() as (slack, client, _):
        channel = slack.workspace.add_channel("c")
        slack.faults.plan("chat.postMessage", "limit", 7)
        slack.faults.plan("chat.postMessage", "error", "fatal_error", times=2)
        slack.faults.plan("chat.postMessage", "lost")
        with pytest.raises(SlackApiError) as limited:
            await client.chat_postMessage(channel=channel.id, text="x", **QUIET)
        assert limited.value.response.status_code == 429
        assert limited.value.response.headers["Retry-After"] == "7"
        assert [await _error(client.chat_postMessage(channel=channel.id, text="x", **QUIET)) for _ in range(2)] == [
            "fatal_error"
        ] * 2
        assert slack.workspace.messages == []
        with pytest.raises((aiohttp.ClientError, SlackApiError)):
            await client.chat_postMessage(channel=channel.id, text="heard of", **QUIET)
        assert [m.text for m in slack.workspace.messages] == ["heard of"]


def test_signatures_are_those_that_slacks_sdk_accepts() -> None:
    now = str(int(time.time()))
    headers = {"X-Slack-Request-Timestamp": now, "X-Slack-Signature": sign("secret", now, b"token=x")}
    assert SignatureVerifier("secret").is_valid_request(b"token=x", headers)
    assert not SignatureVerifier("other").is_valid_request(b"token=x", headers)


async def test_nobody_listens() -> None:
    way = HttpTransport("http://127.0.0.1:1/slack/events", "secret")
    reply = await way.send("events_api", {"event": {}}, 0, "")
    assert (reply.status, reply.acknowledged, reply.reason) == (0, False, "connection_failed")
    assert (await SocketTransport().send("events_api", {}, 0, "")).acknowledged is False


def test_every_method_the_double_plays_has_a_name_of_slacks() -> None:
    assert all("." in name for name in METHODS)
    assert {"chat.postMessage", "conversations.replies", "views.open", "auth.test"} <= set(METHODS)


def test_faults_know_tiers() -> None:
    now = [0.0]
    faults = Faults(lambda: now[0], enforce_rates=True)
    assert [faults.retry_after_s("chat.postMessage", "C1") for _ in range(6)] == [None] * 5 + [5]
    assert faults.retry_after_s("chat.postMessage", "C2") is None
    now[0] = 6.0
    assert faults.retry_after_s("chat.postMessage", "C1") is None
