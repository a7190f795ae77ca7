"""chat.*: posting, changing and deleting messages."""

from __future__ import annotations

import json
import re
from typing import Any

from playground import limits
from playground.api.calls import ApiError, Call, method
from playground.blocks import check_blocks, text_size
from playground.workspace import Channel, Json, Message

_BROADCAST = re.compile(r"<!(?:here|channel|everyone|subteam\^[^>]*)(?:\|[^>]*)?>")


def content(call: Call) -> tuple[str, list[Json]]:
    """Text and blocks of a message, refused as Slack would refuse them."""
    text, blocks = str(call.args.get("text") or ""), call.structure("blocks") or []
    if call.args.get("markdown_text") and (text or blocks):
        raise ApiError("markdown_text_conflict")
    if not text and not blocks:
        raise ApiError("no_text")
    refuse_bad_blocks(blocks)
    _manners(call, text, blocks)
    return text[: limits.TEXT_CUT_CHARS], blocks


def refuse_bad_blocks(blocks: Any) -> None:
    faults = check_blocks(blocks)
    if faults:
        messages = [f"[ERROR] {fault}" for fault in faults]
        raise ApiError("invalid_blocks", errors=messages, response_metadata={"messages": messages})
    if text_size(blocks) > limits.ALL_BLOCK_TEXT_CHARS:
        raise ApiError("msg_blocks_too_long")


def _manners(call: Call, text: str, blocks: list[Json]) -> None:
    workspace = call.workspace
    if blocks and not text.strip():
        workspace.complain(f"{call.method}: blocks without text, notifications show nothing")
    if len(text) > limits.TEXT_CUT_CHARS:
        workspace.complain(f"{call.method}: text is cut at {limits.TEXT_CUT_CHARS} characters")
    if _BROADCAST.search(text + json.dumps(blocks)):
        workspace.complain(f"{call.method}: a broadcast mention")
    if call.method == "chat.postMessage":
        for name in ("unfurl_links", "unfurl_media"):
            if call.flag(name, True):
                workspace.complain(f"{call.method}: {name} is not off")


def _metadata(call: Call) -> Json | None:
    metadata = call.structure("metadata")
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not metadata.get("event_type") or "event_payload" not in metadata:
        raise ApiError("invalid_metadata_format")
    if len(json.dumps(metadata).encode()) > limits.METADATA_BYTES:
        raise ApiError("metadata_too_large")
    return metadata


def _thread(call: Call, channel: Channel) -> str | None:
    thread_ts = call.args.get("thread_ts")
    if thread_ts is None:
        return None
    root = call.workspace.message(channel.id, str(thread_ts))
    if root is None:
        raise ApiError("thread_not_found")
    if root.thread_ts not in (None, root.ts):
        call.workspace.complain(f"{call.method}: thread_ts {thread_ts} is a reply, not a root")
    return str(thread_ts)


@method("chat.postMessage")
def post_message(call: Call) -> Json:
    call.need("chat:write")
    channel = call.channel()
    text, blocks = content(call)
    workspace, app = call.workspace, call.workspace.app
    message = Message(
        channel.id, workspace.new_ts(), app.bot_user, text, _thread(call, channel), blocks, _metadata(call), app.bot_id,
        sent=dict(call.args),
    )  # fmt: skip
    workspace.messages.append(message)
    workspace.status_now.pop((channel.id, message.root), None)
    call.announce(workspace.as_json(message) | {"channel": channel.id})
    return {"channel": channel.id, "ts": message.ts, "message": workspace.as_json(message)}


@method("chat.postEphemeral")
def post_ephemeral(call: Call) -> Json:
    call.need("chat:write")
    channel, user = call.channel(), call.text("user")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    text, blocks = content(call)
    ts = call.workspace.new_ts()
    message = Message(
        channel.id, ts, call.workspace.app.bot_user, text, call.args.get("thread_ts"), blocks,
        seen_only_by=user, sent=dict(call.args),
    )  # fmt: skip
    call.workspace.ephemerals.append(message)
    return {"message_ts": ts}


@method("chat.update")
def update(call: Call) -> Json:
    call.need("chat:write")
    channel = call.channel()
    message = call.workspace.message(channel.id, call.text("ts"))
    if message is None:
        raise ApiError("message_not_found")
    if message.user != call.workspace.app.bot_user:
        raise ApiError("cant_update_message")
    text, blocks = content(call)
    if len(text) > limits.UPDATE_TEXT_CHARS:
        raise ApiError("msg_too_long")
    message.text, message.blocks = text, blocks
    return {"channel": channel.id, "ts": message.ts, "text": text}


@method("chat.delete")
def delete(call: Call) -> Json:
    call.need("chat:write")
    channel = call.channel()
    message = call.workspace.message(channel.id, call.text("ts"))
    if message is None:
        raise ApiError("message_not_found")
    if message.user != call.workspace.app.bot_user:
        raise ApiError("cant_delete_message")
    call.workspace.messages.remove(message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.getPermalink")
def permalink(call: Call) -> Json:
    channel, ts = call.channel(), call.text("message_ts")
    return {"channel": channel.id, "permalink": f"{call.base_url}/archives/{channel.id}/p{ts.replace('.', '')}"}
