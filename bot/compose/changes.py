"""What changed against the last turn, in words."""

from __future__ import annotations

from typing import Any

from bot.compose.assumptions import value_text
from bot.compose.faults import field_label
from bot.reply.wording import Wording
from bot.sized import hardware_label
from bot.specs import changes
from bot.thread import Spec
from sizing.errors import UserError
from sizing.spec import parse_spec


def change_text(before: Spec, now: Spec, words: Wording) -> str:
    """`format Q4_K_M → FP8, concurrent requests 10 → 5`; empty where nothing differs."""
    shown = [text for name, pair in changes(before, now).items() if (text := _one(name, pair, before, now, words))]
    return "" if not shown else ", ".join(dict.fromkeys(shown)) + "."


def _one(name: str, pair: tuple[Any, Any], before: Spec, now: Spec, words: Wording) -> str:
    if name == "hardware":
        pair = (hardware_in(before), hardware_in(now))
    label = field_label(name, words)
    old, new = (_shown(name, value, words) for value in pair)
    if new is None:
        return words.text("change", "removed", label=label)
    if old is None:
        return words.text("change", "set", label=label, now=new)
    return words.text("change", "from_to", label=label, before=old, now=new)


def _shown(name: str, value: Any, words: Wording) -> str | None:
    if value is None or value == "":
        return None
    return str(value) if name == "hardware" else value_text(name, value, words)


def hardware_in(spec: Spec) -> str | None:
    """The hardware of a spec in words, or None."""
    try:
        return hardware_label(parse_spec({"hardware": spec.get("hardware")})) or None
    except UserError:
        return None
