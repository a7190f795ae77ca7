"""What a reader makes of a document: its paragraphs in order, each with its place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """A paragraph (or list, table, code) as written, the headings above it, and where it stands.

    `page` and `paragraph` count from 1; `page` is None where the format has no pages. A heading is a block of its own, with
    `heading` true and itself as the last of `headings`.
    """

    text: str
    headings: tuple[str, ...]
    paragraph: int
    page: int | None = None
    heading: bool = False


@dataclass(frozen=True)
class Source:
    """A document that was read: its title and paragraphs."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def characters(self) -> int:
        return sum(len(b.text) for b in self.blocks)
