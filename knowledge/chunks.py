"""Cuts a document along its structure: sections stay whole where they can, short neighbours share a chunk.

A chunk is what a hit shows (at most 1,500 characters, verbatim). Inside it stand passages, a paragraph or a few lines under
one heading: they are what is compared with a question, since one sentence of a long chunk may be the answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from knowledge.blocks import Block, Source

MOST_CHARACTERS = 1_500
_SHORT_SECTION = 700
_PASSAGE = 420
_SHORTEST_PASSAGE = 80
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
    # Sums up to each cut: adding both halves up anew at every one of 6,000 cuts took 50 s.
    upto = list(accumulate((len(b.text) + len(_SEPARATOR) for b in blocks), initial=0))
    middle = min(range(1, len(blocks)), key=lambda cut: abs(2 * upto[cut] - upto[-1]))
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
        if gathered and _ends_before(block, gathered):
            yield _passage(gathered, start)
            gathered, start = [], at
        gathered.append(block)
        at += len(block.text) + len(_SEPARATOR)
    yield _passage(gathered, start)


def _ends_before(block: Block, gathered: list[Block]) -> bool:
    """A heading is no passage without what follows it, nor is a line too short to be compared with a question."""
    if all(b.heading for b in gathered):
        return False
    length = _length(gathered)
    if block.headings != gathered[0].headings:
        return length >= _SHORTEST_PASSAGE or length + len(block.text) > _PASSAGE
    return length + len(_SEPARATOR) + len(block.text) > _PASSAGE


def _passage(blocks: list[Block], start: int) -> Passage:
    return Passage(_SEPARATOR.join(b.text for b in blocks), blocks[-1].headings, start)
