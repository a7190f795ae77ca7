"""Files made to break their reader: each is read or refused by name, within limits, and nothing else is lost."""

import gzip
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge import ingest, isolated
from knowledge.readers import html, pdf
from knowledge.service import Change, Knowledge
from sizing.errors import UserError
from tests.knowledge.test_ingest import encrypted_pdf, pdf_of, pdf_with_stream

DEEP = 100_000
QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
TAGS = (
    "p",
    "div",
    "table",
    "tr",
    "td",
    "li",
    "ul",
    "pre",
    "br",
    "h1",
    "h3",
    "script",
    "style",
    "template",
    "svg",
    "b",
    "title",
)
ODD_CHARACTERS = "\x00\x01\x07\x0b\x1b[31m\x7f\x85\u200b\u202e\u2028\ufeff\ufffe\ud800"


def read(content: bytes, name: str) -> ingest.Document | None:
    """The document, or None where it was refused by its name; anything else that is raised is a fault of ours."""
    try:
        return ingest.parse(content, source=name, origin=f"/{name}")
    except UserError as refused:
        assert name in refused.message
        return None


@given(st.binary(max_size=4_000), st.sampled_from(["a.txt", "a.md", "a.log"]))
@QUICK
def test_any_bytes_are_text_or_refused(content: bytes, name: str) -> None:
    found = read(content, name)
    assert found is None or all("\x00" not in chunk.text for chunk in found.chunks)


@given(
    st.text(max_size=2_000),
    st.sampled_from(["utf-8", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "shift_jis"]),
)
@QUICK
def test_any_text_in_any_encoding_is_read_or_refused(text: str, encoding: str) -> None:
    read(text.encode(encoding, errors="replace"), "a.txt")
    read(text.encode(encoding, errors="replace"), "a.md")


@given(
    st.lists(
        st.sampled_from(
            ["# ", "- ", "> ", "```", "|", "\n", "\n\n", "---\n", "===\n", "word ", "**", "<b>", "&amp;", "\t"]
        ),
        max_size=120,
    )
)
@QUICK
def test_any_markdown_keeps_its_words(parts: list[str]) -> None:
    text = "".join(parts) + "\n\nlast words\n"
    found = read(text.encode(), "a.md")
    assert found is not None
    shown = " ".join(chunk.text for chunk in found.chunks)
    assert shown.count("word") == text.count("word")


@given(st.recursive(
    st.text(max_size=20),
    lambda inner: st.tuples(st.sampled_from(TAGS), st.lists(inner, max_size=4)).map(
        lambda made: f"<{made[0]}>" + "".join(made[1]) + f"</{made[0]}>"
    ),
    max_leaves=30,
), st.integers(0, 400))  # fmt: skip
@QUICK
def test_any_html_is_read_whole_or_cut(page: str, cut: int) -> None:
    for text in (page, page[:cut], page.replace("</", "<")):
        source = html.read(text, "a")
        assert all(block.text.strip() for block in source.blocks)


GOOD_PDF = pdf_of(["The card needs 24 GB of memory.", "It runs hot."])
FLIPS = st.lists(st.tuples(st.integers(0, len(GOOD_PDF) - 1), st.integers(0, 255)), max_size=12)


@given(flips=FLIPS, length=st.integers(20, len(GOOD_PDF)))
@QUICK
def test_any_damage_to_a_pdf_is_survived(flips: list[tuple[int, int]], length: int, tmp_path: Path) -> None:
    content = bytearray(GOOD_PDF)
    for place, value in flips:
        content[place] = value
    path = tmp_path / "damaged.pdf"
    path.write_bytes(bytes(content[:length]))
    try:
        assert pdf.read_file(path, "damaged").blocks
    except pdf.Refused as refused:
        assert "PDF" in str(refused)


def looping_pdf() -> bytes:
    """A PDF whose page tree is its own child."""
    return re.sub(rb"/Kids \[3 0 R\] /Count 1", b"/Kids [2 0 R] /Count 1", GOOD_PDF)


def zipped() -> bytes:
    """Ten megabytes of nothing in a few kilobytes: what an office document may be."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 10_000_000)
    return buffer.getvalue()


LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9))
    + "]><p>&j;</p>"
)
FILES: dict[str, Callable[[], bytes]] = {
    "deep.html": lambda: b"<div>" * DEEP + b"memory" + b"</div>" * DEEP,
    "deep_lists.html": lambda: b"<ul><li>" * 2_000 + b"memory",
    "unclosed.html": lambda: b"<p" * 2_000,
    "attributes.html": lambda: b"<p " + b"a=1 " * DEEP + b">memory</p>",
    "laughs.xhtml": lambda: LAUGHS.encode(),
    "comments.html": lambda: b"<!--" * 2_000,
    "deep.md": lambda: b"> " * DEEP + b"memory",
    "fences.md": lambda: b"```\n" * DEEP,
    "headings.md": lambda: b"# a\n" * DEEP,
    "brackets.md": lambda: b"[" * DEEP + b"](" * DEEP,
    "front_matter.md": lambda: b"---\n" * DEEP,
    "lines.txt": lambda: b"\n" * 2_000_000 + b"memory",
    "one_line.txt": lambda: b"memory " * 300_000,
    "one_word.txt": lambda: b"m" * 200_000,
    "too_long.txt": lambda: b"memory " * 2_000_000,
    "control.txt": lambda: ODD_CHARACTERS.encode("utf-8", "surrogatepass") * 500,
    "utf32.txt": lambda: "Größe der Karte ".encode("utf-32") * 50,
    "no_mark.txt": lambda: "Größe der Karte ".encode("utf-16-be") * 50,
    "bytes.md": lambda: bytes(range(256)) * 40,
    "office.html": zipped,
    "packed.txt": lambda: gzip.compress(b"memory " * 100_000),
    "loop.pdf": looping_pdf,
    "nested.pdf": lambda: GOOD_PDF.replace(b"<< /Type /Catalog", b"<< /X " + b"[" * 50_000 + b"]" * 50_000 + b" /Type /Catalog"),
    "many_pages.pdf": lambda: GOOD_PDF.replace(b"/Count 1", b"/Count 9999999"),
    "stream.pdf": lambda: pdf_with_stream(b"BT /F1 1 Tf " + b"q " * 500_000 + b"ET"),
    "half.pdf": lambda: GOOD_PDF[: len(GOOD_PDF) // 2],
    "tail.pdf": lambda: GOOD_PDF[:40] + GOOD_PDF[-200:],
}  # fmt: skip
REFUSED = {
    "too_long.txt", "bytes.md", "office.html", "packed.txt", "loop.pdf", "utf32.txt", "no_mark.txt", "control.txt",
}  # fmt: skip


def test_a_folder_of_broken_files_keeps_the_good_ones(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "SECONDS", 20)
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content())
    encrypted_pdf(folder / "locked.pdf")
    for name in ("a_first.txt", "z_last.md"):
        (folder / name).write_text(f"# Guide\n\nThe card in {name} needs a supply with reserve.")
    outcomes = list(knowledge.add([folder]))
    refused = {Path(str(o.value)).name for o in outcomes if isinstance(o, UserError)}
    added = {o.document.source for o in outcomes if isinstance(o, Change)}
    assert {"a_first.txt", "z_last.md"} <= added
    assert (REFUSED | {"locked.pdf"}) <= refused
    assert refused | added == {path.name for path in folder.iterdir()}
    assert all(any(name in error.message for name in refused) for error in outcomes if isinstance(error, UserError))
    hits = knowledge.search("supply reserve", lang="en", kinds=("document",)).hits
    assert {hit.source for hit in hits[:2]} == {"a_first.txt", "z_last.md"}
