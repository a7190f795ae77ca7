"""Ollama: the server's placement line, `ollama ps`, and `ollama run --verbose`."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.understand.logs.figures import gib, last, number, value, whole
from sizing.observation import Observation

_N = r"([\d.,]*\d)"
_PLACED: Final = re.compile(r"msg=\"?offload(?: to \w+)?\"?.*?layers\.model=(\d+) layers\.offload=(\d+)")
_FULL: Final = re.compile(rf"memory\.required\.full=\"{_N} (GiB|MiB)\"")
_KV: Final = re.compile(rf"memory\.required\.kv=\"{_N} (GiB|MiB)\"")
_WEIGHTS: Final = re.compile(rf"memory\.weights\.total=\"{_N} (GiB|MiB)\"")
_GRAPH: Final = re.compile(rf"memory\.graph\.full=\"{_N} (GiB|MiB)\"")
_AVAILABLE: Final = re.compile(r"memory\.available=\"\[([^\]]+)\]\"")
_CONTEXT: Final = re.compile(r"--ctx-size (\d+)|KvSize:(\d+)")
_NEW_WEIGHTS: Final = re.compile(rf"msg=\"model weights\" (?:device|buffer)=(\S+) size=\"{_N} (GiB|MiB)\"")
_NEW_KV: Final = re.compile(rf"msg=\"kv cache\" device=\S+ size=\"{_N} (GiB|MiB)\"")
_NEW_LAYERS: Final = re.compile(r"msg=\"?offloaded (\d+)/(\d+) layers to GPU")
_PS: Final = re.compile(
    rf"^(?P<name>\S+)\s+[0-9a-f]{{8,}}\s+{_N} (?P<unit>[GM]B)\s+(?:\d+%/)?(?P<gpu>\d+)%\s+"
    r"(?P<where>CPU/GPU|GPU|CPU)(?:\s+(?P<context>\d{3,}))?",
    re.MULTILINE,
)
_RATE: Final = re.compile(rf"(?<!prompt )\beval rate:\s+{_N} tokens/s")
_PROMPT_RATE: Final = re.compile(rf"prompt eval rate:\s+{_N} tokens/s")
_PROMPT_COUNT: Final = re.compile(rf"prompt eval count:\s+{_N} token")
_PROMPT_TIME: Final = re.compile(r"prompt eval duration:\s+(?:(\d+)m)?([\d.]+)(ms|s|µs)")
_COUNT: Final = re.compile(rf"(?<!prompt )\beval count:\s+{_N} token")
_LOAD: Final = re.compile(r"load duration:\s+(?:(\d+)m)?([\d.]+)(ms|s|µs)")
_JSON: Final = re.compile(r"\"eval_count\":\s*(\d+),?\s*\"eval_duration\":\s*(\d+)")
_SECONDS: Final = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


def read(text: str) -> Observation | None:
    """What Ollama says; None where the text holds nothing of it."""
    seen = {**_placement(text), **_shown(text), **_rates(text)}
    found = Observation(sources=("ollama",), engine="ollama", **seen)
    return found if len(found.seen()) > 2 else None


def _placement(text: str) -> dict[str, Any]:
    placed, newer = last(_PLACED, text), last(_NEW_LAYERS, text)
    weights = {match[1]: gib(match[2], match[3]) for match in _NEW_WEIGHTS.finditer(text)}
    on_gpu = sum(size for where, size in weights.items() if not where.startswith("CPU"))
    available = _AVAILABLE.search(text)
    return {
        "layers_on_gpu": whole(placed, 2) if placed else whole(newer, 1),
        "layers_total": whole(placed, 1) if placed else whole(newer, 2),
        "weights_gib": _sized(_WEIGHTS, text) if placed else on_gpu or None,
        "host_weights_gib": sum(weights.values()) - on_gpu if weights else None,
        "kv_cache_gib": _sized(_KV, text) if placed else sum(gib(m[1], m[2]) for m in _NEW_KV.finditer(text)) or None,
        "buffers_gib": _sized(_GRAPH, text),
        "context_tokens": _context(text),
        "missing_gib": _missing(_sized(_FULL, text), available[1] if available else None),
    }


def _missing(full: float | None, available: str | None) -> float | None:
    """What the prediction lacks on the cards."""
    if full is None or available is None:
        return None
    free = sum(gib(size, unit) for size, unit in re.findall(r"([\d.]+) (GiB|MiB)", available))
    return full - free if full > free else None


def _context(text: str) -> int | None:
    match = last(_CONTEXT, text)
    return int(match[1] or match[2]) if match else None


def _sized(pattern: re.Pattern[str], text: str) -> float | None:
    match = last(pattern, text)
    return gib(match[1], match[2]) if match else None


def _shown(text: str) -> dict[str, Any]:
    match = _PS.search(text)
    if not match or "PROCESSOR" not in text:
        return {}
    on_gpu = {"GPU": 1.0, "CPU": 0.0, "CPU/GPU": number(match["gpu"] or "0") / 100}[match["where"]]
    shown: dict[str, Any] = {"model": match["name"], "gpu_share": on_gpu}
    return shown | ({"context_tokens": int(match["context"])} if match["context"] else {})


def _rates(text: str) -> dict[str, Any]:
    rate, prompt, load = _RATE.search(text), _PROMPT_RATE.search(text), _LOAD.search(text)
    given = _JSON.search(text)
    decode = value(rate) or (1e9 * number(given[1]) / number(given[2]) if given and number(given[2]) else None)
    took = _PROMPT_TIME.search(text)
    return {
        "decode_tok_s": decode,
        "prefill_tok_s": value(prompt),
        "input_tokens": value(_PROMPT_COUNT.search(text)),
        "output_tokens": value(_COUNT.search(text)),
        "load_seconds": _duration(load),
        "ttft_ms": None if took is None else 1000 * (_duration(took) or 0.0),
    }


def _duration(match: re.Match[str] | None) -> float | None:
    return None if match is None else 60 * number(match[1] or "0") + number(match[2]) * _SECONDS[match[3]]
