"""SGLang: start-up figures and the lines of its batches."""

from __future__ import annotations

import re
from typing import Final

from bot.understand.logs.figures import gib, last, value, whole
from sizing.observation import Fault, Observation

_MARK: Final = re.compile(
    r"KV Cache is allocated|max_total_num_tokens=|Load weight end|Decode batch[.,]|Prefill batch[.,]|mem_fraction_static|sglang"
)
_N = r"([\d.,]*\d)"
_MODEL: Final = re.compile(r"model_path='([^']+)'")
_TP: Final = re.compile(r"tp_size=(\d+)")
_WEIGHTS: Final = re.compile(rf"Load weight end\..*?mem usage={_N} (GB|GiB)")
_AVAILABLE: Final = re.compile(
    rf"Load weight begin\. avail mem={_N} (GB|GiB)(?:.|\n)*?Load weight end\..*?avail mem={_N} (GB|GiB)"
)
_POOL: Final = re.compile(rf"KV Cache is allocated\..*?#tokens: {_N}, K size: {_N} (GB|GiB), V size: {_N} (?:GB|GiB)")
_POOL_ONE: Final = re.compile(rf"KV Cache is allocated\..*?#tokens: {_N}, KV size: {_N} (GB|GiB)")
_TOTAL: Final = re.compile(rf"max_total_num_tokens={_N}")
_CONTEXT: Final = re.compile(rf"context_len={_N}")
_FREE: Final = re.compile(rf"max_total_num_tokens=.*?available_gpu_mem={_N} (GB|GiB)")
_GRAPHS: Final = re.compile(rf"Capture cuda graph end\..*?mem usage={_N} (GB|GiB)")
_DECODE: Final = re.compile(
    rf"Decode batch[.,].*?#running-req: (\d+).*?token usage: {_N}.*?"
    rf"gen throughput \(token/s\): {_N}(?:.*?#queue-req: (\d+))?"
)
_OOM: Final = re.compile(r"out of memory|OutOfMemoryError")
_NO_ROOM: Final = re.compile(r"Not enough memory\. Please try to increase --mem-fraction-static")


def read(text: str) -> Observation | None:
    """What an SGLang log says; None where the text is no such log."""
    if not _MARK.search(text):
        return None
    pool, decode = last(_POOL, text), last(_DECODE, text)
    one = None if pool else last(_POOL_ONE, text)
    tokens = value(last(_TOTAL, text)) or value(pool) or value(one)
    context = whole(last(_CONTEXT, text))
    seen = Observation(
        sources=("sglang",),
        engine="sglang",
        model=_named(text),
        tensor_parallel=whole(_TP.search(text)),
        weights_gib=_weights(text),
        kv_pool_gib=(value(pool, 2) or 0.0) + (value(pool, 4) or 0.0) if pool else value(one, 2),
        kv_capacity_tokens=tokens,
        context_tokens=context,
        max_concurrency=tokens / context if tokens and context else None,
        graphs_gib=_sized(_GRAPHS, text),
        free_gib=_sized(_FREE, text),
        running=whole(decode, 1),
        kv_usage=value(decode, 2),
        output_tok_s_total=value(decode, 3),
        waiting=whole(decode, 4),
        fault=_fault(text),
    )
    return seen if len(seen.seen()) > 2 else None


def _named(text: str) -> str | None:
    match = _MODEL.search(text)
    return match[1] if match else None


def _weights(text: str) -> float | None:
    direct = _sized(_WEIGHTS, text)
    if direct is not None:
        return direct
    match = _AVAILABLE.search(text)
    return gib(match[1], match[2]) - gib(match[3], match[4]) if match else None


def _sized(pattern: re.Pattern[str], text: str) -> float | None:
    match = last(pattern, text)
    return gib(match[1], match[2]) if match else None


def _fault(text: str) -> Fault | None:
    if _NO_ROOM.search(text):
        return "no_room_for_cache"
    return "out_of_memory" if _OOM.search(text) else None
