"""`sizewise doctor`: what is set up, what is missing, and where to set it."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import ValidationError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy.exc import SQLAlchemyError

from bot import language_model
from bot.database import engine_for, migrate, revisions
from bot.inbox import Inbox
from bot.settings import Settings
from bot.setup_faults import setting_at_fault
from bot.slack.clients import identify, web_client
from bot.slack.errors import BlocksRefused, code_of, translated
from bot.slack.needs import EVENTS, OPTIONAL, SCOPES
from bot.surface import Refused, TryLater
from bot.version import __version__
from sizing.errors import SizewiseError, UserError

Level = Literal["ok", "note", "missing"]
_FREE_BYTES: Final = 500_000_000
_APPS: Final = "https://api.slack.com/apps"


@dataclass(frozen=True)
class Finding:
    """One line of the examination; `missing` ones keep the bot from running in Slack."""

    level: Level
    what: str
    do: str = ""

    def __str__(self) -> str:
        return f"{self.level:<8}{self.what}" + (f"\n        → {self.do}" if self.do else "")


def main(settings: Settings | None = None, write: Callable[[str], object] = sys.stdout.write) -> int:
    """Examine and report; 0 where the bot can run in Slack, 1 where something is missing."""
    try:
        found = asyncio.run(examine(settings or Settings()))
    except ValidationError as error:
        found = [Finding("missing", f"settings: {setting_at_fault(error)}", "correct the variable")]
    for finding in found:
        write(f"{finding}\n")
    return 1 if any(finding.level == "missing" for finding in found) else 0


async def examine(settings: Settings) -> list[Finding]:
    """Everything that can be looked at from here."""
    found = [_version(), *_disk(settings), *_database(settings), *_knowledge(), *_language_model(), *_tokens(settings)]
    if settings.slack_bot_token:
        found += await _slack(settings, web_client(settings))
    if settings.mode == "socket" and settings.slack_app_token:
        found.append(await _socket(settings))
    return [*found, *_cannot_be_seen(settings)]


def _version() -> Finding:
    return Finding("ok", f"Sizewise {__version__}, Python {platform.python_version()}")


def _language_model() -> Iterator[Finding]:
    name = language_model.named()
    if not name:
        return
    try:
        language_model.check()
    except language_model.ModelUnavailable as error:
        yield Finding("missing", str(error), f"correct {language_model.VARIABLE}, or leave it out: none is needed")
        return
    yield Finding("ok", f"language model {name} is loaded; whether it answers shows with the first question")


def _disk(settings: Settings) -> Iterator[Finding]:
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(settings.data_dir).free
    except OSError as error:
        yield Finding("missing", f"data directory {settings.data_dir}: {error.strerror}", "set SIZEWISE_DATA_DIR")
        return
    level: Level = "ok" if free > _FREE_BYTES else "note"
    yield Finding(level, f"data directory {settings.data_dir}, {free / 1e9:.1f} GB free")


def _database(settings: Settings) -> Iterator[Finding]:
    try:
        engine = engine_for(settings.database)
    except (SQLAlchemyError, UserError) as error:
        yield Finding("missing", f"database: {error}", "set DATABASE_URL, or leave it out")
        return
    try:
        migrate(engine)
        revision, _ = revisions(engine)
        states = Inbox(engine).states()
    except (SQLAlchemyError, OSError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        yield Finding(
            "missing", f"database {engine.url.render_as_string()}: {reason}", "set DATABASE_URL, or leave it out"
        )
        return
    finally:
        engine.dispose()
    yield Finding("ok", f"database {engine.dialect.name}, schema {revision}, turns {states or 'none'}")
    if states.get("dead"):
        yield Finding("note", f"{states['dead']} turns were given up; the log names them by the id that the user saw")


def _knowledge() -> Iterator[Finding]:
    from knowledge.service import Knowledge

    try:
        status = Knowledge().status()
    except (SQLAlchemyError, SizewiseError, OSError) as error:
        where = "" if isinstance(error, UserError) else "see the database and the data directory"
        yield Finding("missing", f"knowledge: {str(error).splitlines()[0]}", where)
        return
    method = f"{status.method}" + (f" with {status.model}" if status.model else "")
    said = f"knowledge: {status.notes} notes, {status.documents} documents, {method}"
    yield Finding("ok", said) if status.model else Finding("note", said, status.message)


def _tokens(settings: Settings) -> Iterator[Finding]:
    for name in settings.missing:
        yield Finding("missing", name, f"{_APPS} → your app → {_where(name)}")
    for name, secret, prefix in (
        ("SLACK_BOT_TOKEN", settings.slack_bot_token, "xoxb-"),
        ("SLACK_APP_TOKEN", settings.slack_app_token, "xapp-"),
    ):
        if secret and not secret.get_secret_value().startswith(prefix):
            yield Finding("missing", f"{name} does not begin with {prefix}", f"{_APPS} → your app → {_where(name)}")
    if settings.mode:
        reached = (
            "Socket Mode" if settings.mode == "socket" else f"HTTP on {settings.host}:{settings.port}/slack/events"
        )
        yield Finding("ok", f"Slack reaches the bot by {reached}")


def _where(name: str) -> str:
    if name == "SLACK_BOT_TOKEN":
        return "OAuth & Permissions → Bot User OAuth Token"
    if name == "SLACK_SIGNING_SECRET":
        return "Basic Information → Signing Secret"
    return "Basic Information → App-Level Tokens, scope connections:write"


async def _slack(settings: Settings, client: AsyncWebClient) -> list[Finding]:
    try:
        me = await identify(client)
    except SlackApiError as error:
        return [
            Finding("missing", f"Slack refuses SLACK_BOT_TOKEN: {code_of(error)}", f"{_APPS} → your app → Install App")
        ]
    except OSError as error:
        return [Finding("missing", f"Slack at {settings.slack_api_url} cannot be reached: {type(error).__name__}")]
    found = [Finding("ok", f"installed in workspace {me.team} as {me.bot_user}")]
    for scope in sorted(SCOPES.keys() - me.scopes):
        found.append(
            Finding(
                "note" if scope in OPTIONAL else "missing",
                f"scope {scope}, {SCOPES[scope]}",
                f"{_APPS} → your app → OAuth & Permissions, then reinstall",
            )
        )
    extra = ", ".join(sorted(me.scopes - SCOPES.keys()))
    return [*found, Finding("note", f"scopes that nothing needs: {extra}")] if extra else found


async def _socket(settings: Settings) -> Finding:
    token = settings.slack_app_token.get_secret_value() if settings.slack_app_token else ""
    try:
        async with translated():
            await web_client(settings, token=False).apps_connections_open(app_token=token)
    except (Refused, TryLater, BlocksRefused) as error:
        where = _where("SLACK_APP_TOKEN")
        return Finding(
            "missing", f"Socket Mode cannot be opened: {error}", f"{_APPS} → your app → Socket Mode; {where}"
        )
    return Finding("ok", "Socket Mode can be opened")


def _cannot_be_seen(settings: Settings) -> Iterator[Finding]:
    """What Slack tells no app: which events it is subscribed to."""
    if settings.slack_bot_token:
        events = ", ".join(EVENTS)
        yield Finding(
            "note",
            f"to be compared by eye: events {events}",
            f"{_APPS} → your app → Event Subscriptions, as in manifest.yaml",
        )
