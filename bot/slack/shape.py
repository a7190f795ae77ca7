"""Whether a body has the shape of something that Slack sends; Bolt takes it for granted and fails where it is not so."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import parse_qs

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "event": (dict,), "team": (str, dict), "user": (str, dict), "channel": (str, dict), "team_id": (str,), "type": (str,),
}  # fmt: skip
_TEXTS: Final = ("type", "user", "team", "subtype")
_COMMAND: Final = ("user_id", "channel_id", "trigger_id")


def malformed(body: bytes, content_type: str) -> str | None:
    """What is wrong with a request's body, or None."""
    try:
        found = _payload(body.decode("utf-8"), content_type)
    except UnicodeDecodeError:
        return "not UTF-8"
    except (ValueError, RecursionError):
        return "not readable"
    if not isinstance(found, dict):
        return "not an object"
    return _wrong_part(found)


def _payload(text: str, content_type: str) -> Any:
    # Bolt goes by the first character as well.
    if content_type.startswith("application/json") or text.startswith("{"):
        return json.loads(text)
    form = {name: values[0] for name, values in parse_qs(text, keep_blank_values=True, max_num_fields=200).items()}
    return json.loads(form["payload"]) if "payload" in form else form


def _wrong_part(found: dict[str, Any]) -> str | None:
    for name, kinds in _KINDS.items():
        if found.get(name) is not None and not isinstance(found[name], kinds):
            return name
    event = found.get("event") or {}
    texts = _TEXTS if event.get("type") in ("message", "app_mention") else ("type",)
    if any(not isinstance(event.get(name) or "", str) for name in texts):
        return "event"
    if "command" in found and not all(found.get(name) for name in _COMMAND):
        return "command"
    return _wrong_list(found, "actions", found.get("type") == "block_actions") or _wrong_list(found, "authorizations")


def _wrong_list(found: dict[str, Any], name: str, needed: bool = False) -> str | None:
    """A list of objects; where it is needed, not an empty one."""
    parts = found.get(name)
    if parts is None and not needed:
        return None
    good = isinstance(parts, list) and all(isinstance(part, dict) for part in parts) and (bool(parts) or not needed)
    return None if good else name
