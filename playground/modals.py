"""Modals as a person sees them: the one on top, its elements, and what the app's answer to a submission does."""

from __future__ import annotations

from typing import Any

from playground.blocks import check_view
from playground.delivery import Delivery
from playground.workspace import Json, View, Workspace


def on_top(workspace: Workspace, user: str) -> View | None:
    """The modal that a person has open, the latest where several were opened."""
    mine = [shown for shown in workspace.views.values() if shown.user == user]
    return mine[-1] if mine else None


def close(workspace: Workspace, shown: View) -> None:
    """Close a modal; one below it shows again."""
    workspace.views.pop(shown.id, None)
    if shown.id in shown.stack:
        shown.stack.remove(shown.id)


def after_submission(workspace: Workspace, shown: View, delivery: Delivery) -> Json:
    """Carry out what the app answered: errors by block id, another view, or closing."""
    if not delivery.acknowledged:
        return {"trouble": f"We had some trouble connecting: {delivery.last.reason}"}
    body: Any = delivery.last.body
    answer = body if isinstance(body, dict) else {}
    action = answer.get("response_action")
    if action == "errors":
        return _errors(shown, answer.get("errors") or {})
    if action in ("update", "push"):
        return _another(workspace, shown, answer.get("view"))
    close(workspace, shown)
    return {}


def _errors(shown: View, errors: Json) -> Json:
    inputs = {block.get("block_id") for block in shown.view["blocks"] if block["type"] == "input"}
    unknown = set(errors) - inputs
    return {"trouble": f"errors for blocks that are no inputs: {sorted(unknown)}"} if unknown else {"errors": errors}


def _another(workspace: Workspace, shown: View, view: Any) -> Json:
    faults = check_view(view)
    if faults:
        return {"trouble": f"the app's view is refused: {faults[0]}"}
    shown.view, shown.hash = view, workspace.new_id("hash")
    return {}


def element(blocks: list[Json], block: int, place: int | str) -> tuple[Json, Json]:
    """A block and the interactive element at a place in it.

    Raises:
        LookupError: there is none.
    """
    found = blocks[block]
    return found, found["accessory"] if place == "accessory" else found["elements"][int(place)]


def action(block: Json, number: int, used: Json, option: int | None, value: str | None) -> Json:
    """What Slack sends of an element that was used; an option is a place in its list, a value that of a vote."""
    sent: Json = {"type": used["type"], "action_id": used.get("action_id") or f"auto-{number}"}
    sent["block_id"] = block.get("block_id") or f"auto-{number}"
    if used["type"] == "feedback_buttons":
        return sent | {"value": value}
    if "options" in used:
        return sent | {"selected_option": used["options"][option or 0]}
    return sent | {name: used[name] for name in ("value", "text") if name in used}
