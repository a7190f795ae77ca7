"""files.*: the upload in three steps."""

from __future__ import annotations

from playground.api.calls import ApiError, Call, method
from playground.workspace import Json, Message


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
