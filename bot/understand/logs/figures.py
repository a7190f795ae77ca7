"""Small helpers of the readers: figures as logs write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_GIB_OF = {
    "B": 2**-30,
    "KIB": 2**-20,
    "KB": 2**-20,
    "MIB": 2**-10,
    "MB": 2**-10,
    "M": 2**-10,
    "GIB": 1.0,
    "GB": 1.0,
    "G": 1.0,
    "TIB": 1024.0,
    "TB": 1024.0,
}


def number(written: str) -> float:
    """`2,182,642` and `13771.88`: logs group thousands with commas and part decimals with points."""
    return float(written.replace(",", "").replace("_", ""))


def gib(written: str, unit: str) -> float:
    """A size in GiB. Engines write "GB" and "MB" for binary sizes, so both are read so."""
    return number(written) * _GIB_OF[unit.upper()]


def first(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first place where a pattern occurs."""
    return pattern.search(text)


def last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last place: logs of a running server end with its present state."""
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last match is the point of the loop
        pass
    return found


def value(match: re.Match[str] | None, group: int | str = 1) -> float | None:
    """A group as a number; None where nothing matched."""
    return number(match[group]) if match and match[group] else None


def whole(match: re.Match[str] | None, group: int | str = 1) -> int | None:
    """A group as a whole number."""
    found = value(match, group)
    return None if found is None else int(found)


def total(pattern: re.Pattern[str], text: str) -> float | None:
    """The sum of all sizes that a pattern of (number, unit) finds, in GiB."""
    sizes = [gib(match[1], match[2]) for match in pattern.finditer(text)]
    return sum(sizes) if sizes else None


def largest(values: Iterable[float]) -> float | None:
    return max(values, default=None)
