"""Specs as plain data: merging a change into one, and telling what differs between two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.thread import Spec

_MISSING = object()
# A change of one of these makes the other meaningless: fifty users take the place of ten concurrent requests.
_REPLACES: Mapping[str, tuple[str, ...]] = {"concurrency": ("users", "active_share"), "users": ("concurrency",)}


def merged(spec: Spec, delta: Mapping[str, Any]) -> Spec:
    """The spec with a change: nested objects are merged, lists and values replaced, None removes."""
    result = dict(spec)
    for key, value in delta.items():
        for loser in _REPLACES.get(key, ()):
            if loser not in delta:
                result.pop(loser, None)
        _merge_one(result, key, value)
    return result


def _merge_one(result: dict[str, Any], key: str, value: Any) -> None:
    known = result.get(key)
    if value is None:
        result.pop(key, None)
    elif isinstance(value, Mapping) and isinstance(known, Mapping):
        result[key] = merged(dict(known), value)
    else:
        result[key] = dict(value) if isinstance(value, Mapping) else value


def changes(before: Spec, now: Spec) -> dict[str, tuple[Any, Any]]:
    """Dotted field → (value before, value now) of everything that differs; None stands for "not said"."""
    old, new = dict(_flat(before)), dict(_flat(now))
    names = dict.fromkeys([*old, *new])
    found = {
        name: (old.get(name), new.get(name)) for name in names if old.get(name, _MISSING) != new.get(name, _MISSING)
    }
    found.pop("id", None)
    return found


def delta_of(before: Spec, now: Spec) -> Spec:
    """The change that makes one spec the other, in the form that `merged` takes."""
    delta: Spec = {}
    for key in dict.fromkeys([*before, *now]):
        if before.get(key) == now.get(key):
            continue
        old, new = before.get(key), now.get(key)
        both = isinstance(old, Mapping) and isinstance(new, Mapping)
        delta[key] = delta_of(dict(old or {}), dict(new or {})) if both else new
    return delta


def _flat(spec: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in spec.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif value not in (None, [], ()):
            yield name, value
