"""Pasted logs and figures of a message → one Observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bot.understand.logs import llama_bench, llama_cpp, nvidia_smi, ollama, plain, serving_bench, sglang, vllm
from sizing.observation import Observation, merged

Reader = Callable[[str], Observation | None]

# Ollama prints llama.cpp's lines among its own: its own readers come first and name the engine.
_READERS: Final[tuple[Reader, ...]] = (
    serving_bench.read,
    llama_bench.read,
    ollama.read,
    vllm.read,
    sglang.read,
    llama_cpp.read,
    nvidia_smi.read,
    plain.read,
)
_LONGEST = 200_000


def observe(text: str) -> Observation | None:
    """Everything that the readers find in a message; None where it holds no log and no figure of a monitor."""
    found = [seen for reader in _READERS if (seen := reader(text[:_LONGEST])) is not None]
    return merged(found) if found else None
