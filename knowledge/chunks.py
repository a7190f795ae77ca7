"""Cuts a document along its structure: sections stay whole where they can, short neighbours share a chunk.

A chunk is what a hit shows (at most 1,500 characters, verbatim). Inside it stand passages, a paragraph or a few lines under
one heading: they are what is compared with a question, since one sentence of a long chunk may be the answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from knowledge.blocks import Block, Source

MOST_CHARACTERS = 1_500
_SHORT_SECTION = 700
_PASSAGE = 420
_SEPARATOR = "\n\n"


@dataclass(frozen=True)
class Passage:
    """Text as written, with the headings above it and its place (`start`, in characters of the chunk's text)."""

    text: str
    headings: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Chunk:
    """Consecutive paragraphs; `headings` are those above the first, `paragraphs` the first and last number."""

    text: str
    headings: tuple[str, ...]
    page: int | None
    paragraphs: tuple[int, int]
    passages: tuple[Passage, ...]

    @property
    def section(self) -> str:
        return " › ".join(self.headings)


def split(source: Source) -> list[Chunk]:
    """All chunks in order."""
    pieces = [p for block in source.blocks for p in _pieces(block)]
    sections = [list(group) for _, group in groupby(pieces, key=lambda b: b.headings)]
    return [_chunk(group) for group in _packed([part for s in sections for part in _halved(s)])]


def _pieces(block: Block) -> Iterator[Block]:
    """The block itself, or, where it alone is too long for a chunk, parts of it."""
    if len(block.text) <= MOST_CHARACTERS:
        yield block
        return
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=MOST_CHARACTERS - 100, chunk_overlap=0, keep_separator="end")
    for text in splitter.split_text(block.text):
        yield Block(text, block.headings, block.paragraph, block.page, block.heading)


def _length(blocks: Sequence[Block]) -> int:
    return sum(len(b.text) for b in blocks) + len(_SEPARATOR) * max(0, len(blocks) - 1)


def _halved(blocks: list[Block]) -> Iterator[list[Block]]:
    """Parts of a section that fit into a chunk, about equally long."""
    if _length(blocks) <= MOST_CHARACTERS:
        yield blocks
        return
    middle = min(range(1, len(blocks)), key=lambda cut: abs(_length(blocks[:cut]) - _length(blocks[cut:])))
    yield from _halved(blocks[:middle])
    yield from _halved(blocks[middle:])


def _packed(parts: Sequence[list[Block]]) -> Iterator[list[Block]]:
    """A short section joins its neighbour, so that no chunk is a lone line."""
    open_part: list[Block] = []
    for part in parts:
        together = _length(open_part) + len(_SEPARATOR) + _length(part)
        short = _length(open_part) < _SHORT_SECTION or _length(part) < _SHORT_SECTION // 2
        if open_part and (together > MOST_CHARACTERS or not short):
            yield open_part
            open_part = []
        open_part = open_part + part
    if open_part:
        yield open_part


def _chunk(blocks: list[Block]) -> Chunk:
    return Chunk(
        text=_SEPARATOR.join(b.text for b in blocks),
        headings=blocks[0].headings,
        page=blocks[0].page,
        paragraphs=(blocks[0].paragraph, blocks[-1].paragraph),
        passages=tuple(_passages(blocks)),
    )


def _passages(blocks: list[Block]) -> Iterator[Passage]:
    """Paragraphs under one heading, gathered up to a few sentences."""
    start = at = 0
    gathered: list[Block] = []
    for block in blocks:
        if gathered and (block.headings != gathered[0].headings or _length([*gathered, block]) > _PASSAGE):
            yield Passage(_SEPARATOR.join(b.text for b in gathered), gathered[0].headings, start)
            gathered, start = [], at
        gathered.append(block)
        at += len(block.text) + len(_SEPARATOR)
    yield Passage(_SEPARATOR.join(b.text for b in gathered), gathered[0].headings, start)
