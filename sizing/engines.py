"""Engines and frameworks: names, kinds, and which era a version or a date belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

EngineKind = Literal["server", "local", "framework", "training"]
EngineName = Literal[
    "vllm", "sglang", "tensorrt-llm", "tgi", "lmdeploy", "llama.cpp", "ik_llama.cpp", "ollama", "lm-studio", "mlx",
    "exllamav2", "exllamav3", "transformers", "ktransformers", "mlc-llm", "other",
]  # fmt: skip

KINDS: dict[str, EngineKind] = {
    "vllm": "server", "sglang": "server", "tensorrt-llm": "server", "tgi": "server", "lmdeploy": "server",
    "llama.cpp": "local", "ik_llama.cpp": "local", "ollama": "local", "lm-studio": "local", "mlx": "local",
    "exllamav2": "local", "exllamav3": "local", "ktransformers": "local", "mlc-llm": "local",
    "transformers": "framework",
}  # fmt: skip
# llama.cpp and the tools built on it; servers that plan for a model's whole context where none is said.
LLAMA_FAMILY = frozenset({"llama.cpp", "ik_llama.cpp", "ollama", "lm-studio"})
FULL_CONTEXT_SERVERS = frozenset({"vllm", "sglang", "tensorrt-llm"})
# Engines whose attention data parallelism lies inside one tensor-parallel group of processes.
ATTENTION_INSIDE = frozenset({"sglang", "tensorrt-llm"})
_ALIASES = {
    "trt-llm": "tensorrt-llm", "trtllm": "tensorrt-llm", "tensorrtllm": "tensorrt-llm", "tensorrt": "tensorrt-llm", "nim": "tensorrt-llm",
    "trt-edge-llm": "tensorrt-llm", "triton": "tensorrt-llm", "lmdeploy-turbomind": "lmdeploy", "turbomind": "lmdeploy",
    "text-generation-inference": "tgi", "huggingface-tgi": "tgi",
    "llamacpp": "llama.cpp", "llama-cpp": "llama.cpp", "llama-server": "llama.cpp", "llama-cpp-python": "llama.cpp",
    "llamafile": "llama.cpp", "koboldcpp": "llama.cpp", "ipex-llm": "llama.cpp", "gguf": "llama.cpp",
    "ik-llama.cpp": "ik_llama.cpp", "ik_llama": "ik_llama.cpp", "ikllama": "ik_llama.cpp", "ik-llama": "ik_llama.cpp",
    "lmstudio": "lm-studio", "lm studio": "lm-studio", "mlx-lm": "mlx", "mlx_lm": "mlx", "omlx": "mlx",
    "exllama": "exllamav2", "exl2": "exllamav2", "exl3": "exllamav3", "tabbyapi": "exllamav2",
    "hf": "transformers", "huggingface": "transformers", "hf-transformers": "transformers", "mlc": "mlc-llm",
    "autoawq": "transformers", "auto-awq": "transformers", "autogptq": "transformers", "auto-gptq": "transformers",
    "gptqmodel": "transformers", "hqq": "transformers", "bitsandbytes": "transformers", "pytorch": "transformers", "torch": "transformers",
    "mlx-vlm": "mlx", "mlx_vlm": "mlx", "gpt4all": "llama.cpp", "jan": "llama.cpp", "localai": "llama.cpp", "ollama-mlx": "mlx",
    "ktransformer": "ktransformers", "vllm-ascend": "vllm", "vllm-gaudi": "vllm", "vllm-tpu": "vllm", "vllm-metal": "vllm",
}  # fmt: skip
_VERSION = re.compile(r"\d+(?:\.\d+)*")

# First release of a minor version, by month (project's release pages as far as the measured logs date them).
VLLM_RELEASES: tuple[tuple[tuple[int, int], str], ...] = (
    ((0, 4), "2024-04"), ((0, 5), "2024-06"), ((0, 6), "2024-09"), ((0, 7), "2025-01"), ((0, 8), "2025-03"),
    ((0, 9), "2025-05"), ((0, 10), "2025-07"), ((0, 11), "2025-10"), ((0, 12), "2025-12"), ((0, 13), "2025-12"),
    ((0, 14), "2026-01"), ((0, 15), "2026-01"), ((0, 16), "2026-02"), ((0, 17), "2026-03"), ((0, 18), "2026-03"),
    ((0, 19), "2026-04"), ((0, 20), "2026-05"), ((0, 21), "2026-05"), ((0, 22), "2026-06"), ((0, 23), "2026-06"),
    ((0, 24), "2026-07"), ((0, 25), "2026-07"), ((0, 26), "2026-08"), ((0, 27), "2026-08"), ((0, 28), "2026-09"),
    ((0, 29), "2026-09"), ((0, 30), "2026-10"), ((0, 31), "2026-10"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine as resolved: canonical name, kind, and version or date as far as known."""

    name: str
    kind: EngineKind
    version: tuple[int, ...] | None
    as_of: str | None
    written: str

    @property
    def era(self) -> tuple[int, int] | None:
        """(major, minor) of the version; for vLLM taken from the date where only that is known."""
        if self.version:
            return (self.version[0], self.version[1] if len(self.version) > 1 else 0)
        if self.name == "vllm" and self.as_of:
            past = [version for version, month in VLLM_RELEASES if month <= self.as_of[:7]]
            return past[-1] if past else VLLM_RELEASES[0][0]
        return None


def engine_named(written: str, version: str | None, as_of: str | None) -> Engine:
    """The engine behind a written name ("NVIDIA NIM", "llama.cpp (ipex-llm)"); unknown ones keep what was written, with kind "server"."""
    key = written.strip().lower()
    name = _ALIASES.get(key, key)
    if name not in KINDS:
        words = [word for word in re.split(r"[\s()/,]+", key) if word]
        parts = ["-".join(words), *("-".join(pair) for pair in pairwise(words)), *words]
        name = next((known for known in (_ALIASES.get(part, part) for part in parts) if known in KINDS), key)
    numbers = _VERSION.search(version or "")
    parsed = tuple(int(part) for part in numbers.group().split(".")) if numbers else None
    return Engine(name, KINDS.get(name, "server"), parsed, as_of, written)
