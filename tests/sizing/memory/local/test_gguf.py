"""Sizes of GGUF files and of their parts against published files and printed buffers."""

import pytest

from sizing.architecture.lookup import architecture
from sizing.memory.gguf import gguf_file
from sizing.memory.gguf_types import Mix, Spot, fallback, tensor_type
from sizing.resolve import resolve_format
from sizing.units import GB, GIB, MIB

LLAMA_8B, LLAMA_70B = "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.3-70B-Instruct"
MIXTRAL = "mistralai/Mixtral-8x7B-Instruct-v0.1"

# Sizes of published files: llama.cpp's table of Llama 3.1 8B (GiB, two decimals), files of Llama 3.3 70B (GB) and loader lines.
FILES_GIB = [
    (LLAMA_8B, "iq1_s", 1.87), (LLAMA_8B, "iq2_xxs", 2.23), (LLAMA_8B, "iq2_xs", 2.42), (LLAMA_8B, "iq2_m", 2.74),
    (LLAMA_8B, "iq3_xxs", 3.04), (LLAMA_8B, "iq3_xs", 3.27), (LLAMA_8B, "iq3_m", 3.52), (LLAMA_8B, "q2_k", 2.95),
    (LLAMA_8B, "q3_k_s", 3.41), (LLAMA_8B, "q3_k_l", 4.02), (LLAMA_8B, "q4_k_s", 4.36), (LLAMA_8B, "q4_k_m", 4.58),
    (LLAMA_8B, "q5_k_s", 5.21), (LLAMA_8B, "q5_k_m", 5.33), (LLAMA_8B, "q6_k", 6.14), (LLAMA_8B, "q8_0", 7.95),
    (LLAMA_70B, "q4_k_m", 42.52 * GB / GIB), (LLAMA_70B, "q3_k_m", 34.27 * GB / GIB), (LLAMA_70B, "q2_k", 26.38 * GB / GIB),
    (LLAMA_70B, "iq4_xs", 37.90 * GB / GIB), (LLAMA_70B, "iq2_xxs", 19.10 * GB / GIB), (MIXTRAL, "q4_k_m", 28.45 * GB / GIB),
    ("Qwen/Qwen3-30B-A3B", "q4_k_m", 17.28), ("Qwen/Qwen3-30B-A3B", "q5_k_m", 20.23), ("Qwen/Qwen3-235B-A22B", "q6_k", 179.75),
    ("Qwen/Qwen3-32B", "q5_k_m", 21.603), ("google/gemma-3-27b-it", "q4_k_m", 15.404), ("openai/gpt-oss-20b", "mxfp4", 11.27),
]  # fmt: skip


@pytest.mark.parametrize(("model", "name", "size_gib"), FILES_GIB)
def test_file_size_matches_the_published_file(model: str, name: str, size_gib: float) -> None:
    made = gguf_file(architecture(model), resolve_format(name))
    assert made.total_bytes / GIB == pytest.approx(size_gib, rel=0.0025)


def test_ollamas_gpt_oss_keeps_bf16_outside_the_experts() -> None:
    made = gguf_file(architecture("openai/gpt-oss-20b"), resolve_format("mxfp4"), "ollama")
    assert made.total_bytes / GB == pytest.approx(13.8, rel=0.01)


# Buffers on the processor that loaders print at full offload: the token embedding alone.
EMBEDDINGS_MIB = [
    ("meta-llama/Meta-Llama-3-8B-Instruct", "q4_0", 281.81), ("Qwen/Qwen3.6-27B", "ud-q4_k_xl", 682.03),
    ("google/gemma-3-27b-it", "q4_k_m", 1102.77), ("google/gemma-4-12B-it", "q4_0", 787.50),
    ("meta-llama/Llama-3.2-3B-Instruct", "q4_k_m", 308.24), ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "q4_k_m", 292.36),
]  # fmt: skip


@pytest.mark.parametrize(("model", "name", "size_mib"), EMBEDDINGS_MIB)
def test_token_embedding_matches_the_buffer_on_the_processor(model: str, name: str, size_mib: float) -> None:
    made = gguf_file(architecture(model), resolve_format(name))
    assert made.token_embedding_bytes / MIB == pytest.approx(size_mib, abs=0.02)


@pytest.mark.parametrize("size_gib", [12.0, 17.5, 30.0])
def test_a_stated_file_size_is_met_and_leaves_the_embedding(size_gib: float) -> None:
    model, chosen = architecture("Qwen/Qwen3-30B-A3B"), resolve_format("q4_k_m")
    plain, scaled = gguf_file(model, chosen), gguf_file(model, chosen, file_bytes=size_gib * GIB)
    assert scaled.total_bytes == pytest.approx(size_gib * GIB)
    assert scaled.token_embedding_bytes == plain.token_embedding_bytes


def test_rows_that_are_no_multiple_of_256_fall_back_to_small_blocks() -> None:
    assert [fallback("Q4_K", 2880), fallback("Q6_K", 1408), fallback("Q4_K", 4096)] == ["Q5_0", "Q8_0", "Q4_K"]


@pytest.mark.parametrize(
    ("layer", "expected"), [(0, "Q6_K"), (3, "Q6_K"), (4, "Q4_K"), (5, "Q4_K"), (6, "Q6_K"), (28, "Q6_K"), (31, "Q6_K")]
)
def test_q4_k_m_spends_more_bits_on_a_half_of_the_down_projections(layer: int, expected: str) -> None:
    spot = Spot(Mix("Q4_K_M", "Q4_K", is_ik=False), layer, 32, 4, 0, tied=False)
    assert tensor_type("ffn_down", spot) == expected
