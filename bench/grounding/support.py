"""Whether a citation supports the main reason of an answer, by the rule of `claims.yaml`.

The main reason is what "why" says before its first mark, else what the answer says before its first mark. A quoted passage supports itself
where it stands there word for word. Everything else must be cited from a note on a topic that may carry the claim, and
the passage cited must hold the words without which it does not make it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from bench.grounding.passages import cited_text
from bench.grounding.recorded import Asked
from bot.answer import Answer, Citation
from bot.reply.wording import catalogue
from knowledge import notes
from knowledge.analyse import is_stop_word, stem, words

Outcome = Literal["supported", "wrong topic", "claim not in passage", "no citation", "not an answer"]

_MARK = re.compile(r"\[(\d{1,3})\]")
_SUBJECTS: Final[Mapping[str, str]] = {
    "import": "import", "embedding": "work", "vector index": "index", "vektorindex": "index", "pictures": "pictures", "bilder": "pictures",
    "power supply": "psu", "netzteil": "psu", "circuit": "circuit", "stromkreis": "circuit", "power limit": "limit",
    "leistungsgrenze": "limit",
    "heat and noise": "heat", "wärme und lautstärke": "heat", "network": "network", "netzwerk": "network", "pcie": "pcie",
    "processor": "cpu", "prozessor": "cpu", "ram": "ram", "arbeitsspeicher": "ram", "speed": "work", "tempo": "work",
    "training": "training", "what fits": "training", "was passt": "training", "cost": "cost", "kosten": "cost", "preis": "cost",
    "kind of chip": "chips", "art des chips": "chips",
}  # fmt: skip
_FAULTS: Final = ("clarify", "out_of_scope")


@dataclass(frozen=True)
class Judged:
    """The judgement on one answer: what it claims, where that is cited, and the passage."""

    id: str
    outcome: Outcome
    kind: str
    sentence: str
    citation: Citation | None
    passage: str


def judged(asked: Asked) -> Judged:
    """By the rule; a question back, a refusal, an unknown name or a derivation has no reason to support."""
    answer = asked.answer
    if not answer.in_scope or answer.intent in _FAULTS or _asks_or_fails(answer) or _is_derivation(answer):
        return Judged(asked.id, "not an answer", answer.intent, answer.headline, None, "")
    kind, sentence, citation = _main_reason(answer)
    if citation is None:
        return Judged(asked.id, "no citation", kind, answer.headline, None, "")
    passage = cited_text(citation, answer.lang)
    return Judged(asked.id, _outcome(answer, kind, sentence, citation, passage), kind, sentence, citation, passage)


def _asks_or_fails(answer: Answer) -> bool:
    """A name that is not known, a value still to be given, help or undo: nothing was worked out."""
    worked_out = any(estimate.get("ok") for estimate in answer.estimates)
    return not worked_out and not answer.citations


def _is_derivation(answer: Answer) -> bool:
    """The lower levels of "why?": formulas, inputs, sources, and the sentence that ends them; the reason stands in the level above."""
    return (
        answer.intent == "explain" and bool(answer.estimates) and all(p.kind == "derivation" for p in answer.paragraphs)
    )


def _main_reason(answer: Answer) -> tuple[str, str, Citation | None]:
    whys = [p for p in answer.paragraphs if p.kind == "why"]
    texts = [(_code(answer), p.text) for p in whys] + [("quote", answer.headline), ("quote", answer.lead)]
    texts += [(_subject(p.title), p.text) for p in answer.paragraphs if p.kind != "why"]
    for kind, text in texts:
        if mark := _MARK.search(text):
            return _worded(answer, kind, text[: mark.start()]), text[: mark.end()], answer.citations[int(mark[1]) - 1]
    sheets = [citation for citation in answer.citations if citation.kind == "sheet"]
    return ("sheet", answer.headline, sheets[0]) if sheets else ("none", answer.headline, None)


def _code(answer: Answer) -> str:
    """The reason that the engine put first; "quote" where an answer explains without an estimate."""
    reasons = answer.estimates[0].get("reasons") if answer.estimates else None
    return str(reasons[0]["code"]) if reasons else "quote"


def _worded(answer: Answer, code: str, text: str) -> str:
    """The code of the reason whose wording the text uses: an answer on speed does not begin with the engine's first reason."""
    if not answer.estimates:
        return code
    wordings = {
        each["code"]: str(catalogue(answer.lang)["reason"].get(each["code"], ""))
        for each in answer.estimates[0]["reasons"]
    }
    fragments = {each: max(re.split(r"\{[^}]*\}", wording), key=len).strip(" .:") for each, wording in wordings.items()}
    fallback = "comparison" if re.search(r"\b(?:against|gegen)\b", text) else code
    return next((each for each, fragment in fragments.items() if fragment and fragment in text), fallback)


def _subject(title: str) -> str:
    return _SUBJECTS.get(title.strip().rstrip(":").lower(), title.strip() or "untitled")


def _outcome(answer: Answer, kind: str, sentence: str, citation: Citation, passage: str) -> Outcome:
    if _is_quoted(answer, sentence, citation):
        return "supported"
    rule = _rules().get(kind)
    if rule is None:
        return "supported" if _says_the_same(answer, sentence, passage) else "claim not in passage"
    if kind != "sheet" and not set(rule["topics"]) & _topics(citation):
        return "wrong topic"
    holds = all(re.search(group, passage, re.IGNORECASE) for group in rule[answer.lang])
    return "supported" if passage and holds else "claim not in passage"


def _says_the_same(answer: Answer, sentence: str, passage: str) -> bool:
    """Where no claim is known, a passage has to hold a third of the telling words of the sentence, and three at least."""
    said, held = (
        {stem(word, answer.lang) for word in words(text) if word.isalpha() and not is_stop_word(word, answer.lang)}
        for text in (sentence, passage)
    )
    return len(said & held) >= max(3, len(said) / 3)


def _is_quoted(answer: Answer, sentence: str, citation: Citation) -> bool:
    """Whether the sentence stands in the source word for word, marks and line breaks apart."""
    bare = " ".join(_MARK.sub("", sentence).split()).replace(" .", ".").rstrip(". ")
    return len(bare) > 20 and bare in " ".join(cited_text(citation, answer.lang, whole=True).split())


@cache
def _rules() -> Mapping[str, Mapping[str, Any]]:
    table = yaml.safe_load(Path(__file__).with_name("claims.yaml").read_text("utf-8"))
    return {**table["reason"], **table["subject"]}


def _topics(citation: Citation) -> set[str]:
    return {topic for note in notes.load() if note.document.title == citation.title for topic in note.document.topics}
