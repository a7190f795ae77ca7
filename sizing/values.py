"""Values that are words of a closed set: as people write them, to one spelling, or refused with what would work."""

from __future__ import annotations

import difflib
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

BACKENDS = ("cuda", "rocm", "vulkan", "metal", "sycl", "cann", "cpu")
_BACKEND_NAMES = {
    "hip": "rocm", "hipblas": "rocm", "amd": "rocm", "cublas": "cuda", "nvidia": "cuda", "mps": "metal", "mlx": "metal", "oneapi": "sycl",
    "level-zero": "sycl", "xpu": "sycl", "ascend": "cann", "npu": "cann", "blas": "cpu", "openblas": "cpu",
}  # fmt: skip
CURRENCIES = ("EUR", "USD")
_CURRENCY_NAMES = {
    "€": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "$": "USD",
    "us$": "USD",
    "dollar": "USD",
    "dollars": "USD",
}
# Families of optimizers; what stands around the word in "paged_adamw_8bit" or "adamw_torch_fused" says how its moments are kept.
OPTIMIZERS = (
    "adamw", "adam", "sgd", "adafactor", "lion", "muon", "galore", "apollo", "lomo", "adagrad", "rmsprop", "sophia", "shampoo", "soap",
    "came", "lamb", "lars", "prodigy", "ademamix", "radam", "adopt",
)  # fmt: skip


def _one_of(value: object, allowed: tuple[str, ...], names: dict[str, str]) -> object:
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    spelled = {known.lower(): known for known in allowed}
    found = names.get(word) or spelled.get(word)
    if found is None:
        raise _unknown(word, allowed)
    return found


def _unknown(word: str, allowed: tuple[str, ...]) -> PydanticCustomError:
    near = difflib.get_close_matches(word, [known.lower() for known in allowed], 1, 0.6)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    return PydanticCustomError("unknown_word", "{hint}known here: {known}", {"hint": hint, "known": ", ".join(allowed)})


def _backend(value: object) -> object:
    return _one_of(value, BACKENDS, _BACKEND_NAMES)


def _currency(value: object) -> object:
    return _one_of(value, CURRENCIES, _CURRENCY_NAMES)


def _optimizer(value: object) -> object:
    """Any spelling that holds the name of a family."""
    if isinstance(value, str) and not any(family in value.lower() for family in OPTIMIZERS):
        raise _unknown(value.strip().lower(), OPTIMIZERS)
    return value


_Word = Annotated[str, Field(min_length=1, max_length=300)]
Backend = Annotated[_Word, BeforeValidator(_backend)]
Currency = Annotated[_Word, BeforeValidator(_currency)]
Optimizer = Annotated[_Word, BeforeValidator(_optimizer)]
