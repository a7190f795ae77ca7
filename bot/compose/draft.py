"""A draft of an answer: parts are gathered, then the guard looks over every text before it becomes an Answer."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.answer import Action, Answer, AssumptionView, Chart, Command, Lang, Paragraph, ParagraphKind, Table
from bot.explain import Sources
from bot.guard import Material, untraced
from bot.reply.wording import Wording, literals, wording
from bot.sized import Sized
from bot.thread import Phraser
from bot.written import Written, begin, end
from sizing.arithmetic import worked
from sizing.estimate import DerivationStep, Estimate


@dataclass
class Draft:
    """What is to be said, and what it was made from. `hint` is the follow-up message that would turn a verdict.

    `instead`: what runs on the hardware asked about where the deployment asked about does not.
    `asks_back`: the verdict leads, so that the one assumption that would turn it is worth a question.
    """

    lang: Lang
    intent: str
    sources: Sources
    headline: str = ""
    lead: str = ""
    in_scope: bool = True
    table: Table | None = None
    chart: Chart | None = None
    paragraphs: list[Paragraph] = field(default_factory=list)
    details: list[Paragraph] = field(default_factory=list)
    assumptions: tuple[AssumptionView, ...] = ()
    commands: tuple[Command, ...] = ()
    actions: tuple[Action, ...] = ()
    sized: list[Sized] = field(default_factory=list)
    options: list[Sized] = field(default_factory=list)
    considered: list[Sized] = field(default_factory=list)
    flips: list[Estimate] = field(default_factory=list)
    hint: str = ""
    instead: Sized | None = None
    asks_back: bool = True
    material: Material = field(default_factory=Material)
    calculations: list[DerivationStep] = field(default_factory=list)
    written: Written = field(default_factory=begin)

    @property
    def words(self) -> Wording:
        return wording(self.lang)

    def say(self, kind: ParagraphKind, text: str, title: str = "") -> None:
        """Adds a paragraph; nothing where there is nothing to say."""
        if text.strip():
            self.paragraphs.append(Paragraph(kind=kind, title=title, text=text))

    def detail(self, kind: ParagraphKind, text: str, title: str = "") -> None:
        """Adds a paragraph that only an export shows."""
        if text.strip():
            self.details.append(Paragraph(kind=kind, title=title, text=text))

    def title(self, key: str) -> str:
        return self.words.text("ui", key)

    def work_out(self, quantity: str, formula: str, unit: str, **inputs: float) -> float:
        """The value of a sum of the answer's own, which is carried with it; inputs name their units (`sizing.arithmetic`)."""
        return self.carry(worked(quantity, formula, unit, **inputs))

    def carry(self, step: DerivationStep) -> float:
        """A sum of the engine's that stands in no Estimate: the answer carries it, and the guard knows it with its unit."""
        self.calculations.append(step)
        self.material.add_data(step.model_dump(exclude={"formula"}))
        if step.unit == "share":
            self.material.add(step.value, "share")
        return step.value


def finish(draft: Draft, ident: str, phraser: Phraser | None = None) -> Answer:
    """The Answer: texts checked number by number, paragraphs that fail dropped and what failed listed."""
    end()
    _gather(draft)
    draft.material.written = draft.written
    paragraphs, unverified = _checked(draft, draft.paragraphs)
    paragraphs, failed = _phrased(draft, paragraphs, phraser)
    unverified += failed
    details, failed = _checked(draft, draft.details)
    unverified += failed
    for text in _fixed_texts(draft):
        unverified += untraced(text, draft.lang, draft.material)
    return Answer(
        id=ident,
        lang=draft.lang,
        in_scope=draft.in_scope,
        intent=draft.intent,
        headline=draft.headline,
        lead=draft.lead,
        table=draft.table,
        chart=draft.chart,
        paragraphs=tuple(paragraphs),
        assumptions=draft.assumptions,
        commands=draft.commands,
        citations=tuple(draft.sources.citations),
        actions=draft.actions,
        specs=tuple(one.spec for one in draft.sized),
        estimates=tuple(one.estimate.model_dump(mode="json") for one in draft.sized),
        options=tuple(option_data(one) for one in draft.options),
        details=tuple(details),
        calculations=_each_once(draft.calculations),
        unverified_numbers=tuple(dict.fromkeys(unverified)),
    )


def _each_once(steps: Iterable[DerivationStep]) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = []
    for step in steps:
        if (data := step.model_dump(mode="json")) not in found:
            found.append(data)
    return tuple(found)


def option_data(option: Sized) -> dict[str, Any]:
    """An option as INTERFACE gives it: spec and estimate."""
    return {"spec": option.spec, "estimate": option.estimate.model_dump(mode="json")}


def _gather(draft: Draft) -> None:
    material = draft.material
    material.citations = len(draft.sources.citations)
    for one in [*draft.sized, *draft.options, *draft.considered]:
        material.add_data(one.spec)
        material.add_data(one.estimate.model_dump(mode="json"))
        material.add_data(dict(one.figures))
        material.add_names(str(value) for value in one.figures.values() if isinstance(value, str))
        for assumed in one.estimate.assumptions:
            if isinstance(assumed.value, float) and 0 < assumed.value <= 1:
                material.add(assumed.value, "share")
        _add_catalogue(one, material)
    for estimate in draft.flips:
        material.add_data(estimate.model_dump(mode="json", exclude={"derivation"}))
    material.take(_of_texts(draft.lang))
    for view in draft.assumptions:
        material.add_names([view.value.partition(" (")[0]])
    for passage in draft.sources.passages:
        material.add_text(passage)
    for citation in draft.sources.citations:
        material.add_text(f"{citation.title} {citation.section}")


@functools.cache
def _of_texts(lang: Lang) -> Material:
    """What our own texts say themselves."""
    found = Material()
    for part in literals(lang):
        found.add_source(part, lang)
    # Which of them an answer holds, and where, is noted as it is written.
    found.said.clear()
    return found


def _add_catalogue(one: Sized, material: Material) -> None:
    from bot.reply import names

    for device in {device.accelerator for device in one.devices if device.accelerator}:
        material.take(_of_device(device))
    if one.resolved is not None:
        material.add_names([names.model(one.resolved.architecture.name)])


@functools.lru_cache(maxsize=512)
def _of_device(ident: str) -> Material:
    """What the catalogue says of a device."""
    from bot.reply import names
    from sizing.catalogue.load import catalogue

    entry, found = catalogue().accelerators[ident], Material()
    found.add_data(dataclasses.asdict(entry))
    found.add_names([entry.name, names.device(ident), *entry.aliases])
    return found


def _checked(draft: Draft, paragraphs: Sequence[Paragraph]) -> tuple[list[Paragraph], list[str]]:
    kept: list[Paragraph] = []
    failed: list[str] = []
    for paragraph in paragraphs:
        found = untraced(f"{paragraph.title} {paragraph.text}", draft.lang, draft.material)
        if found:
            failed += found
        else:
            kept.append(paragraph)
    return kept, failed


def _phrased(draft: Draft, paragraphs: list[Paragraph], phraser: Phraser | None) -> tuple[list[Paragraph], list[str]]:
    """In the words of a model, whose numbers stand in other places than they were written in."""
    if phraser is None:
        return paragraphs, []
    from bot.phrasing import rephrased

    own, written = phraser.for_answer(), draft.material.written
    draft.material.written = None
    found = _checked(draft, [rephrased(paragraph, draft.lang, own) for paragraph in paragraphs])
    draft.material.written = written
    return found


def _fixed_texts(draft: Draft) -> Iterable[str]:
    yield draft.headline
    yield draft.lead
    if draft.table:
        for row in draft.table.rows:
            yield from row
    if draft.chart:
        yield draft.chart.alt_text
    for view in draft.assumptions:
        yield view.value.partition(" (")[0]
