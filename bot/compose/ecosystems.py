"""Chips that are no GPU in words: what each kind binds one to, and when not to take it."""

from __future__ import annotations

import re
from typing import Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.sized import Sized
from bot.thread import Spec
from sizing.catalogue.load import catalogue
from sizing.ecosystems import ecosystem_of

_BINDING: Final = frozenset({"tpu", "neuron", "gaudi", "npu_server", "wafer", "other"})
_CHIPS: Final = (
    ("npu_client", re.compile(r"\bnpus?\b", re.IGNORECASE)),
    ("tpu", re.compile(r"\btpus?\b", re.IGNORECASE)),
    ("neuron", re.compile(r"\b(?:inferentia|trainium|neuron)\b", re.IGNORECASE)),
    ("gaudi", re.compile(r"\bgaudi\b", re.IGNORECASE)),
    ("npu_server", re.compile(r"\bascend\b", re.IGNORECASE)),
)


def say_ecosystem(draft: Draft, sized: Sized) -> None:
    """What a chip that is no GPU binds one to, wherever such a chip is sized."""
    for device in {one.accelerator for one in sized.devices if one.accelerator}:
        family = ecosystem_of(catalogue().accelerators[device]).family
        if family in _BINDING:
            text = draft.words.text("ecosystem", family)
            if all(text not in paragraph.text for paragraph in draft.paragraphs):
                draft.say("note", with_mark(text, draft.sources.topic("tpu_npu", text)), draft.title("ecosystem"))


def write(draft: Draft, spec: Spec, text: str) -> bool:
    """A kind of chip without a model of chip: what it binds one to, and when not to take it."""
    named = any(entry.get("accelerator") or entry.get("memory_gb") for entry in spec.get("hardware") or ())
    kinds = [kind for kind, pattern in _CHIPS if pattern.search(text)]
    if named or not kinds:
        return False
    first, *rest = (draft.words.text("ecosystem", kind) for kind in kinds)
    draft.headline = with_mark(first, draft.sources.topic("tpu_npu", first))
    for sentence in (*rest, draft.words.text("ecosystem", "gpu")):
        draft.say("note", sentence, draft.title("ecosystem"))
    return True
