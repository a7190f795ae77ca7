"""Derivations in words: how a quantity came about, formula by formula, down to inputs and sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.answer import Paragraph
from bot.reply.wording import Wording
from sizing.estimate import DerivationStep


def paragraph(step: DerivationStep, words: Wording, with_inputs: bool) -> Paragraph:
    """`weights: sum over … = 39.6 GiB`, and with its inputs and sources where asked."""
    parts = [f"{words.formula(step.formula)} = {amount(step.value, step.unit, words)}"]
    if with_inputs and (inputs := list(_inputs(step.inputs, words))):
        parts.append(words.text("explain", "inputs", inputs=", ".join(inputs)))
    if with_inputs and step.sources:
        parts.append(
            words.text("explain", "from", sources="; ".join(_source(source, words) for source in step.sources))
        )
    return Paragraph(kind="derivation", title=words.label("quantity", step.quantity) + ":", text=" ".join(parts))


def amount(value: float, unit: str, words: Wording) -> str:
    """A value with its unit as the engine names it."""
    if unit in ("bytes", "B"):
        return words.bytes(value)
    return f"{words.number(value)} {words.label('units', unit) if words.has('units', unit) else unit}".strip()


def _inputs(inputs: Mapping[str, Any], words: Wording) -> Iterable[str]:
    said = (
        (key, value)
        for key, value in inputs.items()
        if value is not None and not isinstance(value, (dict, list, tuple))
    )
    return (f"{words.label('quantity', key)} = {_input(key, value, words)}" for key, value in said)


def _input(key: str, value: Any, words: Wording) -> str:
    if key.endswith("_gib") and isinstance(value, (int, float)):
        return words.gib(value)
    return words.weights(value) if key == "format" and isinstance(value, str) else words.plain(value)


def _source(source: str, words: Wording) -> str:
    """A source of the engine; our own data file by what it holds."""
    return words.text("explain", "own_measurements") if source.startswith("sizing/") else source
