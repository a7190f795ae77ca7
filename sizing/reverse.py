"""The reverse question: which models of the catalogue run well on given hardware, the newest of each family first."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sizing.catalogue.entries import Model
from sizing.catalogue.load import catalogue
from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.engine import estimate
from sizing.errors import UserError
from sizing.estimate import Estimate
from sizing.resolve import resolve
from sizing.search.candidates import quality
from sizing.sensitivity import usual_formats
from sizing.spec import ModelRef, WorkloadSpec

Class = Literal["general", "coding", "vision", "embedding", "reranking", "transcription"]
CLASSES: tuple[Class, ...] = ("general", "coding", "vision", "embedding", "reranking", "transcription")

_CODING = ("coder", "codestral", "devstral", "starcoder", "codegemma", "code-", "-code", "kimi-dev")
_BY_MODALITY: dict[str, Class] = {
    "embedding": "embedding", "reranker": "reranking", "asr": "transcription",
}  # fmt: skip
# Base models, guards and readers of documents are not what people run as an assistant.
_NOT_AN_ASSISTANT = ("-base", "guard", "-math", "-pt", "reward", "draft", "eagle", "ocr", "-vl-2b")
_TRIED = 16
_SHOWN = 4
_RECENT_YEARS = 2


# The families that people ask for, and variants of them that are made for something else than talking or coding.
_BRANDS = (
    "qwen", "gemma", "llama", "mistral", "ministral", "devstral", "codestral", "gpt-oss", "glm", "deepseek", "minimax",
    "nemotron", "kimi", "phi",
)  # fmt: skip
_SPECIAL = (
    *_NOT_AN_ASSISTANT, "-vl", "omni", "think", "reason", "multimodal", "vision", "-v-", "distill", "prover", "medgemma",
    "pixtral", "longcite", "audio",
)  # fmt: skip
_CURRENT_YEARS = 2.25
_SAME_SIZE = 0.75  # of the other's parameters: a model that much smaller plays in another league
_GENERATION_MONTHS = 9


@dataclass(frozen=True, slots=True)
class Fit:
    """A model that runs on the hardware: its format, class of loss and estimate. `fast_enough` is held against the defaults' rate."""

    model: str
    family: str
    kind: Class
    released: str | None
    weights: str
    loss: str
    estimate: Estimate
    fast_enough: bool


def what_fits(
    spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS, kinds: tuple[Class, ...] = CLASSES, shown: int = _SHOWN
) -> dict[Class, tuple[Fit, ...]]:
    """By class the models that fit on the spec's hardware in at least the team's bits, newest and largest first, one of each family.

    The spec's context, load and engine hold for each model. Models of the last two years before the newest are looked at first.

    Raises:
        UserError: no hardware is named, or its name is unknown.
    """
    if not spec.hardware:
        raise UserError("hardware", None, "name the hardware that models should run on")
    return {kind: fits for kind in kinds if (fits := tuple(_of_class(spec, kind, defaults, shown)))}


def _of_class(spec: WorkloadSpec, kind: Class, defaults: Defaults, shown: int) -> Iterator[Fit]:
    seen: set[str] = set()
    found = 0
    for tried, model in enumerate(_ordered(kind, spec)):
        if found >= shown or tried >= _TRIED:
            return
        if _family(model) in seen:
            continue
        fit = _fit(spec, model, kind, defaults)
        if fit is not None:
            seen.add(_family(model))
            found += 1
            yield fit


def _ordered(kind: Class, spec: WorkloadSpec) -> list[Model]:
    """The largest that could fit of each family's newest generation first."""
    room = _room_bytes(spec)
    models = [model for model in catalogue().models.values() if kind in classes_of(model) and _may_fit(model, room)]
    newest = max((model.released or "" for model in models), default="")
    recent = [model for model in models if _years(newest, model.released) < _RECENT_YEARS] or models
    return sorted(recent, key=lambda model: (-_years(newest, model.released) // 1, model.params_total), reverse=True)


def brand_of(model: Model) -> str | None:
    """The family among those that people ask for most; None for any other, and for variants with a purpose of their own."""
    name = model.id.partition("/")[2].lower()
    if any(word in name for word in _SPECIAL):
        return None
    return next((brand for brand in _BRANDS if brand in name), None)


@functools.cache
def current_models() -> tuple[Model, ...]:
    """What one would run today, the largest first: of each well-known family, size and kind the newest release of the last years."""
    talking = [model for model in catalogue().models.values() if {"general", "coding"} & set(classes_of(model))]
    newest = max(model.released or "" for model in talking)
    lately = [model for model in talking if brand_of(model) and _years(newest, model.released) < _CURRENT_YEARS]
    kept = [model for model in lately if not any(_supersedes(other, model) for other in lately)]
    return tuple(sorted(kept, key=lambda model: (-model.params_total, model.id)))


def generation(model: Model) -> int:
    """0 for models of the last nine months before the newest in the catalogue, 1 for those of the nine months before, and so on."""
    newest = max(one.released or "" for one in current_models())
    return int(_years(newest, model.released) * 12 // _GENERATION_MONTHS)


def _supersedes(other: Model, model: Model) -> bool:
    """Of the same family, use and build, about as large, and newer."""
    alike = brand_of(other) == brand_of(model) and classes_of(other)[0] == classes_of(model)[0]
    ratio = min(other.params_total, model.params_total) / max(other.params_total, model.params_total)
    newer = ((other.released or ""), model.id) > ((model.released or ""), other.id)
    return other is not model and alike and bool(other.moe) == bool(model.moe) and ratio >= _SAME_SIZE and newer


def _room_bytes(spec: WorkloadSpec) -> float:
    probe = resolve(spec.model_copy(update={"model": ModelRef(params_b=1.0)}))
    return sum((device.visible_gib or 0.0) * 2**30 for device in probe.devices)


def _may_fit(model: Model, room_bytes: float) -> bool:
    """At four bits, with nothing beside the weights."""
    return model.params_total * 0.5 <= room_bytes


def _years(newest: str, released: str | None) -> float:
    if not released or not newest:
        return 99.0
    return int(newest[:4]) - int(released[:4]) + (int(newest[5:7] or 1) - int(released[5:7] or 1)) / 12


def classes_of(model: Model) -> tuple[Class, ...]:
    """What a model is used for; () for what is not an assistant, an encoder or a transcriber. Models that see are assistants too."""
    name = model.name.lower()
    if any(word in name for word in _NOT_AN_ASSISTANT):
        return ()
    codes = any(word in name for word in _CODING)
    if model.modality == "text":
        return ("coding",) if codes else ("general",)
    if model.modality == "vision-text":
        return ("coding" if codes else "general", "vision")
    found = _BY_MODALITY.get(model.modality)
    return (found,) if found else ()


def _family(model: Model) -> str:
    return model.family.split()[0].rstrip("0123456789.").lower() or model.family.lower()


def _fit(spec: WorkloadSpec, model: Model, kind: Class, defaults: Defaults) -> Fit | None:
    task = {"embedding": "embedding", "reranking": "reranking", "transcription": "transcription"}.get(kind, "inference")
    named = spec.model_copy(update={"model": ModelRef(id=model.id), "task": task})
    for weights in (spec.weights,) if spec.weights or task != "inference" else usual_formats(named, defaults):
        one = named.model_copy(update={"weights": weights})
        result = estimate(one, defaults, derivation=False)
        if result.fits and result.verdict == "fits" and not _spills(result):
            resolved = resolve(one.model_copy(update={"task": "inference"}), defaults)
            loss = quality(resolved.weights.id, resolved.architecture)
            return Fit(
                model.id, model.family, kind, model.released, resolved.weights.id, loss, result, _fast(result, defaults)
            )
    return None


def _spills(result: Estimate) -> bool:
    memory = result.memory
    return bool(memory and memory.host.weights_gib > 0.25 * sum(device.weights_gib for device in memory.per_device))


def _fast(result: Estimate, defaults: Defaults) -> bool:
    rate = result.speed.decode_tok_s_per_user if result.speed else None
    return rate is None or rate.expected >= (defaults.min_tokens_s_per_user or 0.0)
