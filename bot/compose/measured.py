"""The nearest public measurements beside an estimate: evidence, with what differs from the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from bot.compose.draft import Draft
from bot.compose.faults import field_label
from bot.explain import with_mark
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized

_FIGURES: Final = (
    "weights_gib_per_gpu", "kv_cache_gib_per_gpu", "kv_cache_tokens", "decode_tok_s_per_user", "output_tok_s_total",
    "prefill_tok_s", "ttft_ms",
)  # fmt: skip
_MOST_FIGURES = 3
# A case that differs in more than this says little to somebody who asked about their own machine.
_MOST_DIFFERENCES = 4
_FIELDS: Final = {
    "accelerator": "hardware",
    "hardware.accelerator": "hardware",
    "count": "hardware.count",
    "engine": "engine",
}


def say_measured(draft: Draft, sized: Sized) -> None:
    """One measurement of memory and one of speed, where something comparable was published."""
    for kind in ("memory", "speed"):
        near = next((one for one in sized.estimate.measured if one.get("kind") == kind and _is_near(one)), None)
        if near is not None:
            draft.say("measured", _sentence(near, draft), draft.title("measured"))


def _is_near(case: Mapping[str, Any]) -> bool:
    differs = {_FIELDS.get(one["field"], one["field"]) for one in case.get("differs", ())}
    elsewhere = "hardware" in differs and bool(differs & {"model", "model.id"})
    return len(differs) <= _MOST_DIFFERENCES and not elsewhere and any(name in case["measured"] for name in _FIGURES)


def _sentence(case: Mapping[str, Any], draft: Draft) -> str:
    words = draft.words
    figures = list(_figures(case["measured"], words))[:_MOST_FIGURES]
    draft.material.add_names([_subject(case), str(case.get("version") or "")])
    mark = draft.sources.link(words.text("cite", "measurement", subject=_subject(case)), str(case["source"]))
    text = words.text("measured", "case", subject=_subject(case), figures=", ".join(figures))
    differs = [field_label(_FIELDS.get(one["field"], one["field"]), words) for one in case.get("differs", ())]
    if differs:
        text = f"{text[:-1]}; {words.text('measured', 'differs', fields=', '.join(dict.fromkeys(differs)))}"
    return with_mark(text, mark)


def _subject(case: Mapping[str, Any]) -> str:
    """`Llama 3.3 70B, FP8, 4 × H100 SXM 80 GB, vLLM 0.19`."""
    engine = f"{names.engine(case['engine'])} {case.get('version') or ''}".strip() if case.get("engine") else ""
    hardware = names.counted(int(case.get("devices") or 1), _device_id(str(case.get("accelerator") or "")))
    weights = names.weight_format(str(case["weights"])) if case.get("weights") else ""
    return ", ".join(part for part in (names.model(str(case["model"])), weights, hardware, engine) if part)


def _device_id(written: str) -> str:
    from sizing.catalogue.names import find

    return find(written, "accelerator", False).id or written


def _figures(measured: Mapping[str, Any], words: Wording) -> Iterable[str]:
    for name in _FIGURES:
        value = measured.get(name)
        if isinstance(value, (int, float)):
            yield words.text("measured", name, value=value)
