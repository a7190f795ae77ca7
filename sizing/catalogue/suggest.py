""" "Did you mean …": ids whose names are near a name that nothing fits."""

import re
from collections.abc import Mapping
from difflib import get_close_matches

__all__ = ["suggestions"]

_SIZE = re.compile(r"(\d+(?:\.\d+)?) b\b")
_LIMIT = 3
_NEAR = 12
_CUTOFF = 0.6
_CUTOFF_WITHOUT_SHARED_WORD = 0.8
_LONGEST_NAME = 120


def suggestions(key: str, keys: Mapping[str, str], same_size: bool = False) -> tuple[str, ...]:
    """Up to three ids by likeness of key; `same_size` leaves out models of another stated size."""
    if not key or len(key) > _LONGEST_NAME:
        return ()
    asked, size = set(key.split()), set(_SIZE.findall(key))
    sharing = [known for known in keys if any(len(word) > 1 and word in asked for word in known.split())]
    cutoff = _CUTOFF if sharing else _CUTOFF_WITHOUT_SHARED_WORD
    found: dict[str, None] = {}
    for near in get_close_matches(key, sharing or keys, n=_NEAR, cutoff=cutoff):
        sizes = set(_SIZE.findall(near))
        if not (same_size and size and sizes) or size & sizes:
            found.setdefault(keys[near])
    return tuple(found)[:_LIMIT]
