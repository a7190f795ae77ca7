"""PDF by pypdf: the text of each page in paragraphs; an outline gives the headings where there is one."""

import re
from collections.abc import Iterator
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import PdfReadError, PyPdfError

from knowledge.blocks import Block, Source
from knowledge.readers import text as plain

MOST_PAGES = 2_000
MOST_CHARACTERS = 5_000_000
_HYPHENATED = re.compile(r"(?<=[a-zäöüß])-\n(?=[a-zäöüß])")
_LINE_OF_PARAGRAPH = re.compile(r"(?<![.:!?])\n(?=[a-zäöüß(])")


class Refused(ValueError):
    """A PDF that is not read; the message says why."""


def read_file(path: Path, name: str) -> Source:
    """Raises Refused for an encrypted, damaged, oversized or text-less file."""
    try:
        reader = PdfReader(path, strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused("the PDF is encrypted; remove the password and add it again")
        if len(reader.pages) > MOST_PAGES:
            raise Refused(f"the PDF has {len(reader.pages)} pages; at most {MOST_PAGES} are read")
        blocks = tuple(_blocks(reader))
        title = str(reader.metadata.title or "") if reader.metadata else ""
    except (
        PyPdfError,
        PdfReadError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        OSError,
    ) as error:
        raise error if isinstance(error, Refused) else Refused("the PDF is damaged and cannot be read") from error
    if not blocks:
        raise Refused("the PDF holds no text (a scan?); run text recognition over it first")
    return Source(title.strip() or name, blocks)


def _blocks(reader: PdfReader) -> Iterator[Block]:
    paragraph = characters = 0
    path: tuple[str, ...] = ()
    for number, page in enumerate(reader.pages, 1):
        content = page.extract_text()
        characters += len(content)
        if characters > MOST_CHARACTERS:
            raise Refused(f"the PDF unpacks to more than {MOST_CHARACTERS:,} characters")
        for block in plain.read(_joined(content), "").blocks:
            paragraph += 1
            path = block.headings or path
            yield Block(block.text, path, paragraph, number, block.heading)


def _joined(content: str) -> str:
    """Lines of a paragraph put together again; a hyphen at the end of a line goes."""
    return _LINE_OF_PARAGRAPH.sub(" ", _HYPHENATED.sub("", content))
