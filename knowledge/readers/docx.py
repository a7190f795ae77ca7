"""Word documents (.docx): paragraphs with the headings above them, list items and table rows, from the XML inside; nothing is run.

What is not on the page is left out: hidden text, what tracked changes deleted, comments, notes and headers.
"""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, XMLParser

from knowledge.blocks import Block, Source

MOST_XML_BYTES = 40 * 1024 * 1024
MAGIC = b"PK\x03\x04"
MAIN_PART = "word/document.xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STYLES = "word/styles.xml"
_TITLE = "title"
_LEVEL = re.compile(r"^(?:heading|überschrift|berschrift) ?([1-6])$", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n]+")


class Refused(ValueError):
    """A document that is not read; the message says why."""


def read_file(path: Path, name: str) -> Source:
    """Raises Refused for a damaged, encrypted, oversized or text-less file."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = set(packed.namelist())
            if MAIN_PART not in names:
                raise Refused("it is a ZIP file but no Word document")
            levels = _levels(_part(packed, _STYLES)) if _STYLES in names else {}
            blocks = tuple(_blocks(_part(packed, MAIN_PART), levels))
    except (zipfile.BadZipFile, ParseError, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise Refused("the Word document is damaged or encrypted and cannot be read") from error
    if not blocks:
        raise Refused("the Word document holds no text")
    return Source(next((b.text for b in blocks if b.heading), name), blocks)


def _part(packed: zipfile.ZipFile, name: str) -> Element:
    """One part as a tree; a document type (entities that unfold) and a part that unpacks too far are refused."""
    with packed.open(name) as opened:
        content = opened.read(MOST_XML_BYTES + 1)
    if len(content) > MOST_XML_BYTES:
        raise Refused(f"its text unpacks to more than {MOST_XML_BYTES // 1024**2} MiB")
    # Word writes UTF-8; in UTF-16 a document type would hide from the look for it.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\x00" in content:
        raise Refused("it declares a document type or is no UTF-8, which Word never writes")
    parser = XMLParser()
    parser.feed(content)
    root: Element = parser.close()
    return root


def _levels(styles: Element) -> dict[str, int]:
    """The heading level of each style, by its name or its outline level; the title stands above all headings."""
    found: dict[str, int] = {}
    for style in styles.iter(f"{_W}style"):
        ident, name = style.get(f"{_W}styleId", ""), _value(style, "name").lower()
        outline = _value(style, "pPr", "outlineLvl")
        match = _LEVEL.match(name)
        if name == _TITLE:
            found[ident] = 1
        elif match or outline.isdigit():
            level = int(match[1]) if match else int(outline) + 1
            if level <= 6:
                found[ident] = level + 1
    return found


def _blocks(document: Element, levels: dict[str, int]) -> Iterator[Block]:
    path: tuple[tuple[int, str], ...] = ()
    for number, (level, text) in enumerate(_texts(document, levels), 1):
        if level:
            path = (*(p for p in path if p[0] < level), (level, text))
        yield Block(text, tuple(title for _, title in path), number, heading=level > 0)


def _texts(document: Element, levels: dict[str, int]) -> Iterator[tuple[int, str]]:
    """(heading level or 0, text) of paragraphs and table rows, in order; a row holds its cells together."""
    body = document.find(f"{_W}body")
    for box in _boxes(body) if body is not None else ():
        if box.tag == f"{_W}tr":
            cells = (" ".join(_shown(p) for p in cell.iter(f"{_W}p")) for cell in box.iter(f"{_W}tc"))
            level, text = 0, " | ".join(filter(None, (_SPACE.sub(" ", cell).strip() for cell in cells)))
        else:
            style = _value(box, "pPr", "pStyle")
            level, text = levels.get(style, 0), _SPACE.sub(" ", _shown(box)).strip()
            if not level and _value(box, "pPr", "outlineLvl").isdigit():
                level = int(_value(box, "pPr", "outlineLvl")) + 2
        if text:
            yield level, text


def _boxes(parent: Element) -> Iterator[Element]:
    """Paragraphs outside of tables and the rows of tables, whatever they are wrapped in."""
    waiting = [iter(parent)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif child.tag in (f"{_W}p", f"{_W}tr"):
            yield child
        else:
            waiting.append(iter(child))


def _shown(paragraph: Element) -> str:
    """The text of the runs that are shown; a deleted run holds `delText`, which is no `t`."""
    return "".join(_of_run(run) for run in paragraph.iter(f"{_W}r"))


def _of_run(run: Element) -> str:
    properties = run.find(f"{_W}rPr")
    hidden = properties.find(f"{_W}vanish") if properties is not None else None
    if hidden is not None and hidden.get(f"{_W}val") not in ("0", "false"):
        return ""
    blank = {f"{_W}tab": " ", f"{_W}br": " ", f"{_W}cr": " ", f"{_W}noBreakHyphen": "-"}
    return "".join(child.text or "" if child.tag == f"{_W}t" else blank.get(child.tag, "") for child in run)


def _value(element: Element, *path: str) -> str:
    """The `w:val` of a descendant, empty where there is none."""
    found = element.find("/".join(f"{_W}{name}" for name in path))
    return str(found.get(f"{_W}val", "")) if found is not None else ""
