"""Paging of the cache, against block sizes and needs that vLLM prints."""

from typing import Any

import pytest

from sizing.memory.serving.pages import PagedCache
from sizing.memory.serving.work import Rank, need_bytes, work_out
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.units import gib


def rank(model: str, card: str = "H100", context: int = 8192, tensor: int = 1, **spec: Any) -> Rank:
    """The first rank of a vLLM deployment."""
    engine = {"name": "vllm", "version": "0.19.0", **spec.pop("engine", {})}
    data = {"model": {"id": model}, "weights": "bf16", "kv_cache": "bf16", "engine": engine, "context_tokens": context}
    hardware = {"hardware": [{"accelerator": card, "count": tensor}], "parallel": {"tensor": tensor}}
    return work_out(resolve(parse_spec({**data, **hardware, **spec}))).ranks[0]


@pytest.mark.parametrize(
    ("model", "spec", "block_tokens"),
    [
        ("Qwen/Qwen3.8-27B", {}, 784),
        ("Qwen/Qwen3.6-27B", {"kv_cache": "fp8"}, 1568),
        ("Qwen/Qwen3.6-35B-A3B", {}, 1056),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", {}, 544),
        ("tiiuae/Falcon-H1-3B-Instruct", {}, 2080),
        ("Zyphra/Zamba2-2.7B", {}, 48),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", {"kv_cache": "fp8"}, 4176),
        ("meta-llama/Llama-3.1-8B-Instruct", {}, 16),
    ],
)
def test_attention_block_holds_a_state_page(model: str, spec: dict[str, Any], block_tokens: int) -> None:
    assert rank(model, **spec).cache.block_tokens == block_tokens


@pytest.mark.parametrize(
    ("model", "spec", "need_gib"),
    [
        ("ibm-granite/granite-3.1-8b-instruct", {"context": 32768}, 5.0),
        ("Qwen/Qwen3.8-27B", {"context": 131072}, 8.18),
        ("mistralai/Mistral-Small-4-119B-2603", {"context": 1048576, "tensor": 2}, 22.5),
        ("moonshotai/Kimi-Linear-48B-A3B-Instruct", {"context": 1048576, "tensor": 4, "card": "RTX PRO 6000"}, 7.89),
        ("MiniMaxAI/MiniMax-M2.7", {"context": 196608, "tensor": 2}, 23.25),
        ("Qwen/Qwen2.5-14B-Instruct", {"context": 16384}, 3.0),
        (
            "Qwen/Qwen3-235B-A22B",
            {"context": 40960, "tensor": 8},
            40960 * 48128 / 2**30,
        ),  # one KV head a rank, as at TP 4
    ],
)
def test_need_of_one_sequence(model: str, spec: dict[str, Any], need_gib: float) -> None:
    found = rank(model, **spec)
    assert gib(need_bytes(found, spec["context"], 1)) == pytest.approx(need_gib, rel=0.003)


def test_speculation_adds_a_layer_and_states() -> None:
    """17 attention layers, 48 recurrent ones padded to 51, six state pages each: 9.5 GiB printed for 131,072 tokens."""
    engine = {"version": "0.29.0", "speculative": "mtp k=4"}
    found = rank("Qwen/Qwen3.8-27B", card="Arc Pro B70", context=131072, engine=engine)
    assert found.cache.block_tokens == 832
    assert gib(need_bytes(found, 131072, 1)) == pytest.approx(9.5, abs=0.01)
    assert isinstance(found.cache, PagedCache)
    assert found.cache.padded_layers == 3


def test_windows_are_charged_in_full_before_hybrid_groups() -> None:
    new = rank("google/gemma-3-12b-it", context=32768)
    old = rank("google/gemma-3-12b-it", context=32768, engine={"version": "0.8.0", "mode": "v0"})
    assert need_bytes(new, 32768, 1) < 0.6 * need_bytes(old, 32768, 1)


def test_latent_is_repeated_on_every_rank_and_heads_are_not() -> None:
    assert (
        rank("deepseek-ai/DeepSeek-R1", tensor=8).cache.token_bytes
        == rank("deepseek-ai/DeepSeek-R1", tensor=4).cache.token_bytes
    )
    assert rank("Qwen/Qwen3-32B", tensor=4).cache.token_bytes == rank("Qwen/Qwen3-32B").cache.token_bytes / 4


def test_decode_context_parallelism_spreads_tokens() -> None:
    spread = rank("deepseek-ai/DeepSeek-R1", tensor=8, context=65536, parallel={"tensor": 8, "context": 8})
    whole = rank("deepseek-ai/DeepSeek-R1", tensor=8, context=65536)
    assert need_bytes(spread, 65536, 1) == pytest.approx(need_bytes(whole, 65536, 1) / 8)
