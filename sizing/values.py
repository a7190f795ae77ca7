"""Values that JSON has no type for: words of a closed set as people write them, dates, numbers that are no truth values."""

from __future__ import annotations

import difflib
import re
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
# A day that no month has is told from a wrong month only by the calendar; engines are dated by month.
_DATE = re.compile(r"20\d{2}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")


# Makers of accelerators, by catalogue; a test holds the two together.
VENDORS = (
    "nvidia", "amd", "intel", "apple", "google", "aws", "huawei", "cerebras", "tenstorrent", "sambanova", "ampere", "cix",
    "raspberry pi", "generic",
)  # fmt: skip
_VENDOR_NAMES = {
    "geforce": "nvidia", "rtx": "nvidia", "radeon": "amd", "instinct": "amd", "arc": "intel", "gaudi": "intel", "habana": "intel",
    "mac": "apple", "tpu": "google", "trainium": "aws", "amazon": "aws", "inferentia": "aws", "ascend": "huawei",
}  # fmt: skip


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


def _vendor(value: object) -> object:
    return _one_of(value, VENDORS, _VENDOR_NAMES)


def _optimizer(value: object) -> object:
    """Any spelling that holds the name of a family."""
    if isinstance(value, str) and not any(family in value.lower() for family in OPTIMIZERS):
        raise _unknown(value.strip().lower(), OPTIMIZERS)
    return value


def _no_truth_value(value: object) -> object:
    """JSON's true is no number, though Python counts it as one."""
    if isinstance(value, bool):
        raise PydanticCustomError("number", "a number is wanted")
    return value


def _date(value: object) -> object:
    if isinstance(value, str) and not _DATE.fullmatch(value.strip()):
        raise PydanticCustomError("date", 'a year, month or day such as "2026-04" is wanted')
    return value


NUMBER = BeforeValidator(_no_truth_value)
_Word = Annotated[str, Field(min_length=1, max_length=300)]
Backend = Annotated[_Word, BeforeValidator(_backend)]
Date = Annotated[_Word, BeforeValidator(_date)]
Currency = Annotated[_Word, BeforeValidator(_currency)]
Vendor = Annotated[_Word, BeforeValidator(_vendor)]
Optimizer = Annotated[_Word, BeforeValidator(_optimizer)]
