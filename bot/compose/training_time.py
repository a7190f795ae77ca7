"""How long a training run takes on a card of which only the memory is known: it depends, so it is told for cards of that class."""

from __future__ import annotations

from typing import Final

from bot.answer import Table
from bot.compose import headline, topics
from bot.compose.assumptions import assumption_views
from bot.compose.common import say_why
from bot.compose.draft import Draft
from bot.compose.labels import margin_cell, memory_cell
from bot.compose.runnable import has_room
from bot.explain import cite_devices
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults

# Cards that people train on, from the slowest of each memory class to the fastest.
_TRAINED_ON: Final = (
    "nvidia-rtx-3060-12gb", "nvidia-rtx-4060-ti-16gb", "nvidia-rtx-4080", "nvidia-rtx-3090", "nvidia-rtx-4090",
    "nvidia-rtx-5090", "nvidia-a100-sxm4-40gb", "nvidia-rtx-a6000", "nvidia-l40s", "nvidia-a100-sxm4-80gb", "nvidia-h100-sxm-80gb",
    "nvidia-rtx-pro-6000-workstation", "nvidia-h200-sxm-141gb", "nvidia-b200-sxm",
)  # fmt: skip
_SAME_CLASS: Final = 0.05


def write(draft: Draft, spec: Spec, heard: Heard, defaults: Defaults) -> bool:
    """Fills the draft where the time of a run is asked on an unnamed card of so many GB; False otherwise."""
    entries = list(spec.get("hardware") or ())
    unnamed = len(entries) == 1 and not entries[0].get("accelerator") and entries[0].get("memory_gb")
    if not unnamed or not heard.asks("throughput") or spec.get("task") != "training" or len(heard.specs) != 1:
        return False
    asked = size(spec, defaults)
    found = [one for one in _cards(spec, float(entries[0]["memory_gb"]), defaults) if has_room(one)]
    if not asked.estimate.ok or len(found) < 2 or not _hours(found[0]):
        return False
    words = draft.words
    draft.sized, draft.considered = [asked], found
    for one in found:
        draft.material.add_hours(_hours(one))
    slow, fast = found[0], found[-1]
    draft.headline = words.text(
        "train", "depends", slow=slow.hardware, fast=fast.hardware,
        slow_hours=topics.hours_text(_hours(slow), words), fast_hours=topics.hours_text(_hours(fast), words),
    )  # fmt: skip
    draft.lead = f"{headline.verdict_headline(asked, words)} {headline.lead(asked, words)}"
    draft.table = _table(found, words)
    say_why(draft, asked, heard, draft.sources.query)
    draft.assumptions = assumption_views(asked, words)
    cite_devices(found, draft.sources)
    draft.actions = ("why", "export")
    return True


def _cards(spec: Spec, memory_gb: float, defaults: Defaults) -> list[Sized]:
    known = catalogue().accelerators
    alike = [
        name for name in _TRAINED_ON
        if name in known and known[name].memory_gb and abs((known[name].memory_gb or 0.0) / memory_gb - 1) <= _SAME_CLASS
    ]  # fmt: skip
    count = (spec.get("hardware") or [{}])[0].get("count") or 1
    return [size({**spec, "hardware": [{"accelerator": name, "count": count}]}, defaults) for name in alike]


def _hours(one: Sized) -> dict[str, float]:
    return (one.estimate.training or {}).get("hours") or {}


def _table(found: list[Sized], words: Wording) -> Table:
    keys = ("col_option", "col_time", "col_rate", "col_memory", "col_margin")
    rows = tuple(
        (
            one.hardware,
            topics.hours_text(_hours(one), words),
            words.span((one.estimate.training or {})["tokens_per_second"]),
            memory_cell(one, words),
            margin_cell(one, words),
        )
        for one in found
    )
    columns = tuple(words.text("ui", key) for key in keys)
    return Table(caption=words.text("ui", "train_caption"), columns=columns, rows=rows)
