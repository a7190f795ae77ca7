"""Documents and chunks as the rest of the package handles them, whatever keeps them."""

from dataclasses import dataclass
from typing import Literal

from knowledge.analyse import Language
from knowledge.chunks import Passage

Kind = Literal["document", "note"]

SHARED_TEAM = ""


@dataclass(frozen=True)
class StoredDocument:
    """A document of the table. `origin` is the file or address it came from, `source` what a citation shows."""

    id: str
    team: str
    kind: Kind
    source: str
    origin: str
    title: str
    lang: Language
    format: str
    content_hash: str
    size_bytes: int
    topics: tuple[str, ...]
    added_at: float


@dataclass(frozen=True)
class StoredChunk:
    """A chunk with its document; `passages` are what is compared with a question."""

    id: str
    document: StoredDocument
    ordinal: int
    text: str
    headings: tuple[str, ...]
    page: int | None
    paragraphs: tuple[int, int]
    passages: tuple[Passage, ...]
