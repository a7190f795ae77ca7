"""The numbers of one answer with their origins."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from bench.grounding.calculations import results
from bench.grounding.facts import Fact, facts_in, sums_over_devices
from bench.grounding.numbers import Pool, Shown, altered, facts_of_text, numbers_of, results_of, tables_of
from bench.grounding.passages import cited_text
from bench.grounding.recorded import Asked
from bot.answer import Answer
from bot.reply import names
from bot.sized import engine_defaults
from bot.thread import TeamDefaults
from sizing.catalogue.load import generated

ORIGINS: Final = (
    "estimate",
    "sum over devices",
    "message",
    "settings",
    "cited passage",
    "catalogue",
    "engine",
    "calculation",
    "own wording",
    "engine, no unit",
    "shown beside it",
)
# In a command a comma separates the parts of a list and never thousands or decimals.
_LIST: Final = re.compile(r"(?<=\d),(?=\d)")
_SECTIONS: Final = ("accelerators", "models", "formats")


@dataclass(frozen=True)
class Traced:
    """A number of a part of an answer; `origin` is None where nothing accounts for it, `by_chance` that of an altered number."""

    part: str
    number: Shown
    origin: str | None
    by_chance: str | None


def traced(asked: Asked) -> Iterator[Traced]:
    """Every number that the answer shows, the list of sources apart (it names dates and versions of others)."""
    pools = {origin: Pool(facts) for origin, facts in _facts(asked).items()}
    pools["calculation"] = Pool(results(asked.answer.calculations, list(pools.values())))
    known = [*_names(), *_own_names(asked.answer)]
    for part, text in _parts(asked.answer):
        shown = numbers_of(text, asked.answer.lang, known)
        for number in shown:
            beside = results_of([other for other in shown if other is not number])
            origins = [_origin(each, pools, beside) for each in (number, altered(number))]
            yield Traced(part, number, *origins)


def _origin(number: Shown, pools: Mapping[str, Pool], beside: Pool) -> str | None:
    if found := next((origin for origin in ORIGINS[:-2] if pools[origin].holds(number)), None):
        return found
    if pools["engine"].holds_in_any_unit(number):
        return "engine, no unit"
    return "shown beside it" if beside.holds(number) else None


def _facts(asked: Asked) -> dict[str, list[Fact]]:
    answer = asked.answer
    data = {"specs": answer.specs, "estimates": answer.estimates, "options": answer.options}
    deltas = [choice.delta for view in answer.assumptions for choice in view.alternatives]
    passages = [(cited_text(citation, answer.lang, whole=True), citation.title) for citation in answer.citations]
    return {
        "estimate": [*facts_in(data), *facts_in(deltas), *(Fact(1.0, None, "one"),)],
        "sum over devices": [f for estimate in _estimates(answer) for f in sums_over_devices(estimate)],
        "message": [f for text in asked.said for lang in ("de", "en") for f in facts_of_text(text, lang, "message")],
        "settings": [*facts_in(TeamDefaults()), *facts_in(engine_defaults(TeamDefaults()))],
        "cited passage": [f for text, title in passages for f in facts_of_text(text, answer.lang, title)],
        "catalogue": [f for entry in _entries(answer) for f in facts_in(entry, entry["id"])],
        "engine": [*asked.returned],
        "own wording": _wording(answer.lang),
    }


def _estimates(answer: Answer) -> list[Mapping[str, Any]]:
    return [*answer.estimates, *(option["estimate"] for option in answer.options)]


def _entries(answer: Answer) -> list[dict[str, Any]]:
    """The catalogue's entries of the devices and models that the specs name."""
    specs = [*answer.specs, *(option["spec"] for option in answer.options)]
    wanted = {str((spec.get("model") or {}).get("id")) for spec in specs}
    for estimate in _estimates(answer):
        wanted |= {str(each["accelerator"]) for each in (estimate.get("memory") or {}).get("per_device") or ()}
    offers = [{"id": row["id"], "price_usd_h": row.get("price_usd_h")} for row in generated()["offers"]]
    return [
        row for section in ("accelerators", "models") for row in generated()[section] if row["id"] in wanted
    ] + offers


@cache
def _wording(lang: str) -> list[Fact]:
    folder = resources.files("bot.reply.texts")
    texts = [
        tomllib.loads(folder.joinpath(f"{prefix}{lang}.toml").read_text("utf-8"))
        for prefix in ("", "machine.", "advice.")
    ]
    return [f for text in texts for part in tables_of(text) for f in facts_of_text(part, lang, "wording")]


def _parts(answer: Answer) -> Iterator[tuple[str, str]]:
    yield "headline", answer.headline
    yield "lead", answer.lead
    for paragraph in answer.paragraphs:
        yield paragraph.kind, f"{paragraph.title} {paragraph.text}"
    if answer.table:
        yield from (("table", cell) for row in answer.table.rows for cell in row)
    if answer.chart:
        yield "chart", answer.chart.alt_text
    for view in answer.assumptions:
        yield "assumption", view.value
        yield from (("assumption", choice.label) for choice in view.alternatives)
    for command in answer.commands:
        yield "command", f"{command.title} {_LIST.sub(' ', command.code)}"


@cache
def _names() -> tuple[str, ...]:
    """Names of the catalogue that hold a digit, as it writes them and as answers do."""
    found: set[str] = set()
    for section in _SECTIONS:
        for row in generated()[section]:
            found |= {
                row["id"],
                row["id"].rpartition("/")[2],
                row.get("name") or row["id"],
                *(row.get("aliases") or ()),
            }
            found.add(
                {"accelerators": names.device, "models": names.model, "formats": names.weight_format}[section](
                    row["id"]
                )
            )
    return tuple(name for name in found if any(sign.isdigit() for sign in name) and not name.isdigit())


def _own_names(answer: Answer) -> tuple[str, ...]:
    """Titles of sources, which a sentence may quote."""
    return tuple(citation.title for citation in answer.citations)
