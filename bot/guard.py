"""The number guard: every figure in an answer must be traceable to what the answer was made from.

Where the material knows what the wording wrote (`bot.written`), a number is traced in two steps: it stands where the wording wrote
it, as it was written; and the value that was written is, to all its digits and in its unit, a figure that the answer was made from.
Any other number must stand in a source: the message, a cited passage, our own texts. Hundreds of figures of an Estimate then trace
no number that merely comes near one of them.

Without that knowledge (sentences that a language model words) a number counts when a fact of the same dimension rounds to it at the
decimals shown. A word with digits (RTX 4090, Q4_K_M) counts when it stands in the material.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from bot.answer import Lang
from bot.written import Figure, Written

GIB: Final = 2**30

_UNITS: Final[dict[str, tuple[str, float]]] = {
    "GiB": ("bytes", GIB), "MiB": ("bytes", 2**20), "KiB": ("bytes", 2**10), "TiB": ("bytes", 2**40),
    "GB": ("bytes", 1e9), "MB": ("bytes", 1e6), "KB": ("bytes", 1e3), "TB": ("bytes", 1e12),
    "Byte": ("bytes", 1), "Bytes": ("bytes", 1), "byte": ("bytes", 1), "bytes": ("bytes", 1),
    "GB/s": ("bandwidth", 1e9), "TB/s": ("bandwidth", 1e12), "MB/s": ("bandwidth", 1e6), "GiB/s": ("bandwidth", GIB),
    "%": ("share", 0.01), "tok/s": ("rate", 1), "Tokens/s": ("rate", 1), "tokens/s": ("rate", 1),
    "ms": ("time", 1e-3), "s": ("time", 1), "min": ("time", 60), "h": ("time", 3600),
    "Tage": ("time", 86_400), "days": ("time", 86_400), "Stunden": ("time", 3600), "hours": ("time", 3600),
    "W": ("power", 1), "kW": ("power", 1000), "kWh": ("energy", 1), "Wh": ("energy", 1e-3),
    "€": ("money", 1), "$": ("money", 1), "EUR": ("money", 1), "USD": ("money", 1),
    "TFLOPS": ("compute", 1e12), "TFLOP/s": ("compute", 1e12), "PFLOPS": ("compute", 1e15), "TOPS": ("compute", 1e12),
    "Bit": ("bits", 1), "bit": ("bits", 1), "bits": ("bits", 1),
    "k": ("count", 1000), "K": ("count", 1000), "M": ("count", 1e6), "Mio.": ("count", 1e6), "Mrd.": ("count", 1e9),
    "million": ("count", 1e6), "billion": ("count", 1e9), "Millionen": ("count", 1e6), "Milliarden": ("count", 1e9),
}  # fmt: skip

# What a key of our data ends in says which dimension its value has, and how large one of it is.
_KEY_UNITS: Final[tuple[tuple[str, str, float], ...]] = (
    ("gib_s", "bandwidth", GIB), ("gb_s", "bandwidth", 1e9), ("tok_s", "rate", 1), ("tokens_s", "rate", 1), ("_gib", "bytes", GIB),
    ("gib_per_gpu", "bytes", GIB),
    ("_gb", "bytes", 1e9), ("_mib", "bytes", 2**20), ("_kib", "bytes", 2**10), ("bytes", "bytes", 1),
    ("_ms", "time", 1e-3), ("ttft_s", "time", 1), ("_hours", "time", 3600), ("_h", "time", 3600),
    ("_days", "time", 86_400), ("seconds", "time", 1), ("_w", "power", 1), ("watts", "power", 1), ("kwh", "energy", 1),
    ("share", "share", 1), ("utilization", "share", 1), ("percent", "share", 0.01),
    ("usd", "money", 1), ("eur", "money", 1), ("price", "money", 1), ("amount", "money", 1), ("cost", "money", 1),
    ("tflops", "compute", 1e12), ("bits", "bits", 1),
)  # fmt: skip

_BY_CASE: Final = {unit.casefold(): meaning for unit, meaning in _UNITS.items()}

_ANYWHERE: Final = frozenset({"tok_s", "tokens_s", "bytes", "tflops"})

_SPACE = r"[\s\u00a0\u202f]"
_NUMBER = r"\d+(?:[.,’'\u202f]\d+)*"
_TOKEN = re.compile(
    rf"(?P<before>[$€]{_SPACE}?)?(?P<number>{_NUMBER})(?:{_SPACE}?(?P<unit>"
    + "|".join(sorted((re.escape(unit) for unit in _UNITS), key=len, reverse=True))
    + r")(?![A-Za-z0-9]))?",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\[(\d{1,3})\]")
_WORD = re.compile(r"[\w.\-+/:]+")
_LEADING_NUMBER = re.compile(r"\d+(?:\.\d+)?$")
_WHITE = re.compile(_SPACE)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_NAME = 160
_LAST_DIGITS = 1e-9
_WORD_WITHIN = 24
_LAST_WORD = re.compile(r"([^\W\d_]+)[^\w]*$")
_NEXT_WORD = re.compile(r"[^\w]*([^\W\d_]+)")
# "2 × GPU 24 GB + RTX 3090": the number of each is written apart.
_COUNTED: Final = re.compile(r"(?:^| \+ )(?:\d+ × )?")
# Small counts whose fields are named as the data names them: any other small count of the material must not stand for them.
_COUNTS: Final = frozenset({"concurrency", "users", "layers", "kv_heads", "head_dim", "tensor", "pipeline"})
_LARGE: Final = (1e6, 1e9)  # "11.9 billion" is written from 11.9
_KEPT_CHARACTERS = 300
_SIZES: Final = {name: frozenset({1.0} | {s for d, s in _UNITS.values() if d == name}) for name, _ in _UNITS.values()}
_DATE = re.compile(r"(?<![\w-])(?:\d{4}-\d{2}(?:-\d{2})?|(?P<month_first>\d{2}/\d{4}))(?![\w-])")
_STRIP = ".,;:!?()[]{}„“”\"'»«*…"
_GROUPED = re.compile(r"^\d{1,3}(?:[.,’'\u202f]\d{3})+$")


@dataclass(frozen=True)
class Number:
    """A number as it stands in a text: value in base units, half a unit of its last decimal, its dimension, and the words beside it."""

    shown: str
    value: float
    tolerance: float
    dimension: str | None
    beside: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass
class Material:
    """What an answer was made from: facts by dimension, and the names that hold digits."""

    facts: dict[str, set[float]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    phrases: set[str] = field(default_factory=set)
    citations: int = 0
    said: set[tuple[float, str, str]] = field(default_factory=set)
    keyed: dict[str, set[float]] = field(default_factory=dict)
    written: Written | None = None

    def add(self, value: float, dimension: str = "any") -> None:
        """A figure that an answer has worked out or chosen itself."""
        self._put(value, dimension)
        self.keyed.setdefault("", set()).add(abs(float(value)))

    def _put(self, value: float, dimension: str) -> None:
        self.facts.setdefault(dimension, set()).add(abs(float(value)))

    def add_data(self, data: Any, key: str = "") -> None:
        """Every figure and every name in nested data; the key that holds a figure tells its dimension."""
        if isinstance(data, bool) or data is None:
            return
        if isinstance(data, Mapping):
            self._add_mapping(data, key)
        elif isinstance(data, (list, tuple, set, frozenset)):
            self._put(len(data), "count")
            for part in data:
                self.add_data(part, key)
        elif isinstance(data, (int, float)):
            self._add_figure(key, float(data))
        elif isinstance(data, str):
            self._add_words(data)

    def add_money(self, cost: Any) -> None:
        """Every figure of a price list, whatever its key."""
        if isinstance(cost, Mapping):
            for value in cost.values():
                self.add_money(value)
        elif isinstance(cost, (int, float)) and not isinstance(cost, bool):
            self.add(cost, "money")

    def add_rates(self, rates: Mapping[str, float]) -> None:
        """A range of tokens or requests a second."""
        for value in rates.values():
            self.add(value, "rate")

    def add_gb(self, size_gb: float) -> None:
        """A size in GB of 10^9 bytes."""
        self.add(size_gb * 1e9, "bytes")

    def add_hours(self, hours: Mapping[str, float]) -> None:
        """A range of hours."""
        for value in hours.values():
            self.add(value * 3600, "time")

    def _add_mapping(self, data: Mapping[Any, Any], key: str) -> None:
        unit = str(data.get("unit", ""))
        for name, value in data.items():
            inherits = name in ("low", "expected", "high", "value")
            self.add_data(value, key if inherits else str(name))
            if name == "value" and unit and isinstance(value, (int, float)):
                dimension, size = _UNITS.get("bytes" if unit == "B" else unit, ("any", 1))
                self._put(value * size, dimension)

    def _add_figure(self, key: str, value: float) -> None:
        dimension, size = _unit_of(key)
        self.keyed.setdefault(key.lower(), set()).add(abs(value))
        self._put(value * size, dimension)

    def take(self, other: Material) -> None:
        """The facts and names of another material beside those here; its citations stay with it."""
        for dimension, facts in other.facts.items():
            self.facts.setdefault(dimension, set()).update(facts)
        self.said |= other.said
        for key, facts in other.keyed.items():
            self.keyed.setdefault(key, set()).update(facts)
        self.names |= other.names
        self.phrases |= other.phrases

    def add_text(self, text: str) -> None:
        """Every figure and name of a text that is itself a source: a message, a passage, a note of the catalogue."""
        self._add_words(text)
        for lang in ("de", "en"):
            self._say(numbers_in(text, lang))

    def _add_words(self, text: str) -> None:
        """The names and figures of a text among our data."""
        self.add_names([text])
        for lang in ("de", "en"):
            for number in numbers_in(text, lang):
                self._put(number.value, number.dimension or "any")

    def add_source(self, text: str, lang: Lang) -> None:
        """As `add_text` for a text of known language: a number counts with the unit it has there, and with no other."""
        self.add_names([text])
        found = numbers_in(text, lang)
        for number in found:
            self._put(number.value, number.dimension or "any")
        self._say(found)

    def _say(self, numbers: Iterable[Number]) -> None:
        for number in numbers:
            self.said.update((number.value, number.dimension or "count", word) for word in number.beside)

    def add_names(self, texts: Iterable[str]) -> None:
        """Names that may be written as they are ("Llama 3.3 70B"), and each of their words that holds a digit."""
        for text in texts:
            self.names.update(_named(text))
            if len(text) <= _LONGEST_NAME and _DIGIT.search(text) and _LETTER.search(text):
                self.phrases.add(_plain(text))
                self.phrases.update(
                    _plain(part) for part in _COUNTED.split(text) if _DIGIT.search(part) and _LETTER.search(part)
                )

    def holds(self, number: Number) -> bool:
        """Whether some fact of the number's dimension rounds to it; without a unit any dimension will do."""
        return _holds(number, self.facts)

    def says(self, number: Number) -> bool:
        """Whether a source says the very number, beside the same word: a quotation neither rounds nor changes the unit."""
        return any((number.value, number.dimension or "count", word) in self.said for word in number.beside)

    def accounts_for(self, figure: Figure) -> bool:
        """Whether what the wording wrote is a figure of the material, to all its digits and in its unit."""
        return all(self._has(value, figure) for value in figure.values)

    def _has(self, value: float, figure: Figure) -> bool:
        if figure.dimension is not None:
            return _is_among(value * figure.size, self._sorted.get(figure.dimension, []))
        if value.is_integer() and (named := self._named_like(figure.name)):
            return any(_is_among(value * size, facts) for facts in named for size in (1.0, *_LARGE))
        return any(
            _is_among(value * size, facts)
            for dimension, facts in self._sorted.items()
            for size in (*_SIZES.get(dimension, (1.0,)), *_LARGE)
        )

    def _named_like(self, name: str) -> list[list[float]]:
        """The figures of the key that a count names ("concurrency"), and those that the answer worked out itself."""
        if name not in _COUNTS or name not in self.keyed:
            return []
        return [sorted(self.keyed[key]) for key in (name, "") if key in self.keyed]

    @functools.cached_property
    def _sorted(self) -> dict[str, list[float]]:
        """The facts in order, once all are gathered."""
        return {dimension: sorted(facts) for dimension, facts in self.facts.items()}

    def unexplained(self, text: str) -> str:
        """The text without the names of the material and without what the wording wrote, where that is a figure of the material."""
        plain = _plain(text)
        kept = list(plain)
        for start, end in itertools.chain(self._phrases_in(plain), self._written_in(plain)):
            kept[start:end] = " " * (end - start)
        return "".join(kept)

    def _phrases_in(self, plain: str) -> Iterator[tuple[int, int]]:
        for phrase in self.phrases:
            if phrase in plain:
                found = re.finditer(rf"(?<![\w.,]){re.escape(phrase)}(?!\w|[.,]\d)", plain)
                yield from (match.span() for match in found)

    def _written_in(self, plain: str) -> Iterator[tuple[int, int]]:
        for figure in self.written.figures if self.written else ():
            places = list(figure.places_in(plain))
            if places and (not figure.values or self.accounts_for(figure)):
                yield from places


def _holds(number: Number, facts: Mapping[str, set[float]]) -> bool:
    slack = number.tolerance * 1.001 + 1e-9 * max(1.0, number.value)
    return any(abs(fact - number.value) <= slack for fact in _candidates(number, facts))


def _candidates(number: Number, facts: Mapping[str, set[float]]) -> Iterable[float]:
    if number.dimension not in (None, "count"):
        yield from facts.get(number.dimension or "", ())
        return
    for dimension, values in facts.items():
        for size in _SIZES.get(dimension, (1.0,)):
            yield from (value / size for value in values)


def _is_among(value: float, facts: Sequence[float]) -> bool:
    """Whether one of the facts, in order, is the value but for the last digits of a float."""
    slack = _LAST_DIGITS * max(abs(value), 1e-12)
    at = bisect.bisect_left(facts, abs(value) - slack)
    return at < len(facts) and facts[at] <= abs(value) + slack


@functools.lru_cache(maxsize=4096)
def _unit_of(key: str) -> tuple[str, float]:
    """Dimension and size of the unit that the end of a key, or any part of it, names."""
    name = key.lower()
    for part, dimension, size in _KEY_UNITS:
        if part in name if part in _ANYWHERE else name.endswith(part):
            return dimension, size
    return "any", 1.0


def numbers_in(text: str, lang: Lang) -> tuple[Number, ...]:
    """The numbers of a text; names with digits and citation marks are none. `33–52 ms` gives both ends their unit."""
    if not _DIGIT.search(text):
        return ()
    return _known_numbers(text, lang) if len(text) <= _KEPT_CHARACTERS else _numbers_in(text, lang)


def _numbers_in(text: str, lang: Lang) -> tuple[Number, ...]:
    rest = _without_names(text)
    matches = list(_TOKEN.finditer(rest))
    units: list[str | None] = [match["unit"] for match in matches]
    for place, (match, following) in enumerate(itertools.pairwise(matches)):
        if units[place] is None and rest[match.end() : following.start()] in ("–", "-"):
            units[place] = following["unit"]
    return tuple(
        replace(_number(match, unit, lang), beside=_beside(rest, match))
        for match, unit in zip(matches, units, strict=True)
    )


def _beside(text: str, match: re.Match[str]) -> frozenset[str]:
    """The word before a number and the word after it, each marked by its side; the ends of a text are words too."""
    before = _LAST_WORD.search(text, max(0, match.start() - _WORD_WITHIN), match.start())
    after = _NEXT_WORD.match(text, match.end(), match.end() + _WORD_WITHIN)
    return frozenset((f"{before[1].casefold() if before else ''}<", f">{after[1].casefold() if after else ''}"))


# An answer's estimates and the catalogue say the same few thousand things again and again.
_known_numbers = functools.lru_cache(maxsize=8192)(_numbers_in)


def marks_in(text: str) -> tuple[str, ...]:
    """The citation marks of a text, in order of their numbers."""
    return tuple(sorted(match[0] for match in _CITATION.finditer(text)))


def untraced(text: str, lang: Lang, material: Material) -> tuple[str, ...]:
    """The numbers, names with digits and citation marks of a text that the material does not hold."""
    rest = material.unexplained(text)
    marks = [match[0] for match in _CITATION.finditer(rest) if not 1 <= int(match[1]) <= material.citations]
    words = [word for word in sorted(_named(rest)) if word not in material.names]
    traced = material.holds if material.written is None else material.says
    figures = [number.shown for number in numbers_in(rest, lang) if not traced(number)]
    return tuple(dict.fromkeys([*marks, *words, *figures]))


def _plain(text: str) -> str:
    """In lower case with plain spaces, sign for sign."""
    return _WHITE.sub(" ", text).lower()


def _named(text: str) -> frozenset[str]:
    if not _DIGIT.search(text):
        return frozenset()
    return _known_names(text) if len(text) <= _KEPT_CHARACTERS else _names_in(text)


def _names_in(text: str) -> frozenset[str]:
    words = {name.strip(_STRIP).casefold() for word in _WORD.findall(text) if (name := _name_in(word))}
    return frozenset(words | {day for match in _DATE.finditer(text) for day in _days(match)})


_known_names = functools.lru_cache(maxsize=8192)(_names_in)


def _days(match: re.Match[str]) -> set[str]:
    """A date as `2026-09-06` with its month `2026-09`, however it is written."""
    if match["month_first"]:
        month, year = match["month_first"].split("/")
        return {f"{year}-{month}"}
    return {match[0], match[0][:7]}


def _without_names(text: str) -> str:
    return _WORD.sub(_rest_of_word, _DATE.sub(" ", _CITATION.sub(" ", text)))


def _rest_of_word(match: re.Match[str]) -> str:
    name = _name_in(match[0])
    return match[0] if name is None else match[0][: len(match[0]) - len(name)] + " "


def _name_in(word: str) -> str | None:
    """The part of a word that is a name with a digit: from its first letter, or from a number that touches it ("4090D2").

    Looks at each character a fixed number of times: a word of ten thousand letters must not cost their square.
    """
    letter = _LETTER.search(word)
    if letter is None or not _DIGIT.search(word, letter.start()):
        return None
    number = _LEADING_NUMBER.search(word, max(0, letter.start() - 40), letter.start())
    return word[number.start() if number else letter.start() :]


def _number(match: re.Match[str], written_unit: str | None, lang: Lang) -> Number:
    digits, decimals = _parse(match["number"], lang)
    unit = written_unit or (match["before"] or "").strip() or None
    dimension, size = _BY_CASE[unit.casefold()] if unit else (None, 1.0)
    shown = match[0].strip() if match["unit"] == written_unit else f"{match['number']} {written_unit}"
    if unit in ("k", "K") and not decimals:
        return Number(shown, digits * 1000, digits * 24 + 0.5, dimension)
    return Number(shown, digits * size, _half_step(digits, decimals) * size, dimension)


def _half_step(value: float, decimals: int) -> float:
    """Half of what the last digit shown stands for; zeros after the third figure count as rounding (`31,200`)."""
    if decimals or value < 1000:
        return 0.5 * 10.0**-decimals
    digits = f"{value:.0f}"
    zeros = len(digits) - len(digits.rstrip("0"))
    return 0.5 * 10.0 ** min(zeros, len(digits) - 3)


def _parse(written: str, lang: Lang) -> tuple[float, int]:
    """Value and decimals of a number as a language writes it: `1.234,5` in German, `1,234.5` in English."""
    plain = written.replace("’", "").replace("'", "").replace("\u202f", "")
    group, point = (".", ",") if lang == "de" else (",", ".")
    if _GROUPED.match(plain) and group in plain:
        return float(plain.replace(group, "")), 0
    plain = plain.replace(group, "" if plain.count(group) > 1 or point in plain else ".").replace(point, ".")
    whole, _, fraction = plain.partition(".")
    return float(f"{whole}.{fraction.replace('.', '') or 0}"), len(fraction)
