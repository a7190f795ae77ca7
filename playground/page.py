"""The local web page: what a person sees of the workspace, and what they may do. Loopback only, and not Slack."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import resources
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from playground import modals
from playground.delivery import Delivery
from playground.server import web_app
from playground.slack import Slack
from playground.workspace import Channel, Json, Message, User, View

_HERE: Final = ("127.0.0.1", "localhost", "[::1]")
_HEADERS: Final = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
}  # fmt: skip
_STATIC: Final = ("index.html", "style.css", "app.js", "blocks.js", "mrkdwn.js")
_SHOWN_AS_IMAGE: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")

Endpoint = Callable[[Request], Awaitable[Response]]


def page_app(slack: Slack) -> Starlette:
    """The double with its page."""
    page = Page(slack)
    deeds = {
        "say": page.say, "slash": page.slash, "click": page.click, "home": page.home, "shortcut": page.shortcut,
        "submit": page.submit, "close": page.close, "stop": page.stop, "view_action": page.view_action,
    }  # fmt: skip
    return web_app(
        slack,
        Route("/", local(static)),
        Route("/static/{name}", local(static)),
        Route("/page/state", local(page.state)),
        Route("/page/events", local(page.events)),
        Route("/page/files/{id}", local(page.file)),
        *(Route(f"/page/{name}", local(page.doing(deed)), methods=["POST"]) for name, deed in deeds.items()),
    )


def local(endpoint: Endpoint) -> Endpoint:
    """Only for a browser on this machine that was sent here on purpose, by no other site."""

    async def checked(request: Request) -> Response:
        host = request.headers.get("host", "").rpartition(":")[0]
        origin = request.headers.get("origin")
        if host not in _HERE or (origin and urlsplit(origin).netloc != request.headers.get("host")):
            return PlainTextResponse("The playground answers on this machine only.", 403)
        response = await endpoint(request)
        response.headers.update(_HEADERS)
        return response

    return checked


async def static(request: Request) -> Response:
    name = request.path_params.get("name", "index.html")
    if name not in _STATIC:
        return PlainTextResponse("not found", 404)
    content = resources.files("playground").joinpath("static", name).read_bytes()
    return Response(content, media_type=mimetypes.guess_type(name)[0])


Deed = Callable[[User, Json], Awaitable[Json]]


class Page:
    """The page's requests, bound to one double."""

    def __init__(self, slack: Slack) -> None:
        self.slack = slack
        self.workspace = slack.workspace

    # What people see

    def people(self) -> list[User]:
        return [user for user in self.workspace.users.values() if not user.is_bot]

    async def state(self, request: Request) -> Response:
        user = self.workspace.users.get(request.query_params.get("user", "")) or self.people()[0]
        return JSONResponse(self._state(user))

    def _state(self, user: User) -> Json:
        workspace, app = self.workspace, self.slack.app
        workspace.direct(user.id)
        channels = [channel for channel in workspace.channels.values() if user.id in channel.members]
        seen = {channel.id for channel in channels}
        shown = [m for m in [*workspace.messages, *workspace.ephemerals] if self._sees(user, seen, m)]
        names = {each.id: each.name for each in workspace.users.values()}
        return {
            "me": {"id": user.id, "name": user.name},
            "users": [{"id": each.id, "name": each.name, "locale": each.locale} for each in self.people()],
            "app": {
                "name": workspace.users[app.bot_user].name, "bot_user": app.bot_user,
                "shortcuts": [{"callback_id": callback, "name": name} for callback, name in app.shortcuts],
            },
            "names": names | {channel.id: channel.name for channel in workspace.channels.values()},
            "channels": [self._channel(channel) for channel in channels],
            "messages": [self._message(message) for message in sorted(shown, key=lambda m: m.ts)],
            "statuses": {"/".join(where): status for where, status in workspace.status_now.items() if status},
            "processing": ["/".join(where) for where, status in workspace.sessions.items() if status == "processing"],
            "prompts": self._prompts(user),
            "home": self._view(workspace.homes.get(user.id)),
            "modal": self._view(modals.on_top(workspace, user.id)),
        }  # fmt: skip

    @staticmethod
    def _sees(user: User, channels: set[str], message: Message) -> bool:
        return message.channel in channels and message.seen_only_by in (None, user.id)

    def _channel(self, channel: Channel) -> Json:
        people = [self.workspace.users[member].name for member in sorted(channel.members)]
        return {"id": channel.id, "name": channel.name, "kind": channel.kind, "about": ", ".join(people)}

    @staticmethod
    def _view(shown: View | None) -> Json | None:
        return shown.view | {"id": shown.id, "hash": shown.hash} if shown else None

    def _message(self, message: Message) -> Json:
        return {
            "channel": message.channel, "ts": message.ts, "thread_ts": message.thread_ts, "user": message.user,
            "text": message.text, "blocks": message.blocks, "files": message.files,
            "app": message.user == self.slack.app.bot_user, "private": message.seen_only_by is not None,
        }  # fmt: skip

    def _prompts(self, user: User) -> list[Json]:
        direct = self.workspace.direct(user.id).id
        mine = [each["prompts"] for each in self.workspace.prompts if each["channel"] == direct]
        return mine[-1] if mine else []

    async def events(self, _: Request) -> Response:
        async def ticks() -> AsyncIterator[str]:
            version = self.slack.version
            while True:
                yield f"data: {version}\n\n"
                version = await self.slack.news(version)

        return StreamingResponse(ticks(), media_type="text/event-stream")

    async def file(self, request: Request) -> Response:
        """A file; whatever is no picture is offered for saving, never shown as a page."""
        stored = self.workspace.files.get(request.path_params["id"])
        if stored is None or stored["content"] is None:
            return PlainTextResponse("not found", 404)
        kind = mimetypes.guess_type(stored["name"])[0]
        headers = {} if kind in _SHOWN_AS_IMAGE else {"content-disposition": "attachment"}
        return Response(stored["content"], media_type=kind or "application/octet-stream", headers=headers)

    # What people do

    def doing(self, deed: Deed) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            body = await request.json()
            user = self.workspace.users.get(str(body.get("user")))
            try:
                found = await deed(user, body) if user else {"trouble": "nobody is chosen"}
            except (KeyError, IndexError, ValueError, LookupError) as error:
                found = {"trouble": f"That is not possible here: {error}"}
            self.slack.changed()
            return JSONResponse(found)

        return endpoint

    async def say(self, user: User, body: Json) -> Json:
        channel = self.workspace.channels[body["channel"]]
        addressed = f"<@{self.slack.app.bot_user}>" in body["text"] or channel.kind == "im"
        files = [self._uploaded(user, each) for each in body.get("files") or ()]
        message = await self.slack.say(
            user, channel, str(body["text"]), thread=body.get("thread") or None, files=files
        )  # fmt: skip
        return {"ts": message.ts, "addressed": addressed}

    def _uploaded(self, user: User, given: Json) -> Json:
        content = base64.b64decode(given["content"], validate=True)
        return self.slack.upload(user, str(given["name"]), content, str(given.get("type") or "") or None)

    async def slash(self, user: User, body: Json) -> Json:
        channel = self.workspace.channels[body["channel"]]
        delivery = await self.slack.slash(user, channel, str(body["text"]), str(body["command"]))
        return _trouble(delivery, str(body["command"]))

    async def click(self, user: User, body: Json) -> Json:
        message = self._found(user, body)
        action = _action(message.blocks, body)
        return _trouble(await self.slack.act(user, message, action), action["action_id"])

    def _found(self, user: User, body: Json) -> Message:
        for message in [*self.workspace.messages, *self.workspace.ephemerals]:
            mine = message.seen_only_by in (None, user.id)
            if (message.channel, message.ts) == (body["channel"], body["ts"]) and mine:
                return message
        raise LookupError("this message is gone")

    async def home(self, user: User, body: Json) -> Json:
        return _trouble(await self.slack.open_home(user, str(body["tab"])), "Home")

    async def shortcut(self, user: User, body: Json) -> Json:
        message = self._found(user, body)
        return _trouble(await self.slack.shortcut(user, str(body["callback"]), message), "the shortcut")

    async def stop(self, user: User, body: Json) -> Json:
        event = {
            "type": "agent_session_stopped", "channel": body["channel"], "thread_ts": body["thread"], "user": user.id,
            "streaming_message_ts": [], "event_ts": self.workspace.new_ts(),
        }  # fmt: skip
        return _trouble(await self.slack.event(event, self.workspace.channels[body["channel"]]), "stop")

    async def submit(self, user: User, body: Json) -> Json:
        shown = self.workspace.views[body["view"]]
        delivery = await self.slack.submit(user, shown, body["values"])
        return modals.after_submission(self.workspace, shown, delivery)

    async def close(self, _: User, body: Json) -> Json:
        shown = self.workspace.views.get(str(body.get("view")))
        if shown:
            modals.close(self.workspace, shown)
        return {}

    async def view_action(self, user: User, body: Json) -> Json:
        shown = self.workspace.views.get(body["view"]) or self.workspace.homes[user.id]
        action = _action(shown.view["blocks"], body)
        return _trouble(await self.slack.act_in_view(user, shown, action), action["action_id"])


def _action(blocks: list[Json], body: Json) -> Json:
    number = int(body["block"])
    block, used = modals.element(blocks, number, body["element"])
    return modals.action(block, number, used, body.get("option"), body.get("value"))


def _trouble(delivery: Delivery, what: str) -> Json:
    """What a person would see of an unacknowledged click or command."""
    found: dict[str, Any] = {}
    if not delivery.acknowledged:
        found["trouble"] = f"{what} failed: {delivery.last.reason}"
    return found
