"""What searching and keeping documents hand out."""

from dataclasses import dataclass
from typing import Literal

from knowledge.analyse import Language
from knowledge.records import Kind, StoredDocument

Method = Literal["hybrid", "bm25"]


@dataclass(frozen=True)
class Hit:
    """A place in a source. `text` is verbatim and at most 1,500 characters; `passage` the part of it that fits best.

    `score` is in [0, 1]; it grows with the confidence that the source answers the question. `page` and `paragraph` count from 1.
    """

    source: str
    title: str
    section: str
    text: str
    score: float
    kind: Kind
    lang: Language
    topics: tuple[str, ...]
    passage: str
    page: int | None
    paragraph: int
    chunk_id: str
    document_id: str


@dataclass(frozen=True)
class SearchResult:
    """`answerable`: the documents searched hold an answer; where there are none, the notes do. `by_kind` says it for each.

    `outage` says why BM25 alone was asked where vectors should have been too; empty otherwise.
    """

    answerable: bool
    hits: tuple[Hit, ...]
    by_kind: dict[Kind, bool]
    method: Method
    outage: str = ""


@dataclass(frozen=True)
class Change:
    """What became of one file or document: `action` is added, updated, unchanged, removed or missing."""

    action: Literal["added", "updated", "unchanged", "removed", "missing"]
    document: StoredDocument
    chunks: int


@dataclass(frozen=True)
class Status:
    """State for people: how many of what, which model, and why there is none."""

    documents: int
    notes: int
    chunks: int
    method: Method
    model: str | None
    current: bool
    message: str
