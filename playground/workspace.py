"""The workspace that the double plays: people, channels, messages, files, views, and what the bot did wrong."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from playground import limits

Json = dict[str, Any]
TEAM: Final = "T0DOUBLE01"
OTHER_TEAM: Final = "T0FOREIGN1"


@dataclass(frozen=True)
class User:
    id: str
    name: str
    team: str = TEAM
    locale: str = "en-US"
    tz: str = "Europe/Berlin"
    is_bot: bool = False
    is_admin: bool = False


@dataclass
class Channel:
    id: str
    name: str
    members: set[str] = field(default_factory=set)
    kind: str = "channel"
    """channel, group, im or mpim, as events name it in `channel_type`."""
    shared_with: str | None = None
    archived: bool = False


@dataclass
class Message:
    channel: str
    ts: str
    user: str
    text: str
    thread_ts: str | None = None
    blocks: list[Json] = field(default_factory=list)
    metadata: Json | None = None
    bot_id: str | None = None
    subtype: str | None = None
    files: list[Json] = field(default_factory=list)
    seen_only_by: str | None = None
    """The one user who sees an ephemeral message."""
    response_url: str | None = None
    sent: Json = field(default_factory=dict)
    """The arguments it was posted with."""

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts


@dataclass
class View:
    id: str
    user: str
    view: Json
    hash: str
    stack: list[str] = field(default_factory=list)


@dataclass
class Trigger:
    issued_at: float
    user: str = ""
    used: bool = False


@dataclass
class ResponseUrl:
    user: str
    channel: str
    issued_at: float
    uses: int = 0
    message: Message | None = None


@dataclass(frozen=True)
class App:
    """The app as installed: what its manifest asks for, and its secrets."""

    scopes: frozenset[str]
    events: frozenset[str]
    commands: frozenset[str]
    shortcuts: tuple[tuple[str, str], ...] = ()
    """Message shortcuts: callback id and name."""
    id: str = "A0SIZEWISE"
    bot_id: str = "B0SIZEWISE"
    bot_user: str = "U0SIZEWISE"
    bot_token: str = "xoxb-double-bot-token"
    app_token: str = "xapp-double-app-token"
    signing_secret: str = "double-signing-secret"

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> App:
        """An installed app with exactly the scopes, events and commands of its manifest."""
        settings = manifest.get("settings", {}).get("event_subscriptions", {})
        commands = manifest.get("features", {}).get("slash_commands", [])
        return cls(
            scopes=frozenset(manifest["oauth_config"]["scopes"]["bot"]),
            events=frozenset(settings.get("bot_events", [])),
            commands=frozenset(command["command"] for command in commands),
            shortcuts=tuple(
                (each["callback_id"], each["name"])
                for each in manifest.get("features", {}).get("shortcuts", [])
                if each["type"] == "message"
            ),
        )


class Workspace:
    """Everything that Slack would remember. Not thread-safe: it lives on one event loop."""

    def __init__(self, app: App, clock: Callable[[], float] = time.time) -> None:
        self.app = app
        self.clock = clock
        self.users: dict[str, User] = {app.bot_user: User(app.bot_user, "sizewise", is_bot=True)}
        self.channels: dict[str, Channel] = {}
        self.messages: list[Message] = []
        self.ephemerals: list[Message] = []
        self.files: dict[str, Json] = {}
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.statuses: list[tuple[str, str, str]] = []
        self.sessions: dict[tuple[str, str], str] = {}
        self.status_now: dict[tuple[str, str], str] = {}
        self.prompts: list[Json] = []
        self.reactions: list[tuple[str, str, str]] = []
        self.complaints: list[str] = []
        self.revoked: str | None = None
        self._last_ts = 0
        self._ids = itertools.count(1)

    def complain(self, text: str) -> None:
        """Note something that Slack lets pass and a good bot does not do."""
        self.complaints.append(text)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._ids):09d}"

    def new_ts(self) -> str:
        """A message's ts: unique and rising, microseconds in the last six digits."""
        self._last_ts = max(self._last_ts + 1, int(self.clock() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def add_user(
        self, name: str, *, team: str = TEAM, locale: str = "en-US", is_bot: bool = False, is_admin: bool = False
    ) -> User:  # fmt: skip
        user = User(self.new_id("U"), name, team, locale, is_bot=is_bot, is_admin=is_admin)
        self.users[user.id] = user
        return user

    def add_channel(self, name: str, *members: User, bot: bool = True, kind: str = "channel") -> Channel:
        present = {member.id for member in members} | ({self.app.bot_user} if bot else set())
        channel = Channel(self.new_id("C"), name, present, kind)
        self.channels[channel.id] = channel
        return channel

    def direct(self, user: str) -> Channel:
        """The direct-message channel between a user and the bot; opened at need."""
        for channel in self.channels.values():
            if channel.kind == "im" and user in channel.members:
                return channel
        channel = Channel(self.new_id("D"), "", {user, self.app.bot_user}, "im")
        self.channels[channel.id] = channel
        return channel

    def message(self, channel: str, ts: str) -> Message | None:
        return next((m for m in self.messages if m.channel == channel and m.ts == ts), None)

    def thread(self, channel: str, root: str) -> list[Message]:
        """Root and replies, oldest first."""
        found = [m for m in self.messages if m.channel == channel and m.root == root]
        return sorted(found, key=lambda m: m.ts)

    def upload(self, user: User, name: str, content: bytes, mimetype: str, base_url: str) -> Json:
        """A file as a person uploads it, as the Web API tells of it; nobody sees it before a message shares it."""
        ident, now = self.new_id("F"), int(self.clock())
        place = f"{base_url}/files-pri/{TEAM}-{ident}"
        stored: Json = {
            "id": ident, "created": now, "timestamp": now, "name": name, "title": name, "mimetype": mimetype,
            "filetype": name.rpartition(".")[2].lower() or "text", "user": user.id, "user_team": user.team, "mode": "hosted",
            "is_external": False, "external_type": "", "is_public": False, "file_access": "visible", "size": len(content),
            "url_private": f"{place}/{quote(name)}", "url_private_download": f"{place}/download/{quote(name)}",
            "channels": [], "groups": [], "ims": [],
        }  # fmt: skip
        self.files[ident] = stored | {"content": content}
        return stored

    def share(self, file: Json, channel: Channel) -> Json:
        """Share a file in a channel; how a message there tells of it. In a channel shared with others it must be asked for."""
        places = self.files[file["id"]][{"group": "groups", "im": "ims"}.get(channel.kind, "channels")]
        if channel.id not in places:
            places.append(channel.id)
        if channel.shared_with:
            return {"id": file["id"], "mode": "file_access", "file_access": "check_file_info", "user": file["user"]}
        return {name: value for name, value in self.files[file["id"]].items() if name != "content"}

    def new_trigger(self, user: str = "") -> str:
        trigger = f"{self.new_id('')}.{self.new_id('')}.{self.new_id('t')}"
        self.triggers[trigger] = Trigger(self.clock(), user)
        return trigger

    def use_trigger(self, trigger: str) -> str | None:
        """Spend a trigger id; the error code where it is unknown, spent or too old."""
        known = self.triggers.get(trigger)
        if known is None:
            return "invalid_trigger_id"
        if known.used:
            return "exchanged_trigger_id"
        known.used = True
        return "expired_trigger_id" if self.clock() - known.issued_at > limits.TRIGGER_SECONDS else None

    def as_json(self, message: Message) -> Json:
        """A message as the Web API returns it."""
        found: Json = {"type": "message", "user": message.user, "ts": message.ts, "text": message.text, "team": TEAM}
        optional = {
            "thread_ts": message.thread_ts, "blocks": message.blocks or None, "bot_id": message.bot_id,
            "subtype": message.subtype, "files": message.files or None, "metadata": message.metadata,
        }  # fmt: skip
        found |= {name: value for name, value in optional.items() if value is not None}
        if message.bot_id:
            found["app_id"] = self.app.id
        return found
