"""Training that is no adaptation of a language model: one from nothing, and pipelines for pictures."""

from __future__ import annotations

import re
from typing import Final

from bot.compose import work
from bot.compose.common import parsed_or_none
from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.heard import Heard
from bot.reply import names
from bot.sized import hardware_label, size
from bot.thread import Spec
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.resolve import resolve_model
from sizing.spec import WorkloadSpec
from sizing.units import GIB
from sizing.work.pipeline_training import pipeline_training

_FROM_SCRATCH: Final = re.compile(
    r"\b(?:von (?:null|grund auf)|from scratch|from zero|pre-?train\w*|vortrainier\w*)", re.IGNORECASE
)
_SCRATCH_PARAMS_B: Final = 7.0
_CHINCHILLA: Final = 20.0


def write(draft: Draft, spec: Spec, heard: Heard, text: str) -> bool:
    """Fills the draft for a model trained from nothing, or for a pipeline; False for adapting a language model."""
    if heard.intent != "finetune":
        return False
    parsed = parsed_or_none(spec)
    if parsed is None:
        return False
    if _FROM_SCRATCH.search(text) and parsed.hardware:
        return _write_scratch(draft, parsed)
    return _write_pipeline(draft, parsed)


def _write_scratch(draft: Draft, parsed: WorkloadSpec) -> bool:
    """A model of its own from nothing: the time that 20 tokens a parameter take on these cards."""
    params = (parsed.model.params_b if parsed.model else None) or _SCRATCH_PARAMS_B
    tokens = _CHINCHILLA * params
    training = {"method": "full", "dataset_tokens": tokens * 1e9, "sharding": "zero3", "sequence_tokens": 4096}
    plain = {
        "task": "training",
        "model": {"params_b": params},
        "training": training,
        "hardware": [entry.model_dump(exclude_none=True) for entry in parsed.hardware],
    }
    sized = size(plain, Defaults())
    hours = (sized.estimate.training or {}).get("hours")
    if not hours:
        return False
    words = draft.words
    draft.sized = [sized]
    seconds = work.hours_as_seconds(hours)
    work.add_times(draft, seconds)
    draft.material.add_data({"params": params, "tokens": tokens, "each": _CHINCHILLA})
    draft.headline = words.text(
        "headline", "scratch", params=params, time=work.span_time(seconds, words), hardware=hardware_label(parsed)
    )
    draft.lead = words.text("fitting", "scratch", tokens=tokens)
    need = max(device.total_gib for device in sized.devices)
    sentence = words.text("fitting", "scratch_memory", params=params, need=need)
    draft.say("note", with_mark(sentence, draft.sources.topic("training_time", sentence)), draft.title("training"))
    return True


def _write_pipeline(draft: Draft, parsed: WorkloadSpec) -> bool:
    """Training an image or video model: states by method on the part that draws."""
    entry = catalogue().models.get(str(parsed.model.id)) if parsed.model else None
    if entry is None or not entry.components:
        return False
    model, _ = resolve_model(parsed.model)
    found = pipeline_training(model)
    if found is None:
        return False
    words, lora = draft.words, bool(parsed.training and parsed.training.method in ("lora", "qlora"))
    activations = found.activations_bytes
    need, pure = (
        draft.work_out(
            name, "states_bytes + activations_bytes", "bytes", states_bytes=states, activations_bytes=activations
        )
        for name, states in (
            ("need", found.lora_bytes if lora else found.mixed_bytes),
            ("need_in_16_bit", found.pure_bytes),
        )
    )
    for value in (
        found.mixed_bytes,
        found.pure_bytes,
        found.small_bytes,
        found.lora_bytes,
        found.frozen_bytes,
        activations,
    ):
        draft.material.add(value, "bytes")
    draft.material.add(found.params)
    name = names.model(model.id)
    draft.material.add_names([name])
    draft.headline = words.text(
        "headline",
        "pipeline_lora" if lora else "pipeline",
        model=name,
        need=need / GIB,
        pure=pure / GIB,
    )
    sentence = words.text(
        "fitting",
        "pipeline",
        role=words.text("work", f"role_{found.role}"),
        params=found.params / 1e9,
        mixed=found.mixed_bytes / GIB,
        pure=found.pure_bytes / GIB,
        small=found.small_bytes / GIB,
        lora=found.lora_bytes / GIB,
        frozen=found.frozen_bytes / GIB,
    )
    draft.say("note", with_mark(sentence, draft.sources.topic("training_memory", sentence)), draft.title("training"))
    draft.say("note", words.text("fitting", "pipeline_activations", act=activations / GIB))
    return True
