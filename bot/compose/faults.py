"""What could not be understood or sized, said so that the next message works."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from bot.reply import names
from bot.reply.wording import Wording
from sizing.estimate import Failure

FaultKind = Literal["missing", "unknown", "impossible"]

_MISSING: Final = {"model.id": "model_missing", "model": "model_missing", "hardware": "hardware_missing"}
_UNKNOWN: Final = {
    "model.id": ("model_unknown", "give_instead"),
    "hardware.accelerator": ("accelerator_unknown", "memory_instead"),
    "weights": ("format_unknown", None),
    "kv_cache": ("kv_unknown", None),
}
_INDEX = re.compile(r"\.\d+(?=\.|$)")
_LONGEST_VALUE = 60
_CONFIG: Final = "model.config."


def fault_text(fault: Failure, words: Wording) -> str:
    """One or two sentences in the user's language: what, and what would work."""
    field = _INDEX.sub("", fault.field).removeprefix("beside.")
    if fault.value is None and field in _MISSING:
        return words.text("error", _MISSING[field])
    if field in _UNKNOWN and _is_unknown(fault):
        return _unknown(field, fault, words)
    in_file = field.removeprefix(_CONFIG)
    if in_file != field and fault.value is None:
        return words.text("error", "config_lacks", name=in_file)
    if fault.value is None or isinstance(fault.value, (dict, list)):
        return _with_detail(words.text("error", "impossible_bare", label=field_label(field, words)), fault, words)
    shown = _short(fault.value)
    return _with_detail(words.text("error", "impossible", label=field_label(field, words), value=shown), fault, words)


def field_label(field: str, words: Wording) -> str:
    """The name of a field of the spec; a nested field falls back to its group."""
    if words.has("field", field):
        return words.label("field", field)
    if field.startswith(_CONFIG):
        return f"{words.label('field', 'model.config')} ({field.removeprefix(_CONFIG)})"
    group = field.partition(".")[0]
    return words.label("field", group if words.has("field", group) else field)


def did_you_mean(suggestions: Sequence[str], words: Wording) -> str:
    """ "Did you mean A or B?", empty without suggestions."""
    shown = list(dict.fromkeys(known_name(suggestion) for suggestion in suggestions))
    return words.text("error", "did_you_mean", names=words.listed(shown, "or")) if shown else ""


def known_name(ident: str) -> str:
    """The short name of anything in the catalogue."""
    from sizing.catalogue.load import catalogue

    found = catalogue()
    if ident in found.accelerators:
        return names.device(ident)
    if ident in found.models:
        return names.model(ident)
    return names.weight_format(ident) if ident in found.formats or ident in found.kv_formats else ident


def _is_unknown(fault: Failure) -> bool:
    return fault.message.lower().startswith("unknown")


def _unknown(field: str, fault: Failure, words: Wording) -> str:
    key, instead = _UNKNOWN[field]
    hint = did_you_mean(fault.suggestions, words) or (words.text("error", instead) if instead else "")
    return " ".join(part for part in (words.text("error", key, value=_short(fault.value)), hint) if part)


def _with_detail(text: str, fault: Failure, words: Wording) -> str:
    """English messages of the engine say what is allowed; German names what the engine suggests."""
    if words.lang == "en":
        detail = fault.message[:1].upper() + fault.message[1:].rstrip(".") + "."
        return f"{text} {detail}"
    if not fault.suggestions:
        return text
    named = [known_name(suggestion) for suggestion in fault.suggestions]
    return f"{text} {words.text('error', 'would_work', names=words.listed(named, 'or'))}"


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
