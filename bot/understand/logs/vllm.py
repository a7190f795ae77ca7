"""vLLM: what it prints while starting, while serving, and when it does not start."""

from __future__ import annotations

import re
from typing import Final

from bot.understand.logs.figures import gib, last, value, whole
from sizing.observation import Fault, Observation

_MARK: Final = re.compile(
    r"Initializing a(?:n| V1)? LLM engine|gpu_memory_utilization|GPU KV cache size|# GPU blocks|kv_cache_utils\.py|"
    r"Available KV cache memory|Model loading took|Loading model weights took|loggers\.py|metrics\.py:\d+\]|"
    r"Avg generation throughput|vllm\.v1|KV cache is needed|vllm/v1|No available memory for the cache blocks"
)
# A quoted "CUDA out of memory" is vLLM's where it is named and nothing is trained.
_NAMED: Final = re.compile(r"\bvllm\b", re.IGNORECASE)
_TRAINS: Final = re.compile(r"train|fine-?tun|\blora\b|grpo|\btrl\b", re.IGNORECASE)
_N = r"([\d.,]*\d)"
_VERSION: Final = re.compile(r"(?:LLM engine \(|vLLM API server version |vllm[ =]?v?)v?(\d+\.\d+\.\d+[\w.+]*)")
_MODEL: Final = re.compile(r"model='([^']+)'|model=([\w./-]+)")
_TP: Final = re.compile(r"tensor_parallel_size=(\d+)")
_LENGTH: Final = re.compile(r"max_seq_len=(\d+)|max_model_len[= ](\d+)")
_WEIGHTS: Final = re.compile(rf"(?:Model loading|Loading model weights) took {_N} ?(GiB|GB)")
_TIME: Final = re.compile(
    rf"Loading weights took {_N} seconds|Model loading took {_N} ?Gi?B(?: memory)? and {_N} seconds"
)
_POOL: Final = re.compile(rf"Available KV cache memory: (-?{_N}) ?(GiB|GB)")
_POOL_OLD: Final = re.compile(rf"the rest of the memory reserved for KV Cache is (-?{_N}) ?(GiB|GB)", re.IGNORECASE)
_TOKENS: Final = re.compile(rf"GPU KV cache size: {_N} tokens")
_BLOCKS: Final = re.compile(rf"# (?:GPU|cuda) blocks: {_N}")
_PER_REQUEST: Final = re.compile(rf"Maximum concurrency for {_N} tokens per request: {_N}x")
_GRAPHS: Final = re.compile(rf"Graph capturing finished in [\d.]+ secs?, took (-?{_N}) ?(GiB|GB)")
_PEAK: Final = re.compile(rf"PyTorch activation peak memory takes {_N} ?(GiB|GB)")
_THROUGHPUT: Final = re.compile(
    rf"Avg prompt throughput: {_N} tokens/s, Avg generation throughput: {_N} tokens/s, Running: (\d+) reqs?, (?:Swapped: \d+ reqs?, )?"
    rf"(?:Waiting|Pending): (\d+) reqs?,? (?:Deferred: \d+ reqs?, )?GPU KV cache usage: {_N}%"
)
_PREEMPTED: Final = re.compile(r"preempted by|Preemptions?: [1-9]|PreemptionMode")
_OOM: Final = re.compile(r"(?:CUDA|HIP) out of memory|OutOfMemoryError")
_TRIED: Final = re.compile(rf"Tried to allocate {_N} ?([GM]iB)")
_NO_ROOM: Final = re.compile(r"No available memory for the cache blocks")
_TOO_SMALL: Final = re.compile(
    rf"({_N}) GiB KV cache is needed, which is larger than the available KV cache memory \((-?{_N}) GiB\)"
)
_TOO_LONG: Final = re.compile(
    rf"max seq len \({_N}\) is larger than the maximum number of tokens that can be stored in KV cache \({_N}\)"
)
_LONGEST: Final = re.compile(rf"estimated maximum model length is {_N}")
_BLOCK_TOKENS = 16


def read(text: str) -> Observation | None:
    """What a vLLM log says; None where the text is no such log."""
    if not (_MARK.search(text) or (_OOM.search(text) and _NAMED.search(text) and not _TRAINS.search(text))):
        return None
    fault, missing = _fault(text)
    running = last(_THROUGHPUT, text)
    per_request = last(_PER_REQUEST, text)
    seen = Observation(
        sources=("vllm",),
        engine="vllm",
        engine_version=_text(_VERSION, text),
        model=_text(_MODEL, text),
        tensor_parallel=whole(_TP.search(text)),
        context_tokens=whole(per_request) or _either(_LENGTH, text),
        weights_gib=_size(_WEIGHTS, text),
        load_seconds=_seconds(text),
        kv_pool_gib=_size(_POOL, text) if _POOL.search(text) else _size(_POOL_OLD, text),
        kv_capacity_tokens=_capacity(text),
        max_concurrency=value(per_request, 2),
        graphs_gib=_size(_GRAPHS, text),
        buffers_gib=_size(_PEAK, text),
        fault=fault,
        missing_gib=missing,
        longest_tokens=whole(_LONGEST.search(text)) or whole(_TOO_LONG.search(text), 2),
        prefill_tok_s=value(running, 1) or None,
        output_tok_s_total=value(running, 2) or None,
        running=whole(running, 3),
        waiting=whole(running, 4),
        kv_usage=None if running is None else (value(running, 5) or 0.0) / 100,
        preempted=bool(_PREEMPTED.search(text)) or None,
    )
    return seen if len(seen.seen()) > 2 else None


def _text(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return next((group for group in match.groups() if group), None) if match else None


def _either(pattern: re.Pattern[str], text: str) -> int | None:
    found = _text(pattern, text)
    return int(found) if found else None


def _size(pattern: re.Pattern[str], text: str) -> float | None:
    match = last(pattern, text)
    return gib(match[1], match[match.lastindex or 2]) if match else None


def _seconds(text: str) -> float | None:
    match = _TIME.search(text)
    return (value(match, 1) or value(match, 3)) if match else None


def _capacity(text: str) -> float | None:
    tokens = value(last(_TOKENS, text))
    if tokens is not None:
        return tokens
    blocks = value(last(_BLOCKS, text))
    return None if blocks is None else blocks * _BLOCK_TOKENS


def _fault(text: str) -> tuple[Fault | None, float | None]:
    """(what went wrong, GiB missing or asked for)."""
    if match := _TOO_SMALL.search(text):
        return "cache_too_small", (value(match, 1) or 0.0) - (value(match, 3) or 0.0)
    if _TOO_LONG.search(text):
        return "cache_too_small", None
    if _NO_ROOM.search(text):
        return "no_room_for_cache", None
    if _OOM.search(text):
        tried = _TRIED.search(text)
        return "out_of_memory", gib(tried[1], tried[2]) if tried else None
    return None, None
