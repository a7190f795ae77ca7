"""Derivations in words: how a quantity came about, level by level: formula and result, what went in, what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from bot.answer import Paragraph
from bot.reply.wording import Wording
from sizing.estimate import DerivationStep

Link = Callable[[str, str], str]

_OWN_DATA: Final = ("sizing/", "factors fitted")
_RECORDS: Final = ("pypi:", "github:", "hf:")
_NAMED_RECORDS: Final = 2


def result(step: DerivationStep, words: Wording) -> Paragraph:
    """`weights: sum over … = 39.6 GiB`."""
    return _line(step, f"{words.formula(step.formula)} = {amount(step.value, step.unit, words)}", words)


def inputs(step: DerivationStep, words: Wording) -> Paragraph | None:
    """What went into the formula of a quantity; None where nothing did that has a name."""
    said = list(_inputs(step.inputs, words))
    return _line(step, ", ".join(said) + ".", words) if said else None


def origins(steps: Sequence[DerivationStep], words: Wording, link: Link) -> list[Paragraph]:
    """Each source with the quantities that rest on it; addresses become citations."""
    resting: dict[str, list[str]] = {}
    for step in steps:
        quantity = words.label("quantity", step.quantity)
        for source in dict.fromkeys(_shown(step.sources, words)):
            resting.setdefault(source, []).append(quantity)
    return [
        Paragraph(
            kind="derivation", title=_titled(", ".join(dict.fromkeys(quantities))), text=_source(source, words, link)
        )
        for source, quantities in resting.items()
    ]


def amount(value: float, unit: str, words: Wording) -> str:
    """A value with its unit as the engine names it."""
    if unit in ("bytes", "B"):
        return words.bytes(value)
    return f"{words.number(value)} {words.label('units', unit) if words.has('units', unit) else unit}".strip()


def _line(step: DerivationStep, text: str, words: Wording) -> Paragraph:
    return Paragraph(kind="derivation", title=_titled(words.label("quantity", step.quantity)), text=text)


def _titled(quantities: str) -> str:
    return f"{quantities[:1].upper()}{quantities[1:]}:"


def _inputs(found: Mapping[str, Any], words: Wording) -> Iterable[str]:
    said = (
        (key, value) for key, value in found.items() if value is not None and not isinstance(value, (dict, list, tuple))
    )
    return (f"{words.label('quantity', key)} = {_input(key, value, words)}" for key, value in said)


def _input(key: str, value: Any, words: Wording) -> str:
    if key.endswith("_gib") and isinstance(value, (int, float)):
        return words.gib(value)
    return words.weights(value) if key == "format" and isinstance(value, str) else words.plain(value)


def _shown(sources: Sequence[str], words: Wording) -> list[str]:
    """Records of the same configuration are counted after the second: the catalogue keeps them all."""
    own = [words.text("explain", "own_measurements") for source in sources[:1] if source.startswith(_OWN_DATA)]
    records = [source for source in sources if source.startswith(_RECORDS)]
    others = [source for source in sources if not source.startswith((*_OWN_DATA, *_RECORDS))]
    listed = words.listed(records[:_NAMED_RECORDS])
    more = len(records) - _NAMED_RECORDS
    configuration = words.text("explain", "records", records=listed, more=more) if more > 0 else listed
    return [*own, *([configuration] if records else []), *others]


def _source(source: str, words: Wording, link: Link) -> str:
    """A source in words; an address is cited."""
    if not source.startswith("https://"):
        return f"{source}."
    name = "/".join(source.rstrip("/").rsplit("/", 2)[-2:])
    return words.text("explain", "published", name=name, mark=link(name, source))
