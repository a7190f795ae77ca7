""" "Did you mean …": ids whose names are near a name that nothing fits."""

import re
from collections.abc import Mapping
from difflib import get_close_matches

__all__ = ["suggestions"]

_SIZE = re.compile(r"(\d+(?:\.\d+)?) b\b")
_LIMIT = 3
_NEAR = 12
_CUTOFF = 0.6
_LONGEST_NAME = 120


def suggestions(key: str, keys: Mapping[str, str], same_size: bool = False) -> tuple[str, ...]:
    """Up to three ids by likeness of key; `same_size` leaves out models of another stated size."""
    if not key or len(key) > _LONGEST_NAME:
        return ()
    asked, size = set(key.split()), set(_SIZE.findall(key))
    found: dict[str, None] = {}
    for near in get_close_matches(key, keys, n=_NEAR, cutoff=_CUTOFF):
        if same_size and size and (other := set(_SIZE.findall(near))) and not size & other:
            continue
        if asked & {word for word in near.split() if len(word) > 1}:
            found.setdefault(keys[near])
    return tuple(found)[:_LIMIT]
