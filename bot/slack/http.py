"""The web server: Slack's requests, health, metrics."""

from __future__ import annotations

import time
from typing import Final
from urllib.parse import parse_qsl

from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_internals import build_async_context
from slack_bolt.request.async_request import AsyncBoltRequest
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot import metrics
from bot.logs import logger
from bot.slack import oauth
from bot.slack.room import Room
from bot.slack.shape import malformed

log = logger()

# Slack's largest payloads are views of 250 kB; anything far above is not Slack.
MAX_BODY_BYTES: Final = 1_000_000
_STARTED = time.monotonic()


def http_app(bolt: AsyncApp, room: Room) -> Starlette:
    """Health and metrics always; Slack's requests only in HTTP mode."""

    async def events(request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return PlainTextResponse("too large", 413)
        wrong = malformed(body, request.headers.get("content-type", ""))
        if wrong:
            log.warning("malformed request", part=wrong, bytes=len(body))
            return PlainTextResponse(f"malformed: {wrong}", 400)
        return to_starlette_response(await bolt.async_dispatch(_whole(to_async_bolt_request(request, body))))

    async def healthy(_: Request) -> Response:
        return JSONResponse({"ok": True, "uptime_s": round(time.monotonic() - _STARTED)})

    async def ready(_: Request) -> Response:
        found = await readiness(room)
        return JSONResponse(found, 200 if found["ok"] else 503)

    async def exposed(_: Request) -> Response:
        return Response(metrics.exposition(), media_type="text/plain; version=0.0.4")

    routes = [Route("/healthz", healthy), Route("/readyz", ready), Route("/metrics", exposed)]
    if room.settings.mode == "http":
        routes.append(Route("/slack/events", events, methods=["POST"]))
        routes.extend(oauth.routes(room))
    return Starlette(routes=routes)


def _whole(request: AsyncBoltRequest) -> AsyncBoltRequest:
    """Bolt takes a form with the word "payload" anywhere in it for one of that field and drops a command's text."""
    form = {} if request.body else dict(parse_qsl(request.raw_body, keep_blank_values=True))
    if "command" in form:
        request.body = form
        request.context = build_async_context(request.context, form)
    return request


async def _body(request: Request) -> bytes | None:
    """The raw body, or None where it is too large: of such a one no more is held than is allowed."""
    declared = request.headers.get("content-length") or "0"
    if not declared.isdecimal() or int(declared) > MAX_BODY_BYTES:
        return None
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


async def readiness(room: Room) -> dict[str, object]:
    """What must work for a question to be answered."""
    try:
        waiting: int | None = await room.offload.database(room.inbox.waiting)
    except SQLAlchemyError:
        waiting = None
    silence_s = socket_silence_s(room)
    alive = silence_s is None or silence_s < room.settings.socket_silence_s
    working = room.work is not None and not room.work.done()
    ok = waiting is not None and room.token_alive and alive and working
    return {
        "ok": ok, "database": waiting is not None, "waiting": waiting, "token": room.token_alive, "worker": working,
        "socket_silence_s": None if silence_s is None else round(silence_s, 1),
    }  # fmt: skip


def socket_silence_s(room: Room) -> float | None:
    """Seconds since the last ping over the socket; None without one."""
    last = getattr(room.socket, "last_ping_pong_time", None)
    return time.time() - float(last) if last else None
