"""auth, users, conversations, reactions, apps: who is who and who said what."""

from __future__ import annotations

from typing import Final

from playground.api.calls import ApiError, Call, method
from playground.workspace import TEAM, Channel, Json, Message

_HISTORY: Final = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
_READ: Final = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}


@method("auth.test")
def auth_test(call: Call) -> Json:
    app = call.workspace.app
    return {
        "url": "https://double.example/", "team": "Double", "team_id": TEAM, "user": "sizewise",
        "user_id": app.bot_user, "bot_id": app.bot_id, "is_enterprise_install": False,
    }  # fmt: skip


@method("users.info")
def users_info(call: Call) -> Json:
    call.need("users:read")
    user = call.workspace.users.get(call.text("user"))
    if user is None:
        raise ApiError("user_not_found")
    found: Json = {"id": user.id, "name": user.name, "team_id": user.team, "tz": user.tz, "is_bot": user.is_bot}
    found |= {"is_admin": user.is_admin, "is_owner": False, "is_primary_owner": False}
    if call.flag("include_locale"):
        found["locale"] = user.locale
    return {"user": found}


@method("conversations.info")
def conversations_info(call: Call) -> Json:
    channel = call.channel(member=False)
    call.need(_READ[channel.kind])
    members = channel.members
    return {"channel": {"id": channel.id, "name": channel.name, "is_member": call.workspace.app.bot_user in members}}


@method("conversations.open")
def conversations_open(call: Call) -> Json:
    call.need("im:write")
    return {"channel": {"id": call.workspace.direct(call.text("users")).id}}


@method("conversations.replies")
def replies(call: Call) -> Json:
    channel = call.channel()
    call.need(_HISTORY[channel.kind])
    root = call.text("ts")
    found = call.workspace.thread(channel.id, root)
    if not found:
        raise ApiError("thread_not_found")
    # Slack keeps the root on every page, whatever the range asked for.
    return _page(call, [m for m in found if m.ts == root or _within(call, m)])


@method("conversations.history")
def history(call: Call) -> Json:
    channel: Channel = call.channel()
    call.need(_HISTORY[channel.kind])
    roots = [m for m in call.workspace.messages if m.channel == channel.id and m.root == m.ts and _within(call, m)]
    return _page(call, sorted(roots, key=lambda m: m.ts, reverse=True))


def _within(call: Call, message: Message) -> bool:
    oldest, latest = str(call.args.get("oldest") or "0"), str(call.args.get("latest") or "9" * 20)
    inclusive = call.flag("inclusive")
    after, before = float(message.ts) - float(oldest), float(latest) - float(message.ts)
    return (after > 0 or (inclusive and after == 0)) and (before > 0 or (inclusive and before == 0))


def _page(call: Call, found: list[Message]) -> Json:
    limit, start = int(call.args.get("limit") or 100), int(call.args.get("cursor") or 0)
    chosen = found[start : start + limit]
    shown = [call.workspace.as_json(message) for message in chosen]
    if not call.flag("include_all_metadata"):
        shown = [{k: v for k, v in message.items() if k != "metadata"} for message in shown]
    more = start + limit < len(found)
    cursor = str(start + limit) if more else ""
    return {"messages": shown, "has_more": more, "response_metadata": {"next_cursor": cursor}}


@method("reactions.add")
def add_reaction(call: Call) -> Json:
    call.need("reactions:write")
    reaction = (call.channel().id, call.text("timestamp"), call.text("name"))
    if reaction in call.workspace.reactions:
        raise ApiError("already_reacted")
    call.workspace.reactions.append(reaction)
    return {}


@method("reactions.remove")
def remove_reaction(call: Call) -> Json:
    call.need("reactions:write")
    reaction = (call.channel().id, call.text("timestamp"), call.text("name"))
    if reaction not in call.workspace.reactions:
        raise ApiError("no_reaction")
    call.workspace.reactions.remove(reaction)
    return {}


@method("assistant.threads.setStatus")
def set_status(call: Call) -> Json:
    call.need("chat:write", "assistant:write")
    channel = call.channel("channel_id")
    if call.workspace.message(channel.id, call.text("thread_ts")) is None:
        raise ApiError("thread_not_found")
    status = (channel.id, call.text("thread_ts"), str(call.args.get("status") or ""))
    call.workspace.statuses.append(status)
    call.workspace.status_now[status[:2]] = status[2]
    return {}


@method("agents.sessions.setStatus")
def set_session_status(call: Call) -> Json:
    call.need("chat:write")
    channel, status = call.channel("channel_id"), call.text("status")
    if status not in ("active", "processing", "suspended", "closed"):
        raise ApiError("invalid_arguments")
    if call.workspace.message(channel.id, call.text("thread_ts")) is None:
        raise ApiError("thread_not_found")
    call.workspace.sessions[channel.id, call.text("thread_ts")] = status
    return {"status": status}


@method("assistant.threads.setTitle")
def set_title(call: Call) -> Json:
    call.need("assistant:write")
    call.channel("channel_id")
    return {}


@method("assistant.threads.setSuggestedPrompts")
def set_prompts(call: Call) -> Json:
    call.need("assistant:write")
    prompts = call.structure("prompts")
    if not isinstance(prompts, list) or not 0 < len(prompts) <= 4:
        raise ApiError("invalid_arguments")
    call.workspace.prompts.append({"channel": call.channel("channel_id").id, "prompts": prompts})
    return {}
