"""Plain text: paragraphs are what blank lines separate; headings have no mark and are told by their shape and neighbours."""

import re
from collections.abc import Iterator

from knowledge.blocks import Block, Source

_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2})*)(?:(?<=\.\d)|(?<=\.\d\d)|\.)\s+\S")
_SENTENCE_BREAK = re.compile(r"(?<!^\d)(?<!\d\d)(?<!\bvs)[.!] (?:\(|[A-ZÄÖÜ])")
_NOT_A_HEADING = re.compile(r"[=≈≠→↓↔↕×÷+|│├└█;]|https?://|^[-*•–]\s|^\d+(?:[.,]\d+)?\s*(?:GB|GiB|MB|TB|W|%)?$")
_ENDS_SENTENCE = (".", "!", ":", ",", ";", "…", "”", "“", '"')
_LONGEST_HEADING = 110


def read(text: str, name: str) -> Source:
    """Paragraphs with the headings above them; the title is the first heading, else the first line, else `name`."""
    parts = [p.strip("\n").rstrip() for p in _BLANK_LINES.split(text.replace("\r\n", "\n")) if p.strip()]
    blocks = tuple(_blocks(parts))
    return Source(_title(parts, blocks, name), blocks)


def _blocks(parts: list[str]) -> Iterator[Block]:
    path: tuple[tuple[int, str], ...] = ()
    for at, part in enumerate(parts):
        heading = _is_heading(parts, at)
        if heading:
            level = _level(part)
            path = (*(p for p in path if p[0] < level), (level, part.strip()))
        yield Block(part, tuple(title for _, title in path), at + 1, heading=heading)


def _level(heading: str) -> int:
    """A heading "3" is above "3.2"; a heading without a number stands below the numbered ones."""
    numbered = _NUMBERED.match(heading)
    return numbered[1].count(".") + 1 if numbered else 9


def _is_heading(parts: list[str], at: int) -> bool:
    """One line without an end of sentence, where the text before has ended and prose follows."""
    part = parts[at].strip()
    if not _shaped_like_heading(part):
        return False
    before = parts[at - 1].rstrip() if at else ""
    after = parts[at + 1].strip() if at + 1 < len(parts) else ""
    if before.endswith((":", ",")):
        return False
    numbered, following = _NUMBERED.match(part), _NUMBERED.match(after)
    if numbered:
        return following is None or following[1].startswith(numbered[1] + ".")
    if part.endswith("?") and (before.endswith("?") or after.endswith("?")):
        return False
    return bool(after) and not (len(after) < 25 and not after.endswith((".", ":", "?")) and len(part.split()) < 3)


def _shaped_like_heading(part: str) -> bool:
    if "\n" in part or not 6 <= len(part) <= _LONGEST_HEADING or _NOT_A_HEADING.search(part):
        return False
    if part.endswith(_ENDS_SENTENCE) or _SENTENCE_BREAK.search(part):
        return False
    return bool(_NUMBERED.match(part)) or ((part[0].isupper() or part[0] in '„«"“') and len(part.split()) >= 2)


def _title(parts: list[str], blocks: tuple[Block, ...], name: str) -> str:
    if blocks and (blocks[0].heading or _shaped_like_heading(parts[0].strip())):
        return parts[0].strip()
    return name
