"""Files in: what is read, and what is refused by name without losing anything else."""

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pypdf import PdfWriter

from knowledge import ingest, isolated
from knowledge.service import Change, Knowledge
from sizing.errors import UserError


def pdf_of(lines: list[str]) -> bytes:
    """A PDF of one page with a line of text each."""
    shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
    return pdf_with_stream(f"BT /F1 12 Tf 72 720 Td {shown}ET".encode("latin-1"))


def pdf_with_stream(stream: bytes) -> bytes:
    """A PDF of one page whose content is this stream, compressed."""
    packed = zlib.compress(stream, 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def encrypted_pdf(path: Path) -> None:
    """A PDF that asks for a password."""
    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    writer.encrypt("secret", algorithm="RC4-128")
    with path.open("wb") as file:
        writer.write(file)


WRITTEN: dict[str, Callable[[Path], object]] = {
    "empty.txt": lambda p: p.write_bytes(b""),
    "blank.txt": lambda p: p.write_bytes(b" \n\n \n"),
    "binary.txt": lambda p: p.write_bytes(bytes(range(256)) * 40),
    "program.docx": lambda p: p.write_bytes(b"PK\x03\x04rest"),
    "no-pdf.pdf": lambda p: p.write_bytes(b"GIF89a not a pdf"),
    "broken.pdf": lambda p: p.write_bytes(b"%PDF-1.7\nnothing behind it"),
    "cut.pdf": lambda p: p.write_bytes(pdf_of(["Some text"])[:300]),
    "locked.pdf": encrypted_pdf,
    "blank.pdf": lambda p: p.write_bytes(pdf_of([])),
    "huge.txt": lambda p: os.truncate(os.open(p, os.O_CREAT | os.O_RDWR), 200 * 1024**2),
    "loop.txt": lambda p: p.symlink_to(p),
}


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_what_cannot_be_read_is_refused_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITTEN[name](path)
    with pytest.raises(UserError, match=name.replace(".", r"\.")):
        for file in ingest.files_under(path):
            ingest.read(file)


def test_a_pdf_that_unpacks_to_too_much_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "SECONDS", 2)
    path = tmp_path / "bomb.pdf"
    path.write_bytes(pdf_with_stream(b"BT /F1 1 Tf " + b"(a) Tj " * 3_000_000 + b"ET"))
    assert path.stat().st_size < 200_000
    with pytest.raises(UserError, match=r"bomb\.pdf"):
        ingest.read(path)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Größe der Karte"),
        ("utf-8-sig", "Größe der Karte"),
        ("utf-16", "Größe der Karte"),
        ("cp1252", "Größe der Karte"),
    ],
)
def test_the_usual_encodings_are_read(encoding: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert ingest.read(path).chunks[0].text.lstrip("\ufeff") == text


def test_a_pdf_gives_text_with_its_page(tmp_path: Path) -> None:
    path = tmp_path / "guide.pdf"
    path.write_bytes(pdf_of(["The card needs 24 GB of memory.", "It runs hot."]))
    document = ingest.read(path)
    assert (document.format, document.lang, document.chunks[0].page) == ("pdf", "en", 1)
    assert "24 GB" in document.chunks[0].text


def test_links_inside_a_folder_are_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "docs"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (inside / "a.txt").write_text("text")
    (inside / "loop").symlink_to(inside)
    (inside / "out.txt").symlink_to(tmp_path / "secret.txt")
    assert [p.name for p in ingest.files_under(inside)] == ["a.txt"]


def test_one_bad_file_loses_nothing_else(knowledge: Knowledge, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("A card needs memory.")
    (folder / "b.txt").write_bytes(b"\x00\x01" * 500)
    (folder / "c.md").write_text("# Power\n\nA supply needs reserve.")
    (folder / "d.xlsx").write_bytes(b"PK\x03\x04 sheet")
    (folder / "e.png").write_bytes(b"\x89PNG")
    outcomes = list(knowledge.add([folder, tmp_path / "missing.txt"]))
    said = [o.action if isinstance(o, Change) else o.message for o in outcomes]
    assert [said[0], said[2]] == ["added", "added"]
    refused = ["b.txt", "d.xlsx", "missing.txt"]
    assert [name in text for name, text in zip(refused, [said[1], *said[3:]], strict=True)] == [True] * len(refused)
    assert [d.source for d in knowledge.list()] == ["a.txt", "c.md"]


def test_html_of_great_depth_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.html"
    path.write_text("<div>" * 3_000 + "memory" + "</div>" * 3_000)
    try:
        assert ingest.read(path).chunks[0].text == "memory"
    except UserError as error:
        assert "deep.html" in error.message
