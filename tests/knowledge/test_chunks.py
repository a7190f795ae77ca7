"""Chunks: nothing lost, nothing longer than a hit may be, passages where they say they are."""

from hypothesis import given
from hypothesis import strategies as st

from knowledge.chunks import MOST_CHARACTERS, split
from knowledge.readers import markdown, text

PARAGRAPHS = st.lists(st.text(alphabet="abcdefgh \n.#", min_size=1, max_size=2500), max_size=12)


@given(PARAGRAPHS)
def test_every_word_of_a_document_is_in_a_chunk(paragraphs: list[str]) -> None:
    source = text.read("\n\n".join(paragraphs), "x")
    wanted = "".join("".join(b.text.split()) for b in source.blocks)
    assert "".join("".join(c.text.split()) for c in split(source)) == wanted


@given(PARAGRAPHS)
def test_chunks_fit_a_hit_and_passages_are_parts_of_them(paragraphs: list[str]) -> None:
    for chunk in split(text.read("\n\n".join(paragraphs), "x")):
        assert len(chunk.text) <= MOST_CHARACTERS
        assert [chunk.text[p.start : p.start + len(p.text)] for p in chunk.passages] == [p.text for p in chunk.passages]


def test_a_short_section_joins_its_neighbour_and_keeps_its_heading_path() -> None:
    source = markdown.read(
        "# A\n\n"
        + "short, but long enough to stand alone, as it has eighty characters or a few more. \n\n## B\n\n"
        + "long sentence. " * 90,
        "x",
    )
    chunks = split(source)
    assert [c.section for c in chunks] == ["A"]
    assert {p.headings for p in chunks[0].passages} == {("A",), ("A", "B")}
