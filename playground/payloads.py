"""Payloads as Slack sends them: events, slash commands, clicks, view submissions."""

from __future__ import annotations

from typing import Any

from playground.workspace import TEAM, App, Channel, Json, Message, User


def envelope(app: App, event: Json, event_id: str, *, channel: Channel | None = None, now: float = 0.0) -> Json:
    """The outer object of an Events API request."""
    shared = bool(channel and channel.shared_with)
    return {
        "token": "deprecated", "team_id": TEAM, "api_app_id": app.id, "event": event, "type": "event_callback",
        "event_id": event_id, "event_time": int(now), "is_ext_shared_channel": shared,
        "authorizations": [{"enterprise_id": None, "team_id": TEAM, "user_id": app.bot_user, "is_bot": True}],
    }  # fmt: skip


def message_event(
    message: Message, user: User | None, channel: Channel, kind: str = "message", root: Message | None = None
) -> Json:
    """A `message` or `app_mention` event; `root` is the message its thread began with."""
    event: Json = {
        "type": kind, "ts": message.ts, "text": message.text, "channel": channel.id, "event_ts": message.ts,
        "blocks": message.blocks, "client_msg_id": f"client-{message.ts}",
    }  # fmt: skip
    if user is not None:
        event |= {"user": user.id, "team": user.team}
        if channel.shared_with:
            event |= {"user_team": user.team, "source_team": user.team}
    if message.thread_ts:
        event["thread_ts"] = message.thread_ts
        if root is not None:
            event["parent_user_id"] = root.user
    # A mention is told of without the subtype that the message has.
    if message.subtype and not (kind == "app_mention" and message.subtype == "file_share"):
        event["subtype"] = message.subtype
    if message.bot_id:
        event["bot_id"] = message.bot_id
    if message.files:
        event["files"] = message.files
    if kind == "message":
        event["channel_type"] = channel.kind
    return event


def command(app: App, user: User, channel: Channel, name: str, text: str, trigger: str, response_url: str) -> Json:
    return {
        "token": "deprecated", "team_id": TEAM, "team_domain": "double", "channel_id": channel.id,
        "channel_name": channel.name, "user_id": user.id, "user_name": user.name, "command": name, "text": text,
        "api_app_id": app.id, "is_enterprise_install": "false", "response_url": response_url, "trigger_id": trigger,
    }  # fmt: skip


def block_actions(
    app: App, user: User, message: Message, action: Json, channel: Channel, trigger: str, response_url: str, ts: str
) -> Json:
    """A click in a message; ephemeral messages come without the message itself."""
    ephemeral = message.seen_only_by is not None
    container: Json = {
        "type": "message", "message_ts": message.ts, "channel_id": channel.id, "is_ephemeral": ephemeral,
    }  # fmt: skip
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    payload: Json = {
        "type": "block_actions", "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team},
        "api_app_id": app.id, "token": "deprecated", "container": container, "trigger_id": trigger,
        "team": {"id": TEAM, "domain": "double"}, "enterprise": None, "is_enterprise_install": False,
        "channel": {"id": channel.id, "name": channel.name}, "state": {"values": {}}, "response_url": response_url,
        "actions": [action | {"action_ts": ts}],
    }  # fmt: skip
    if not ephemeral:
        payload["message"] = {
            "type": "message", "user": message.user, "ts": message.ts, "bot_id": message.bot_id, "text": message.text,
            "blocks": message.blocks, "team": TEAM, "thread_ts": message.root,
        }  # fmt: skip
    return payload


def view_action(app: App, user: User, shown: Json, action: Json, trigger: str, ts: str) -> Json:
    """A click in a modal or on the Home tab."""
    return {
        "type": "block_actions", "user": {"id": user.id, "username": user.name, "team_id": user.team}, "team": {"id": TEAM},
        "api_app_id": app.id, "token": "deprecated", "container": {"type": "view", "view_id": shown["id"]},
        "trigger_id": trigger, "view": shown, "actions": [action | {"action_ts": ts}],
    }  # fmt: skip


def view_submission(app: App, user: User, shown: Json, values: dict[str, Any], trigger: str) -> Json:
    return {
        "type": "view_submission", "user": {"id": user.id, "username": user.name, "team_id": user.team},
        "team": {"id": TEAM, "domain": "double"}, "api_app_id": app.id, "token": "deprecated", "trigger_id": trigger,
        "view": shown | {"state": {"values": values}}, "response_urls": [],
    }  # fmt: skip


def message_shortcut(
    app: App, user: User, callback: str, message: Message, channel: Channel, trigger: str, response_url: str
) -> Json:
    shown: Json = {"type": "message", "user": message.user, "ts": message.ts, "text": message.text}
    if message.thread_ts:
        shown["thread_ts"] = message.thread_ts
    return {
        "type": "message_action", "callback_id": callback, "trigger_id": trigger, "message_ts": message.ts,
        "response_url": response_url, "user": {"id": user.id, "name": user.name, "team_id": user.team},
        "team": {"id": TEAM, "domain": "double"}, "channel": {"id": channel.id, "name": channel.name},
        "message": shown, "api_app_id": app.id, "token": "deprecated",
    }  # fmt: skip
