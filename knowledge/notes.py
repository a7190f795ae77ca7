"""The project's own notes, as chunks like those of any document; they come with the package and are never stored.

A note is `notes/<name>.<lang>.md`: front matter (id, topic or topics, title, lang, sources, …), then Markdown.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from knowledge.analyse import Language
from knowledge.chunks import split
from knowledge.packaged import LOADER
from knowledge.readers import markdown
from knowledge.records import SHARED_TEAM, StoredChunk, StoredDocument

_ID = "note:"
_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---[ \t]*\r?\n", re.DOTALL)


@dataclass(frozen=True)
class NoteSource:
    """Where a note has its facts from."""

    title: str
    publisher: str
    date: str


@dataclass(frozen=True)
class Note:
    """A note in one language: its document, its chunks and the sources it names."""

    document: StoredDocument
    chunks: tuple[StoredChunk, ...]
    sources: tuple[NoteSource, ...]


@cache
def load() -> tuple[Note, ...]:
    """All packaged notes, by file name. A note without id, title or language is a ValueError that names it."""
    return tuple(_packaged(name) for name in _contents())


def on_topic(topic: str) -> tuple[Note, ...]:
    """The notes of a topic, those first whose topics begin with it; only notes that have its name in front are parsed."""
    heads = ((name, _FRONT_MATTER.match(content)) for name, content in _contents().items())
    possible = (_packaged(name) for name, head in heads if head and topic in head[1])
    found = [note for note in possible if topic in note.document.topics]
    return tuple(sorted(found, key=lambda note: note.document.topics.index(topic)))


def with_id(identity: str) -> Note | None:
    """The note whose document has that id."""
    name = f"{identity.removeprefix(_ID)}.md"
    return _packaged(name) if identity.startswith(_ID) and name in _contents() else None


@cache
def _contents() -> dict[str, str]:
    """The text of every note by file name, in the order of the names."""
    found = sorted(
        (f for f in files("knowledge").joinpath("notes").iterdir() if f.name.endswith(".md")), key=lambda f: f.name
    )
    return {f.name: f.read_text(encoding="utf-8") for f in found}


@cache
def _packaged(name: str) -> Note:
    return parse(_contents()[name], name)


def parse(content: str, name: str) -> Note:
    """One note from its file."""
    matter = _FRONT_MATTER.match(content)
    head: dict[str, Any] = yaml.load(matter[1], LOADER) if matter else {}
    if not head or not head.get("title") or head.get("lang") not in ("de", "en"):
        raise ValueError(f"note {name!r} needs front matter with title and lang (de or en)")
    document = _document(head, content, name)
    read = markdown.read(content, document.title)
    chunks = tuple(
        StoredChunk(f"{document.id}-{n}", document, n, c.text, c.headings, c.page, c.paragraphs, c.passages)
        for n, c in enumerate(split(read))
    )
    sources = tuple(
        NoteSource(*(str(s.get(k) or "") for k in ("title", "publisher", "date"))) for s in head.get("sources") or ()
    )
    return Note(document, chunks, sources)


def _document(head: dict[str, Any], content: str, name: str) -> StoredDocument:
    topics = head.get("topics") or head.get("topic") or ()
    lang: Language = head["lang"]
    return StoredDocument(
        id=f"{_ID}{name.removesuffix('.md')}",
        team=SHARED_TEAM,
        kind="note",
        source=name,
        origin=f"knowledge/notes/{name}",
        title=str(head["title"]),
        lang=lang,
        format="markdown",
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        size_bytes=len(content.encode()),
        topics=(topics,) if isinstance(topics, str) else tuple(str(t) for t in topics),
        added_at=0.0,
    )
