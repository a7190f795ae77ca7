"""Assumptions as shown: what was taken, why, and what else may be taken in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from bot.answer import Alternative, AssumptionView
from bot.compose.faults import field_label
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.estimate import Assumption

_LENGTHS: Final = (4096, 8192, 16384, 32768, 65536, 131072)
_LOADS: Final = (1, 5, 10, 25, 50)
_SHARES: Final = (0.05, 0.1, 0.2, 0.5)
_SERVER_FORMATS: Final = ("bf16", "fp8", "awq-int4")
_LOCAL_FORMATS: Final = ("q4_k_m", "q6_k", "q8_0", "bf16")
_SERVER_KV: Final = ("fp8",)
_LOCAL_KV: Final = ("q8_0", "q4_0")
_ENGINES: Final = ("vllm", "llama.cpp")
_RAM_GB_S: Final = (
    51.2,
    179.2,
    307.2,
    460.8,
)  # DDR4-3200 on two channels; DDR5-5600 on four; DDR5-4800 on eight and on twelve
_MOST_CHOICES = 4
# What a verdict hangs on most often goes first: a reply shows only the first of them.
_FIRST: Final = (
    "model", "model.id", "weights", "context_tokens", "concurrency", "active_share", "training.method", "training.sequence_tokens",
    "training.micro_batch", "host.bandwidth_gb_s", "kv_cache", "engine.name", "work.documents", "work.pages_per_document",
    "training.checkpointing",
)  # fmt: skip
_RANK: Final = {field: place for place, field in enumerate(_FIRST)}
# These follow from what the user did say; they are told in the answer, not offered for change.
_NO_CHOICE: Final = frozenset({"sum_of_lengths"})


def assumption_views(sized: Sized, words: Wording) -> tuple[AssumptionView, ...]:
    """Every assumption of an estimate with its alternatives, those that move it most first; the same field only once."""
    shown: dict[str, AssumptionView] = {}
    for assumption in sized.estimate.assumptions:
        shown.setdefault(assumption.field, _view(assumption, sized, words))
    return tuple(sorted(shown.values(), key=lambda view: _RANK.get(view.field, len(_RANK))))


def _view(assumption: Assumption, sized: Sized, words: Wording) -> AssumptionView:
    value = value_text(assumption.field, assumption.value, words)
    why = why_text(assumption, words)
    choices = () if assumption.code in _NO_CHOICE else _alternatives(assumption, sized, words)
    shown = f"{value} ({why})" if why else value
    label = field_label(assumption.field, words)
    return AssumptionView(field=assumption.field, label=label, value=shown, alternatives=tuple(choices), reason=why)


def assumption_view(assumption: Assumption, words: Wording) -> AssumptionView:
    """An assumption without alternatives: what was taken for work beside a model."""
    value, why = value_text(assumption.field, assumption.value, words), why_text(assumption, words)
    label = field_label(assumption.field, words)
    return AssumptionView(field=assumption.field, label=label, value=f"{value} ({why})" if why else value, reason=why)


def why_text(assumption: Assumption, words: Wording) -> str:
    """Why this was assumed; a code that has no text yet says nothing."""
    if not words.has("assumption", assumption.code):
        return ""
    params: Mapping[str, Any] = {"engine": "", **assumption.params}
    return words.text("assumption", assumption.code, **params)


def value_text(field: str, value: Any, words: Wording) -> str:
    """A value of a field as people write it."""
    if value is None:
        return words.label("words", "unknown")
    if field in ("context_tokens", "input_tokens", "output_tokens", "prior_context_tokens", "training.sequence_tokens"):
        return words.text("value", "tokens", count=value)
    if field in ("active_share", "reserve", "draft_acceptance"):
        return words.text("value", "share", share=value)
    if field == "host.bandwidth_gb_s":
        return words.text("value", "bandwidth", rate=value)
    if field == "host.nvlink":
        return words.text("value", "bridge" if value else "no_bridge")
    if field.startswith("parallel."):
        return _parallel(field, value, words)
    return _name(field, value, words)


def _parallel(field: str, value: Any, words: Wording) -> str:
    keys = {"parallel.tensor": "tensor_parallel", "parallel.pipeline": "pipeline_parallel", "parallel.data": "replicas"}
    return words.text("value", keys[field], count=value) if field in keys else words.plain(value)


def _name(field: str, value: Any, words: Wording) -> str:
    if field in ("weights", "kv_cache") and isinstance(value, str):
        return names.weight_format(value)
    if field == "engine.name":
        return names.engine(str(value))
    if field in ("model", "model.id"):
        return names.model(str(value))
    return words.label("value", str(value)) if words.has("value", str(value)) else words.plain(value)


def _alternatives(assumption: Assumption, sized: Sized, words: Wording) -> list[Alternative]:
    field, taken = assumption.field, assumption.value
    local = sized.resolved is not None and sized.resolved.engine.kind == "local"
    if field == "weights":
        return _choices(
            _LOCAL_FORMATS if local else _SERVER_FORMATS, taken, field, words, lambda name: {"weights": name}
        )
    if field == "kv_cache":
        return _choices(_LOCAL_KV if local else _SERVER_KV, taken, field, words, lambda name: {"kv_cache": name})
    if field == "engine.name":
        return _choices(_ENGINES, taken, field, words, lambda name: {"engine": {"name": name}})
    if field == "concurrency":
        return _choices(_LOADS, taken, field, words, lambda count: {"concurrency": count})
    if field == "active_share":
        return _choices(_SHARES, taken, field, words, lambda share: {"active_share": share})
    if field == "context_tokens":
        return _choices(_lengths(sized), taken, field, words, lambda length: {"context_tokens": length})
    if field == "host.bandwidth_gb_s":
        return _choices(_RAM_GB_S, taken, field, words, lambda rate: {"host": {"bandwidth_gb_s": rate}})
    if field == "host.nvlink":
        return _choices((True,), taken, field, words, lambda bridged: {"host": {"nvlink": bridged}})
    if field == "model":
        others = assumption.params.get("candidates", ())
        return _choices(others, taken, field, words, lambda ident: {"model": {"id": ident}})
    return []


def _choices(values: Iterable[Any], taken: Any, field: str, words: Wording, delta: Any) -> list[Alternative]:
    taken_label = value_text(field, taken, words)
    found: dict[str, Alternative] = {}
    for value in values:
        label = value_text(field, value, words)
        if label != taken_label:
            found.setdefault(label, Alternative(label=label, delta=delta(value)))
    return list(found.values())[:_MOST_CHOICES]


def _lengths(sized: Sized) -> tuple[int, ...]:
    longest = sized.resolved.architecture.max_position_tokens if sized.resolved else None
    return tuple(length for length in _LENGTHS if longest is None or length <= longest)
