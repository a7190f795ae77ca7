"""Words, numbers, stems, compounds, languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.analyse import Compounds, detect_language, stem, words
from knowledge.glossary import load


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("100.000 Texte, 100,000 texts, 100k texts", ["100000", "texte", "100000", "texts", "100000", "texts"]),
        ("0,93 or 0.93", ["0.93", "or", "0.93"]),
        ("24GB-Karte", ["24", "gb", "karte"]),
        ("Llama-2-13b", ["llama", "2", "13b", "13", "b"]),
        ("llama.cpp und Q4_K_M", ["llama.cpp", "und", "q4_k_m"]),
        ("Größe/Länge.", ["größe", "länge"]),
        ("", []),
    ],
)
def test_words_are_written_one_way(text: str, found: list[str]) -> None:
    assert words(text) == found


@given(st.text(max_size=300))
def test_any_text_has_words_without_spaces(text: str) -> None:
    assert all(w and not any(c.isspace() for c in w) for w in words(text))


def test_umlauts_and_their_spellings_meet() -> None:
    assert stem("größe", "de") == stem("groesse", "de") == stem("größen", "de")


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("rechenzentrumskarte", ("rechenzentrums", "karte")),
        ("supportverträge", ("support", "verträge")),
        ("plattenbedarf", ("platten", "bedarf")),
        ("aktiviere", ()),
        ("karte", ()),
        ("q4_k_m_datei", ()),
    ],
)
def test_compounds_are_split_into_known_words(word: str, parts: tuple[str, ...]) -> None:
    assert Compounds(load().knows).split(word) == parts


def test_compounds_know_the_words_of_the_documents() -> None:
    assert Compounds(lambda _: False, frozenset({"drehstrom", "schrank"})).split("drehstromschrank") == (
        "drehstrom",
        "schrank",
    )


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Welche Karte brauche ich für ein 70B-Modell?", "de"),
        ("which card do I need for a 70B model", "en"),
        ("Größe?", "de"),
        ("RTX 4090", "de"),
    ],
)
def test_language_is_told_by_function_words(text: str, lang: str) -> None:
    assert detect_language(text) == lang
