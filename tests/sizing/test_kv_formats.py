"""A width said for the cache means the format that the engine stores in that width."""

from __future__ import annotations

import pytest

from sizing.defaults import Defaults
from sizing.resolve import resolve
from sizing.spec import parse_spec


@pytest.mark.parametrize(
    ("engine", "said", "meant"),
    [
        ("llama.cpp", "8bit", "kv-q8_0"),
        ("ollama", "4bit", "kv-q4_0"),
        ("vllm", "8bit", "kv-fp8-e4m3"),
        ("exllamav3", "8bit", "kv-exl3-8bit"),
        ("mlx", "8bit", "kv-mlx-8bit"),
        ("llama.cpp", "fp8", "kv-fp8-e4m3"),
    ],
)
def test_a_width_is_the_engines_own_format(engine: str, said: str, meant: str) -> None:
    spec = {
        "model": {"id": "Qwen/Qwen3-8B"},
        "kv_cache": said,
        "engine": {"name": engine},
        "hardware": [{"accelerator": "RTX 3090"}],
    }
    assert resolve(parse_spec(spec), Defaults()).kv_k.id == meant
