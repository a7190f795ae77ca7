"""Figures that an answer may rest on, each with its place and the dimension that its key names; written without the guard."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

_MOST = 60_000
_PLAIN_KEYS: Final = frozenset({"low", "expected", "high", "value", "before", "after", "most", "wanted", "got"})
# (what a key ends in, dimension, size of one in the base unit of the dimension)
_ENDINGS: Final[tuple[tuple[str, str, float], ...]] = (
    ("gib_s", "bytes/s", 2**30), ("gb_s", "bytes/s", 1e9), ("mb_s", "bytes/s", 1e6), ("mbit_s", "bit/s", 1e6), ("gbit", "bit/s", 1e9),
    ("gib", "bytes", 2**30), ("mib", "bytes", 2**20), ("kib", "bytes", 2**10), ("gb", "bytes", 1e9), ("mb", "bytes", 1e6),
    ("tb", "bytes", 1e12), ("bytes", "bytes", 1), ("bytes_per_token", "bytes", 1), ("bytes_per_sequence", "bytes", 1),
    ("bytes_per_element", "bytes", 1), ("gib_per_gpu", "bytes", 2**30),
    ("tok_s", "1/s", 1), ("tokens_s", "1/s", 1), ("tokens_per_second", "1/s", 1), ("tok_s_per_user", "1/s", 1),
    ("tok_s_total", "1/s", 1), ("tokens_s_per_user", "1/s", 1), ("tokens_s_total", "1/s", 1), ("requests_s", "1/s", 1),
    ("ms", "s", 1e-3), ("_s", "s", 1), ("seconds", "s", 1), ("minutes", "s", 60), ("hours", "s", 3600), ("_h", "s", 3600),
    ("days", "s", 86_400), ("watts", "W", 1), ("power_w", "W", 1), ("_w", "W", 1), ("kwh", "J", 3.6e6),
    ("share", "1", 1), ("utilization", "1", 1), ("utilisation", "1", 1), ("vat", "1", 1), ("availability", "1", 1), ("acceptance", "1", 1),
    ("percent", "1", 0.01), ("bits", "bit", 1), ("tflops", "flop/s", 1e12),
    ("usd_h", "money", 1), ("eur_h", "money", 1), ("per_kwh", "money", 1), ("usd", "money", 1), ("eur", "money", 1), ("price", "money", 1),
    ("amount", "money", 1), ("budget", "money", 1),
)  # fmt: skip
_LONGEST_FIRST: Final = sorted(_ENDINGS, key=lambda row: -len(row[0]))
# What is no amount among the figures of a price list, which names its currency once for all of them.
_NO_AMOUNTS: Final = frozenset({
    "hours_per_month", "count", "instances", "uplift", "eur_per_usd", "age_days", "amortisation_months", "as_of",
    "source", "provider", "instance", "basis",
    "condition", "trust",
})  # fmt: skip
_UNITS_OF_STEPS: Final[dict[str, tuple[str, float]]] = {
    "bytes": ("bytes", 1), "B": ("bytes", 1), "GiB": ("bytes", 2**30), "GB": ("bytes", 1e9), "ms": ("s", 1e-3), "s": ("s", 1),
    "min": ("s", 60), "h": ("s", 3600), "kWh": ("J", 3.6e6), "EUR": ("money", 1), "USD": ("money", 1), "share": ("1", 1),
    "tok/s": ("1/s", 1), "tokens/s": ("1/s", 1), "GB/s": ("bytes/s", 1e9), "W": ("W", 1), "TFLOPS": ("flop/s", 1e12),
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """A figure in base units (bytes, s, 1/s, W, J, share of 1); `dimension` is None where its key names none."""

    value: float
    dimension: str | None
    place: str


def facts_in(data: Any, place: str = "") -> Iterator[Fact]:
    """Every figure of nested data: mappings, sequences, pydantic models and dataclasses, each object once."""
    seen: set[int] = set()
    for number, fact in enumerate(_walk(data, place, seen, 0)):
        if number >= _MOST:
            return
        yield fact


def sums_over_devices(estimate: Mapping[str, Any]) -> Iterator[Fact]:
    """What an answer adds up itself: each part over all devices, and what a device offers as what it needs and has to spare."""
    devices = [dict(each) for each in (estimate.get("memory") or {}).get("per_device") or ()]
    for each in devices:
        if each.get("total_gib") is not None and each.get("free_gib") is not None:
            each["offered_gib"] = each["total_gib"] + each["free_gib"]
        yield from facts_in(each, "device")
    for key in {key for each in devices for key, value in each.items() if isinstance(value, int | float)}:
        yield figure(sum(each.get(key) or 0.0 for each in devices), f"devices.{key}")
    if requests := (estimate.get("memory") or {}).get("max_concurrency_at_context"):
        yield Fact(float(int(requests)), None, "whole requests that fit")
    parts = ("gradients_gib", "optimizer_gib")
    yield figure(max((sum(each.get(part) or 0.0 for part in parts) for each in devices), default=0.0), "states_gib")


def _walk(data: Any, place: str, seen: set[int], depth: int) -> Iterator[Fact]:
    if isinstance(data, bool) or data is None or depth > 12:
        return
    if isinstance(data, int | float):
        yield figure(float(data), place)
    elif isinstance(data, str):
        yield from (Fact(float(n.replace(",", "")), None, place) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", data[:400]))
    elif id(data) not in seen:
        seen.add(id(data))
        yield from _inside(data, place, seen, depth)


def _inside(data: Any, place: str, seen: set[int], depth: int) -> Iterator[Fact]:
    fields = _fields(data)
    if fields is not None:
        step = _UNITS_OF_STEPS.get(str(fields.get("unit", "")))
        if step and isinstance(fields.get("value"), int | float):
            yield Fact(float(fields["value"]) * step[1], step[0], f"{place}.value")
        about = fields.get("field")  # an assumption: the field that its value is of names the unit
        if isinstance(about, str) and isinstance(fields.get("value"), int | float):
            yield figure(float(fields["value"]), about)
        for key, value in fields.items():
            found = _walk(value, f"{place}.{key}", seen, depth + 1)
            yield from map(_as_amount, found) if isinstance(fields.get("currency"), str) else found
    elif isinstance(data, list | tuple | set | frozenset):
        yield Fact(float(len(data)), None, f"{place}.length")
        for value in data:
            yield from _walk(value, place, seen, depth + 1)


def _as_amount(fact: Fact) -> Fact:
    last = fact.place.rpartition(".")[2]
    return fact if fact.dimension or last in _NO_AMOUNTS else Fact(fact.value, "money", fact.place)


def _fields(data: Any) -> Mapping[Any, Any] | None:
    if isinstance(data, Mapping):
        return data
    if isinstance(data, BaseModel):
        return {name: getattr(data, name) for name in type(data).model_fields}
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        return {each.name: getattr(data, each.name) for each in dataclasses.fields(data)}
    return None


def in_unit(value: float, unit: str, place: str) -> Fact:
    """A figure whose unit is written out ("GiB", "EUR"), as steps of a derivation have it."""
    dimension, size = _UNITS_OF_STEPS.get(unit, (None, 1.0))
    return Fact(value * size, dimension, place)


def figure(value: float, place: str) -> Fact:
    """A figure with the dimension that the last parts of its place name."""
    keys = [key for key in place.lower().split(".") if key not in _PLAIN_KEYS]
    for key in reversed(keys[-2:]):
        if key.startswith("share_of_"):
            return Fact(value, "1", place)
        for ending, dimension, size in _LONGEST_FIRST:
            if key.endswith(ending):
                return Fact(value * size, dimension, place)
    return Fact(value, None, place)
