"""HTML: what a reader of the page sees, by headings, paragraphs, lists and table rows."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag

from knowledge.blocks import Block, Source

_UNSEEN = ("script", "style", "noscript", "template", "nav", "head", "iframe", "object", "svg", "form", "button")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0", re.IGNORECASE)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_TEXT_BREAKS = {
    "address",
    "blockquote",
    "body",
    "br",
    "dd",
    "details",
    "dl",
    "dt",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "summary",
    "ul",
}
_PAGE_BREAKS = {"article", "aside", "div", "figcaption", "figure", "footer", "header", "main", "section"}
_TABLE_BREAKS = {"table", "tbody", "td", "tfoot", "th", "thead", "tr"}
_BREAKS = frozenset(_TEXT_BREAKS | _PAGE_BREAKS | _TABLE_BREAKS | set(_HEADINGS))
_IN_ROW = frozenset({"td", "th", "br"})
_SPACE = re.compile(r"\s+")


def read(text: str, name: str) -> Source:
    """Paragraphs with their heading path; scripts, navigation and hidden elements are left out."""
    soup = BeautifulSoup(text, "html.parser")
    page_title = _SPACE.sub(" ", soup.title.get_text()).strip() if soup.title else ""
    for tag in soup.find_all(_is_unseen):
        tag.extract()
    blocks = tuple(_blocks(soup))
    title = next((b.text for b in blocks if b.heading and len(b.headings) == 1), "")
    return Source(title or page_title or name, blocks)


def _is_unseen(tag: Tag) -> bool:
    hidden = tag.has_attr("hidden") or tag.get("aria-hidden") == "true"
    return tag.name in _UNSEEN or hidden or bool(_HIDDEN_STYLE.search(str(tag.get("style", ""))))


def _blocks(soup: BeautifulSoup) -> Iterator[Block]:
    path: tuple[tuple[int, str], ...] = ()
    for number, (level, text) in enumerate(_parts(soup), 1):
        if level:
            path = (*(p for p in path if p[0] < level), (level, text))
        yield Block(text, tuple(title for _, title in path), number, heading=level > 0)


def _parts(soup: BeautifulSoup) -> Iterator[tuple[int, str]]:
    """(heading level or 0, text): the strings between two elements that break the line."""
    gathered: list[str] = []
    level = 0
    last: Tag | None = None
    for string in soup.find_all(string=True):
        if isinstance(string, PreformattedString):
            continue
        box = _box(string)
        if box is not last:
            yield from _part(level, gathered, _is_code(last))
            gathered, level, last = [], _HEADINGS.get(box.name, 0) if box else 0, box
        gathered.append(str(string) if box is None or box.name != "tr" else f"{string} ")
    yield from _part(level, gathered, _is_code(last))


def _is_code(box: Tag | None) -> bool:
    return box is not None and box.name == "pre"


def _box(string: NavigableString) -> Tag | None:
    """The element whose text this is part of: the nearest that breaks the line; a table row holds its cells together."""
    for parent in string.parents:
        if parent.name in _BREAKS:
            row = parent.find_parent("tr") if parent.name in _IN_ROW else None
            return row or parent
    return None


def _part(level: int, gathered: list[str], verbatim: bool) -> Iterator[tuple[int, str]]:
    text = "".join(gathered).strip("\n") if verbatim else _SPACE.sub(" ", "".join(gathered)).strip()
    if text.strip():
        yield level, text
