"""views.*: modals and App Home."""

from __future__ import annotations

from typing import Any

from playground import limits
from playground.api.calls import ApiError, Call, method
from playground.blocks import check_view
from playground.workspace import Json, View


def _checked(call: Call) -> Json:
    view = call.structure("view")
    faults = check_view(view)
    if faults:
        raise ApiError("invalid_arguments", response_metadata={"messages": [f"[ERROR] {fault}" for fault in faults]})
    return dict(view)


def _spend_trigger(call: Call) -> str:
    """The user whose trigger it was."""
    trigger = call.text("trigger_id")
    if error := call.workspace.use_trigger(trigger):
        raise ApiError(error)
    return call.workspace.triggers[trigger].user


def _stored(call: Call, user: str, view: Json, stack: list[str]) -> View:
    workspace = call.workspace
    stored = View(workspace.new_id("V"), user, view, workspace.new_id("hash"), stack)
    stored.stack.append(stored.id)
    workspace.views[stored.id] = stored
    return stored


def answer(stored: View) -> Json:
    """A view as Slack shows it to the app."""
    fixed: dict[str, Any] = {
        "id": stored.id,
        "hash": stored.hash,
        "state": {"values": {}},
        "root_view_id": stored.stack[0],
    }
    return {"view": stored.view | fixed}


@method("views.open")
def open_view(call: Call) -> Json:
    view = _checked(call)
    return answer(_stored(call, _spend_trigger(call), view, []))


@method("views.push")
def push(call: Call) -> Json:
    view = _checked(call)
    user = _spend_trigger(call)
    open_views = [stored for stored in call.workspace.views.values() if stored.user == user]
    top = max(open_views, key=lambda stored: len(stored.stack), default=None)
    stack = top.stack if top else []
    if len(stack) >= limits.VIEW_STACK:
        raise ApiError("push_limit_reached")
    return answer(_stored(call, user, view, stack))


@method("views.update")
def update(call: Call) -> Json:
    view = _checked(call)
    stored = call.workspace.views.get(call.text("view_id"))
    if stored is None:
        raise ApiError("not_found")
    if call.args.get("hash") not in (None, stored.hash):
        raise ApiError("hash_conflict")
    stored.view, stored.hash = view, call.workspace.new_id("hash")
    return answer(stored)


@method("views.publish")
def publish(call: Call) -> Json:
    view, user = _checked(call), call.text("user_id")
    if view["type"] != "home":
        raise ApiError("invalid_arguments", response_metadata={"messages": ["[ERROR] must be a home view"]})
    if user not in call.workspace.users:
        raise ApiError("user_not_found")
    stored = View(call.workspace.new_id("V"), user, view, call.workspace.new_id("hash"))
    stored.stack.append(stored.id)
    call.workspace.homes[user] = stored
    return answer(stored)
