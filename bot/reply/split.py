"""Long texts in parts: at paragraphs, else lines, sentences, words. A code fence stays whole; one that is longer than a part itself is
closed and opened again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

# Coarse to fine; each splits after its match and loses nothing.
_BREAKS: Final = (re.compile(r"\n\n+"), re.compile(r"\n"), re.compile(r"(?<=[.!?]) +"), re.compile(r" +"))
_CHARACTER: Final = re.compile(r"&(?:amp|lt|gt);|.", re.DOTALL)
_FENCE: Final = "```"
_FENCED: Final = re.compile(r"```.*?```\n*", re.DOTALL)
# "```" and a line break at either end of a part that was cut inside a fence.
_FENCE_COST: Final = 2 * (len(_FENCE) + 1)


def split(text: str, most: int, size: Callable[[str], int] = len) -> list[str]:
    """Parts of at most `most` by `size`, whose content together is the text's.

    A fence that is cut is reopened without its label: a label may be as long as a text, and Slack ignores it.
    """
    room = most - _FENCE_COST
    pieces = (piece for segment in _segments(text) for piece in _pieces(segment, room, size))
    return [part for part in _fenced(_packed(pieces, room, size)) if part.strip()]


def _segments(text: str) -> Iterator[str]:
    """Fences and what stands between them, in order."""
    start = 0
    for fenced in _FENCED.finditer(text):
        if fenced.start() > start:
            yield text[start : fenced.start()]
        yield fenced.group()
        start = fenced.end()
    if start < len(text):
        yield text[start:]


def _pieces(text: str, room: int, size: Callable[[str], int], level: int = 0) -> Iterator[str]:
    if size(text) <= room:
        yield text
    elif level == len(_BREAKS):
        yield from _characters(text)
    else:
        for piece in _cut_after(text, _BREAKS[level]):
            yield from _pieces(piece, room, size, level + 1)


def _cut_after(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    start = 0
    for match in pattern.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    if start < len(text):
        yield text[start:]


def _characters(text: str) -> Iterator[str]:
    """A word without an end: character by character, but never inside an escaped one."""
    for match in _CHARACTER.finditer(text):
        yield match.group()


def _packed(pieces: Iterator[str], room: int, size: Callable[[str], int]) -> Iterator[str]:
    part, used = "", 0
    for piece in pieces:
        cost = size(piece)
        if part and used + cost > room:
            yield part
            part, used = "", 0
        part, used = part + piece, used + cost
    if part:
        yield part


def _fenced(parts: Iterator[str]) -> Iterator[str]:
    inside = False
    for part in parts:
        opens = inside
        inside ^= part.count(_FENCE) % 2 == 1
        before = f"{_FENCE}\n" if opens else ""
        after = f"\n{_FENCE}" if inside else ""
        yield f"{before}{part.rstrip() if after else part.strip()}{after}"
