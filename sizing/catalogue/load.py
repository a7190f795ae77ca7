"""Reads the generated catalogue, once per process."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from sizing.catalogue.entries import Accelerator, Fact, Format, KvFormat, Model, Offer

Entry = TypeVar("Entry", Model, Accelerator, Format, KvFormat, Offer, Fact)

__all__ = ["DATA_DIRECTORY", "GENERATED", "Catalogue", "Entries", "catalogue", "generated"]

DATA_DIRECTORY = Path(__file__).with_name("data")
GENERATED = DATA_DIRECTORY / "zz_generated_catalogue.json"

# JSON has no number keys; these are memory sizes in GB
_BY_OPTION = ("metal_default_limit_gib_by_option", "bandwidth_gb_s_by_option")


class Entries(Mapping[str, Entry]):
    """Entries of one kind by id, in the order of the YAML file; each is made when it is first asked for."""

    __slots__ = ("_made", "_rows", "_type")

    def __init__(self, entry_type: Callable[..., Entry], rows: Iterable[Mapping[str, Any]]) -> None:
        self._type: Callable[..., Entry] = entry_type
        self._rows = {row["id"]: row for row in rows}
        self._made: dict[str, Entry] = {}

    def __getitem__(self, ident: str) -> Entry:
        made = self._made.get(ident)
        return made or self._made.setdefault(ident, self._type(**_arguments(self._rows[ident])))

    def __contains__(self, ident: object) -> bool:
        return ident in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """Every entry by its id. `format_hardware` says what NVIDIA generations and engines run which formats."""

    models: Mapping[str, Model]
    accelerators: Mapping[str, Accelerator]
    formats: Mapping[str, Format]
    kv_formats: Mapping[str, KvFormat]
    offers: Mapping[str, Offer]
    facts: Mapping[str, Fact]
    format_hardware: Mapping[str, Any]
    _offer_ids: Mapping[str, tuple[str, ...]]

    def offers_for(self, accelerator_id: str) -> tuple[Offer, ...]:
        """Machines to rent with that accelerator, in the order of the price lists; empty where none was found."""
        return tuple(self.offers[ident] for ident in self._offer_ids.get(accelerator_id, ()))


@lru_cache(maxsize=1)
def generated() -> Mapping[str, Any]:
    """The generated file as it is."""
    content: dict[str, Any] = json.loads(GENERATED.read_text(encoding="utf-8"))
    return content


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The catalogue of this release."""
    rows = generated()
    return Catalogue(
        models=Entries(Model, rows["models"]),
        accelerators=Entries(Accelerator, rows["accelerators"]),
        formats=Entries(Format, rows["formats"]),
        kv_formats=Entries(KvFormat, rows["kv_formats"]),
        offers=Entries(Offer, rows["offers"]),
        facts=Entries(Fact, rows["facts"]),
        format_hardware=MappingProxyType(rows["format_hardware"]),
        _offer_ids=_offer_ids(rows["offers"]),
    )


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
    }
    for name in _BY_OPTION:
        if name in arguments:
            arguments[name] = {int(option): value for option, value in arguments[name].items()}
    return arguments


def _offer_ids(offers: Iterable[Mapping[str, Any]]) -> Mapping[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for offer in offers:
        groups[offer["accelerator"]] = (*groups.get(offer["accelerator"], ()), offer["id"])
    return groups
