"""Figures and their roles: a table of rules proposes readings for a quantity from its unit and the words around it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.understand.numbers import Quantity, with_unit_of
from bot.understand.readings import Reading
from bot.understand.tables import cell_at
from bot.understand.text import Text, clause
from bot.understand.units import UNITS, Unit

_REACH = 72
FILL = (
    r"(?:\s?(?:=|:|~|\(|\bof\b|\bvon\b|\bauf\b|\bat\b|\bis\b|\bist\b|\bare\b|\bsind\b|\bto\b|"
    r"\bbis(?: zu)?\b|\bum(?: die)?\b|\baround\b|\babout\b|\bca\.?|\bup to\b|\bwith\b|"
    r"\bmore like\b|\brather\b|\beher\b|\bwohl\b|\bvermutlich\b|\bprobably\b|\blikely\b|\bhoechstens\b|\bat most\b|"
    r"\bmit\b|\bsize\b|\blength\b|\blimit\b|\bonly\b|\bnur\b|\bmax\.?|\bmaximal\b|\bmaybe\b|"
    r"\bvielleicht\b|\betwa\b|\bungefaehr\b|\bapprox\.?|\bso\b|\bavg\.?|"
    r"\baverage\b|\bmean\b|\bof about\b|\bbe\b|\bam\b|\bwaeren\b|\bwaere\b|\bdas\b|\bare\b|"
    r"\bper\b|\brequest\b|\bpro\b|\banfrage\b|\buser\b|\bnutzer\b|\bhat\b|"
    r"\bhave\b|\bhas\b|\bneed\w*|\bbrauch\w*|\bset\b|\bgesetzt\b|\brunter\b|\bdown\b|"
    r"\broughly\b|\btypically\b|\bmeist\b|\bje\b|\beach\b|\bjeweils\b|\bdes\b|"
    r"\bdrop\w*|\breduce\w*|\bthe\b|\bthen\b|\bdann\b|\bwird\b|\bwerden\b|\blang\b|\blong\b|-|"
    r"\+|\bhier\b|\bim schnitt\b|\bmindestens\b|\bat least\b|\bmin\.?|\bmind\.?|>=?|<=?)){0,"
    r"6}\s?"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """When a quantity of one of `units` has `left` before it and `right` after it, it fills `field` with `score`."""

    name: str
    field: str
    score: float
    units: frozenset[Unit]
    left: re.Pattern[str] | None = None
    right: re.Pattern[str] | None = None
    glued: frozenset[str] = frozenset()
    scaled: bool | None = None
    least: float = 0.0


def rule(
    name: str,
    field: str,
    score: float,
    units: str,
    left: str = "",
    right: str = "",
    glued: str = "",
    scaled: bool | None = None,
    least: float = 0.0,
) -> Rule:
    """A rule from plain text: units separated by blanks ("-" for none), patterns anchored at the figure."""
    kinds = frozenset(UNITS[word] for word in units.split())
    before = re.compile(rf"(?:{left})$") if left else None
    after = re.compile(right) if right else None
    return Rule(name, field, score, kinds, before, after, frozenset(glued.split()), scaled, least)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A quantity with the words before and after it in its sentence."""

    quantity: Quantity
    left: str
    right: str
    column: str = ""


def surroundings(text: Text, quantity: Quantity) -> Surroundings:
    """The words around a figure; in a table those of its cell, with the label of the column before them."""
    start, end = quantity.span
    start -= len(quantity.glued)
    cell = cell_at(text.folded, start)
    if cell is not None and end <= cell.end:
        left = f"{cell.label}: {text.folded[cell.start : start]}"
        return Surroundings(with_unit_of(quantity, cell.label), left, text.folded[end : cell.end], cell.label)
    left, right = clause(text.folded, start, end, _REACH)
    return Surroundings(quantity, left, right.removeprefix("+"))


def proposals(place: Surroundings, rules: Sequence[Rule]) -> Iterable[Reading]:
    """All readings that the rules allow for one quantity."""
    quantity = place.quantity
    start, end = quantity.span
    for candidate in rules:
        if quantity.unit not in candidate.units or quantity.value < candidate.least:
            continue
        if candidate.scaled is not None and candidate.scaled != bool(quantity.scale):
            continue
        if candidate.glued and quantity.glued not in candidate.glued:
            continue
        if candidate.left is not None and not candidate.left.search(place.left):
            continue
        if candidate.right is not None and not candidate.right.match(place.right):
            continue
        yield Reading(
            candidate.field, quantity.value, start - len(quantity.glued), end, candidate.score, candidate.name
        )


def best(readings: Iterable[Reading]) -> tuple[Reading | None, list[Reading]]:
    """One figure fills one field: the reading with the highest score, and those it beat."""
    ordered = sorted(readings, key=lambda r: -r.score)
    return (ordered[0], ordered[1:]) if ordered else (None, [])
