"""Pasted logs and figures of a message → one Observation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from bot.understand.logs import (
    llama_bench,
    llama_cpp,
    nvidia_smi,
    ollama,
    perf_table,
    plain,
    serving_bench,
    sglang,
    vllm,
)
from sizing.observation import Observation, merged

Reader = Callable[[str], Observation | None]

# Ollama prints llama.cpp's lines among its own: its own readers come first and name the engine.
_READERS: Final[tuple[Reader, ...]] = (
    serving_bench.read,
    perf_table.read,
    llama_bench.read,
    llama_bench.read_batched,
    ollama.read,
    vllm.read,
    sglang.read,
    llama_cpp.read,
    nvidia_smi.read,
    plain.read,
)
_LONGEST = 200_000


# Results of a load that was sent on purpose.
BENCHES: Final = frozenset({"bench_serve", "genai_perf", "llama-bench"})
_RESULT_LINE: Final = re.compile(r"^\s*(?:[|│┃┏┡└╇=+-]|\S[^:\n]{2,60}:\s+[\d.,]+\S*\s*$|[\w ]+\|\s*LLM Metrics)")


def is_bench(seen: Observation) -> bool:
    """Whether a load test was pasted; `ollama run --verbose` counts as one of a single request."""
    return bool(BENCHES & set(seen.sources)) or ("ollama" in seen.sources and seen.decode_tok_s is not None)


def without_results(text: str) -> str:
    """The words around a pasted result: its lines name a model and lengths that are none of a wish."""
    seen = observe(text)
    if seen is None or not is_bench(seen):
        return text
    return "\n".join(line for line in text.splitlines() if not _RESULT_LINE.match(line))


def observe(text: str) -> Observation | None:
    """Everything that the readers find in a message; None where it holds no log and no figure of a monitor."""
    found = [seen for reader in _READERS if (seen := reader(text[:_LONGEST])) is not None]
    return merged(found) if found else None
