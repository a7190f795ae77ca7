"""files.*: the upload in three steps, and what is known of a file."""

from __future__ import annotations

from playground.api.calls import ApiError, Call, method
from playground.workspace import Json, Message, Workspace


@method("files.getUploadURLExternal")
def upload_url(call: Call) -> Json:
    call.need("files:write")
    name, length = call.text("filename"), int(call.text("length"))
    if length <= 0:
        raise ApiError("invalid_arguments")
    file_id = call.workspace.new_id("F")
    alt_text = str(call.args.get("alt_txt") or "")
    if name.endswith(".png") and not alt_text:
        call.workspace.complain(f"{call.method}: an image without alt_txt")
    call.workspace.files[file_id] = {"id": file_id, "name": name, "size": length, "content": None, "alt_txt": alt_text}
    return {"file_id": file_id, "upload_url": f"{call.base_url}/upload/{file_id}"}


@method("files.completeUploadExternal")
def complete(call: Call) -> Json:
    call.need("files:write")
    given = call.structure("files")
    if not isinstance(given, list) or not given:
        raise ApiError("invalid_arguments")
    files = [_finished(call, part) for part in given]
    if call.args.get("channel_id"):
        _post(call, files)
    return {"files": files}


@method("files.info")
def info(call: Call) -> Json:
    call.need("files:read")
    stored = call.workspace.files.get(call.text("file"))
    if stored is None or not visible(call.workspace, stored):
        raise ApiError("file_not_found")
    if stored.get("mode") == "tombstone":
        raise ApiError("file_deleted")
    return {"file": {name: value for name, value in stored.items() if name != "content"}}


def visible(workspace: Workspace, stored: Json) -> bool:
    """Whether the app may see a file: its own, or one shared where it is a member."""
    places = [place for name in ("channels", "groups", "ims") for place in stored.get(name, ())]
    members = [workspace.channels[place].members for place in places]
    return "user" not in stored or any(workspace.app.bot_user in member for member in members)


def _finished(call: Call, part: Json) -> Json:
    stored = call.workspace.files.get(part.get("id", ""))
    if stored is None:
        raise ApiError("file_not_found")
    if stored["content"] is None or len(stored["content"]) != stored["size"]:
        raise ApiError("file_upload_size_mismatch")
    stored["title"] = part.get("title") or stored["name"]
    return {name: stored[name] for name in ("id", "name", "title", "size", "alt_txt")}


def _post(call: Call, files: list[Json]) -> None:
    channel, workspace = call.channel("channel_id"), call.workspace
    thread_ts = call.args.get("thread_ts")
    comment = str(call.args.get("initial_comment") or "")
    message = Message(
        channel.id, workspace.new_ts(), workspace.app.bot_user, comment, thread_ts, bot_id=workspace.app.bot_id,
        subtype="file_share", files=files, sent=dict(call.args),
    )  # fmt: skip
    workspace.messages.append(message)
