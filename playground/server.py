"""The double as an ASGI app: Web API, response_url, uploads and the websocket of Socket Mode."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any, Final
from urllib.parse import parse_qsl, quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from playground import limits
from playground.api.calls import ApiError
from playground.api.chat import refuse_bad_blocks
from playground.api.files import visible
from playground.delivery import SocketTransport
from playground.faults import Plan
from playground.slack import Slack
from playground.workspace import Json, ResponseUrl


def web_app(slack: Slack, *more: BaseRoute) -> Starlette:
    """The ASGI app of a double; more routes (a page) may be added by whoever embeds it."""
    endpoints = Endpoints(slack)
    return Starlette(
        routes=[
            Route("/api/{method}", endpoints.api, methods=["GET", "POST"]),
            Route("/response/{id}", endpoints.respond, methods=["POST"]),
            Route("/upload/{id}", endpoints.upload, methods=["POST"]),
            Route("/files-pri/{place}/{name:path}", endpoints.download),
            Route("/signin", endpoints.sign_in),
            WebSocketRoute("/link", endpoints.link),
            *more,
        ]
    )


class Endpoints:
    """The routes, bound to one double."""

    def __init__(self, slack: Slack) -> None:
        self.slack = slack
        self.tickets: set[str] = set()

    async def api(self, request: Request) -> Response:
        method = request.path_params["method"]
        token, args = await _arguments(request)
        plan = await self.slack.faults.next(method)
        if plan and plan.kind != "lost":
            return _planned(plan)
        wait_s = self.slack.faults.retry_after_s(method, str(args.get("channel")))
        if wait_s is not None:
            return _planned(Plan("limit", wait_s))
        response = await self._carry_out(method, token, args)
        return _Lost() if plan else response

    async def _carry_out(self, method: str, token: str, args: Json) -> Response:
        headers = {"x-oauth-scopes": ",".join(sorted(self.slack.app.scopes))}
        try:
            if method == "apps.connections.open":
                return JSONResponse({"ok": True} | await self._open_connection(token))
            return JSONResponse({"ok": True} | await self.slack.call(method, token, args), headers=headers)
        except ApiError as error:
            return JSONResponse({"ok": False, "error": error.code, **error.more}, headers=headers)

    async def _open_connection(self, token: str) -> Json:
        app = self.slack.app
        if token != app.app_token:
            raise ApiError("not_allowed_token_type" if token.startswith("xoxb-") else "invalid_auth")
        ticket = secrets.token_hex(8)
        self.tickets.add(ticket)
        return {"url": f"{self.slack.base_url.replace('http', 'ws', 1)}/link?ticket={ticket}"}

    async def link(self, socket: WebSocket) -> None:
        ticket = socket.query_params.get("ticket", "")
        transport = self.slack.deliverer.transport
        if ticket not in self.tickets or not isinstance(transport, SocketTransport):
            await socket.close()
            return
        self.tickets.discard(ticket)
        await transport.run(socket)

    async def upload(self, request: Request) -> Response:
        stored = self.slack.workspace.files.get(request.path_params["id"])
        if stored is None:
            return PlainTextResponse("not found", 404)
        stored["content"] = await request.body()
        return PlainTextResponse(f"OK - {len(stored['content'])}")

    async def download(self, request: Request) -> Response:
        """A private file. Whoever may not have it is sent to where people sign in, not told so."""
        plan = await self.slack.faults.next("file_download")
        if plan:
            return _planned(plan)
        workspace, app = self.slack.workspace, self.slack.app
        stored = workspace.files.get(request.path_params["place"].rpartition("-")[2])
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token != app.bot_token or workspace.revoked or "files:read" not in app.scopes:
            return RedirectResponse(f"{self.slack.base_url}/signin?redir={quote(request.url.path)}", 302)
        if stored is None or stored["content"] is None or not visible(workspace, stored):
            return HTMLResponse("<!DOCTYPE html><title>File not found</title>", 404)
        return _ranged(stored, request.headers.get("range"))

    async def sign_in(self, request: Request) -> Response:
        if request.headers.get("authorization"):
            self.slack.workspace.complain("a token was sent to the page where people sign in")
        return HTMLResponse("<!DOCTYPE html><title>Sign in</title>")

    async def respond(self, request: Request) -> Response:
        target = self.slack.workspace.response_urls.get(f"{self.slack.base_url}{request.url.path}")
        plan = await self.slack.faults.next("response_url")
        if plan and plan.kind != "lost":
            return _planned(plan)
        if target is None:
            return PlainTextResponse("no_such_url", 404)
        refusal = self._spend(target)
        if refusal:
            return PlainTextResponse(refusal, 404)
        result = self._show(target, json.loads(await request.body()))
        return _Lost() if plan else result

    def _spend(self, target: ResponseUrl) -> str | None:
        if self.slack.workspace.clock() - target.issued_at > limits.RESPONSE_URL_SECONDS:
            return "expired_url"
        target.uses += 1
        return "used_url" if target.uses > limits.RESPONSE_URL_USES else None

    def _show(self, target: ResponseUrl, content: Json) -> Response:
        try:
            refuse_bad_blocks(content.get("blocks") or [])
        except ApiError as error:
            return JSONResponse({"ok": False, "error": error.code, **error.more}, 400)
        if content.get("response_type") == "in_channel":
            self.slack.workspace.complain("response_url: in_channel posts where nobody keeps count of them")
        if content.get("delete_original") or content.get("replace_original"):
            self._remove(target)
        if content.get("text") or content.get("blocks"):
            self.slack.show_private(target, content)
        return PlainTextResponse("ok")

    def _remove(self, target: ResponseUrl) -> None:
        if target.message in self.slack.workspace.ephemerals:
            self.slack.workspace.ephemerals.remove(target.message)
            target.message = None


_RANGE: Final = re.compile(r"bytes=(\d*)-(\d*)")


def _ranged(stored: Json, wanted: str | None) -> Response:
    """A file, or the part of it that a range names."""
    content: bytes = stored["content"]
    headers = {"accept-ranges": "bytes", "content-disposition": "attachment"}
    match = _RANGE.fullmatch(wanted or "")
    if match is None or match.groups() == ("", ""):
        return Response(content, media_type=stored["mimetype"], headers=headers)
    first, last = match.groups()
    start = int(first) if first else max(0, len(content) - int(last))
    end = min(len(content), int(last) + 1) if first and last else len(content)
    if start >= end:
        return Response(b"", 416, headers={"content-range": f"bytes */{len(content)}"})
    headers["content-range"] = f"bytes {start}-{end - 1}/{len(content)}"
    return Response(content[start:end], 206, media_type=stored["mimetype"], headers=headers)


class _Lost(Response):
    """The deed is done and the caller never hears of it: the answer breaks off after its first byte."""

    def __init__(self) -> None:
        super().__init__(b"{", headers={"content-length": "1000"}, media_type="application/json")


async def _arguments(request: Request) -> tuple[str, Json]:
    """Token and arguments of a call, from query, form or JSON."""
    args: Json = dict(request.query_params)
    body = await request.body()
    if request.headers.get("content-type", "").startswith("application/json"):
        args |= json.loads(body or b"{}")
    else:
        args |= dict(parse_qsl(body.decode(), keep_blank_values=True))
    token = str(args.pop("token", "")) or request.headers.get("authorization", "").removeprefix("Bearer ")
    return token, args


def _planned(plan: Plan) -> Response:
    value: Any = plan.value
    if plan.kind == "error":
        return JSONResponse({"ok": False, "error": value})
    if plan.kind == "limit":
        return JSONResponse({"ok": False, "error": "ratelimited"}, 429, headers={"Retry-After": str(value)})
    if plan.kind == "redirect":
        return RedirectResponse(str(value), 302)
    if plan.kind == "garbage":
        return Response(b"<html>not what you asked for", 200, media_type="application/json")
    return PlainTextResponse("trouble", int(value))
