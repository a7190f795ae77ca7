"""Words of German and English text as the lexical index sees them.

Numbers are written one way ("100.000", "100,000" and "100k" are one token), words are stemmed by the Snowball stemmer of
their language (which also folds umlauts: "groesse" and "Größe" meet), and German compounds are split into parts that
the glossary or the indexed documents know, so that "Rechenzentrumskarte" meets "Karte im Rechenzentrum".
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal

import Stemmer

from knowledge.packaged import packaged

Language = Literal["de", "en"]

_WORD = re.compile(r"\d[\d.,]*\d[a-z]*|\d+[a-z]*|[^\W\d_]+\d*(?:[._+][^\W_]+)*")
_THOUSANDS = re.compile(r"^\d{1,3}(?:[.,]\d{3})+$")
_NUMBER_UNIT = re.compile(r"^([\d.]+)([a-z]+)$")
_LINKS = ("", "s", "n", "en", "es", "er", "e")
_SHORTEST_COMPOUND = 8
_SHORTEST_PART = 4

_STEMMERS = {"de": Stemmer.Stemmer("german"), "en": Stemmer.Stemmer("english")}

_OF_BOTH: dict[Language, frozenset[str]] = {
    "de": frozenset({"am", "an", "die", "was", "war", "in", "so", "man", "will", "also"}),
    "en": frozenset({"am", "an", "all", "not", "on", "by", "he", "over", "off"}),
}
_UMLAUTS = re.compile(r"[äöüß]", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Lower-case words and numbers in order; hyphens and slashes separate."""
    return [part for raw in _WORD.findall(text.lower()) for part in _normalised(raw.strip(".,"))]


def _normalised(raw: str) -> Iterator[str]:
    """One spelling of a number; "24gb" as number and unit, "13b" whole as well, since names are written so."""
    if not raw[:1].isdigit():
        yield raw
        return
    if _THOUSANDS.match(raw):
        yield re.sub(r"[.,]", "", raw)
        return
    plain = raw.replace(",", ".")
    unit = _NUMBER_UNIT.match(plain)
    if unit is None:
        yield plain
    elif unit[2] == "k" and "." not in unit[1]:
        yield unit[1] + "000"
    else:
        yield from (plain, unit[1], unit[2]) if unit[2] == "b" else (unit[1], unit[2])


@lru_cache(maxsize=100_000)
def stem(word: str, lang: Language) -> str:
    """Snowball stem; numbers and names with digits stay as they are."""
    return word if any(c.isdigit() for c in word) else str(_STEMMERS[lang].stemWord(word))


def is_stop_word(word: str, lang: Language) -> bool:
    return word in _stop_words(lang)


@cache
def _stop_words(lang: Language) -> frozenset[str]:
    return frozenset(str(packaged("stop_words.yaml")[lang]).split())


@cache
def _telling(lang: Language) -> frozenset[str]:
    """Function words of one language that are none of the other."""
    other: Language = "en" if lang == "de" else "de"
    return _stop_words(lang) - _stop_words(other) - _OF_BOTH[lang]


def detect_language(text: str, default: Language = "de") -> Language:
    """German or English by function words and umlauts; `default` where neither shows."""
    found = re.findall(r"[^\W\d_]+", text.lower())[:2000]
    only_german, only_english = _telling("de"), _telling("en")
    german = sum(w in only_german for w in found) + min(3, len(_UMLAUTS.findall(text[:2000])))
    english = sum(w in only_english for w in found)
    return default if german == english else "de" if german > english else "en"


@dataclass
class Compounds:
    """Splits German compounds into words that `known` or `vocabulary` has."""

    known: Callable[[str], bool]
    vocabulary: frozenset[str] = frozenset()
    _seen: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def split(self, word: str) -> tuple[str, ...]:
        """Parts in order, or () where the word is no compound of known parts."""
        if len(word) < _SHORTEST_COMPOUND or not word.isalpha():
            return ()
        if word not in self._seen:
            self._seen[word] = self._parts(word)
        return self._seen[word]

    def _parts(self, word: str) -> tuple[str, ...]:
        """The split with the longest head: in German the last part says what the thing is."""
        for cut in range(3, len(word) - 2):
            tail = word[cut:]
            if not self._is_word(tail):
                continue
            head = self._head(word[:cut])
            if head:
                return (*head, tail)
        return ()

    def _head(self, text: str) -> tuple[str, ...]:
        for link in _LINKS:
            stump = text.removesuffix(link) if link else text
            if (not link or stump != text) and self._is_word(stump):
                return (stump,)
        return self._parts(text) if len(text) >= _SHORTEST_COMPOUND else ()

    def _is_word(self, part: str) -> bool:
        return self.known(part) or (len(part) >= _SHORTEST_PART and part in self.vocabulary)


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The words of some documents, for splitting compounds made of them."""
    return frozenset(w for text in texts for w in words(text) if len(w) >= _SHORTEST_PART)
