"""`vllm bench serve`, SGLang's bench_serving and their kin: the result block."""

from __future__ import annotations

import re
from typing import Final

from bot.understand.logs.figures import last, value, whole
from sizing.observation import Observation

_N = r"([\d.,]*\d)"
_MARK: Final = re.compile(
    r"(?:Serving|Offline) Benchmark Result|Request throughput \(req/s\)|Throughput: [\d.]+ requests/s, [\d.]+ total tokens/s"
)


def _row(label: str) -> re.Pattern[str]:
    return re.compile(rf"{label}:?\s+{_N}", re.IGNORECASE)


_REQUESTS, _SECONDS = _row(r"Successful requests"), _row(r"Benchmark duration \(s\)")
_MOST, _REAL = _row(r"Max(?:imum)? request concurrency"), _row(r"(?<!imum request )(?<!Max request )\bConcurrency")
_IN, _OUT = _row(r"Total input tokens"), _row(r"Total generated tokens")
_RPS, _TOTAL = _row(r"Request throughput \(req/s\)"), _row(r"Output token throughput \(tok/s\)")
_TTFT, _TPOT = _row(r"Mean TTFT \(ms\)"), _row(r"Mean TPOT \(ms\)")
_OFFLINE: Final = re.compile(rf"Throughput: {_N} requests/s, {_N} total tokens/s, {_N} output tokens/s")


def read(text: str) -> Observation | None:
    """The last result block; None where there is none."""
    if not _MARK.search(text):
        return None
    block = text[max(0, text.rfind("Benchmark Result") - 40) :]
    requests = whole(_REQUESTS.search(block))
    tpot, offline = value(_TPOT.search(block)), last(_OFFLINE, text)
    seen = Observation(
        sources=("bench_serve",),
        requests=requests,
        concurrency=value(_MOST.search(block)) or _in_flight(block),
        input_tokens=_each(_IN, block, requests),
        output_tokens=_each(_OUT, block, requests),
        requests_s=value(_RPS.search(block)) or value(offline),
        output_tok_s_total=value(_TOTAL.search(block)) or value(offline, 3),
        ttft_ms=value(_TTFT.search(block)),
        tpot_ms=tpot,
        decode_tok_s=1000 / tpot if tpot else None,
    )
    return seen if len(seen.seen()) > 1 else None


def _each(pattern: re.Pattern[str], block: str, requests: int | None) -> float | None:
    total = value(pattern.search(block))
    return total / requests if total is not None and requests else None


def _in_flight(block: str) -> float | None:
    """Requests in flight as printed, else by Little's law: rate times time in the system."""
    printed = value(_REAL.search(block))
    if printed is not None:
        return printed
    rate, ttft, tpot = value(_RPS.search(block)), value(_TTFT.search(block)), value(_TPOT.search(block))
    written = _each(_OUT, block, whole(_REQUESTS.search(block)))
    if None in (rate, ttft, tpot, written):
        return None
    return round((rate or 0.0) * ((ttft or 0.0) + (tpot or 0.0) * (written or 0.0)) / 1000, 1)
