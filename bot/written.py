"""What the wording wrote for one answer: each figure with its value, its unit and its place in a sentence.

A number of a text is one of these, or one that a source says, or one from nowhere. `Wording` notes what it writes while a draft is
open; the text around a figure is that of its template, since a "4" before " cards" is no "4" before " users".
"""

from __future__ import annotations

import functools
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar

_AROUND: Final = 10
_NEAR: Final = 24
_BLANK: Final = re.compile(r"\s")
_WORD_AFTER: Final = re.compile(r" *([^\W\d_]+|×)")
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+|×) *$")
_UNITS: Final = frozenset(
    {"gib", "gb", "mib", "kib", "tib", "mb", "ms", "s", "min", "h", "w", "kw", "kwh"}
    | {"tok", "tokens", "t", "bit", "bits", "byte", "bytes", "tflops", "eur", "usd", "tage", "days"}
)
_COUNTED: Final = re.compile(r"(?<![\w.,])(\d+) × ")
_COMPOUND: Final = re.compile(r"(?<![\w.,])\d+-[^\W\d_]{2,}")  # "16-pin"
_FLAG: Final = re.compile(r"\d+(?:\.\d+)?")  # a value of a flag is written as code has it, in any language
_open: ContextVar[Written | None] = ContextVar("written", default=None)

_P = ParamSpec("_P")
_S = TypeVar("_S")
_Writer: TypeAlias = Callable[Concatenate[_S, Any, _P], str]


@dataclass(frozen=True)
class Figure:
    """A figure as written. `values` are in the unit whose base value is `size`, of `dimension` (None: whatever the key of the value says).

    `name` is the field of the template that it fills ("weights_gib"), `before` and `after` the template's text around it.
    """

    shown: str
    values: tuple[float, ...]
    dimension: str | None
    size: float
    name: str = ""
    before: str = ""
    after: str = ""

    def places_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a text in lower case with plain spaces has the figure in these surroundings, and not as a part of a longer number."""
        wanted = _BLANK.sub(" ", f"{self.before}{self.shown}{self.after}").lower()
        found = text.find(wanted)
        while found >= 0:
            start = found + len(self.before)
            end = start + len(self.shown)
            if not (self._goes_on(text, start - 1, -1) or self._goes_on(text, end, 1)):
                yield start, end
            found = text.find(wanted, found + 1)

    def _goes_on(self, text: str, place: int, step: int) -> bool:
        """Whether the number or a name that holds it goes on beyond the figure; what the template puts there does not count."""
        if not self.name and not self.after and self.shown.isdigit() and _is_beside_word(text, place, step):
            return True
        edge, around = (self.shown[0], self.before) if step < 0 else (self.shown[-1], self.after)
        if not edge.isdigit() or not 0 <= place < len(text):
            return False
        if text[place] in ".,’'" or (not around and text[place] in "/-"):
            return 0 <= place + step < len(text) and text[place + step].isdigit()
        return text[place].isdigit() or (not around and (text[place].isalpha() or text[place] == "_"))


def _is_beside_word(text: str, place: int, step: int) -> bool:
    """Whether a bare count has a word or a factor for a neighbour; such a count is written by a template, which knows its words."""
    near = text[place : place + _NEAR] if step > 0 else text[max(0, place + 1 - _NEAR) : place + 1]
    beside = _WORD_AFTER.match(near) if step > 0 else _WORD_BEFORE.search(near)
    return beside is not None and beside[1] not in _UNITS


@dataclass
class Written:
    """The figures of one answer, in any order."""

    placed: dict[Figure, None] = field(default_factory=dict)
    _free: Counter[Figure] = field(default_factory=Counter)
    _same: dict[str, list[Figure]] = field(default_factory=dict)
    _depth: int = 0

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Those in templates in their places, those that a caller put into a text itself anywhere."""
        return (*self.placed, *(figure for figure, times in self._free.items() if times > 0))

    def note(self, shown: str, value: Any, dimension: str | None, size: float) -> None:
        """A figure that a method of the wording wrote, outside of any template so far."""
        values = _values(value)
        if values and any(sign.isdigit() for sign in shown):
            figure = Figure(shown, values, dimension, size)
            self._free[figure] += 1
            self._same.setdefault(shown, []).append(figure)

    def place(self, name: str, shown: str, before: str, after: str) -> None:
        """What fills a field of a template: a figure there may stand in these surroundings and nowhere else."""
        same = self._same.get(shown, [])
        figure = next((each for each in reversed(same) if self._free[each] > 0), same[-1] if same else None)
        if figure is not None:
            self._free[figure] -= 1
            self.placed[replace(figure, name=name, before=before[-_AROUND:], after=after[:_AROUND].rstrip(". "))] = None

    def counts_in(self, text: str) -> None:
        """A value of a flag, and the number of things that a name begins with ("4 × L40S"): neither is written by a method."""
        if _FLAG.fullmatch(text) and text not in self._same:
            self.note(text, float(text), None, 1.0)
        for found in _COUNTED.finditer(text):
            after = text[found.end(1) : found.end() + _AROUND]
            self.placed[Figure(found[1], (float(found[1]),), None, 1.0, after=after)] = None
        for name in _COMPOUND.findall(text):
            self.literal(name)

    def literal(self, text: str) -> None:
        """Text of a template or a formula that itself holds a figure ("times 1.25")."""
        self.placed[Figure(text, (), None, 1.0)] = None


def begin() -> Written:
    """From here on, what the wording writes in this context is noted for a new answer."""
    written = Written()
    _open.set(written)
    return written


def end() -> None:
    _open.set(None)


def noted(dimension: str | None = None, size: float = 1.0) -> Callable[[_Writer[_S, _P]], _Writer[_S, _P]]:
    """A method of the wording that writes a figure in a unit; what it calls to write it is not noted again."""

    def noting(writer: _Writer[_S, _P]) -> _Writer[_S, _P]:
        def write(self: _S, value: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> str:
            written = _open.get()
            if written is None or written._depth:
                return writer(self, value, *args, **kwargs)
            written._depth += 1
            try:
                shown = writer(self, value, *args, **kwargs)
            finally:
                written._depth -= 1
            written.note(shown, value, dimension, size)
            return shown

        functools.update_wrapper(write, writer)
        return write

    return noting


def literal(text: str) -> str:
    """The text, noted as our own where it holds a figure."""
    written = _open.get()
    if written is not None and any(sign.isdigit() for sign in text):
        written.literal(text)
    return text


def filled(template: str, write: Callable[[str, str], str]) -> str | None:
    """The template with its fields written and noted in their places; None where nothing is noted and any formatter will do."""
    written = _open.get()
    if written is None:
        return None
    out: list[str] = []
    fields: list[tuple[int, str]] = []
    for before, name, form, _ in string.Formatter().parse(template):
        out.append(literal(before))
        if name is not None:
            shown = write(name, form or "")
            if not form:
                written.counts_in(shown)
            fields.append((len(out), name))
            out.append(shown)
    for number, name in fields:
        written.place(name, out[number], "".join(out[:number]), "".join(out[number + 1 :]))
    return "".join(out)


def _values(value: Any) -> tuple[float, ...]:
    if isinstance(value, (bool, str)) or value is None:
        return ()
    if isinstance(value, (int, float)):
        return (float(value),)
    if isinstance(value, Mapping):
        return tuple(float(value[end]) for end in ("low", "high"))
    if isinstance(value, (list, tuple)):
        return tuple(each for part in value for each in _values(part))
    return tuple(float(getattr(value, end)) for end in ("low", "high") if hasattr(value, end))
