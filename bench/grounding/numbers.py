"""Traces every number of a rendered answer to where it comes from. An independent check: nothing here knows the guard.

Origins, strictest first: the Estimates of the answer, the message, a cited passage, the catalogue entries of what was named,
our own wording (a constant of a sentence), and whatever else the engine returned while the answer was made. A number counts as traced
when a figure of the same dimension rounds to it at the digits shown.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.grounding.facts import Fact

_UNITS: Final[dict[str, tuple[str, float]]] = {
    "GiB/s": ("bytes/s", 2**30), "GB/s": ("bytes/s", 1e9), "MB/s": ("bytes/s", 1e6), "TB/s": ("bytes/s", 1e12),
    "Gbit/s": ("bit/s", 1e9), "Mbit/s": ("bit/s", 1e6),
    "GiB": ("bytes", 2**30), "MiB": ("bytes", 2**20), "KiB": ("bytes", 2**10), "TB": ("bytes", 1e12), "GB": ("bytes", 1e9),
    "MB": ("bytes", 1e6), "KB": ("bytes", 1e3), "bytes": ("bytes", 1), "Byte": ("bytes", 1), "Bytes": ("bytes", 1), "byte": ("bytes", 1),
    "tokens/s": ("1/s", 1), "Tokens/s": ("1/s", 1), "tok/s": ("1/s", 1), "T/s": ("1/s", 1), "t/s": ("1/s", 1),
    "ms": ("s", 1e-3), "min": ("s", 60), "h": ("s", 3600),
    "s": ("s", 1), "days": ("s", 86_400), "Tage": ("s", 86_400), "Tagen": ("s", 86_400), "kWh": ("J", 3.6e6), "kW": ("W", 1e3),
    "W": ("W", 1),
    "%": ("1", 0.01), "€": ("money", 1), "$": ("money", 1), "TFLOPS": ("flop/s", 1e12),
    "million": ("count", 1e6), "billion": ("count", 1e9), "Millionen": ("count", 1e6), "Milliarden": ("count", 1e9),
}  # fmt: skip
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<sign>[€$]\s?)?(?<![\w.,])(?P<digits>\d+(?:[.,]\d+)*)(?P<k>[kK]\b)?(?:\s?(?P<unit>{_UNIT})(?![A-Za-z/]))?(?![\w])"
)
_MARK = re.compile(r"\[\d{1,3}\]")
_DATE = re.compile(r"\b(?:\d{4}-\d{2}(?:-\d{2})?|\d{2}/\d{4}|20\d\d/20\d\d|\d+\.\d+\.\d+(?:\.\d+)?)(?![\d,])")
_SPACES = re.compile(r"[\s\u00a0\u202f]+")
_WITHOUT_UNIT: Final = (1.0, 1e3, 1e6, 1e9, 2**10, 2**20, 2**30, 60.0, 3600.0, 0.01, 1e-3, 1e12)


@dataclass(frozen=True)
class Shown:
    """A number as a reader sees it: its value in base units, half a step of its last digit, its dimension."""

    text: str
    value: float
    slack: float
    dimension: str | None


def numbers_of(text: str, lang: str, names: Iterable[str]) -> list[Shown]:
    """The numbers of a text. What is part of a name ("RTX 4090"), a date, a version or a citation mark is none."""
    rest = _DATE.sub(" ", _MARK.sub(" ", _SPACES.sub(" ", text)))
    plain = rest.casefold()
    for name in sorted((n for n in names if n.casefold() in plain), key=len, reverse=True):
        rest = re.sub(rf"(?<![\w.,]){re.escape(name)}(?!\w|[.,]\d)", " ", rest, flags=re.IGNORECASE)
    matches = list(_NUMBER.finditer(rest))
    units = [m["unit"] or (m["sign"] or "").strip() or None for m in matches]
    for at in range(len(matches) - 2, -1, -1):
        if units[at] is None and rest[matches[at].end() : matches[at + 1].start()] in ("–", "-"):
            units[at] = units[at + 1]
    return [_shown(m, unit, lang) for m, unit in zip(matches, units, strict=True)]


def _shown(match: re.Match[str], unit: str | None, lang: str) -> Shown:
    group, point = (".", ",") if lang == "de" else (",", ".")
    digits = match["digits"]
    if re.fullmatch(rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})+(?:{re.escape(point)}\d+)?", digits):
        digits = digits.replace(group, "")
    whole, _, decimals = re.sub(r"[.,](?=.*[.,])", "", digits).replace(",", ".").partition(".")
    value = float(f"{whole}.{decimals or 0}")
    half = 0.5 * 10.0 ** -len(decimals) if decimals else 0.5 * 10.0 ** max(0, _zeros(whole) if value >= 1_000 else 0)
    dimension, size = _UNITS.get(unit or "", (None, 1.0))
    if match["k"]:
        return Shown(match[0].strip(), value * 1000, value * 24 + 500 * 10.0 ** -len(decimals), dimension)
    return Shown(match[0].strip(), value * size, half * size, None if dimension == "count" else dimension)


def _zeros(digits: str) -> int:
    """Zeros at the end beyond the third figure stand for rounding: "31,200" is meant to the hundred."""
    return min(len(digits) - len(digits.rstrip("0")), max(0, len(digits) - 3))


class Pool:
    """Figures sorted by dimension, so that a number is looked up and not compared with all of them."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        by_dimension: dict[str | None, set[float]] = {}
        for fact in facts:
            by_dimension.setdefault(fact.dimension, set()).add(abs(fact.value))
        self._sorted = {dimension: sorted(values) for dimension, values in by_dimension.items()}

    def holds(self, number: Shown) -> bool:
        """Whether a figure of the same dimension rounds to the number; without a unit, any in one of the usual multiples."""
        if number.dimension is not None:
            return self._near(number.dimension, number, 1.0)
        return any(
            self._near(dimension, number, size)
            for dimension in self._sorted
            for size in (_WITHOUT_UNIT if dimension else (1.0, 1e6, 1e9, 0.01))
        )

    def holds_in_any_unit(self, number: Shown) -> bool:
        """As `holds`, by figures whose key names no dimension."""
        sizes = {size for dimension, size in _UNITS.values() if dimension == number.dimension} or {1.0}
        return any(self._near(None, number, 1 / size) for size in sizes)

    def _near(self, dimension: str | None, number: Shown, size: float) -> bool:
        """Whether a figure, divided by `size`, lies within the number's last digit."""
        values, slack = self._sorted.get(dimension, []), number.slack * (1 + 1e-6) + 1e-9
        at = bisect_left(values, (number.value - slack) * size)
        return at < len(values) and values[at] <= (number.value + slack) * size


def results_of(shown: Sequence[Shown]) -> Pool:
    """Sums, differences, products and quotients of two numbers that stand in the same paragraph: a reader can check those."""
    found: list[Fact] = []
    for one, other in itertools.permutations(shown[:12], 2):
        if one.dimension == other.dimension:
            found += [
                Fact(one.value + other.value, one.dimension, "sum"),
                Fact(one.value - other.value, one.dimension, "difference"),
            ]
        if other.value:
            same = one.dimension == other.dimension
            found.append(Fact(one.value / other.value, "1" if same else one.dimension, "quotient"))
        found.append(Fact(one.value * other.value, one.dimension or other.dimension, "product"))
    return Pool(found)


def facts_of_text(text: str, lang: str, place: str) -> list[Fact]:
    """The figures of a text that is itself a source."""
    return [Fact(n.value, n.dimension, place) for n in numbers_of(text, lang, ())]


def altered(number: Shown) -> Shown:
    """A number nearby that is not in the answer: what a check worth its name has to refuse."""
    return Shown(number.text, number.value * 1.13 + 7 * number.slack, number.slack, number.dimension)


def tables_of(texts: Mapping[str, object]) -> list[str]:
    """The sentences of a catalogue of wordings, their placeholders blanked."""
    found: list[str] = []
    for value in texts.values():
        if isinstance(value, Mapping):
            found += tables_of(value)
        elif isinstance(value, str):
            found.append(re.sub(r"\{[^}]*\}", " ", value))
    return found
