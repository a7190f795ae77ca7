"""The domain glossary German-English: which words mean the same, within a language and across the two.

Each line of `glossary.yaml` is a concept. Text is read into concept numbers, which are the same whatever the language, so
that "card too hot?" and "Wird die Grafikkarte zu heiß?" share tokens; and German text can be glossed in English word by
word for an embedding model that knows English only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from knowledge.analyse import Compounds, Language, is_stop_word, stem, words
from knowledge.packaged import packaged

_LONGEST_PHRASE = 4
_OTHER: dict[Language, Language] = {"de": "en", "en": "de"}


@dataclass(frozen=True)
class Concept:
    """One meaning: its number, whether it names the field itself, and its words by language."""

    number: int
    domain: bool
    de: tuple[str, ...]
    en: tuple[str, ...]

    def place_of(self, key: tuple[str, ...]) -> int:
        """How far back the German words with these stems stand in the line; the end for English words."""
        stems = [tuple(stem(w, "de") for w in words(term)) for term in self.de]
        return stems.index(key) if key in stems else len(stems)


@dataclass(frozen=True)
class Reading:
    """Words of a text that were read together, and the concepts they may mean (none: not in the glossary)."""

    words: tuple[str, ...]
    concepts: tuple[Concept, ...]


_Table = dict[tuple[str, ...], tuple[Concept, ...]]


@dataclass(frozen=True, eq=False)
class Glossary:
    """All concepts, found by the stems of their words; `shortest` has the length of the shortest word with a stem."""

    concepts: tuple[Concept, ...]
    by_stems: dict[Language, _Table]
    shortest: dict[str, int]
    phrase_starts: dict[Language, frozenset[str]]
    _words: dict[tuple[str, Language], tuple[Concept, ...]] = field(default_factory=dict)

    def knows(self, word: str) -> bool:
        """Whether a word may be part of a compound: it stands in the glossary, inflected or not, and is no mere stem of one."""
        return len(word) >= self.shortest.get(stem(word, "de"), len(word) + 1)

    def read(self, text: str, lang: Language, compounds: Compounds) -> Iterator[Reading]:
        """The text as a sequence of readings, longest phrase first; stop words are left out."""
        found = words(text)
        at = 0
        while at < len(found):
            phrase = self._phrase(found[at : at + _LONGEST_PHRASE], lang)
            if phrase:
                yield phrase
            elif not is_stop_word(found[at], lang):
                yield from self._word(found[at], lang, compounds)
            at += len(phrase.words) if phrase else 1

    def _phrase(self, found: Sequence[str], lang: Language) -> Reading | None:
        """The longest phrase of several words that these begin with."""
        for side in (lang, _OTHER[lang]):
            if stem(found[0], side) not in self.phrase_starts[side]:
                continue
            for length in range(len(found), 1, -1):
                concepts = self.by_stems[side].get(tuple(stem(w, side) for w in found[:length]))
                if concepts:
                    return Reading(tuple(found[:length]), concepts)
        return None

    def _word(self, word: str, lang: Language, compounds: Compounds) -> Iterator[Reading]:
        """A word as a whole where the glossary has it, else its parts where it is a compound of known ones."""
        concepts = self.of_word(word, lang)
        parts = compounds.split(word) if lang == "de" and not concepts else ()
        if not parts:
            yield Reading((word,), concepts)
        for part in parts:
            yield Reading((part,), self.of_word(part, lang))

    def of_word(self, word: str, lang: Language) -> tuple[Concept, ...]:
        """What one word may mean, in its language or else as a word of the other."""
        known = self._words.get((word, lang))
        if known is None:
            known = self._words[word, lang] = self._look_up(word, lang) or self._look_up(word, _OTHER[lang])
        return known

    def _look_up(self, word: str, side: Language) -> tuple[Concept, ...]:
        table = self.by_stems[side]
        concepts = table.get((stem(word, side),))
        if concepts or side == "en":
            return concepts or ()
        return next((table[(base,)] for base in verb_bases(word) if (base,) in table), ())

    def gloss(self, text: str, compounds: Compounds) -> str:
        """German text in English words, in German order; words without an entry stay as they are."""
        return " ".join(_first_english(r) for r in self.read(text, "de", compounds))


def verb_bases(word: str) -> Iterator[str]:
    """What the stemmer leaves on inflected verbs: "passt" is "pass", "geplant" is "plan", "speichert" is "speich"."""
    base = stem(word, "de")
    if base.endswith("t") and len(base) > 4:
        yield base[:-1]
        yield stem(base[:-1], "de")
        if base.startswith("ge"):
            yield base[2:-1]
        if base.endswith("iert"):
            yield base[:-4]


def _first_english(reading: Reading) -> str:
    """The English of the concept that lists the word earliest: "last" is a workload before it is a utilization."""
    if not reading.concepts:
        return " ".join(reading.words)
    key = tuple(stem(w, "de") for w in reading.words)
    return min(reading.concepts, key=lambda c: c.place_of(key)).en[0]


def parse(document: Mapping[str, list[str]]) -> Glossary:
    """A glossary from the lines of `glossary.yaml`; a line without "=" is a ValueError."""
    lines = [(section == "domain", line) for section, entries in document.items() for line in entries]
    concepts = tuple(_concept(n, domain, line) for n, (domain, line) in enumerate(lines))
    single = [t for c in concepts for t in (*c.de, *c.en) if t.isalpha() and (len(t) > 3 or (c.domain and len(t) == 3))]
    shortest = {stem(t, "de"): len(t) for t in sorted(single, key=len, reverse=True)}
    by_stems: dict[Language, _Table] = {"de": _by_stems(concepts, "de"), "en": _by_stems(concepts, "en")}
    starts = {lang: frozenset(key[0] for key in table if len(key) > 1) for lang, table in by_stems.items()}
    return Glossary(concepts, by_stems, shortest, starts)


def _concept(number: int, domain: bool, line: str) -> Concept:
    german, separator, english = line.partition("=")
    if not separator:
        raise ValueError(f"glossary line without '=': {line!r}")
    return Concept(number, domain, _terms(german), _terms(english))


def _terms(side: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.strip().lower() for term in side.split(",") if term.strip()))


def _by_stems(concepts: Sequence[Concept], lang: Language) -> _Table:
    found: _Table = {}
    for concept in concepts:
        for term in concept.de if lang == "de" else concept.en:
            key = tuple(stem(w, lang) for w in words(term))
            if key and concept not in found.get(key, ()):
                found[key] = (*found.get(key, ()), concept)
    return found


@cache
def ordinary(lang: Language) -> frozenset[str]:
    """Stems of everyday words, which say nothing about the subject of a question."""
    return frozenset(stem(w, lang) for w in str(packaged("ordinary.yaml")[lang]).split())


@cache
def load() -> Glossary:
    """The packaged glossary."""
    return parse(packaged("glossary.yaml"))
