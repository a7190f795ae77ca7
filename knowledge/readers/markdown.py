"""Markdown: headings by "#" or underline, fenced code kept whole, front matter left out."""

import re
from collections.abc import Iterator

from knowledge.blocks import Block, Source

# Between the marks stand names with values and what belongs to them, else it is text between two rules.
_FRONT_MATTER = re.compile(r"\A---\n(?:\w[\w-]*+[ \t]*+:.*\n(?:(?!---[ \t]*\n)[ \t#-].*\n|\n)*+)*+---[ \t]*\n")
_ATX = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_SETEXT = re.compile(r"^(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")


def read(text: str, name: str) -> Source:
    """Paragraphs with their heading path; the title is the first heading, else `name`."""
    body = _FRONT_MATTER.sub("", text.replace("\r\n", "\n"))
    path: tuple[tuple[int, str], ...] = ()
    blocks: list[Block] = []
    for level, part in _parts(body):
        if level:
            path = (*(p for p in path if p[0] < level), (level, part))
        blocks.append(Block(part, tuple(title for _, title in path), len(blocks) + 1, heading=level > 0))
    title = next((b.text for b in blocks if b.heading), name)
    return Source(title, tuple(blocks))


def _parts(body: str) -> Iterator[tuple[int, str]]:
    """(heading level or 0, text) in order."""
    lines: list[str] = []
    fence = ""
    for line in body.split("\n"):
        opened = _FENCE.match(line)
        if fence or opened:
            lines.append(line)
            fence = _fence_after(fence, opened[1] if opened else "")
            continue
        level, title, rest = _heading(line, lines)
        if level or not line.strip():
            yield from _paragraph(rest)
            lines = []
        else:
            lines.append(line)
        if level:
            yield level, title
    yield from _paragraph(lines)


def _fence_after(fence: str, mark: str) -> str:
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def _heading(line: str, before: list[str]) -> tuple[int, str, list[str]]:
    """(level, title, lines of the paragraph before); level 0 where the line is no heading."""
    atx = _ATX.match(line)
    if atx:
        return len(atx[1]), atx[2], before
    if _SETEXT.match(line) and before and "|" not in before[-1]:
        return (1 if line[0] == "=" else 2), before[-1].strip(), before[:-1]
    return 0, "", before


def _paragraph(lines: list[str]) -> Iterator[tuple[int, str]]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield 0, text
