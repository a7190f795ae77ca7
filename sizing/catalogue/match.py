"""What a look-up answers."""

from dataclasses import dataclass
from typing import Literal

from sizing.catalogue.text import Kind

__all__ = ["Match", "Via"]

Via = Literal[
    "exact",
    "family",
    "key",
    "suffix",
    "variant",
    "contains",
    "remark",
    "bit rate",
    "parts",
    "alternatives",
    "size only",
    "memory only",
    "generic",
    "unknown",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a written name means.

    `id` is None when nothing fits; then `via` may say what the name still gives (a size, a memory) and `suggestions`
    holds up to three ids that were perhaps meant. `candidates` are all entries meant by an ambiguous name, `id` being
    the customary one. `format` is the number format that a model name implies (the word itself where the catalogue
    lacks it), `params_b` the size of "a 13B model" in billions, `memory_gb` the memory that a device name states;
    `memory_differs` that the entry has no such version. `parts` has one answer per device of "RTX 4090 + RTX 3090 Ti".
    `assumed` is what was dropped on the way, to be said.
    """

    name: str
    kind: Kind
    id: str | None = None
    via: Via | None = None
    candidates: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    format: str | None = None
    bits_per_weight: float | None = None
    params_b: float | None = None
    memory_gb: float | None = None
    memory_differs: bool = False
    parts: tuple["Match", ...] = ()
    count: int | None = None
    backend: str | None = None
    sockets: int | None = None
    gpu_cores: int | None = None
    assumed: tuple[str, ...] = ()
