"""Words of German and English text as the lexical index sees them.

Numbers are written one way ("100.000", "100,000" and "100k" are one token), words are stemmed by the Snowball stemmer of
their language (which also folds umlauts: "groesse" and "Größe" meet), and German compounds are split into parts that
the glossary or the indexed documents know, so that "Rechenzentrumskarte" meets "Karte im Rechenzentrum".
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import Stemmer

Language = Literal["de", "en"]

_WORD = re.compile(r"\d[\d.,]*\d[a-z]*|\d+[a-z]*|[^\W\d_]+[\d.]*(?:[._+][^\W_]+)*")
_THOUSANDS = re.compile(r"^\d{1,3}(?:[.,]\d{3})+$")
_NUMBER_UNIT = re.compile(r"^([\d.]+)([a-z]+)$")
_LINKS = ("", "s", "n", "en", "es", "er", "e")
_SHORTEST_COMPOUND = 8
_SHORTEST_PART = 4

_STEMMERS = {"de": Stemmer.Stemmer("german"), "en": Stemmer.Stemmer("english")}

_STOP_DE = frozenset(
    """aber alle allem allen aller alles als also am an andere anderen ans auch auf aus außerdem bei beim bin bis bist bzw da
    dabei dadurch dafür daher damit dann daran darauf das dass dein deine deinem deinen deiner dem den denn der deren des
    deshalb dessen die dies diese diesem diesen dieser dieses doch dort du durch eben ebenfalls ein eine einem einen einer
    eines er es etwas euch euer eure für gegen gibt gibts hab habe haben hat hatte hier hin ich ihm ihn ihnen ihr ihre ihrem
    ihren ihrer im in ins ist ja jede jedem jeden jeder jedes kann kein keine keinem keinen keiner können könnte man mal mein
    meine meinem meinen meiner mich mir mit muss müssen nach ne nem nen ner nicht nichts noch nun nur ob oder ohne sehr sein
    seine seinem seinen seiner selbst sich sie sind so sobald solche soll sollen sollte sollten sondern sowie um und uns unser
    unsere unserem unseren unserer unter vom von vor war waren was weder weil welche welchem welchen welcher welches wenn wer
    werden wie will wir wird wo wollen worden wurde wurden zu zum zur zwar über eh eher nein schon gerade einfach denen wäre
    würde würden hätte bringts wirds gehts ists isses woraus eigentlich überhaupt halt jetzt""".split()
)
_STOP_EN = frozenset(
    """a about all also am an and any are aren't as at be because been being but by can can't could did do does doesn't doing
    don don't for from had has have having he her here him his how i i'd i'll i'm i've if in into is isn't it it's its just let
    me my no nor not of off on or our ours out over own s same she should so some such t than that that's the their them then
    there these they this those through to too until up very was we we're were what what's when where which while who whom why
    will with without won't would you you're your yours re ve ll d m really actually get gets got go goes going thing things
    there's one ones other others want wants anything something everything please""".split()
)
_STOP = {"de": _STOP_DE, "en": _STOP_EN}
_ONLY_DE = _STOP_DE - _STOP_EN - {"am", "an", "die", "was", "war", "in", "so", "man", "will", "also"}
_ONLY_EN = _STOP_EN - _STOP_DE - {"am", "an", "all", "not", "on", "by", "am", "he", "over", "off"}
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
    return word in _STOP[lang]


def detect_language(text: str, default: Language = "de") -> Language:
    """German or English by function words and umlauts; `default` where neither shows."""
    found = re.findall(r"[^\W\d_]+", text.lower())[:2000]
    german = sum(w in _ONLY_DE for w in found) + min(3, len(_UMLAUTS.findall(text[:2000])))
    english = sum(w in _ONLY_EN for w in found)
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
