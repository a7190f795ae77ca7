"""Many workspaces in one bot: installed by OAuth, kept apart, forgotten when they go."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlparse

import aiohttp
import pytest
from cryptography.fernet import Fernet
from slack_sdk.oauth.installation_store import Bot

from bot.settings import Settings
from bot.slack.clients import web_client
from bot.slack.serve import _what_to_set
from playground.api import calls
from playground.workspace import Message

pytestmark = pytest.mark.anyio

OURS, THEIRS = "T0DOUBLE01", "T0SECOND01"


def _many() -> dict[str, Any]:
    key = Fernet.generate_key().decode()
    return {"slack_bot_token": None, "slack_client_id": "1.2", "slack_client_secret": "s", "encryption_keys": key}


def _install(chat: Any, team: str) -> None:
    app = chat.slack.app
    bot = Bot(
        app_id=app.id, enterprise_id=None, team_id=team, bot_token=f"xoxb-of-{team}", bot_id=app.bot_id,
        bot_user_id=app.bot_user, bot_scopes=sorted(app.scopes), installed_at=1_700_000_000.0,
    )  # fmt: skip
    chat.room.workspaces.installed.save(bot, "U0ADMIN")


def _speaking(chat: Any) -> list[str]:
    """Both tokens speak to the double under its own; which ones are asked for is noted."""
    used: list[str] = []

    def client_of(token: str) -> Any:
        used.append(token)
        return web_client(chat.room.settings, token=chat.slack.app.bot_token)

    chat.room.workspaces.client_of = client_of
    return used


async def _mention(chat: Any, team: str, channel: Any, ts: str, text: str, **more: Any) -> Any:
    event = {
        "type": "app_mention", "user": chat.anna.id, "channel": channel.id, "ts": ts, "team": team,
        "text": f"<@{chat.slack.app.bot_user}> {text}", **more,
    }  # fmt: skip
    outer = {
        "type": "event_callback", "team_id": team, "api_app_id": chat.slack.app.id, "event": event,
        "authorizations": [{"enterprise_id": None, "team_id": team, "user_id": chat.slack.app.bot_user}],
    }  # fmt: skip
    return await chat.slack.deliverer.deliver("events_api", outer)


async def test_two_workspaces_with_the_same_channel_and_thread_share_nothing(start: Any) -> None:
    async with start("http", **_many()) as chat:
        used = _speaking(chat)
        for team in (OURS, THEIRS):
            _install(chat, team)
        chat.slack.workspace.messages.append(Message(chat.channel.id, "1700000000.000001", chat.anna.id, "first"))
        for team in (OURS, THEIRS):
            await _mention(chat, team, chat.channel, "1700000000.000001", f"first of {team}")
        await chat.idle()
        for team in (OURS, THEIRS):
            await _mention(
                chat, team, chat.channel, "1700000001.000001", f"second of {team}", thread_ts="1700000000.000001"
            )
        await chat.idle()
        said = sorted(m.text for m in chat.slack.workspace.messages if m.bot_id)
        assert said == sorted(
            text for team in (OURS, THEIRS) for text in (f"first of {team}", f"first of {team} | second of {team}")
        )
        assert sorted(set(used)) == sorted(f"xoxb-of-{team}" for team in (OURS, THEIRS))
        await chat.slack.event({"type": "app_uninstalled"})
        await chat.slack.until(lambda: chat.room.workspaces.installed.of_team(OURS) is None, what="no token")
        await chat.slack.until(lambda: chat.room.inbox.states() == {"done": 2}, what="the other's turns alone")
        assert chat.room.workspaces.installed.of_team(THEIRS) is not None
        assert chat.room.token_alive


def _install_for_organisation(chat: Any, enterprise: str) -> None:
    app = chat.slack.app
    bot = Bot(
        app_id=app.id, enterprise_id=enterprise, team_id=None, bot_token=f"xoxb-of-{enterprise}", bot_id=app.bot_id,
        bot_user_id=app.bot_user, bot_scopes=sorted(app.scopes), is_enterprise_install=True, installed_at=1.7e9,
    )  # fmt: skip
    chat.room.workspaces.installed.save(bot, "W0ADMIN")


async def _mention_in_organisation(chat: Any, enterprise: str, team: str, channel: Any, ts: str, text: str) -> Any:
    """As Slack sends it where the app is installed org-wide: the authorization names no team."""
    event = {
        "type": "app_mention", "user": chat.anna.id, "channel": channel.id, "ts": ts, "team": team,
        "text": f"<@{chat.slack.app.bot_user}> {text}",
    }  # fmt: skip
    authorization = {"enterprise_id": enterprise, "team_id": None, "is_enterprise_install": True, "is_bot": True}
    outer = {
        "type": "event_callback", "team_id": team, "enterprise_id": enterprise, "api_app_id": chat.slack.app.id,
        "event": event, "authorizations": [authorization | {"user_id": chat.slack.app.bot_user}],
    }  # fmt: skip
    return await chat.slack.deliverer.deliver("events_api", outer)


async def test_an_installation_for_an_organisation_serves_its_workspaces_apart_and_no_others(start: Any) -> None:
    async with start("http", **_many()) as chat:
        used = _speaking(chat)
        _install_for_organisation(chat, "E0OURS")
        chat.slack.workspace.messages.append(Message(chat.channel.id, "1700000000.000001", chat.anna.id, "first"))
        hold = chat.responder.hold = threading.Event()
        for team in (OURS, THEIRS):
            await _mention_in_organisation(chat, "E0OURS", team, chat.channel, "1700000000.000001", f"for {team}")
        await _mention_in_organisation(chat, "E0OTHER", "T0THIRD001", chat.channel, "1700000000.000001", "for nobody")
        # Another process, which knows of the workspaces only what the turns have kept, may be the one that answers.
        chat.room.workspaces._known.clear()
        hold.set()
        await chat.idle()
        assert sorted(chat.responder.asked) == [f"for {OURS}", f"for {THEIRS}"]
        assert set(used) == {"xoxb-of-E0OURS"}
        said = [message.text for message in chat.slack.workspace.messages if message.bot_id]
        assert sorted(said) == sorted(chat.responder.asked)


async def test_an_organisation_that_uninstalls_is_forgotten(start: Any) -> None:
    async with start("http", **_many()) as chat:
        _speaking(chat)
        _install_for_organisation(chat, "E0OURS")
        authorization = {"enterprise_id": "E0OURS", "team_id": None, "is_enterprise_install": True, "is_bot": True}
        event = {
            "type": "event_callback", "team_id": OURS, "enterprise_id": "E0OURS", "api_app_id": chat.slack.app.id,
            "event": {"type": "app_uninstalled"}, "authorizations": [authorization],
        }  # fmt: skip
        assert (await chat.slack.deliverer.deliver("events_api", event)).acknowledged
        installed = chat.room.workspaces.installed
        await chat.slack.until(lambda: installed.find("E0OURS", None) is None, what="no token")


async def test_a_workspace_that_did_not_install_is_not_heard(start: Any) -> None:
    async with start("http", **_many()) as chat:
        delivery = await _mention(chat, "T0UNKNOWN1", chat.channel, "1700000000.000001", "hello?")
        await chat.idle()
        assert delivery.acknowledged
        assert chat.room.inbox.states() == {}


async def test_a_click_from_another_workspace_does_nothing(start: Any) -> None:
    async with start("http", **_many()) as chat:
        _speaking(chat)
        for team in (OURS, THEIRS):
            _install(chat, team)
        question = await chat.slack.mention(chat.anna, chat.channel, "fits?")
        answer = await chat.slack.answer(question)
        await chat.idle()
        payload = {
            "type": "block_actions", "team": {"id": THEIRS}, "user": {"id": chat.anna.id, "team_id": THEIRS},
            "channel": {"id": chat.channel.id}, "trigger_id": "1.1.x",
            "response_url": chat.slack.new_response_url(chat.anna, chat.channel, answer), "api_app_id": chat.slack.app.id,
            "actions": [{"action_id": "do:cheaper", "value": _answer_id(answer), "action_ts": "1700000002.000001",
                         "type": "button", "block_id": "b"}],
        }  # fmt: skip
        assert (await chat.slack.deliverer.deliver("interactive", payload)).acknowledged
        await chat.idle()
        assert chat.room.inbox.states() == {"done": 1}


def _answer_id(message: Any) -> str:
    return next(
        str(element["value"]) for block in message.blocks for element in block.get("elements", [])
        if str(element.get("action_id", "")).startswith("do:")
    )  # fmt: skip


# Slack's SDK still uses a helper that aiohttp is about to drop.
@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")
async def test_a_workspace_installs_and_its_token_is_sealed(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with start("http", **_many()) as chat, aiohttp.ClientSession(chat.url.removesuffix("/slack/events")) as web:
        monkeypatch.setitem(calls.METHODS, "oauth.v2.access", _granting(chat))
        monkeypatch.setattr(calls, "authorise", lambda _: None)
        async with web.get("/slack/install", allow_redirects=False) as page:
            found = await page.text()
            cookies = page.headers.getall("set-cookie")
        link = next(part for part in found.split('"') if "oauth/v2/authorize" in part)
        asked = parse_qs(urlparse(link.replace("&amp;", "&")).query)
        assert sorted(asked["scope"][0].split(",")) == sorted(chat.slack.app.scopes)
        assert not asked.get("user_scope")
        state = asked["state"][0]
        headers = {"cookie": cookies[0].partition(";")[0]}
        async with web.get(f"/slack/oauth_redirect?code=c1&state={state}", headers=headers) as back:
            assert back.status == 200
        kept = chat.room.workspaces.installed.of_team(THEIRS)
        assert (kept.bot_token, kept.bot_user_id) == ("xoxb-granted", "U0SIZEWISE")
        for used_or_made_up in (state, "made-up"):
            async with web.get(f"/slack/oauth_redirect?code=c1&state={used_or_made_up}", headers=headers) as again:
                assert again.status in (400, 401)


def _granting(chat: Any) -> Any:
    def grant(_: Any) -> Mapping[str, Any]:
        return {
            "ok": True, "app_id": chat.slack.app.id, "team": {"id": THEIRS, "name": "second"}, "enterprise": None,
            "is_enterprise_install": False, "authed_user": {"id": "U0ADMIN"}, "token_type": "bot",
            "access_token": "xoxb-granted", "bot_user_id": chat.slack.app.bot_user, "scope": "chat:write,commands",
        }  # fmt: skip

    return grant


@pytest.mark.parametrize("missing", ["SLACK_CLIENT_SECRET", "SIZEWISE_ENCRYPTION_KEYS"])
def test_what_many_workspaces_need_is_said(missing: str) -> None:
    given = _many() | {"slack_signing_secret": "x", "transport": "http", "_env_file": None}
    given[{"SLACK_CLIENT_SECRET": "slack_client_secret", "SIZEWISE_ENCRYPTION_KEYS": "encryption_keys"}[missing]] = None
    settings = Settings(**given)
    assert settings.missing == (missing,)
    assert missing in _what_to_set(settings)
