"""Reasons and passages → prose with numbered citations.

"Why?" goes a level deeper each time, and each level says only what the ones before did not: (1) every reason with its source,
(2) the formulas with their results, (3) what went into each formula, (4) which source each of them rests on, and then that
nothing lies deeper but a measurement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot import derivation
from bot.answer import Citation, Lang, Paragraph
from bot.prose import best_section, blocks
from bot.reply.wording import Wording
from bot.sized import Sized, device_counts
from bot.written import literal
from sizing.estimate import Reason

# What a verdict rests on comes before what merely describes the model.
_MEMORY_CODES: Final = (
    "cannot_run", "kv_dominates", "weights_dominate", "activations_dominate", "rest_dominates", "optimizer_dominates",
    "adapter_only_trained",
    "cards_are_not_one_memory", "layers_split", "offloaded_to_host", "moe_all_in_memory", "mla_latent", "sliding_caps_kv",
    "state_per_sequence", "unified_shared", "reads_only", "live_is_not_batch", "parts_take_turns", "budget_of_engine", "replicas_serve",
)  # fmt: skip
_SPEED_CODES: Final = ("decode_bandwidth_bound", "prefill_compute_bound")
# Words of a question that ask for a reason which otherwise stands further back.
_ASKED_CODES: Final = (
    (("cards_are_not_one_memory", "layers_split"), re.compile(r"tensor|\btp ?\d|both|beide|each|jede|two|zwei|split|addi|cards|karten")),
    (("unified_shared",), re.compile(r"\bmac|unified|apple")),
    (("kv_dominates", "kv_per_token"), re.compile(r"context|kontext|\bkv\b|cache|num_ctx")),
    (("moe_all_in_memory",), re.compile(r"active|aktiv|expert|\bmoe\b|\ba\d+b\b")),
)  # fmt: skip
_SPEED_WORDS: Final = re.compile(
    r"slow|langsam|fast|schnell|tok|speed|tempo|ttft|latenc|latenz|dauert|lange?\b|long|wait|wart"
)
_MOST_SENTENCES = 2
_MOST_PUBLISHERS = 2
_NO_PUBLISHER: Final = frozenset({"", "Sizewise", "not stated"})
DEEPEST = 5


@dataclass
class Sources:
    """Numbers citations in the order in which texts use them; the same place is cited under one number."""

    library: Any
    lang: Lang
    query: str = ""
    citations: list[Citation] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)

    def topic(self, topic: str, sentence: str) -> str:
        """` [n]` for the section of a topic's note that is nearest to a sentence, empty where there is no note."""
        found = self.library.passages(topic, self.lang) if self.library is not None else ()
        if not found:
            return ""
        own = next((hit for hit in found if hit.source.partition(".")[0] == topic), found[0])
        return f" [{self._number(own, best_section(own.text, sentence, self.lang))}]"

    def passage(self, passage: Any) -> str:
        """` [n]` for a passage that is quoted."""
        return f" [{self._number(passage, _section(passage))}]"

    def sheet(self, sheet: Any) -> None:
        """A data sheet: cited as a whole."""
        self._number(sheet, "")

    def link(self, title: str, address: str) -> str:
        """` [n]` for something published at an address."""
        known = next((one for one in self.citations if one.source == address), None)
        if known is None:
            known = Citation(n=len(self.citations) + 1, title=title, source=address, kind="document")
            self.citations.append(known)
        return f" [{known.n}]"

    def _number(self, passage: Any, section: str) -> int:
        for known in self.citations:
            if (known.title, known.section) == (passage.title, section):
                return known.n
        self.passages.append(str(passage.text))
        citation = Citation(
            n=len(self.citations) + 1, title=passage.title, section=section, source=_origin(passage), kind=passage.kind
        )
        self.citations.append(citation)
        return citation.n


def _origin(passage: Any) -> str:
    """Whom a note follows; the file of a document."""
    if passage.kind != "note":
        return str(passage.source)
    from knowledge.notes import with_id

    note = with_id(passage.document_id)
    publishers = (
        dict.fromkeys(source.publisher for source in note.sources if source.publisher not in _NO_PUBLISHER)
        if note
        else {}
    )
    return ", ".join(list(publishers)[:_MOST_PUBLISHERS])


def _section(passage: Any) -> str:
    """The section of a passage without the title that heads it."""
    section = str(passage.section or "").removeprefix(passage.title).removeprefix(" › ")
    return section or blocks(passage.text)[0][0].removeprefix(passage.title)


def reason_text(reason: Reason, sized: Sized, words: Wording) -> str:
    """The sentence of a reason code with the figures of the estimate; empty where a figure it needs is unknown."""
    params: dict[str, Any] = {
        **sized.figures,
        **{key: value for key, value in reason.params.items() if value is not None},
    }
    if reason.code == "cannot_run":
        return blocker_text(reason.params, words)
    text = words.text("reason", reason.code, **params)
    if reason.code in ("kv_dominates", "kv_per_token"):
        formula = kv_formula(sized, words)
        text = f"{text} {formula}" if formula else text
    return text


def blocker_text(params: Mapping[str, Any], words: Wording) -> str:
    """Why it cannot run at all."""
    code = str(params.get("blocker", ""))
    if not words.has("blocker", code):
        return words.text("headline", "unsizable")
    return words.text("blocker", code, **{key: _alternatives(value, words) for key, value in params.items()})


def _alternatives(value: Any, words: Wording) -> Any:
    """Degrees and names of engines to choose from, as one text of the engine's own."""
    if not isinstance(value, (list, tuple)):
        return value
    return literal(words.listed([words.engine(str(part)) for part in value], "or"))


def kv_formula(sized: Sized, words: Wording) -> str:
    """`80 layers × 8 KV heads × 128 × 2 × 2 bytes = 320 KiB per token`, where the layers are alike."""
    params = next((reason.params for reason in sized.estimate.reasons if reason.code == "kv_per_token"), None)
    if params is None or not all(params.get(name) for name in ("layers", "kv_heads", "head_dim", "bytes_per_token")):
        return ""
    return words.text("explain", "kv_formula", **params)


def why(sized: Sized, words: Wording, sources: Sources, speed: bool = False) -> Paragraph | None:
    """The dominant cause with its worked formula, then what the layout or the model adds; each with its source."""
    sentences = reasons(sized, words, sources, speed=speed)
    return Paragraph(kind="why", title=words.text("ui", "why"), text=" ".join(sentences)) if sentences else None


def reasons(sized: Sized, words: Wording, sources: Sources, *, speed: bool = False, question: str = "") -> list[str]:
    """The causes as sentences with their sources: those that a question asks for first, then by how much they weigh."""
    codes = _SPEED_CODES if speed else (*_MEMORY_CODES, "kv_per_token")
    folded = question.casefold()
    asked = [code for those, pattern in _ASKED_CODES if folded and pattern.search(folded) for code in those]
    known = [reason for reason in sized.estimate.reasons if reason.code in codes and words.has("reason", reason.code)]
    shown = [reason for reason in known if reason.code != "kv_per_token" or reason.code in asked]
    ranked = sorted(shown, key=lambda reason: (reason.code not in asked, codes.index(reason.code)))
    return [_cited(reason, sized, words, sources) for reason in ranked[:_MOST_SENTENCES]]


def _cited(reason: Reason, sized: Sized, words: Wording, sources: Sources) -> str:
    text = reason_text(reason, sized, words)
    return with_mark(text, sources.topic(reason.topic, text))


def with_mark(text: str, mark: str) -> str:
    """The citation mark before the last full stop: `… per token [1].`"""
    return f"{text[:-1]}{mark}." if mark and text.endswith(".") else f"{text}{mark}"


def deeper(sized: Sized, depth: int, words: Wording, sources: Sources) -> list[Paragraph]:
    """The paragraphs of "why?" at a depth from 1 to `levels`; none at the end, which is told in a sentence."""
    if depth <= 1:
        return _all_reasons(sized, words, sources)
    steps = sized.estimate.derivation
    if depth == 2:
        return [derivation.result(step, words) for step in steps]
    if depth == 3:
        return [shown for step in steps if (shown := derivation.inputs(step, words)) is not None]
    return derivation.origins(steps, words, sources.link) if depth < DEEPEST else []


def levels(sized: Sized) -> int:
    """How deep "why?" leads for an estimate; one without a derivation has its reasons alone."""
    return DEEPEST - 1 if sized.estimate.derivation else 1


def _all_reasons(sized: Sized, words: Wording, sources: Sources) -> list[Paragraph]:
    known = (reason for reason in sized.estimate.reasons if words.has("reason", reason.code))
    return [Paragraph(kind="why", text=_cited(reason, sized, words, sources)) for reason in known]


def is_about_speed(question: str) -> bool:
    """Whether a question asks about time rather than memory."""
    return bool(_SPEED_WORDS.search(question.casefold()))


def cite_devices(sized: Sequence[Sized], sources: Sources) -> None:
    """Adds the sheets of the accelerators involved, without a mark in the text."""
    if sources.library is None:
        return
    from knowledge.sheets import sheet

    for accelerator in dict.fromkeys(ident for one in sized for ident in device_counts(one)):
        found = sheet(accelerator, sources.lang)
        if found is not None:
            sources.sheet(found)
