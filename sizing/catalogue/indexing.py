"""Builds the look-up tables of names from the rows of the catalogue. Runs when the data is generated, not at start."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from sizing.catalogue.text import MEMORY_GB, Kind, format_key, name_key, plain, words
from sizing.catalogue.words import SIZE_WORDS, VARIANT_WORDS, kv_key
from sizing.errors import SizewiseError

__all__ = ["NameClashError", "Row", "build_names", "names_of"]

Row = Mapping[str, Any]
Ambiguous = Mapping[str, list[str]]


class NameClashError(SizewiseError):
    """Two entries claim a name that the table of ambiguous names does not list. Seen by whoever edits the catalogue."""


def names_of(row: Row, kind: Kind) -> list[str]:
    """Every way the catalogue itself writes the entry."""
    names = [row["id"], *row["aliases"]]
    if kind == "model":
        names.insert(1, row["id"].rpartition("/")[2])
    if kind == "accelerator":
        names.append(row["name"])
    return names


def key_of(name: str, kind: Kind) -> str:
    if kind == "format":
        return format_key(name)
    return kv_key(name) if kind == "kv_format" else name_key(name, kind)


def build_names(rows: Mapping[Kind, list[Row]], ambiguous: Mapping[Kind, Ambiguous]) -> dict[str, Any]:
    """The tables, per kind: exact, keys, ambiguous; repositories and families of models; devices of accelerators."""
    names: dict[str, Any] = {kind: _tables(rows[kind], kind, ambiguous.get(kind, {})) for kind in rows}
    names["model"]["repositories"] = sorted(_repositories(rows["model"]))
    names["model"]["families"] = _families(rows["model"])
    names["accelerator"]["devices"] = _devices(rows["accelerator"])
    return names


def _tables(rows: Iterable[Row], kind: Kind, ambiguous: Ambiguous) -> dict[str, Any]:
    by_key = {key_of(name, kind): ids for name, ids in ambiguous.items()}
    exact: dict[str, str] = {}
    keys: dict[str, str] = {}
    for row in rows:
        for name in names_of(row, kind):
            key = key_of(name, kind)
            for table, entry in ((exact, plain(name)), (keys, key)):
                holder = table.setdefault(entry, row["id"])
                if holder != row["id"] and key not in by_key:
                    raise NameClashError(f"{kind} name {name!r} means {holder} and {row['id']}")
    _check_ids(by_key, {row["id"] for row in rows}, kind)
    return {"exact": exact, "keys": keys, "ambiguous": by_key}


def _check_ids(ambiguous: Ambiguous, known: set[str], kind: Kind) -> None:
    for name, ids in ambiguous.items():
        if missing := [ident for ident in ids if ident not in known]:
            raise NameClashError(f"ambiguous {kind} name {name!r} lists unknown ids {missing}")


def _repositories(models: Iterable[Row]) -> set[str]:
    """Repository names are never ambiguous: `Qwen-7B` is the model of 2023, "Qwen 7B" is not."""
    return {plain(name).split("/")[-1] for row in models for name in (row["id"], *row["aliases"]) if "/" in name}


def _families(models: Iterable[Row]) -> dict[str, list[str]]:
    """ "llama 8 b": ids whose name is a family, a version and that size, newest first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in models:
        named = words(row["id"], "model")
        family = [word for word in named if word not in VARIANT_WORDS and not SIZE_WORDS.fullmatch(word)]
        sizes = [size for size, unit in pairwise(named) if unit == "b" and size[0].isdigit()]
        for size in sizes if len(family) == 1 else ():
            found.setdefault(f"{family[0]} {size} b", []).append((row.get("released") or "", row["id"]))
    return {name: [ident for _, ident in sorted(hits, reverse=True)] for name, hits in found.items()}


def _devices(accelerators: Iterable[Row]) -> dict[str, list[tuple[str, float | None]]]:
    """Names without their memory: the entries that share one, each with the memory its alias states."""
    devices: dict[str, list[tuple[str, float | None]]] = {}
    for row in accelerators:
        for name in (row["name"], *row["aliases"]):
            text = plain(name)
            memory = MEMORY_GB.search(text)
            key = name_key(MEMORY_GB.sub(" ", text), "accelerator")
            devices.setdefault(key, []).append((row["id"], float(memory.group(1)) if memory else None))
    return devices
