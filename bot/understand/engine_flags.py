"""Flags of an engine in a pasted command line: what share of the memory it takes, where layers lie, and what else moves its memory."""

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


def _share(word: str) -> float | None:
    """0.9, "0,9" or "90 %"; None for what is no share of a card."""
    percent = word.endswith("%")
    value = float(word.removesuffix("%").strip().replace(",", ".")) / (100 if percent else 1)
    return value if 0 < value <= 1 else None


def _parts(word: str) -> list[float]:
    return [float(part) for part in re.split(r"[,/]", word)]


# What vLLM, SGLang, TensorRT-LLM, LMDeploy and TGI call the share of a card that is theirs; in a sentence, too.
_SHARE_NAMES: Final = (
    "gpu[-_ ]memory[-_ ]utili[sz]ation|mem[-_ ]fraction[-_ ]static|kv[-_]cache[-_]free[-_]gpu[-_]mem(?:ory)?[-_]fraction|"
    "cache[-_]max[-_]entry[-_]count|cuda[-_]memory[-_]fraction"
)
_SHARE: Final = re.compile(
    rf"(?<![\w-])(?:--)?(?:{_SHARE_NAMES})(?:\s*[=:]\s*|\s+(?:of |to |at |von |auf |bei )?)(\d{{1,3}}(?:[.,]\d{{1,6}})?(?:\s?%)?)(?![\w%])"
)

_READ: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], Any]], ...]] = (
    ("gpu_memory_utilization", _SHARE, _share),
    ("max_num_batched_tokens", _flag("--max-num-batched-tokens|--chunked-prefill-size", r"\d{1,9}"), _tokens),
    ("gpu_layers", _flag("-ngl|--n-gpu-layers|--gpu-layers", r"\d{1,9}"), _layers),
    ("cpu_moe_layers", _flag("-ncmoe|--n-cpu-moe", r"\d{1,9}"), _layers),
    ("ubatch_tokens", _flag("-ub|--ubatch-size", r"\d{1,9}"), _tokens),
    ("batch_tokens", _flag("-b|--batch-size", r"\d{1,9}"), _tokens),
    ("attention_max_mib", _flag("-amb", r"\d{1,9}"), _tokens),
    ("split_mode", _flag("-sm|--split-mode", "none|layer|row|tensor"), str),
    ("tensor_split", _flag("-ts|--tensor-split", r"\d{1,6}(?:\.\d{1,6})?(?:[,/]\d{1,6}(?:\.\d{1,6})?)+"), _parts),
    ("flash_attention", _flag("-fa|--flash-attn", "on|off|0|1"), lambda word: word in ("on", "1")),
)
_SWITCHES: Final = (
    ("swa_full", re.compile(r"(?<!\S)--swa-full(?!\S)")),
    ("enforce_eager", re.compile(r"(?<!\S)--enforce-eager(?!\S)")),
    ("data_parallel_attention", re.compile(r"(?<!\S)--enable-dp-attention(?!\S)")),
)


def read_engine_flags(text: Text) -> dict[str, Any]:
    """The engine's settings by their names in a spec; empty where the message pastes no flags."""
    found: dict[str, Any] = {}
    for name, pattern, value in _READ:
        if match := pattern.search(text.folded):
            read = value(match[1])
            found |= {} if read is None else {name: read}
    return found | {name: True for name, pattern in _SWITCHES if pattern.search(text.folded)}
