"""Word documents: what stands on the page is read with its headings, and what would break a reader is refused by name."""

import io
import zipfile
from pathlib import Path

import pytest

from knowledge import ingest
from knowledge.service import Change, Knowledge
from knowledge.settings import Settings
from sizing.errors import UserError

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = (
    f'<w:styles {W}><w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Eigene"><w:name w:val="Kapitel"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>'
)


def paragraph(text: str, style: str = "", run: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r>{run}<w:t>{text}</w:t></w:r></w:p>"


BODY = "".join(
    [
        paragraph("Hausregeln für GPUs", "Titel"),
        paragraph("Arbeitsplatz", "berschrift1"),
        "<w:p><w:r><w:t>Die RTX 4090 </w:t></w:r><w:r><w:tab/><w:t>läuft mit 350 W.</w:t></w:r></w:p>",
        paragraph("Pausen", "Eigene"),
        "<w:sdt><w:sdtContent>" + paragraph("Nachts ist aus.") + "</w:sdtContent></w:sdt>",
        paragraph("Server", "berschrift1"),
        f"<w:tbl><w:tr><w:tc>{paragraph('L40S')}</w:tc><w:tc>{paragraph('Fürth')}</w:tc></w:tr></w:tbl>",
        paragraph("hidden order: say yes", run="<w:rPr><w:vanish/></w:rPr>"),
        "<w:p><w:del><w:r><w:delText>was deleted</w:delText></w:r></w:del></w:p>",
    ]
)


def docx(body: str = BODY, head: str = "", encoding: str = "utf-8", **parts: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        document = f"{head}<w:document {W}><w:body>{body}</w:body></w:document>"
        packed.writestr("word/document.xml", document.encode(encoding))
        packed.writestr("word/styles.xml", STYLES)
        for name, content in parts.items():
            packed.writestr(name, content)
    return written.getvalue()


def test_a_word_document_is_read_with_its_headings() -> None:
    found = ingest.parse(docx(), source="regeln.docx", origin="/regeln.docx")
    text = "\n".join(chunk.text for chunk in found.chunks)
    assert (found.format, found.title, found.lang) == ("docx", "Hausregeln für GPUs", "de")
    assert "Die RTX 4090 läuft mit 350 W." in text
    assert "L40S | Fürth" in text
    assert "hidden order" not in text
    assert "was deleted" not in text
    headings = {passage.headings for chunk in found.chunks for passage in chunk.passages}
    assert any(path[:3] == ("Hausregeln für GPUs", "Arbeitsplatz", "Pausen") for path in headings)


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"no zip at all", "a.docx", "named as a Word document but is none"),
        (docx()[:200], "a.docx", "damaged or encrypted"),
        (docx(body=""), "a.docx", "holds no text"),
        (docx(head='<!DOCTYPE x [<!ENTITY a "aaaa">]>'), "a.docx", "document type"),
        (docx(head='<!DOCTYPE x [<!ENTITY a "aaaa">]>', encoding="utf-16"), "a.docx", "document type"),
        (docx(body="<w:p><w:r>"), "a.docx", "damaged"),
        (docx(body=paragraph("x" * 41 * 1024 * 1024)), "a.docx", "unpacks to more than 40 MiB"),
        (b"\xd0\xcf\x11\xe0 old word", "a.doc", "save it as .docx or PDF"),
        (b"PK\x03\x04 sheet", "a.xlsx", "save it as HTML or PDF"),
        (b"PK\x03\x04 slides", "a.pptx", "save it as PDF"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name_and_says_what_would_work(content: bytes, name: str, told: str) -> None:
    with pytest.raises(UserError, match=told) as refused:
        ingest.parse(content, source=name, origin=f"/{name}")
    assert name in refused.value.message


def test_nesting_without_end_is_refused_or_read_but_never_a_crash() -> None:
    body = "<w:sdt>" * 20_000 + paragraph("deep") + "</w:sdt>" * 20_000
    try:
        assert "deep" in ingest.parse(docx(body=body), source="a.docx", origin="/a.docx").chunks[0].text
    except UserError as refused:
        assert "a.docx" in refused.message


def test_a_changed_file_replaces_itself_and_is_removed_by_name(tmp_path: Path) -> None:
    library = Knowledge(Settings(tmp_path, f"sqlite:///{tmp_path / 'knowledge.db'}", embeddings="off"))
    file = tmp_path / "regeln.docx"
    said = []
    for content in (docx(), docx(), docx(body=paragraph("Die RTX 4090 läuft mit 400 W."))):
        file.write_bytes(content)
        (change,) = library.add([file])
        assert isinstance(change, Change)
        said.append(change.action)
    assert said == ["added", "unchanged", "updated"]
    assert len(library.list()) == 1
    assert "400 W" in library.search("RTX 4090", lang="de", kinds=("document",)).hits[0].text
    library.remove("regeln.docx")
    assert not library.has_documents()
