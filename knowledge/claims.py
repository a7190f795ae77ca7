"""Claims of published guides, each recomputed: what they say, whether it holds, and what a careful answer says instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
class Claim:
    """A figure or rule of a guide. `holds` says how far it is true, `say` what to answer."""

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
    )
