"""The one place where Web API clients are made, so that none is without its retry handlers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.settings import Settings
from bot.slack.reading import Identity

_TIMEOUT_S: Final = 10
# Shorter than any server keeps an idle connection: a call must not be sent into one that is just being closed.
_KEEP_ALIVE_S: Final = 4.0


@asynccontextmanager
async def connections() -> AsyncIterator[aiohttp.ClientSession]:
    """Connections that calls share: to open one costs Slack's server and us more than the call itself."""
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    connector = aiohttp.TCPConnector(limit=100, keepalive_timeout=_KEEP_ALIVE_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=True) as session:
        yield session


def retry_handlers() -> list[AsyncRetryHandler]:
    """429 is waited out; a lost connection is tried again only where it never came about.

    The SDK's own handler repeats a call whose answer was lost: for a post that would say the same thing twice.
    """
    return [
        AsyncRateLimitErrorRetryHandler(max_retry_count=3),
        AsyncConnectionErrorRetryHandler(max_retry_count=2, error_types=[aiohttp.ClientConnectorError]),
    ]


def web_client(
    settings: Settings, *, token: bool | str = True, session: aiohttp.ClientSession | None = None
) -> AsyncWebClient:  # fmt: skip
    """A client of the configured workspace, or of one whose token is given.

    Without a token it is for Bolt, which brings one for each request; without a session each call has its own connection.
    """
    secret = token if isinstance(token, str) else settings.bot_token if token else None
    return AsyncWebClient(
        token=secret,
        base_url=settings.slack_api_url,
        timeout=_TIMEOUT_S,
        retry_handlers=retry_handlers(),
        session=session,
    )


def webhook_client(url: str, session: aiohttp.ClientSession | None = None) -> AsyncWebhookClient:
    """A client of one response_url."""
    return AsyncWebhookClient(url, timeout=_TIMEOUT_S, retry_handlers=retry_handlers(), session=session)


async def identify(client: AsyncWebClient) -> Identity:
    """Who we are.

    Raises:
        SlackApiError: the token is not accepted.
    """
    found = await client.auth_test()
    scopes = str(found.headers.get("x-oauth-scopes") or found.headers.get("X-OAuth-Scopes") or "")
    return Identity(
        team=str(found["team_id"]),
        bot_user=str(found["user_id"]),
        bot_id=str(found.get("bot_id")),
        scopes=frozenset(part.strip() for part in scopes.split(",") if part.strip()),
        enterprise=found.get("enterprise_id"),
    )
