"""Questions of planning and operation that need no sum: a short answer of our own, with the note that goes into detail."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.prose import sentences
from bot.reply import names
from bot.thread import Spec
from bot.understand.planning import CARD, folded_text, topic_of
from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find

_LIST: Final = re.compile(rf"(?:welche|which|what) {CARD}.{{0,30}}?(\d{{1,3}}) ?gi?b\b")
_HOW_MUCH: Final = re.compile(r"(?:wie ?viel|how much) (?:speicher|vram|memory|ram)\b.{0,12}(?:hat|has|does|have)")
_MOST_DEVICES = 10
_WITHOUT_HARDWARE: Final = ("best", "start", "services")  # with a card there is something to work out


def write(draft: Draft, spec: Spec, text: str) -> bool:
    """A short answer with its note, where nothing is named that could be sized."""
    if spec.get("model") and spec.get("hardware"):
        return False
    if _write_facts(draft, spec, text):
        return True
    found = topic_of(text)
    if found is None or (spec.get("hardware") and found[0] in _WITHOUT_HARDWARE) or spec.get("model"):
        return False
    key, topic = found[0], found[1]
    answer = draft.words.text("advice", key)
    draft.material.add_text(answer)
    draft.intent = "explain"
    first, *rest = sentences(answer)
    mark = draft.sources.topic(topic, answer)
    draft.headline = first if rest else with_mark(first, mark)
    draft.lead = with_mark(" ".join(rest), mark) if rest else ""
    return True


def _write_facts(draft: Draft, spec: Spec, text: str) -> bool:
    """Plain facts of the catalogue: the devices of a memory class, or the memory of a device."""
    folded = folded_text(text)
    listed = _LIST.search(folded)
    if listed and not spec.get("model"):
        return _write_class(draft, float(listed[1]))
    entries = list(spec.get("hardware") or [])
    if not _HOW_MUCH.search(folded) or len(entries) != 1 or spec.get("model"):
        return False
    ident = find(str(entries[0].get("accelerator") or ""), "accelerator", False).id
    return ident is not None and _write_device(draft, catalogue().accelerators[ident])


def _write_class(draft: Draft, memory_gb: float) -> bool:
    devices = [one for one in catalogue().accelerators.values() if one.memory_gb is not None and round(one.memory_gb) == memory_gb
               and one.status == "shipping" and one.kind != "cpu"]  # fmt: skip
    if not devices:
        return False
    shown = [names.device(one.id) for one in devices[:_MOST_DEVICES]]
    draft.material.add_names([*shown, *(one.name for one in devices)])
    draft.material.add(memory_gb * 1e9, "bytes")
    draft.intent = "explain"
    text = draft.words.text("advice", "class_list", devices=draft.words.listed(shown), memory=memory_gb)
    draft.headline = with_mark(text, draft.sources.topic("memory_classes", text))
    return True


def _write_device(draft: Draft, device: Accelerator) -> bool:
    if device.memory_gb is None:
        return False
    params: dict[str, Any] = {"device": names.device(device.id), "memory": device.memory_gb, "kind": device.memory_type}
    draft.material.add_names([params["device"], device.name, device.memory_type])
    draft.material.add_data(
        {"memory_gb": device.memory_gb, "bandwidth_gb_s": device.bandwidth_gb_s, "tdp_w": device.tdp_w}
    )
    known = device.bandwidth_gb_s is not None and device.tdp_w is not None
    key = "device_facts" if known else "device_facts_short"
    draft.intent = "explain"
    draft.headline = draft.words.text("advice", key, **params, bandwidth=device.bandwidth_gb_s, power=device.tdp_w)
    return True
