"""The glossary joins words of one meaning, within a language and across the two."""

import pytest

from knowledge.analyse import Compounds, Language, words
from knowledge.glossary import load, ordinary, parse

COMPOUNDS = Compounds(load().knows)


def concepts(text: str, lang: Language) -> set[int]:
    return {c.number for r in load().read(text, lang, COMPOUNDS) for c in r.concepts}


@pytest.mark.parametrize(
    ("german", "english"),
    [
        ("Netzteil", "power supply"),
        ("Wird die Grafikkarte zu heiß?", "thermals of the card"),
        ("Nachtrainieren", "fine-tuning"),
        ("gemeinsamer Speicher", "unified memory"),
        ("passt", "fits"),
        ("geplant", "plan"),
        ("Speicherbandbreite", "memory bandwidth"),
    ],
)
def test_words_of_one_meaning_share_a_concept(german: str, english: str) -> None:
    assert concepts(german, "de") & concepts(english, "en")


def test_names_are_concepts_of_their_own() -> None:
    assert not concepts("H100", "de") & concepts("H200", "de")


def test_german_is_glossed_in_english() -> None:
    glossed = load().gloss("Die Profikarte braucht ein Servernetzteil", COMPOUNDS)
    assert glossed == "professional need server psu"


def test_every_line_has_words_in_both_languages() -> None:
    assert [c for c in load().concepts if not c.de or not c.en] == []


def test_no_word_stands_twice_in_one_concept() -> None:
    assert [c for c in load().concepts if len(set(c.de)) < len(c.de) or len(set(c.en)) < len(c.en)] == []


def test_ordinary_words_are_no_terms_of_the_field() -> None:
    named = {words(t)[0] for c in load().concepts if c.domain for t in c.en if len(words(t)) == 1}
    field = {"gpu", "vram", "quantization", "lora", "nvlink", "throughput", "checkpoint"}
    assert field <= named
    assert not field & ordinary("en")


def test_a_line_without_an_equals_sign_is_refused() -> None:
    with pytest.raises(ValueError, match="without '='"):
        parse({"domain": ["karte card"]})
