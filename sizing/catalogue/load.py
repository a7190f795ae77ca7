"""Reads the generated catalogue, once per process."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from sizing.catalogue.entries import Accelerator, Fact, Format, KvFormat, Model, Offer

Entry = TypeVar("Entry", Model, Accelerator, Format, KvFormat, Offer, Fact)

__all__ = ["Catalogue", "DATA_DIRECTORY", "GENERATED", "catalogue", "generated"]

DATA_DIRECTORY = Path(__file__).with_name("data")
GENERATED = DATA_DIRECTORY / "zz_generated_catalogue.json"

# JSON has no number keys; these are memory sizes in GB
_BY_OPTION = ("metal_default_limit_gib_by_option", "bandwidth_gb_s_by_option")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every entry by its id. `format_hardware` says what NVIDIA generations and engines run which formats."""

    models: Mapping[str, Model]
    accelerators: Mapping[str, Accelerator]
    formats: Mapping[str, Format]
    kv_formats: Mapping[str, KvFormat]
    offers: Mapping[str, Offer]
    facts: Mapping[str, Fact]
    format_hardware: Mapping[str, Any]
    _offers_by_accelerator: Mapping[str, tuple[Offer, ...]]

    def offers_for(self, accelerator_id: str) -> tuple[Offer, ...]:
        """Machines to rent with that accelerator, in the order of the price lists; empty where none was found."""
        return self._offers_by_accelerator.get(accelerator_id, ())


@lru_cache(maxsize=1)
def generated() -> Mapping[str, Any]:
    """The generated file as it is."""
    content: dict[str, Any] = json.loads(GENERATED.read_bytes())
    return content


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The catalogue of this release."""
    rows = generated()
    offers = _by_id(Offer(**_arguments(row)) for row in rows["offers"])
    return Catalogue(
        models=_by_id(Model(**_arguments(row)) for row in rows["models"]),
        accelerators=_by_id(Accelerator(**_arguments(row)) for row in rows["accelerators"]),
        formats=_by_id(Format(**_arguments(row)) for row in rows["formats"]),
        kv_formats=_by_id(KvFormat(**_arguments(row)) for row in rows["kv_formats"]),
        offers=offers,
        facts=_by_id(Fact(**_arguments(row)) for row in rows["facts"]),
        format_hardware=MappingProxyType(rows["format_hardware"]),
        _offers_by_accelerator=_grouped(offers.values()),
    )


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {name: tuple(value) if type(value) is list else value for name, value in row.items()}
    for name in _BY_OPTION:
        if name in arguments:
            arguments[name] = {int(option): value for option, value in arguments[name].items()}
    return arguments


def _by_id(entries: Iterable[Entry]) -> Mapping[str, Entry]:
    return MappingProxyType({entry.id: entry for entry in entries})


def _grouped(offers: Iterable[Offer]) -> Mapping[str, tuple[Offer, ...]]:
    groups: dict[str, tuple[Offer, ...]] = {}
    for offer in offers:
        groups[offer.accelerator] = (*groups.get(offer.accelerator, ()), offer)
    return groups
