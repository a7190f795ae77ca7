"""Structured logs, one JSON object a line on stderr. What people write is not logged unless asked for."""

from __future__ import annotations

import logging
import sys

import structlog

_SECRET = frozenset({"token", "response_url", "signing_secret", "authorization"})
_TEXT = frozenset({"text", "question"})


def configure(level: str, log_text: bool) -> None:
    """Set up structlog and the standard library's loggers; those of Slack's libraries print payloads at DEBUG."""
    numeric = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    logging.basicConfig(
        level=numeric, stream=sys.stderr, format='{"logger":"%(name)s","event":"%(message)s"}', force=True
    )
    for name in ("slack_bolt", "slack_sdk", "aiohttp"):
        logging.getLogger(name).setLevel(max(numeric, logging.INFO))
    hidden = _SECRET if log_text else _SECRET | _TEXT

    def hide(_logger: object, _name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        return {key: value for key, value in event.items() if key not in hidden}

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            hide,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(numeric),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def logger() -> structlog.typing.FilteringBoundLogger:
    found: structlog.typing.FilteringBoundLogger = structlog.get_logger()
    return found
