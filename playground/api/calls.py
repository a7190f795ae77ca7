"""What every Web API method shares: arguments, errors, scopes, the registry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from playground.workspace import Channel, Json, Workspace

_JSON_FIELDS: Final = frozenset({"blocks", "metadata", "view", "files", "attachments", "prompts", "loading_messages"})
_TRUE: Final = frozenset({True, "true", "True", "1"})


class ApiError(Exception):
    """A call that Slack answers with `ok: false`."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more


@dataclass(frozen=True)
class Call:
    """One Web API call."""

    method: str
    token: str
    args: Mapping[str, Any]
    workspace: Workspace
    base_url: str
    announce: Callable[[Json], None] = field(repr=False)
    """Sends an event that the call caused, e.g. the bot's own message."""

    def text(self, name: str, default: str | None = None) -> str:
        """A required string, or `default` where one is given."""
        value = self.args.get(name)
        if value in (None, ""):
            if default is None:
                raise ApiError("invalid_arguments", response_metadata={"messages": [f"missing required field: {name}"]})
            return default
        return str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        return self.args[name] in _TRUE if name in self.args else default

    def structure(self, name: str) -> Any:
        """A field that is an object or array, in JSON bodies as it is, in forms as JSON text."""
        value = self.args.get(name)
        if name in _JSON_FIELDS and isinstance(value, str):
            try:
                return json.loads(value)
            except json.JSONDecodeError:
                raise ApiError("invalid_json") from None
        return value

    def need(self, *scopes: str) -> None:
        """Refuse the call unless the app has one of the scopes."""
        if not self.workspace.app.scopes.intersection(scopes):
            provided = ",".join(sorted(self.workspace.app.scopes))
            raise ApiError("missing_scope", needed=scopes[0], provided=provided)

    def channel(self, name: str = "channel", *, member: bool = True) -> Channel:
        """The channel named by its id; a user's id means the direct message with them."""
        given = self.text(name)
        if given in self.workspace.users and given != self.workspace.app.bot_user:
            return self.workspace.direct(given)
        channel = self.workspace.channels.get(given)
        if channel is None:
            raise ApiError("channel_not_found")
        if channel.archived:
            raise ApiError("is_archived")
        if member and self.workspace.app.bot_user not in channel.members:
            raise ApiError("not_in_channel")
        return channel


Handler = Callable[[Call], Json]
METHODS: Final[dict[str, Handler]] = {}


def method(name: str) -> Callable[[Handler], Handler]:
    """Register the handler of a Web API method."""

    def register(handler: Handler) -> Handler:
        METHODS[name] = handler
        return handler

    return register


def authorise(call: Call) -> None:
    """Refuse a missing, unknown or revoked token."""
    app = call.workspace.app
    if not call.token:
        raise ApiError("not_authed")
    if call.method == "apps.connections.open":
        if call.token != app.app_token:
            raise ApiError("not_allowed_token_type" if call.token.startswith("xoxb-") else "invalid_auth")
        return
    if call.token != app.bot_token:
        raise ApiError("invalid_auth")
    if call.workspace.revoked:
        raise ApiError(call.workspace.revoked)
