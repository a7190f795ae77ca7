"""`sizewise playground`: the bot against the Slack double, with a web page to use both. Nothing leaves the machine."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from bot import language_model, logs
from bot.database import sqlite_url
from bot.responder import Responder
from bot.settings import Settings
from bot.slack.needs import manifest
from bot.slack.serve import running as running_bot
from playground.delivery import SocketTransport
from playground.page import page_app
from playground.running import running_slack
from playground.slack import Slack
from playground.workspace import App

PORT: Final = 8321
_CONNECT_S: Final = 30.0


def main(port: int = PORT) -> int:
    """Serve the playground until interrupted; 2 where the port is taken.

    Raises:
        ModelUnavailable: SIZEWISE_LLM names a model that cannot be loaded.
    """
    language_model.check()
    logs.configure("WARNING", False)
    try:
        asyncio.run(_serve(port))
    except OSError as error:
        sys.stderr.write(f"sizewise: port {port} of this machine cannot be used ({error.strerror}): try --port.\n")
        return 2
    return 0


async def _serve(port: int) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with playing(port) as slack:
        sys.stdout.write(f"The playground (not Slack) is open at {slack.base_url}/ until you press Ctrl-C.\n")
        sys.stdout.flush()
        await stopped.wait()


@contextlib.asynccontextmanager
async def playing(port: int | None = None, responder: Responder | None = None) -> AsyncIterator[Slack]:
    """A double with people and channels, and the bot connected to it by Socket Mode. All is forgotten at the end.

    Raises:
        OSError: the port is taken.
    """
    app, transport = App.from_manifest(manifest()), SocketTransport()
    with tempfile.TemporaryDirectory(prefix="sizewise-playground-", ignore_cleanup_errors=True) as folder:
        async with running_slack(app, transport, web=page_app, port=port) as slack:
            _furnish(slack)
            settings = _settings(app, slack.base_url, Path(folder))
            async with running_bot(settings, responder):
                await asyncio.wait_for(transport.opened.wait(), _CONNECT_S)
                yield slack


def _furnish(slack: Slack) -> None:
    workspace = slack.workspace
    anna = workspace.add_user("Anna", locale="de-DE", is_admin=True)
    bert = workspace.add_user("Bert", locale="en-GB")
    workspace.add_channel("ki-plattform", anna, bert)
    workspace.add_channel("general", anna, bert)


def _settings(app: App, base_url: str, folder: Path) -> Settings:
    """Everything set here: neither the environment's tokens nor its database may be touched by playing."""
    return Settings(
        transport="socket", slack_bot_token=SecretStr(app.bot_token),
        slack_app_token=SecretStr(app.app_token), slack_signing_secret=SecretStr(app.signing_secret),
        slack_client_id=None, slack_client_secret=None,
        slack_api_url=f"{base_url}/api/", database_url=sqlite_url(folder / "playground.db"), poll_s=0.3,
    )  # fmt: skip
