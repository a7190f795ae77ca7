"""What changed against the last turn, in words."""

from __future__ import annotations

from typing import Any

from bot.compose.assumptions import value_text
from bot.compose.faults import field_label
from bot.reply import names
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
        pair = (_hardware(before), _hardware(now))
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


def named_in(spec: Spec) -> list[str]:
    """The names that a text on this spec may write: its hardware, model and formats."""
    ident = (spec.get("model") or {}).get("id")
    formats = [spec[key] for key in ("weights", "kv_cache") if isinstance(spec.get(key), str)]
    return [
        *([hardware] if (hardware := _hardware(spec)) else []),
        *([names.model(str(ident))] if ident else []),
        *map(names.weight_format, formats),
    ]


def _hardware(spec: Spec) -> str | None:
    try:
        return hardware_label(parse_spec({"hardware": spec.get("hardware")})) or None
    except UserError:
        return None
