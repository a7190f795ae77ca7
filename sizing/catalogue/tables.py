"""The look-up tables of names, read from the generated catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sizing.catalogue.load import generated
from sizing.catalogue.text import Kind

__all__ = ["NameTable", "table"]


@dataclass(frozen=True, slots=True)
class NameTable:
    """The names of one kind of entry.

    `exact` maps names as written, `keys` their comparable form, to ids; `ambiguous` maps keys to ids, the customary one
    first. Models only: `repositories`, names that are never ambiguous, and `families`, ids by family and size. Devices
    only: `devices`, keys without memory to the entries that share them, each with the memory its alias states in GB.
    """

    exact: Mapping[str, str]
    keys: Mapping[str, str]
    ambiguous: Mapping[str, tuple[str, ...]]
    repositories: frozenset[str]
    families: Mapping[str, tuple[str, ...]]
    devices: Mapping[str, tuple[tuple[str, float | None], ...]]


@lru_cache(maxsize=4)
def table(kind: Kind) -> NameTable:
    content = generated()["names"][kind]
    return NameTable(
        exact=content["exact"],
        keys=content["keys"],
        ambiguous={key: tuple(ids) for key, ids in content["ambiguous"].items()},
        repositories=frozenset(content.get("repositories", ())),
        families={key: tuple(ids) for key, ids in content.get("families", {}).items()},
        devices={
            key: tuple((ident, memory) for ident, memory in devices)
            for key, devices in content.get("devices", {}).items()
        },
    )
