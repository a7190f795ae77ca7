"""Which formats engines take by themselves, and which are meant by what people write."""

from typing import Any

import pytest

from sizing.resolve import Resolved, resolve
from sizing.spec import parse_spec


def resolved(engine: str, model: str = "meta-llama/Llama-3.1-8B-Instruct", **spec: Any) -> Resolved:
    return resolve(parse_spec({"model": model, "engine": {"name": engine}, **spec}))


@pytest.mark.parametrize(
    ("engine", "model", "weights", "kv_cache"),
    [
        ("tensorrt-llm", "meta-llama/Llama-3.1-8B-Instruct", "fp8", "kv-fp8-e4m3"),
        ("tensorrt-llm", "meta-llama/Llama-3.1-8B-Instruct", "bf16", "kv-bf16"),
        ("vllm", "meta-llama/Llama-3.1-8B-Instruct", "fp8", "kv-bf16"),
        ("vllm", "meta-llama/Llama-3.1-8B-Instruct", "nvfp4", "kv-fp8-e4m3"),
        ("sglang", "deepseek-ai/DeepSeek-V4-Flash", "mxfp4", "kv-fp8-e4m3"),
        ("llama.cpp", "meta-llama/Llama-3.1-8B-Instruct", "q4_k_m", "kv-fp16"),
    ],
)
def test_the_cache_an_engine_takes_for_a_checkpoint(engine: str, model: str, weights: str, kv_cache: str) -> None:
    found = resolved(engine, model, weights=weights)
    assert found.kv_k.id == kv_cache
    assert "kv_cache" in {entry.field for entry in found.assumptions}


@pytest.mark.parametrize(
    ("engine", "written", "meant"),
    [
        ("llama.cpp", "mxfp4", "gguf-mxfp4_moe"),
        ("ollama", "mxfp4", "gguf-mxfp4_moe"),
        ("vllm", "mxfp4", "mxfp4"),
        ("vllm", "fp8", "fp8-pertensor"),
        ("llama.cpp", "4bit", "gguf-q4_k_m"),
    ],
)
def test_what_a_format_means_to_an_engine(engine: str, written: str, meant: str) -> None:
    assert resolved(engine, "openai/gpt-oss-20b", weights=written).weights.id == meant
