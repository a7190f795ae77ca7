"""Sheets of accelerators, models, model families and engines, written from the catalogue when asked for.

A sheet is fetched by its id and never by similarity, and its figures come from the entries and functions that the
engine sums with, so that sheet and sum cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from knowledge import sheet_accelerators, sheet_models
from knowledge.analyse import Language
from knowledge.packaged import packaged
from knowledge.sheet_writing import Writer
from sizing.catalogue.entries import Format, Model
from sizing.catalogue.load import catalogue

__all__ = ["Sheet", "accelerator_sheet", "engine_sheet", "family_sheet", "model_sheet", "sheet"]

_ORIGIN = {"de": "Sizewise-Katalog, 2026-11", "en": "Sizewise catalogue, 2026-11"}
_SECTION = {"de": "Datenblatt", "en": "Data sheet"}


@dataclass(frozen=True)
class Sheet:
    """A data sheet; `text` has one line a subject, `sources` say where the figures come from."""

    id: str
    lang: Language
    title: str
    text: str
    sources: tuple[str, ...]
    kind: Literal["sheet"] = "sheet"

    @property
    def section(self) -> str:
        return ""

    @property
    def source(self) -> str:
        """What a citation shows as its origin."""
        return _ORIGIN[self.lang]


def sheet(ident: str, lang: Language) -> Sheet | None:
    """The sheet of an accelerator, model, family or engine with exactly that id; None where there is none."""
    for known, write in (
        (catalogue().accelerators, accelerator_sheet),
        (catalogue().models, model_sheet),
        (families(), family_sheet),
        (packaged("sheet_engines.yaml"), engine_sheet),
    ):
        if ident in known:
            return write(ident, lang)
    return None


@lru_cache(maxsize=512)
def accelerator_sheet(ident: str, lang: Language) -> Sheet:
    """The sheet of an accelerator.

    Raises:
        KeyError: no accelerator has that id.
    """
    entry = catalogue().accelerators[ident]
    return Sheet(ident, lang, f"{_SECTION[lang]} {entry.name}", sheet_accelerators.write(entry, lang), entry.sources)


@lru_cache(maxsize=512)
def model_sheet(ident: str, lang: Language) -> Sheet:
    """The sheet of a model.

    Raises:
        KeyError: no model has that id.
    """
    entry = catalogue().models[ident]
    return Sheet(ident, lang, f"{_SECTION[lang]} {entry.name}", sheet_models.write(entry, lang), entry.sources)


@lru_cache(maxsize=512)
def family_sheet(family: str, lang: Language) -> Sheet:
    """The sheet of a model family, by the name the catalogue gives it ("Llama 3.1").

    Raises:
        KeyError: no model belongs to that family.
    """
    members = families()[family]
    sources = tuple(dict.fromkeys(source for model in members for source in model.sources))
    return Sheet(family, lang, f"{_SECTION[lang]} {family}", sheet_models.write_family(family, members, lang), sources)


@lru_cache(maxsize=64)
def engine_sheet(name: str, lang: Language) -> Sheet:
    """The sheet of an engine, by its canonical name ("llama.cpp").

    Raises:
        KeyError: there is no sheet of that engine.
    """
    facts = packaged("sheet_engines.yaml")[name]
    text = Writer(lang)
    text.line("what", [facts["what"][lang]])
    for label in ("memory", "hardware", "parallel"):
        text.line(label, [facts[label][lang]])
    text.line("formats", [_formats(facts, text)])
    text.line("doubts", [text.say("engine", "version")])
    return Sheet(name, lang, f"{_SECTION[lang]} {facts['title']}", text.text(), tuple(facts["sources"]))


@cache
def families() -> Mapping[str, tuple[Model, ...]]:
    """Models by family, in the order of the catalogue."""
    grouped: dict[str, tuple[Model, ...]] = {}
    for model in catalogue().models.values():
        grouped[model.family] = (*grouped.get(model.family, ()), model)
    return grouped


def _formats(facts: Mapping[str, Any], text: Writer) -> str:
    names = tuple(facts["backend_names"])
    known = [chosen for chosen in catalogue().formats.values() if _runs(chosen, names)]
    shown = [chosen.id for chosen in known if chosen.kind != "gguf-file"]
    files = len(known) - len(shown)
    if files:
        shown.append(text.say("engine", "gguf", count=files))
    return text.say("engine", "formats", formats=", ".join(shown)) if shown else text.say("engine", "formats_unknown")


def _runs(chosen: Format, names: tuple[str, ...]) -> bool:
    """Whether the catalogue names the engine for a format; block types of GGUF are parts of files and not listed."""
    if chosen.kind in ("generic", "gguf-block") or not chosen.backends:
        return False
    backends = [part.strip().partition(" (")[0] for part in chosen.backends.split(",")]
    return any(name in backends for name in names)
