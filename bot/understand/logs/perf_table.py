"""`genai-perf` and its successor `aiperf`: the table of metrics, of which the averages are read."""

from __future__ import annotations

import re
from typing import Final

from bot.understand.logs.figures import number
from sizing.observation import Observation

_MARK: Final = re.compile(r"(?:GenAI-Perf|AIPerf)\s*\|\s*LLM Metrics", re.IGNORECASE)
_ROW: Final = re.compile(
    r"^[\s│|┃]*(?P<label>[A-Za-z][^│|┃\n]*?)\s*[│|┃]\s*(?P<average>[\d,]+(?:\.\d+)?)", re.MULTILINE
)
_NAMES: Final = (
    ("ttft_ms", re.compile(r"time to first token(?: \(ms\))?$", re.IGNORECASE)),
    ("tpot_ms", re.compile(r"inter token latency(?: \(ms\))?$", re.IGNORECASE)),
    ("output_tok_s_total", re.compile(r"(?:total )?output token throughput(?: \(.*\))?$", re.IGNORECASE)),
    ("requests_s", re.compile(r"request throughput(?: \(.*\))?$", re.IGNORECASE)),
    ("input_tokens", re.compile(r"input sequence length(?: \(.*\))?$", re.IGNORECASE)),
    ("output_tokens", re.compile(r"output sequence length(?: \(.*\))?$", re.IGNORECASE)),
    ("latency_ms", re.compile(r"request latency(?: \(ms\))?$", re.IGNORECASE)),
    ("requests", re.compile(r"request count(?: \(.*\))?$", re.IGNORECASE)),
)


def read(text: str) -> Observation | None:
    """The last table of metrics; None where there is none."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    found: dict[str, float] = {}
    for row in _ROW.finditer(text, marks[-1].end()):
        label = " ".join(row["label"].split())
        name = next((name for name, pattern in _NAMES if pattern.match(label)), None)
        if name is not None:
            found.setdefault(name, number(row["average"]))
    latency, requests = found.pop("latency_ms", None), found.pop("requests", None)
    if "tpot_ms" in found:
        found["decode_tok_s"] = 1000 / found["tpot_ms"]
    if latency and found.get("requests_s"):
        found["concurrency"] = round(found["requests_s"] * latency / 1000, 1)
    seen = Observation(sources=("genai_perf",), requests=None if requests is None else int(requests), **found)  # type: ignore[arg-type]
    return seen if len(seen.seen()) > 1 else None
