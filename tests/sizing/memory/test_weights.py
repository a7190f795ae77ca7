"""Weights by class of tensor and format, against published and printed sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.architecture.from_config import architecture_from_config
from sizing.architecture.lookup import architecture
from sizing.catalogue.load import catalogue
from sizing.memory.weights import class_bits, mtp_bytes, weights_by_class, weights_bytes
from sizing.units import gib

SERVER_FORMATS = (
    "bf16",
    "fp8-pertensor",
    "int8-w8a8",
    "gptq-int8-g128",
    "gptq-int4-g32",
    "awq-int4-g128",
    "bnb-nf4",
    "nvfp4",
    "mxfp4",
)


@pytest.mark.parametrize(
    ("model", "chosen", "size_gib"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "bf16", 14.96),  # 8.03e9 x 2 B
        ("meta-llama/Llama-3.3-70B-Instruct", "fp8-pertensor", 67.66),  # embedding and head stay 16-bit
        ("microsoft/phi-4", "gptq-int4-g128", 8.51),  # 13.63e9 x 4.156 bits + 1.03e9 x 2 B
        ("deepseek-ai/DeepSeek-R1", "nvfp4", 374.4),  # experts only: 4 x 94.5 GiB printed with what repeats
        (
            "moonshotai/Kimi-K2.5",
            "gptq-int4-g128",
            554.3,
        ),  # published so: experts in groups of 32, the rest bf16; 595.1 GB
        ("deepseek-ai/DeepSeek-V4-Flash", "mxfp4", 144.8),  # experts 4.25 bits, the rest FP8; 155.5 GB
    ],
)
def test_sizes_of_well_known_checkpoints(model: str, chosen: str, size_gib: float) -> None:
    assert gib(weights_bytes(architecture(model), catalogue().formats[chosen])) == pytest.approx(size_gib, rel=0.005)


@pytest.mark.parametrize(
    ("model", "chosen", "name", "bits"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "awq-int4-g128", "embedding", 16),
        ("meta-llama/Llama-3.1-8B-Instruct", "awq-int4-g128", "mlp", 4.15625),
        ("openai/gpt-oss-20b", "mxfp4", "attention", 16),
        ("openai/gpt-oss-20b", "mxfp4", "expert", 4.25),
        ("deepseek-ai/DeepSeek-V4-Flash", "mxfp4", "attention", 8.001953),
        ("Qwen/Qwen3-32B", "nvfp4", "mlp", 4.5),
        ("Qwen/Qwen3-30B-A3B", "nvfp4", "attention", 16),
        ("meta-llama/Llama-3.1-8B-Instruct", "exl2-4bpw", "head", 6),
        ("meta-llama/Llama-3.1-8B-Instruct", "mlx-4bit-g64", "embedding", 4.5),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "awq-int4-g128", "vision", 16),
    ],
)
def test_what_a_format_leaves_alone(model: str, chosen: str, name: str, bits: float) -> None:
    assert class_bits(architecture(model), catalogue().formats[chosen], name) == bits  # type: ignore[arg-type]


def test_mtp_modules_count_apart() -> None:
    model, fp8 = architecture("Qwen/Qwen3.8-27B"), catalogue().formats["fp8-pertensor"]
    assert "mtp" not in weights_by_class(model, fp8)
    assert gib(mtp_bytes(model, fp8)) == pytest.approx(0.79, abs=0.01)


@pytest.mark.parametrize(
    "model", ["meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-30B-A3B", "openai/gpt-oss-20b", "Qwen/Qwen3.6-27B"]
)
def test_more_bits_never_weigh_less(model: str) -> None:
    known = sorted(
        (catalogue().formats[name] for name in SERVER_FORMATS if "fp4" not in name),
        key=lambda f: f.bits_per_weight or 0,
    )
    sizes = [weights_bytes(architecture(model), chosen) for chosen in known]
    assert sizes == sorted(sizes)


@given(layers=st.integers(1, 96), chosen=st.sampled_from(SERVER_FORMATS))
def test_more_layers_never_weigh_less(layers: int, chosen: str) -> None:
    assert weights_bytes(_dense(layers + 1), catalogue().formats[chosen]) > weights_bytes(
        _dense(layers), catalogue().formats[chosen]
    )


def _dense(layers: int):  # type: ignore[no-untyped-def]
    return architecture_from_config(
        {
            "hidden_size": 1024,
            "num_hidden_layers": layers,
            "vocab_size": 32000,
            "num_attention_heads": 16,
            "num_key_value_heads": 4,
        }
    )
