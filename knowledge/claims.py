"""Claims of published guides, each recomputed: what they say, whether it holds, and what a careful answer says instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import yaml

Holds = Literal["exact", "rounding", "assumption", "contradicted", "unverifiable"]

DOCUMENTS: Mapping[str, str] = {
    "hosting": "Hosting für KI-Anwendungen: CPU, GPU und Storage dimensionieren",
    "lokal": "Lokale KI: welche Hardware?",
    "jenseits": "Jenseits des Modells: Hardware für Ihre KI-Strategie",
}


@dataclass(frozen=True, slots=True)
class Computed:
    """Our own sum: what it is, the expression over the claim's inputs, and its value in `unit`."""

    what: str
    expr: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Subject:
    """What an answer is about, as far as a claim may concern it; `params_b` in billions, ids as in the catalogue."""

    task: str = ""
    method: str = ""
    model: str = ""
    params_b: float = 0.0
    sixteen_bit: bool = False
    accelerators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class About:
    """Which answers a refuted claim concerns: what is sized (every condition given), or words of a text (one of each group)."""

    task: str = ""
    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    min_params_b: float = 0.0
    native: bool = False
    terms: tuple[tuple[str, ...], ...] = ()

    def is_sized(self, subject: Subject) -> bool:
        """Whether an answer that sizes this subject should tell the contradiction."""
        conditions = [
            (bool(self.task), subject.task == self.task),
            (bool(self.methods), subject.method in self.methods),
            (bool(self.models), subject.model.startswith(self.models)),
            (bool(self.accelerators), any(each.startswith(self.accelerators) for each in subject.accelerators)),
            (self.min_params_b > 0, subject.params_b >= self.min_params_b),
            (self.native, subject.sixteen_bit),
        ]
        given = [holds for is_given, holds in conditions if is_given]
        return bool(given) and all(given)

    def is_said(self, text: str) -> bool:
        """Whether a text holds a word of every group, within one passage of it."""
        return bool(self.terms) and all(
            any(re.search(word, text, re.IGNORECASE) for word in group) for group in self.terms
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure or rule of a guide. `holds` says how far it is true, `say` what to answer.

    A contradicted claim has `about` and `told`: which answers it concerns, and the contradiction in a sentence by language.
    """

    id: str
    document: str
    topic: str
    claim: str
    value: Any
    unit: str | None
    holds: Holds
    inputs: Mapping[str, Any]
    computed: tuple[Computed, ...]
    say: str
    sources: tuple[str, ...]
    about: About = field(default_factory=About)
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title of the guide."""
        return DOCUMENTS[self.document]


@lru_cache(maxsize=1)
def claims() -> tuple[Claim, ...]:
    """All claims, in the order of their ids."""
    rows = yaml.safe_load(files("knowledge").joinpath("claims.yaml").read_text(encoding="utf-8"))
    return tuple(_claim(row) for row in rows)


def contradicted(topic: str) -> tuple[Claim, ...]:
    """Claims on a topic that figures or other sources refute: shown as contradictions where the topic comes up."""
    return tuple(claim for claim in claims() if claim.topic == topic and claim.holds == "contradicted")


def concerning(texts: Iterable[str], subjects: Sequence[Subject]) -> tuple[Claim, ...]:
    """The refuted claims that an answer on these subjects should tell, or that one of the texts repeats."""
    passages = list(texts)
    return tuple(
        claim
        for claim in claims()
        if claim.holds == "contradicted"
        and (any(map(claim.about.is_sized, subjects)) or any(map(claim.about.is_said, passages)))
    )


def _about(row: Mapping[str, Any]) -> About:
    listed: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return About(**{**listed, "terms": tuple(tuple(group) for group in row.get("terms") or ())})


def _claim(row: Mapping[str, Any]) -> Claim:
    return Claim(
        id=row["id"],
        document=row["document"],
        topic=row["topic"],
        claim=row["claim"],
        value=row.get("value"),
        unit=row.get("unit"),
        holds=row["holds"],
        inputs=row.get("inputs") or {},
        computed=tuple(
            Computed(**{key: one.get(key) or "" for key in ("what", "expr", "unit")}, value=one["value"])
            for one in row.get("computed") or ()
        ),
        say=row["say"],
        sources=tuple(row.get("sources") or ()),
        about=_about(row.get("about") or {}),
        told=row.get("told") or {},
    )
