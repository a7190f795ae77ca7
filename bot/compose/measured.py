"""The nearest public measurements beside an estimate: evidence, with what differs from the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.compose.draft import Draft
from bot.compose.faults import field_label
from bot.explain import with_mark
from bot.reply import names
from bot.sized import Sized

_FIGURES: Final = (
    "weights_gib_per_gpu", "kv_cache_gib_per_gpu", "kv_cache_tokens", "decode_tok_s_per_user", "output_tok_s_total",
    "prefill_tok_s", "ttft_ms", "peak_gib",
)  # fmt: skip
_MOST_FIGURES = 3
_FIELDS: Final = {
    "accelerator": "hardware",
    "hardware.accelerator": "hardware",
    "count": "hardware.count",
    "engine.name": "engine",
    "model": "model.id",
}
# A figure is evidence only where everything that drives it is the same there; what else differs is told.
_WHAT: Final = frozenset({"model.id", "hardware", "hardware.count", "weights", "parallel.tensor"})
_SERVED: Final = _WHAT | {"engine", "kv_cache"}
_DRIVERS: Final[Mapping[str, frozenset[str]]] = {
    "weights_gib_per_gpu": _WHAT,
    "kv_cache_gib_per_gpu": _SERVED,
    "kv_cache_tokens": _SERVED,
    "decode_tok_s_per_user": _SERVED | {"concurrency"},
    "output_tok_s_total": _SERVED | {"concurrency", "context_tokens"},
    "prefill_tok_s": _SERVED,
    "ttft_ms": _SERVED | {"concurrency", "context_tokens"},
    "peak_gib": _WHAT - {"parallel.tensor"}
    | {
        f"training.{name}"
        for name in ("sharding", "offload", "checkpointing", "precision", "optimizer", "sequence_tokens", "micro_batch")
    },
}


def say_measured(draft: Draft, sized: Sized, *, speed: bool = False) -> None:
    """One published measurement of the same deployment, of memory or, where speed was asked for, of speed; none of unlike things."""
    for kind in (*(("speed", "memory") if speed else ("memory", "speed")), "training"):
        for case in sized.estimate.measured:
            if case.get("kind") == kind and (figures := _comparable(case)):
                draft.say("measured", _sentence(case, figures, draft), draft.title("measured"))
                return


def _differs(case: Mapping[str, Any]) -> list[str]:
    return [_FIELDS.get(one["field"], one["field"]) for one in case.get("differs", ())]


def _comparable(case: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a measurement that may stand beside the estimate."""
    differs, measured = set(_differs(case)), case["measured"]
    return {
        name: float(measured[name])
        for name in _FIGURES
        if isinstance(measured.get(name), (int, float)) and measured[name] > 0 and not differs & _DRIVERS[name]
    }


def _sentence(case: Mapping[str, Any], figures: Mapping[str, float], draft: Draft) -> str:
    words = draft.words
    shown = [words.text("measured", name, value=value) for name, value in figures.items()][:_MOST_FIGURES]
    draft.material.add_names([_subject(case), str(case.get("version") or "")])
    mark = draft.sources.link(words.text("cite", "measurement", subject=_subject(case)), str(case["source"]))
    text = words.text("measured", "case", subject=_subject(case), figures=", ".join(shown))
    differs = [field_label(name, words) for name in _differs(case)]
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
