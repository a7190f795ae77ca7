"""Slack's error codes by what can be done about them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot import metrics
from bot.surface import Refused, TryLater

# The message itself is at fault: without blocks it may pass.
BLOCKS: Final = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text"})
_AWAY: Final = frozenset(
    {
        "ratelimited",
        "rate_limited",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
    }
)
_NOT_MEMBER: Final = frozenset({"not_in_channel"})
# Nobody is left who could be told.
_GONE: Final = frozenset(
    {
        "channel_not_found", "is_archived", "thread_not_found", "message_not_found", "cannot_reply_to_message",
        "user_not_in_channel", "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
        "user_not_found", "missing_scope", "restricted_action", "not_allowed_token_type", "ekm_access_denied", "team_access_not_granted",
    }
)  # fmt: skip
TOKEN: Final = frozenset({"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"})


def code_of(error: SlackApiError) -> str:
    """Slack's code; an answer that is no JSON has none."""
    found: Any = getattr(error.response, "data", None)
    return str(found.get("error", "unknown")) if isinstance(found, dict) else "unreadable"


class BlocksRefused(Exception):
    """Slack refuses the blocks of a message; the same words as plain text may pass."""


@asynccontextmanager
async def translated() -> AsyncIterator[None]:
    """Errors of a Web API call as what the worker can act on.

    Raises:
        BlocksRefused, TryLater, Refused: see there.
    """
    try:
        yield
    except SlackApiError as error:
        raise _meaning(error) from None
    except (TimeoutError, aiohttp.ClientError, SlackClientError, ConnectionError) as error:
        metrics.slack_errors.labels(type(error).__name__).inc()
        raise TryLater(f"no answer from Slack: {type(error).__name__}") from None


def _meaning(error: SlackApiError) -> Exception:
    code = code_of(error)
    metrics.slack_errors.labels(code).inc()
    if code in BLOCKS:
        return BlocksRefused(code)
    if code in _NOT_MEMBER:
        return Refused(code, "not_in_channel")
    if code in _GONE:
        return Refused(code, None)
    status = getattr(error.response, "status_code", 200)
    if code in _AWAY or status >= 429 or code == "unreadable":
        return TryLater(code, _retry_after_s(error))
    return Refused(code)


def _retry_after_s(error: SlackApiError) -> float | None:
    headers = getattr(error.response, "headers", {}) or {}
    value = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    return float(value) if value and str(value).isdigit() else None
