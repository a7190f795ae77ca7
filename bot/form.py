"""The form's fields: filled from a message, checked, and said as a question that the reader takes like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.answer import Lang
from bot.reply import names
from bot.reply.labels import label

# What is offered; everything else can be written in the last field.
FORMATS: Final = ("bf16", "fp8", "int8", "int4 (AWQ)", "q8_0", "q5_k_m", "q4_k_m", "q3_k_m")
ENGINES: Final = ("vLLM", "SGLang", "TensorRT-LLM", "llama.cpp", "Ollama", "MLX")
MAX_TOKENS: Final = 10_000_000
MAX_REQUESTS: Final = 100_000


@dataclass(frozen=True)
class Fields:
    """What stands in the form, as text; the names are the block ids."""

    model: str = ""
    hardware: str = ""
    weights: str = ""
    context: str = ""
    users: str = ""
    engine: str = ""
    rest: str = ""


def filled_from(text: str) -> Fields:
    """The form filled from a message, as far as it names something."""
    from bot.understand.read import read
    from bot.understand.specs import specs_of

    specs = specs_of(read(text)) if text.strip() else []
    return _fields(specs[0]) if specs else Fields()


def _fields(spec: Mapping[str, Any]) -> Fields:
    count = spec.get("concurrency") or spec.get("users")
    return Fields(
        model=str((spec.get("model") or {}).get("id") or ""),
        hardware=", ".join(_counted(part) for part in spec.get("hardware") or ()),
        weights=_offered(str(spec.get("weights") or ""), FORMATS),
        context=str(spec.get("context_tokens") or ""),
        users=str(count or ""),
        engine=_offered(str((spec.get("engine") or {}).get("name") or ""), ENGINES),
    )


def _counted(part: Mapping[str, Any]) -> str:
    return f"{part.get('count') or 1}x {names.device(str(part['accelerator']))}"


def _offered(name: str, choices: tuple[str, ...]) -> str:
    return next((choice for choice in choices if choice.casefold().split(" ")[0] == name.casefold()), "")


def faults(fields: Fields, lang: Lang) -> dict[str, str]:
    """What cannot be taken, by field."""
    found = {
        "model": _model_fault(fields.model, lang),
        "hardware": _hardware_fault(fields.hardware, lang),
        "context": _count_fault(fields.context, MAX_TOKENS, lang),
        "users": _count_fault(fields.users, MAX_REQUESTS, lang),
    }
    return {name: fault for name, fault in found.items() if fault}


def _model_fault(text: str, lang: Lang) -> str:
    from bot.understand.read import read
    from bot.understand.specs import specs_of
    from sizing.catalogue.names import find

    if any("id" in (spec.get("model") or {}) for spec in specs_of(read(text))):
        return ""
    match = find(text, "model")
    if match.id:
        return ""
    suggestions = ", ".join(names.model(each) for each in match.suggestions[:3])
    return label(lang, "form_no_model", suggestions=suggestions) if suggestions else label(lang, "form_no_model_at_all")


def _hardware_fault(text: str, lang: Lang) -> str:
    return "" if not text or hardware_of(text) else label(lang, "form_no_hardware")


def hardware_of(text: str) -> list[dict[str, Any]]:
    """The devices a text names, with their counts."""
    from bot.understand.read import read
    from bot.understand.specs import specs_of

    return [dict(part) for spec in specs_of(read(text)) for part in spec.get("hardware") or ()]


def _count_fault(text: str, most: int, lang: Lang) -> str:
    good = not text or (text.isascii() and text.isdigit() and 0 < int(text) <= most)
    return "" if good else label(lang, "form_not_positive")


def question(fields: Fields, lang: Lang) -> str:
    """The form as the sentence it stands for."""
    details = "".join(
        label(lang, f"ask_{name}", value=getattr(fields, name))
        for name in ("weights", "context", "users", "engine")
        if getattr(fields, name)
    )
    key = "ask_fits" if fields.hardware else "ask_which"
    return label(
        lang, key, model=fields.model, details=details, hardware=fields.hardware, rest=fields.rest.strip()
    ).strip()
