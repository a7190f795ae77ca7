"""Bytes that a layer caches, against figures that engines print."""

import pytest

from sizing.architecture.lookup import architecture
from sizing.catalogue.load import catalogue
from sizing.memory.kv_cache import indexer_token_bytes, kv_token_bytes, state_element_bytes, state_shape


@pytest.mark.parametrize(
    ("model", "kv", "per_token"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "kv-bf16", 131_072),  # 32 x 2 x 8 x 128 x 2
        ("meta-llama/Llama-3.3-70B-Instruct", "kv-fp8-e4m3", 163_840),
        ("Qwen/Qwen3-30B-A3B", "kv-bf16", 98_304),
        ("deepseek-ai/DeepSeek-R1", "kv-bf16", 70_272),  # 61 x 576 x 2
        ("deepseek-ai/DeepSeek-R1", "kv-fp8-e4m3", 35_136),
        ("deepseek-ai/DeepSeek-V3.2", "kv-fp8-e4m3", 61 * 788),  # 656 B latent + 132 B indexer key a layer
        ("deepseek-ai/DeepSeek-V3.2", "kv-bf16", 78_324),  # 61 x (1152 + 132)
        ("moonshotai/Kimi-Linear-48B-A3B-Instruct", "kv-bf16", 8_064),  # 7 latent layers of 27
    ],
)
def test_bytes_per_token(model: str, kv: str, per_token: float) -> None:
    shape, chosen = architecture(model), catalogue().kv_formats[kv]
    total = sum(kv_token_bytes(layer, shape, chosen, chosen) for layer in shape.layers) + indexer_token_bytes(shape)
    assert total == pytest.approx(per_token)


@pytest.mark.parametrize(
    ("model", "element_bytes", "state_bytes"),
    [
        ("Qwen/Qwen3.6-27B", 4, 48 * 128 * 128 * 4 + 10_240 * 3 * 2),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 2, 32 * 128 * 128 * 2 + 8_192 * 3 * 2),
        ("tiiuae/Falcon-H1-3B-Instruct", 2, 32 * 128 * 256 * 2 + 4_608 * 3 * 2),
    ],
)
def test_recurrent_state(model: str, element_bytes: int, state_bytes: float) -> None:
    shape = architecture(model)
    layer = shape.linear_layers[0]
    assert state_element_bytes(layer, shape) == element_bytes
    assert state_shape(layer, shape).total_bytes == state_bytes
    assert state_shape(layer, shape, speculative_tokens=2).total_bytes > state_bytes
