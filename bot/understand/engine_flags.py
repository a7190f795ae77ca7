"""Flags of llama.cpp in a pasted command line: where layers and experts lie, and what else moves its memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from bot.understand.text import Text

_MOST_TOKENS: Final = 10**7
_MOST_LAYERS: Final = 100_000


def _flag(names: str, value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{names})(?:\s+|=)({value})(?!\S)")


def _layers(word: str) -> int | None:
    return int(word) if int(word) <= _MOST_LAYERS else None


def _tokens(word: str) -> int | None:
    return int(word) if 1 <= int(word) <= _MOST_TOKENS else None


def _parts(word: str) -> list[float]:
    return [float(part) for part in re.split(r"[,/]", word)]


_READ: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], Any]], ...]] = (
    ("gpu_layers", _flag("-ngl|--n-gpu-layers|--gpu-layers", r"\d{1,9}"), _layers),
    ("cpu_moe_layers", _flag("-ncmoe|--n-cpu-moe", r"\d{1,9}"), _layers),
    ("ubatch_tokens", _flag("-ub|--ubatch-size", r"\d{1,9}"), _tokens),
    ("batch_tokens", _flag("-b|--batch-size", r"\d{1,9}"), _tokens),
    ("attention_max_mib", _flag("-amb", r"\d{1,9}"), _tokens),
    ("split_mode", _flag("-sm|--split-mode", "none|layer|row"), str),
    ("tensor_split", _flag("-ts|--tensor-split", r"\d{1,6}(?:\.\d{1,6})?(?:[,/]\d{1,6}(?:\.\d{1,6})?)+"), _parts),
    ("flash_attention", _flag("-fa|--flash-attn", "on|off|0|1"), lambda word: word in ("on", "1")),
)
_SWA_FULL = re.compile(r"(?<!\S)--swa-full(?!\S)")


def read_engine_flags(text: Text) -> dict[str, Any]:
    """The engine's settings by their names in a spec; empty where the message pastes no flags."""
    found: dict[str, Any] = {}
    for name, pattern, value in _READ:
        if match := pattern.search(text.folded):
            read = value(match[1])
            found |= {} if read is None else {name: read}
    if _SWA_FULL.search(text.folded):
        found["swa_full"] = True
    return found
