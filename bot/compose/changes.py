"""What changed against the last turn, in words."""

from __future__ import annotations

from typing import Any, Final

from bot.compose.assumptions import value_text
from bot.compose.faults import field_label
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import hardware_label
from bot.specs import changes
from bot.thread import Spec
from bot.written import literal
from sizing.errors import UserError
from sizing.spec import parse_spec


def change_text(before: Spec, now: Spec, words: Wording) -> str:
    """`format Q4_K_M → FP8, concurrent requests 10 → 5`; empty where nothing differs."""
    shown = [text for name, pair in changes(before, now).items() if (text := _one(name, pair, before, now, words))]
    return "" if not shown else ", ".join(dict.fromkeys(shown)) + "."


# What a change of these says is said by another field, or by nobody: a currency beside its amount, the kind of a load.
_SILENT: Final = ("currency", "budget_currency", "budget_period", "pattern", "period")
_MONEY: Final = ("amount", "budget")
_SHARES: Final = ("utilisation", "active_share", "availability", "peak_hour_share", "discount")


def _one(name: str, pair: tuple[Any, Any], before: Spec, now: Spec, words: Wording) -> str:
    if name == "hardware":
        if _is_now_counted(before, now):
            return ""
        pair = (_hardware(before), _hardware(now))
    if name.rpartition(".")[2] in _SILENT:
        return ""
    label = field_label(name, words)
    old, new = (_shown(name, value, words, spec) for value, spec in zip(pair, (before, now), strict=True))
    if new is None:
        return words.text("change", "removed", label=label)
    if old is None:
        return words.text("change", "set", label=label, now=new)
    return words.text("change", "from_to", label=label, before=old, now=new)


def _is_now_counted(before: Spec, now: Spec) -> bool:
    """The card is the same, and its open number is the one that was found."""
    uncounted = [{key: value for key, value in entry.items() if key != "count"} for entry in now.get("hardware") or ()]
    return uncounted == (before.get("hardware") or [])


def _shown(name: str, value: Any, words: Wording, spec: Spec) -> str | None:
    if value is None or value == "":
        return None
    kind = name.rpartition(".")[2]
    if kind in _MONEY and isinstance(value, (int, float)):
        return words.money(float(value), _currency(name, spec))
    if kind in _SHARES and isinstance(value, (int, float)):
        return words.percent(float(value))
    if kind == "params_b":
        return literal(f"{words.number(float(value))}B")
    if name == "targets.ttft_s":
        return words.seconds(float(value))
    return str(value) if name == "hardware" else value_text(name, value, words)


def _currency(name: str, spec: Spec) -> str:
    """The currency that stands beside an amount."""
    group: Any = spec
    for part in name.split(".")[:-1]:
        group = group.get(part) or {}
    own = group.get("currency") or group.get("budget_currency")
    return str(own or (spec.get("usage") or {}).get("currency") or "EUR")


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
