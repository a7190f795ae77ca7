"""What the reader took an open word to mean, as assumptions that can be changed like those of the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.answer import Alternative, AssumptionView
from bot.compose.faults import field_label
from bot.heard import Heard
from bot.open_question import cards_of
from bot.reply import names
from bot.reply.wording import Wording
from bot.thread import Spec
from bot.understand.llm import SECOND_READING
from bot.understand.request import Assumption

_MOST_CHOICES = 4


def reading_views(heard: Heard, words: Wording) -> tuple[AssumptionView, ...]:
    """The reader's assumptions that the specs still rest on; a name that only one reading has needs none."""
    views = tuple(view for reading in heard.readings if (view := _view(reading, heard.specs, words)) is not None)
    return (*views, _open_device(heard, words)) if cards_of(heard) else views


def _view(reading: Assumption, specs: Iterable[Spec], words: Wording) -> AssumptionView | None:
    if reading.why == SECOND_READING:
        label = field_label({"models": "model"}.get(reading.field, reading.field), words)
        return AssumptionView(
            field=reading.field, label=label, value=f"“{reading.value}” ({words.text('assumption', SECOND_READING)})"
        )
    if reading.field == "budget":
        return _currency(reading, tuple(specs), words)
    if reading.field == "models":
        return _model(reading, tuple(specs), words)
    return _device(reading, tuple(specs), words) if reading.field == "hardware" else None


def _model(reading: Assumption, specs: tuple[Spec, ...], words: Wording) -> AssumptionView | None:
    if not specs or any((spec.get("model") or {}).get("id") != reading.value for spec in specs):
        return None
    choices = ((names.model(other), {"model": {"id": other}}) for other in reading.others)
    return _with_choices("model", names.model(reading.value), choices, words)


def _currency(reading: Assumption, specs: tuple[Spec, ...], words: Wording) -> AssumptionView | None:
    if not specs or any((spec.get("targets") or {}).get("budget_currency") != reading.value for spec in specs):
        return None
    others = tuple(Alternative(label=other, delta={"targets": {"budget_currency": other}}) for other in reading.others)
    label = field_label("targets.budget_currency", words)
    return AssumptionView(field="targets.budget_currency", label=label, value=reading.value, alternatives=others)


def _device(reading: Assumption, specs: tuple[Spec, ...], words: Wording) -> AssumptionView | None:
    if not specs or any(len(spec.get("hardware", ())) != 1 for spec in specs):
        return None
    entry: Spec = specs[0]["hardware"][0]
    if any(spec["hardware"] != [entry] for spec in specs) or entry.get("accelerator") != reading.value:
        return None
    choices = ((names.device(other), {"hardware": [{**entry, "accelerator": other}]}) for other in reading.others)
    return _with_choices("hardware", names.device(reading.value), choices, words)


def _open_device(heard: Heard, words: Wording) -> AssumptionView:
    """A card that is asked back for: each one that the word may mean, in the number said."""
    choices = tuple(
        Alternative(label=names.device(str(card["accelerator"])), delta={"hardware": [card]})
        for card in cards_of(heard)
    )
    label, unknown = field_label("hardware", words), words.label("words", "unknown")
    return AssumptionView(field="hardware", label=label, value=unknown, alternatives=choices[:_MOST_CHOICES])


def _with_choices(
    field: str, taken: str, choices: Iterable[tuple[str, dict[str, Any]]], words: Wording
) -> AssumptionView:
    found: dict[str, Alternative] = {}
    for label, delta in choices:
        if label != taken:
            found.setdefault(label, Alternative(label=label, delta=delta))
    why = words.text("assumption", "customary_model")
    return AssumptionView(
        field=field,
        label=field_label(field, words),
        value=f"{taken} ({why})",
        alternatives=tuple(found.values())[:_MOST_CHOICES],
    )
