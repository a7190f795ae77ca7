"""Reasons and passages → prose with numbered citations.

"Why?" goes a level deeper each time: (1) every reason with its source, (2) the derivation, formula by formula, (3) the
inputs of each formula and where they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.answer import Citation, Lang, Paragraph
from bot.reply.wording import Wording
from bot.sized import Sized, device_counts
from sizing.estimate import DerivationStep, Reason

# What a verdict rests on comes before what merely describes the model.
_MEMORY_CODES: Final = (
    "cannot_run", "kv_dominates", "weights_dominate", "activations_dominate", "optimizer_dominates", "adapter_only_trained",
    "cards_are_not_one_memory", "layers_split", "offloaded_to_host", "moe_all_in_memory", "mla_latent", "sliding_caps_kv",
    "state_per_sequence", "unified_shared", "budget_of_engine", "replicas_serve",
)  # fmt: skip
_SPEED_CODES: Final = ("decode_bandwidth_bound", "prefill_compute_bound")
_MOST_SENTENCES = 3
DEEPEST = 3


@dataclass
class Sources:
    """Numbers citations in the order in which texts use them; the same place is cited under one number."""

    library: Any
    lang: Lang
    query: str = ""
    citations: list[Citation] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)

    def topic(self, topic: str) -> str:
        """` [n]` for the best passage on a topic, empty where there is none."""
        found = self.library.passages(topic, self.lang) if self.library is not None else ()
        return f" [{self._number(found[0])}]" if found else ""

    def passage(self, passage: Any) -> str:
        return f" [{self._number(passage)}]"

    def _number(self, passage: Any) -> int:
        section = str(getattr(passage, "section", "") or "")
        source = str(getattr(passage, "source", "") or "")
        for known in self.citations:
            if (known.title, known.section, known.source) == (passage.title, section, source):
                return known.n
        self.passages.append(str(passage.text))
        kind = getattr(passage, "kind", "note")
        citation = Citation(n=len(self.citations) + 1, title=passage.title, section=section, source=source, kind=kind)
        self.citations.append(citation)
        return citation.n


def reason_text(reason: Reason, sized: Sized, words: Wording) -> str:
    """The sentence of a reason code with the figures of the estimate; empty where a figure it needs is unknown."""
    params: dict[str, Any] = {**sized.figures, **{key: value for key, value in reason.params.items() if value is not None}}
    text = words.text("reason", reason.code, **params)
    if reason.code in ("kv_dominates", "kv_per_token"):
        formula = kv_formula(sized, words)
        text = f"{text} {formula}" if formula else text
    return text


def kv_formula(sized: Sized, words: Wording) -> str:
    """`80 layers × 8 KV heads × 128 × 2 × 2 bytes = 320 KiB per token`, where the layers are alike."""
    params = next((reason.params for reason in sized.estimate.reasons if reason.code == "kv_per_token"), None)
    if params is None or not all(params.get(name) for name in ("layers", "kv_heads", "head_dim", "bytes_per_token")):
        return ""
    return words.text("explain", "kv_formula", **params)


def why(sized: Sized, words: Wording, sources: Sources, speed: bool = False) -> Paragraph | None:
    """The dominant cause with its worked formula, then what the layout or the model adds; each with its source."""
    codes = _SPEED_CODES if speed else _MEMORY_CODES
    chosen = sorted(
        (reason for reason in sized.estimate.reasons if reason.code in codes), key=lambda reason: codes.index(reason.code)
    )
    sentences = [_cited(reason, sized, words, sources) for reason in chosen[:_MOST_SENTENCES]]
    return Paragraph(kind="why", title=words.text("ui", "why"), text=" ".join(sentences)) if sentences else None


def _cited(reason: Reason, sized: Sized, words: Wording, sources: Sources) -> str:
    return with_mark(reason_text(reason, sized, words), sources.topic(reason.topic))


def with_mark(text: str, mark: str) -> str:
    """The citation mark before the last full stop: `… per token [1].`"""
    return f"{text[:-1]}{mark}." if mark and text.endswith(".") else f"{text}{mark}"


def deeper(sized: Sized, depth: int, words: Wording, sources: Sources) -> list[Paragraph]:
    """The paragraphs of "why?" at a depth of 1, 2 or 3 and beyond."""
    if depth <= 1:
        return _all_reasons(sized, words, sources)
    steps = sized.estimate.derivation
    if not steps:
        return [Paragraph(kind="note", text=words.text("explain", "no_derivation"))]
    if depth == 2:
        return [_step(step, words) for step in steps]
    return [*(_step_with_inputs(step, words) for step in steps), Paragraph(kind="note", text=words.text("explain", "deepest"))]


def _all_reasons(sized: Sized, words: Wording, sources: Sources) -> list[Paragraph]:
    return [
        Paragraph(kind="why", text=_cited(reason, sized, words, sources)) for reason in sized.estimate.reasons
    ]


def _step(step: DerivationStep, words: Wording) -> Paragraph:
    return Paragraph(kind="derivation", title=_quantity(step, words), text=f"{step.formula} = {amount(step.value, step.unit, words)}")


def _step_with_inputs(step: DerivationStep, words: Wording) -> Paragraph:
    inputs = words.text("explain", "inputs", inputs=", ".join(_inputs(step.inputs, words))) if step.inputs else ""
    origin = words.text("explain", "from", sources="; ".join(step.sources)) if step.sources else ""
    shown = f"{step.formula} = {amount(step.value, step.unit, words)}"
    return Paragraph(kind="derivation", title=_quantity(step, words), text=" ".join(part for part in (shown, inputs, origin) if part))


def _quantity(step: DerivationStep, words: Wording) -> str:
    return words.label("quantity", step.quantity) + ":"


def _inputs(inputs: Mapping[str, Any], words: Wording) -> Iterable[str]:
    return (f"{words.label('quantity', key)} = {words.plain(value)}" for key, value in inputs.items())


def amount(value: float, unit: str, words: Wording) -> str:
    """A value with its unit as the engine names it."""
    if unit == "bytes":
        return words.bytes(value)
    return f"{words.number(value)} {words.label('units', unit) if words.has('units', unit) else unit}".strip()


def cite_devices(sized: Sequence[Sized], sources: Sources) -> None:
    """Adds the sheets of the accelerators involved, without a mark in the text."""
    sheet = getattr(sources.library, "sheet", None)
    if sheet is None:
        return
    for accelerator in dict.fromkeys(ident for one in sized for ident in device_counts(one)):
        found = sheet(accelerator, sources.lang)
        if found is not None:
            sources.passage(found)
