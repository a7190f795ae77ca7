"""What Slack sends → what concerns us. Pure functions over payloads; nothing here looks anything up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt.request.internals import extract_enterprise_id, extract_team_id

from bot.inbox import NewTurn
from bot.reply.blocks import ACTION, ASSUME, SHARE
from bot.store import ThreadInfo

Payload = Mapping[str, Any]

# What people do; everything else that Slack calls a message is an edit, a join, a topic …
_HUMAN_SUBTYPES: Final = (None, "file_share", "thread_broadcast")
_TS = re.compile(r"\d{10}\.\d{6}")
MAX_TEXT_CHARS: Final = 40_001
# Slack takes ten files a message; how many of them are read is for who reads them.
MAX_FILES: Final = 20
_FILE_ID = re.compile(r"F[A-Z0-9]{2,30}")
_NAME_CHARS: Final = 200
_NESTED: Final = 4


@dataclass(frozen=True)
class Identity:
    """Who the bot is in the workspace it is installed in."""

    team: str
    bot_user: str
    bot_id: str
    scopes: frozenset[str] = frozenset()
    enterprise: str | None = None

    def kept(self) -> dict[str, str]:
        """What a turn keeps of it beside the team: in an organisation the app may be installed for all its workspaces."""
        return {"enterprise": self.enterprise} if self.enterprise else {}


@dataclass(frozen=True)
class Message:
    """A person's message as `app_mention` and `message` events both tell of it."""

    team: str
    channel: str
    ts: str
    thread_ts: str | None
    user: str
    text: str
    direct: bool = False
    foreign: bool = False
    """Outsiders read along: the channel is shared with another organisation."""
    root_by_bot: bool = False
    files: tuple[dict[str, str], ...] = ()
    """Ids and names of what was uploaded with it."""

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts

    @property
    def thread_id(self) -> str:
        return f"{self.team}/{self.channel}/{self.root}"


def workspace_of(body: Payload) -> tuple[str, str | None]:
    """Team and enterprise that a payload came from.

    Where the app is installed for an organisation, the authorization names the organisation alone; the team then stands
    in the payload itself or with who acted.
    """
    team = extract_team_id(dict(body)) or body.get("team_id") or (body.get("user") or {}).get("team_id")
    return str(team or ""), extract_enterprise_id(dict(body))


def message_of(body: Payload, me: Identity) -> Message | str:
    """The message of an event, or why it is none of our business."""
    event = body.get("event") or {}
    ts, channel, user = event.get("ts"), event.get("channel"), event.get("user")
    if event.get("subtype") not in _HUMAN_SUBTYPES or event.get("hidden"):
        return f"subtype {event.get('subtype')}"
    if event.get("bot_id") or not user or user == me.bot_user:
        return "a bot"
    if not isinstance(channel, str) or not isinstance(ts, str) or not _TS.fullmatch(ts):
        return "not a message"
    if outsider := _outsider(body, event, me):
        return outsider
    thread_ts = event.get("thread_ts")
    return Message(
        me.team, channel, ts, thread_ts if thread_ts and thread_ts != ts else None, user,
        str(event.get("text") or ""), event.get("channel_type") == "im" or channel.startswith("D"),
        bool(body.get("is_ext_shared_channel")), event.get("parent_user_id") == me.bot_user, files_of(event),
    )  # fmt: skip


def files_of(event: Payload) -> tuple[dict[str, str], ...]:
    """The files of a message. An `app_mention` may name them in its rich text alone; of a shared channel there is only the id."""
    named = event.get("files")
    parts = [*(named if isinstance(named, list) else ()), *_elements(event.get("blocks"), "file")]
    ids = ((part.get("id") or part.get("file_id"), part.get("name")) for part in parts if isinstance(part, Mapping))
    found: dict[str, str] = {}
    for ident, name in ids:
        if isinstance(ident, str) and _FILE_ID.fullmatch(ident):
            found[ident] = found.get(ident) or (name[:_NAME_CHARS] if isinstance(name, str) else "")
    return tuple({"id": ident, "name": name} for ident, name in found.items())[:MAX_FILES]


def _elements(part: Any, kind: str, depth: int = 0) -> Iterator[Payload]:
    """The elements of one kind in rich text, however they are nested."""
    if depth > _NESTED or not isinstance(part, list):
        return
    for each in part:
        if isinstance(each, Mapping):
            if each.get("type") == kind:
                yield each
            yield from _elements(each.get("elements"), kind, depth + 1)


def _outsider(body: Payload, event: Payload, me: Identity) -> str | None:
    """Slack Connect fails closed: in a shared channel only who is known to be of our own workspace is heard."""
    home = event.get("user_team") or event.get("source_team") or event.get("team")
    if home in (me.team, me.enterprise) and home:
        return None
    if body.get("is_ext_shared_channel"):
        return "an outsider of a shared channel"
    return "a foreign workspace" if home else None


def addressed(message: Message, me: Identity, thread: ThreadInfo | None, strict: frozenset[str]) -> bool:
    """Whether a message is for the bot: by its text and by what is known of its thread, never by which event told of it.

    A thread that the bot was asked in from the start is a conversation; one it was called into needs a mention each time.
    """
    if message.direct or mentions(message.text, me):
        return True
    conversation = (thread is not None and thread.conversation) or message.root_by_bot
    return conversation and message.channel not in strict and not mentions_somebody_else(message.text)


def mentions(text: str, me: Identity) -> bool:
    return f"<@{me.bot_user}>" in text or f"<@{me.bot_user}|" in text


_OPENS_WITH_MENTION = re.compile(r"\s*<@[UW][A-Z0-9]+(?:\|[^>]*)?>")


def mentions_somebody_else(text: str) -> bool:
    """A message that opens by calling a person is for that person."""
    return _OPENS_WITH_MENTION.match(text) is not None


def without_mention(text: str, me: Identity) -> str:
    """The text without the bot's own name; everything else is left to the reader."""
    return re.sub(rf"<@{re.escape(me.bot_user)}(?:\|[^>]*)?>", " ", text).strip()[:MAX_TEXT_CHARS]


def turn_of_message(message: Message, me: Identity, *, late: bool = False) -> NewTurn:
    """`late`: an earlier delivery failed, so that later messages may have overtaken this one."""
    return NewTurn(
        key=f"{message.team}/{message.channel}/{message.ts}",
        thread_id=message.thread_id,
        kind="message",
        team=message.team,
        channel=message.channel,
        user=message.user,
        ts=message.ts,
        root_ts=message.root,
        conversation=message.thread_ts is None or message.root_by_bot or message.direct,
        body={
            "text": without_mention(message.text, me),
            "direct": message.direct,
            "foreign": message.foreign,
            "late": late,
            **({"files": list(message.files)} if message.files else {}),
            **me.kept(),
        },
    )


def turn_of_command(body: Payload, me: Identity, now: float) -> NewTurn:
    """A slash line: a thread of its own that only the asker sees. Slack gives it no ts, so the clock does."""
    trigger = str(body["trigger_id"])
    return NewTurn(
        key=f"{me.team}/{trigger}",
        thread_id=f"{me.team}/slash/{trigger}",
        kind="command",
        team=me.team,
        channel=str(body["channel_id"]),
        user=str(body["user_id"]),
        ts=f"{now:.6f}",
        body={
            "text": str(body.get("text") or "")[:MAX_TEXT_CHARS],
            "response_url": body.get("response_url"),
            "private": True,
            **me.kept(),
        },
    )


@dataclass(frozen=True)
class Click:
    """A click that works on a stored answer."""

    action: str
    answer_id: str
    option: str | None
    channel: str
    user: str
    ts: str
    trigger: str
    response_url: str | None


def click_of(body: Payload, me: Identity) -> Click | str:
    """The click of a `block_actions` payload, or why it is none of ours."""
    action, user = (body.get("actions") or [{}])[0], body.get("user") or {}
    if user.get("team_id") not in (me.team, None):
        return "an outsider of a shared channel"
    found = _meaning(action)
    channel = (body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id")
    if found is None or not channel or not _TS.fullmatch(str(action.get("action_ts"))):
        return f"action {action.get('action_id')}"
    name, answer_id, option = found
    return Click(
        name, answer_id, option, channel, str(user.get("id")), action["action_ts"], str(body.get("trigger_id")),
        body.get("response_url"),
    )  # fmt: skip


def _meaning(action: Payload) -> tuple[str, str, str | None] | None:
    """Action name, answer id and chosen option."""
    action_id = str(action.get("action_id"))
    if action_id.startswith(ASSUME):
        option = (action.get("selected_option") or {}).get("value")
        return "change", str(action.get("block_id")).rpartition(":")[2], str(option)
    if action_id.startswith(ACTION):
        return action_id.removeprefix(ACTION), str(action.get("value")), None
    return (SHARE, str(action.get("value")), None) if action_id == SHARE else None


def turn_of_click(click: Click, thread: ThreadInfo, me: Identity) -> NewTurn:
    """The turn of a click, in the thread of its answer. Sharing an answer is one turn however often it is clicked."""
    share = click.action == SHARE
    return NewTurn(
        key=f"{thread.team}/share/{click.answer_id}" if share else f"{thread.team}/{click.trigger}",
        thread_id=thread.id,
        kind="share" if share else "action",
        team=thread.team,
        channel=click.channel,
        user=click.user,
        ts=click.ts,
        root_ts=thread.root_ts,
        body={
            "action": click.action,
            "answer_id": click.answer_id,
            "option": click.option,
            "response_url": click.response_url,
            "private": thread.root_ts is None,
            **me.kept(),
        },
    )
