"""Figures from the catalogue's platform facts, by fact id and key."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sizing.catalogue.load import catalogue


@lru_cache(maxsize=256)
def fact(ident: str, *path: str) -> Any:
    """The value of a platform fact, or what stands under a key of it. A missing one is a fault of ours: KeyError."""
    value = catalogue().facts[ident].value
    for key in path:
        value = value[key]
    return value


def number(ident: str, *path: str) -> float:
    """A fact that is one number, in the unit of the fact."""
    return float(fact(ident, *path))
