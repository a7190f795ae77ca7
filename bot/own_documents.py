"""A team's own documents: first where they are asked for, beside the engine's answer where they speak of what it sizes.

The guides that may have been added are documents like any other. What a document says is quoted word for word with its
place; it changes no figure, and what the engine refutes of it is said (`bot.own_claims`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot import own_claims
from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.heard import Heard
from bot.prose import blocks, body_of, overlap, sentences
from bot.sized import device_counts
from knowledge.sheets import sheet

_KINDS_OF_TEXT: Final = (
    r"richtlinien?|leitlinien?|vorgaben?|leitf[aä]den|handb(?:uch|ücher)s?|dokument(?:e|en|s|ation|ationen)?|unterlagen?|konzept(?:e|s)?|"
    r"(?:dienst|betriebs|arbeits)?anweisung(?:en)?|policy|policies|wiki|runbooks?|playbooks?|regelwerke?s?|regeln?|regelung(?:en)?|"
    r"(?:rahmen)?vertr[aä]ge?s?|merkblatt|merkbl[aä]tter|guidelines?|handbooks?|manuals?|documents?|documentation|docs|rules?|contracts?|"
    r"standards?|pdfs?"
)
# A word is looked through once, from its beginning: "a-a-a-…" over a whole message took minutes.
_STEM: Final = r"[\w-]{0,40}?"
_KIND: Final = re.compile(rf"(?<![\w-]){_STEM}(?:{_KINDS_OF_TEXT})\b", re.IGNORECASE)
_WHOSE: Final = (
    r"unser\w{0,2}|eigene\w?|interne?\w?|hauseigene\w?|hausinterne\w?|betriebliche\w?|firmeneigene\w?|hochgeladene\w?|"
    r"our|own|internal|in-house|company(?:'s)?|uploaded"
)
_BY: Final = r"laut|gemäß|nach|entsprechend|according to|as per|per|under"
_OWN: Final = re.compile(
    rf"\b(?:{_WHOSE})\s+(?:[\w-]{{1,40}}\s+){{0,2}}?{_STEM}(?:{_KINDS_OF_TEXT})\b|"
    rf"\b(?:{_BY})\s+(?:der|dem|den|die|the)\s+(?:[\w-]{{1,40}}\s+){{0,2}}?{_STEM}(?:{_KINDS_OF_TEXT})\b",
    re.IGNORECASE,
)
_OF_OURS: Final = re.compile(rf"\b(?:{_WHOSE}|wir|we)\b", re.IGNORECASE)
_SAYS: Final = re.compile(
    r"\b(?:was|what)\s+(?:sagen|sagt|steht|schreibt|does|do|is|did)\b|\b(?:say|says|sagen|sagt|steht|stehen)\b", re.IGNORECASE
)  # fmt: skip
_MOST_SENTENCES: Final = 3
_BESIDE: Final = 2
_SEARCHED: Final = 8
_LONGEST_QUERY: Final = 600
_LINES: Final = re.compile(r"\n+")
_LONGEST_QUOTE: Final = 400
_MARK: Final = re.compile(r"\s*\[\d{1,3}\]")
_PARTS: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class _Quote:
    """Sentences of one place, and which of them speak of what is sized."""

    hit: Any
    said: tuple[str, ...]


def asked_for(question: str) -> bool:
    """Whether a question asks what documents of its own say ("our policy", "laut der Betriebsrichtlinie")."""
    return bool(_OWN.search(question))


def lead(draft: Draft, heard: Heard, question: str) -> bool:
    """Answers from the documents alone, where they are asked and nothing is to be worked out; False where they hold no answer."""
    library = draft.sources.library
    if library is None or not _may_lead(heard, question) or not library.has_documents():
        return False
    found = _answering(draft, question)
    if not found:
        return False
    words, draft.intent, draft.in_scope = draft.words, "explain", True
    first, *rest = found
    mark = draft.sources.passage(first.hit)
    draft.headline = words.text(
        "own_documents", "headline", title=first.hit.title, text=with_mark(" ".join(first.said), mark)
    )
    for quote in rest:
        _say(draft, quote)
    _say_refuted(draft, found)
    for name in sorted(own_claims.named_in(question)):
        if (known := sheet(name, draft.lang)) is not None:
            draft.sources.sheet(known)
    return True


def say_beside(draft: Draft, question: str) -> None:
    """What documents say of the devices and the model of an answer that was worked out; or that they say nothing, where they were asked."""
    library, asked = draft.sources.library, asked_for(question)
    if library is None:
        return
    if not library.has_documents():
        if asked:
            draft.say("note", draft.words.text("own_documents", "none"), draft.words.text("own_documents", "beside"))
        return
    quoted = {
        cited.title for cited in draft.sources.citations if cited.kind == "document" and "://" not in cited.source
    }
    found = [quote for quote in _naming(draft, question) if quote.hit.title not in quoted][:_BESIDE]
    for quote in found:
        _say(draft, quote)
    _say_refuted(draft, found)
    if asked and not found and not quoted:
        draft.say("note", draft.words.text("own_documents", "nothing"), draft.words.text("own_documents", "beside"))


def _may_lead(heard: Heard, question: str) -> bool:
    """A model on a machine is worked out; what a document says of it then stands beside the verdict."""
    named_hardware = ("accelerator", "memory_gb")
    if any(
        spec.get("model") and any(entry.get(key) for entry in spec.get("hardware") or () for key in named_hardware)
        for spec in heard.specs
    ):
        return False
    named = _KIND.search(question) is not None and _SAYS.search(question) is not None
    return asked_for(question) or named or (not heard.specs and _OF_OURS.search(question) is not None)


def _say(draft: Draft, quote: _Quote) -> None:
    text = draft.words.text("own_documents", "quoted", title=quote.hit.title, text=" ".join(quote.said))
    draft.say("note", with_mark(text, draft.sources.passage(quote.hit)), draft.words.text("own_documents", "beside"))


def _say_refuted(draft: Draft, found: Sequence[_Quote]) -> None:
    for quote in found:
        for sentence in quote.said:
            for told in own_claims.refuted(sentence, str(quote.hit.title), draft):
                text = with_mark(told, draft.sources.passage(quote.hit))
                if all(text != paragraph.text for paragraph in draft.paragraphs):
                    draft.say("note", text, draft.title("contradiction"))


def _answering(draft: Draft, question: str) -> list[_Quote]:
    """Places that answer: those of documents that the question names by their title first."""
    asked, names = _OWN.sub(" ", question), own_claims.named_in(question)
    hits: dict[str, Any] = {}
    for wording in dict.fromkeys((question, asked if len(asked.split()) > 1 else question)):
        found = _search(draft, wording)
        answers = found.by_kind.get("document")
        hits |= {
            hit.chunk_id: hit for hit in found.hits if answers or (asked_for(question) and any(_about(hit, names)))
        }
    ranked = sorted(hits.values(), key=lambda hit: (-_title_match(question, hit), hit.lang != draft.lang))
    about = [quote for hit in ranked for quote in _about(hit, names)]
    # Without a name in common, a second place only shares words with the question.
    return about[:_BESIDE] or [_Quote(hit, _beginning(hit)) for hit in ranked if body_of(hit)][:1]


def _search(draft: Draft, wording: str) -> Any:
    return draft.sources.library.search(wording[:_LONGEST_QUERY], lang=draft.lang, k=_SEARCHED, kinds=("document",))


def _beginning(hit: Any) -> tuple[str, ...]:
    return _cut(sentences(body_of(hit)))


def _cut(said: Sequence[str]) -> tuple[str, ...]:
    """The first sentences, as long as they stay a quotation; marks of their own ("[1]") would be read as ours."""
    kept: list[str] = []
    for sentence in said[:_MOST_SENTENCES]:
        bare = _MARK.sub("", sentence)
        if kept and sum(map(len, kept)) + len(bare) > _LONGEST_QUOTE:
            break
        kept.append(bare if len(bare) <= _LONGEST_QUOTE else bare[:_LONGEST_QUOTE].rpartition(" ")[0] + " …")
    return tuple(kept)


def _title_match(question: str, hit: Any) -> int:
    """A kind of text that question and title share ("Betriebsrichtlinie", "policy") says which document is meant."""
    kinds = {match[0].casefold() for match in _KIND.finditer(question)}
    title = f"{hit.title} {hit.source}".casefold()
    return 2 * any(kind in title for kind in kinds) + overlap(question, hit.title)


def _about(hit: Any, names: frozenset[str]) -> Iterator[_Quote]:
    """The sentences of each section of a hit that name one of these."""
    marks = _marks(names)
    found: dict[str, list[str]] = {}
    for heading, sentence in _sentences_of(hit) if marks else ():
        if marks and marks.search(sentence) and own_claims.bears_on(sentence, names):
            found.setdefault(heading, []).append(sentence)
    for heading, said in found.items():
        place = replace(hit, section=heading) if heading else hit
        yield _Quote(place, _cut(said))


@functools.lru_cache(maxsize=256)
def _marks(names: frozenset[str]) -> re.Pattern[str] | None:
    """What a sentence that names one of these holds in any spelling: few sentences are worth reading."""
    parts = {part for ident in names for part in _PARTS.findall(ident.rpartition("/")[2].casefold())}
    telling = {part for part in parts if any(sign.isdigit() for sign in part)} or parts
    return re.compile("|".join(map(re.escape, sorted(telling))), re.IGNORECASE) if telling else None


def _naming(draft: Draft, question: str) -> list[_Quote]:
    """Places that name a device or the model of the answer, those first that name most of it."""
    wanted = _sized_names(draft)
    if not wanted:
        return []
    shown = " ".join(_shown(name, draft) for name in sorted(wanted))
    hits = {hit.chunk_id: hit for wording in (shown, question) for hit in _search(draft, wording).hits}
    quotes = [quote for hit in hits.values() for quote in _about(hit, wanted)]
    return sorted(quotes, key=lambda quote: (-_named(quote, wanted), quote.hit.lang != draft.lang))


def _named(quote: _Quote, wanted: frozenset[str]) -> int:
    return len(wanted & own_claims.named_in(" ".join(quote.said)))


def _sized_names(draft: Draft) -> frozenset[str]:
    """The ids of what the first deployments are made of: all that are compared, no option."""
    devices = {device for one in draft.sized for device in device_counts(one)}
    models = {
        one.resolved.architecture.id for one in draft.sized if one.resolved and (one.spec.get("model") or {}).get("id")
    }
    return frozenset(devices | models)


def _shown(ident: str, draft: Draft) -> str:
    return draft.words.model(ident) if "/" in ident else draft.words.device(ident)


def _sentences_of(hit: Any) -> Iterator[tuple[str, str]]:
    """Sentences of a hit with the heading above them; items of a list stand for themselves."""
    for heading, body in blocks(hit.text):
        for line in _LINES.split(body):
            yield from ((heading, sentence) for sentence in sentences(line))
