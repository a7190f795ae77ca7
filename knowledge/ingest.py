"""A file → what is indexed of it. Whatever is wrong with a file is told by a `UserError` that names it.

Formats: PDF, Word (.docx), HTML, Markdown, plain text. All but the last two are parsed in a process of their own with limits on
memory and time (`isolated.py`), since a file may be made to exhaust its reader; nothing in a document is ever executed or followed.
"""

import codecs
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from knowledge.analyse import Language, detect_language
from knowledge.blocks import Source
from knowledge.chunks import Chunk, split
from knowledge.readers import docx, markdown, text
from sizing.errors import UserError

Format = Literal["pdf", "docx", "html", "markdown", "text"]

MOST_BYTES = 50 * 1024 * 1024
MOST_TEXT_BYTES = 10 * 1024 * 1024
MOST_FILES = 2_000
_DEEPEST_FOLDER = 12
_SUFFIXES: dict[str, Format] = {
    ".pdf": "pdf", ".docx": "docx", ".html": "html", ".htm": "html", ".xhtml": "html", ".md": "markdown", ".markdown": "markdown",
    ".txt": "text", ".text": "text", ".log": "text", ".rst": "text",
}  # fmt: skip
_SAVED_AS = {
    ".doc": ".docx or PDF", ".odt": ".docx or PDF", ".rtf": ".docx or PDF", ".pages": ".docx or PDF", ".pptx": "PDF", ".ppt": "PDF",
    ".odp": "PDF", ".xlsx": "HTML or PDF", ".xls": "HTML or PDF", ".csv": ".txt or HTML", ".epub": "HTML or PDF",
}  # fmt: skip
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class Document:
    """A document as it enters the index; `content_hash` is the SHA-256 of the file's bytes."""

    source: str
    origin: str
    title: str
    lang: Language
    content_hash: str
    size_bytes: int
    format: Format
    chunks: tuple[Chunk, ...]


def files_under(path: Path) -> Iterator[Path]:
    """The readable files of a folder in order, or the path itself; links are not followed inside a folder.

    Raises UserError where the path does not exist, or the folder holds more than MOST_FILES documents.
    """
    if not path.exists():
        raise UserError("path", str(path), f"{path.name!r} does not exist, or is a link that leads nowhere.")
    if not path.is_dir():
        yield path
        return
    found = list(_walk(path))
    if len(found) > MOST_FILES:
        raise UserError(
            "path", str(path), f"{path.name!r} holds {len(found)} documents; add at most {MOST_FILES} at once."
        )
    yield from found


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        if len(Path(root).relative_to(folder).parts) >= _DEEPEST_FOLDER:
            folders.clear()
        for name in sorted(names):
            file = Path(root, name)
            # What can be saved as something that is read is refused by name; other files of a folder are passed over.
            if file.suffix.lower() in _SUFFIXES.keys() | _SAVED_AS.keys() and not file.is_symlink():
                yield file


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises UserError for what is no regular file, is unreadable, empty or too large."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UserError("path", str(path), f"{path.name!r} is not a regular file.")
        check_size(path.name, status.st_size)
        return path.read_bytes()
    except OSError as error:
        raise UserError(
            "path", str(path), f"{path.name!r} cannot be read: {error.strerror or 'too many links'}."
        ) from error


def check_size(name: str, size_bytes: int) -> None:
    """Raises UserError for an empty or too large document."""
    if size_bytes == 0:
        raise UserError("path", name, f"{name!r} is empty.")
    if size_bytes > MOST_BYTES:
        limit = MOST_BYTES // 1024**2
        raise UserError("path", name, f"{name!r} has {size_bytes / 1024**2:.0f} MiB; at most {limit} MiB are read.")


def read(path: Path) -> Document:
    """Reads one file. Raises UserError naming the file and what is wrong with it."""
    return parse(read_bytes(path), source=path.name, origin=str(path.resolve()))


def parse(content: bytes, *, source: str, origin: str, content_type: str | None = None) -> Document:
    """A document from bytes; its format by content first, then by the name's suffix or `content_type`."""
    found = _format(content, source, content_type)
    read_source = _parsed(content, found, source)
    chunks = tuple(split(read_source))
    if not any(c.text.strip() for c in chunks):
        raise UserError("path", source, f"{source!r} holds no text.")
    sample = " ".join(c.text for c in chunks[:8])
    digest = hashlib.sha256(content).hexdigest()
    return Document(source, origin, read_source.title, detect_language(sample), digest, len(content), found, chunks)


def _format(content: bytes, source: str, content_type: str | None) -> Format:
    if content.lstrip()[:5] == b"%PDF-":
        return "pdf"
    by_type: dict[str, Format] = {"text/html": "html", "application/xhtml+xml": "html", "text/markdown": "markdown"}
    suffix = Path(source).suffix.lower()
    found = by_type.get((content_type or "").partition(";")[0].strip()) or _SUFFIXES.get(suffix)
    if found is None and content_type:
        found = "text" if content_type.startswith("text/") else None
    if found is None and content.startswith(docx.MAGIC) and docx.MAIN_PART.encode() in content:
        return "docx"
    if found is None and suffix in _SAVED_AS:
        raise UserError(
            "path", source, f"{source!r}: {suffix} is not read; save it as {_SAVED_AS[suffix]} and add that."
        )
    if found is None:
        known = ", ".join(sorted(_SUFFIXES))
        raise UserError("path", source, f"{source!r} is none of the formats that are read ({known}).")
    if found == "pdf":
        raise UserError("path", source, f"{source!r} is named as a PDF but is none.")
    if found == "docx" and not content.startswith(docx.MAGIC):
        raise UserError("path", source, f"{source!r} is named as a Word document but is none; save it as .docx or PDF.")
    return found


def _parsed(content: bytes, found: Format, source: str) -> Source:
    name = Path(source).stem
    if found in ("pdf", "docx"):
        return _isolated(found, content, source)
    decoded = _decoded(content, source)
    if found == "html":
        return _isolated("html", decoded.encode("utf-8"), source)
    return markdown.read(decoded, name) if found == "markdown" else text.read(decoded, name)


def _isolated(reader: Literal["pdf", "docx", "html"], content: bytes, source: str) -> Source:
    from knowledge.isolated import Refused, run

    try:
        return run(reader, content, Path(source).stem)
    except Refused as error:
        raise UserError("path", source, f"{source!r} was refused: {error}.") from error


def _decoded(content: bytes, source: str) -> str:
    """UTF-8 or UTF-16 by its mark, else Windows-1252, which any printable text of western Europe is valid in."""
    if len(content) > MOST_TEXT_BYTES:
        limit = MOST_TEXT_BYTES // 1024**2
        raise UserError("path", source, f"{source!r} holds more than {limit} MiB of text; split it.")
    encoding = next((name for bom, name in _BOMS if content.startswith(bom)), "utf-8")
    for candidate in (encoding, "cp1252"):
        try:
            decoded = content.decode(candidate)
        except UnicodeDecodeError:
            continue
        if _is_text(decoded):
            return decoded
    raise UserError("path", source, f"{source!r} is not text (binary data, or an unknown encoding); save it as UTF-8.")


def _is_text(decoded: str) -> bool:
    sample = decoded[:100_000]
    odd = sum(not c.isprintable() and c not in "\n\r\t\f\u00ad\u200b\ufeff" for c in sample)
    return odd <= len(sample) // 200 and "\x00" not in decoded
