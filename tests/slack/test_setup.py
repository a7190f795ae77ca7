"""Manifest, doctor, start: what the app asks for is what it handles, and what is missing is named."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for

from bot import doctor
from bot.database import engine_for
from bot.inbox import Inbox, NewTurn
from bot.responder import Pipeline
from bot.settings import Settings
from bot.slack import serve
from bot.slack.needs import COMMAND, EVENTS, OPTIONAL, SCOPES, manifest
from playground.delivery import SocketTransport
from playground.running import running_slack
from playground.workspace import App

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]


def test_the_manifest_file_is_the_one_the_code_makes() -> None:
    assert yaml.safe_load((ROOT / "manifest.yaml").read_text("utf-8")) == manifest()


def test_the_manifest_keeps_slacks_limits() -> None:
    made = manifest("https://sizewise.example/slack/events")
    information = made["display_information"]
    assert (len(information["name"]) <= 35, len(information["description"]) <= 140) == (True, True)
    assert len(EVENTS) <= 100
    assert made["settings"]["socket_mode_enabled"] is False
    assert made["features"]["slash_commands"][0]["url"] == "https://sizewise.example/slack/events"


# Slack's own, of slackapi/manifest-schema (MIT, beside it) at commit c50cfa8508ff of 2026-07-21.
SCHEMA = json.loads((Path(__file__).parent / "schema/manifest.schema.2.0.0.json").read_text("utf-8"))


@pytest.mark.parametrize("url", [None, "https://sizewise.example/slack/events"])
def test_the_manifest_is_one_by_slacks_published_schema(url: str | None) -> None:
    judge = validator_for(SCHEMA)(SCHEMA)
    assert [error.message for error in judge.iter_errors(manifest(url))] == []
    wrong = manifest(url)
    wrong["features"]["agent_view"]["agent_description"] = 5
    wrong["settings"]["made_up"] = True
    assert sorted(".".join(map(str, error.path)) for error in judge.iter_errors(wrong)) == [
        "features.agent_view.agent_description", "settings",
    ]  # fmt: skip


EVENT_PAYLOADS = {
    "message.channels": {"type": "message", "channel_type": "channel"},
    "message.groups": {"type": "message", "channel_type": "group"},
    "message.im": {"type": "message", "channel_type": "im"},
}


@pytest.mark.parametrize("name", EVENTS)
async def test_every_subscribed_event_has_a_listener(chat: Any, name: str) -> None:
    delivery = await chat.slack.event(EVENT_PAYLOADS.get(name, {"type": name, "user": chat.anna.id}))
    assert delivery.acknowledged


def test_the_manifest_has_the_command_that_is_listened_to() -> None:
    assert [command["command"] for command in manifest()["features"]["slash_commands"]] == [COMMAND]


@pytest.mark.parametrize("scope", sorted(SCOPES))
async def test_the_doctor_names_a_missing_scope(tmp_path: Path, scope: str) -> None:
    asked_for = copy.deepcopy(manifest())
    asked_for["oauth_config"]["scopes"]["bot"].remove(scope)
    app = App.from_manifest(asked_for)
    async with running_slack(app, SocketTransport()) as slack:
        found = await doctor.examine(_settings(app, slack.base_url, tmp_path))
    [missing] = [finding for finding in found if finding.what.startswith("scope ")]
    assert missing.what.partition(",")[0] == f"scope {scope}"
    assert "OAuth & Permissions" in missing.do
    # Without the scopes that are optional the bot runs, and tells whoever misses something what an admin has to do.
    assert missing.level == ("note" if scope in OPTIONAL else "missing")
    assert [finding.level for finding in found].count("missing") == (scope not in OPTIONAL)


def _settings(app: App, base_url: str, data: Path, **changed: Any) -> Settings:
    values: dict[str, Any] = {
        "slack_bot_token": app.bot_token, "slack_app_token": app.app_token, "slack_api_url": f"{base_url}/api/",
        "data_dir": data,
    }  # fmt: skip
    return Settings(_env_file=None, **(values | changed))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"slack_bot_token": "xoxb-wrong"}, "Slack refuses SLACK_BOT_TOKEN: invalid_auth"),
        ({"slack_app_token": "xapp-wrong"}, "Socket Mode cannot be opened: invalid_auth"),
        ({"slack_app_token": "xoxb-double-bot-token"}, "SLACK_APP_TOKEN does not begin with xapp-"),
        ({"slack_bot_token": None}, "SLACK_BOT_TOKEN"),
        (
            {"database_url": "postgresql://nobody@127.0.0.1:1/none"},
            "database postgresql+psycopg://nobody@127.0.0.1:1/none",
        ),
        ({"slack_api_url": "http://127.0.0.1:1/api/"}, "Slack at http://127.0.0.1:1/api/ cannot be reached"),
        ({"data_dir": Path("/proc/nowhere")}, "data directory /proc/nowhere"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
async def test_the_doctor_names_what_is_wrong(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    app = App.from_manifest(manifest())
    async with running_slack(app, SocketTransport()) as slack:
        found = await doctor.examine(_settings(app, slack.base_url, tmp_path, **changed))
    assert named in [finding.what[: len(named)] for finding in found if finding.level == "missing"]


async def test_the_doctor_finds_nothing_wrong_where_nothing_is(tmp_path: Path) -> None:
    app = App.from_manifest(manifest())
    async with running_slack(app, SocketTransport()) as slack:
        found = await doctor.examine(_settings(app, slack.base_url, tmp_path))
    assert {finding.level for finding in found} == {"ok", "note"}


def test_serve_says_what_to_set(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    settings = Settings(
        _env_file=None, slack_bot_token=None, slack_app_token=None, slack_signing_secret=None, data_dir=tmp_path
    )
    assert serve.main(settings) == serve.COULD_NOT_RUN
    said = capsys.readouterr()
    assert said.out == ""
    assert "SLACK_BOT_TOKEN" in said.err
    assert "SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)" in said.err


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"slack_bot_token": "xoxb-wrong"}, "Slack refuses the bot token (invalid_auth)"),
        ({"slack_app_token": "xapp-wrong"}, "Slack refuses the app token (invalid_auth)"),
    ],
)
async def test_serve_ends_with_a_sentence_where_a_token_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, Any],
    said: str,
) -> None:
    monkeypatch.setattr("bot.logs.configure", lambda *_: None)
    app = App.from_manifest(manifest())
    async with running_slack(app, SocketTransport()) as slack:
        settings = _settings(app, slack.base_url, tmp_path, **changed)
        assert await asyncio.to_thread(serve.main, settings, Pipeline()) == serve.COULD_NOT_RUN
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "mode", "missing"),
    [
        ({"slack_bot_token": "b", "slack_app_token": "a"}, "socket", ()),
        ({"slack_bot_token": "b", "slack_signing_secret": "s"}, "http", ()),
        ({"slack_bot_token": "b", "slack_app_token": "a", "slack_signing_secret": "s"}, "socket", ()),
        ({"slack_bot_token": "b", "slack_app_token": "a", "transport": "http"}, "http", ("SLACK_SIGNING_SECRET",)),
        ({"slack_app_token": "a"}, "socket", ("SLACK_BOT_TOKEN",)),
    ],
)
def test_the_way_to_slack_follows_from_what_is_set(given: dict[str, Any], mode: str, missing: tuple[str, ...]) -> None:
    nothing = dict.fromkeys(("slack_bot_token", "slack_app_token", "slack_signing_secret"))
    settings = Settings(_env_file=None, **(nothing | given))
    assert (settings.mode, settings.missing) == (mode, missing)


async def test_a_poisoned_question_ends_as_a_dead_letter(start: Any, database: str) -> None:
    """One that takes the process down each time: its attempts are counted where they are leased."""
    async with start("http", max_attempts=2) as chat:
        question = await chat.slack.mention(chat.anna, chat.channel, "fine")
        await chat.slack.answer(question)
        await chat.idle()
    # Its leases are over as soon as they are taken, as those of a process that is gone.
    crashed = Inbox(engine_for(database), lease_s=-1.0)
    key = f"T0DOUBLE01/{chat.channel.id}/1700000000.000009"
    thread = f"T0DOUBLE01/{chat.channel.id}/1700000000.000009"
    crashed.record(NewTurn(key, thread, "message", "T0DOUBLE01", chat.channel.id, chat.anna.id, "1700000000.000009"))
    for n in range(2):
        assert [turn.attempts for turn in crashed.lease(f"crashed {n}", 1)] == [n + 1]
    async with start("http", max_attempts=2) as again:
        await again.slack.until(lambda: again.room.inbox.states().get("dead") == 1, what="a dead letter")
        assert again.dead() == [(key, "given up after 2 attempts")]
        assert again.responder.asked == []


def test_clients_are_made_in_one_place() -> None:
    """One made by hand has lost its retry handlers."""
    made = re.compile(r"\b(?:Async)?(?:WebClient|WebhookClient)\(")
    files = {path for path in (ROOT / "bot").rglob("*.py") if made.search(path.read_text("utf-8"))}
    assert files == {ROOT / "bot/slack/clients.py"}
