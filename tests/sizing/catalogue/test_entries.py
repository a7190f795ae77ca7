import pytest

from sizing.catalogue.entries import KvFormat
from sizing.catalogue.load import catalogue


@pytest.mark.parametrize(
    ("accelerator", "fp16", "bf16", "fp8", "int8", "fp4"),
    [
        # GeForce halves the rate with 32-bit accumulation: 330.3 and 165.2
        ("nvidia-rtx-4090", 165.2, 165.2, 330.3, 660.6, None),
        ("nvidia-h100-sxm-80gb", 989, 989, 1979, 1979, None),
        ("nvidia-gtx-1080-ti", 0.2, None, None, 45.4, None),
    ],
)
def test_peaks_are_those_with_32_bit_accumulation(
    accelerator: str, fp16: float, bf16: float | None, fp8: float | None, int8: float, fp4: float | None
) -> None:
    device = catalogue().accelerators[accelerator]
    peaks = (device.fp16_tflops, device.bf16_tflops, device.fp8_tflops, device.int8_tops, device.fp4_tflops)
    assert peaks == (fp16, bf16, fp8, int8, fp4)


def test_a_peak_given_by_format_counts_at_its_lower_rate() -> None:
    by_format = [device for device in catalogue().accelerators.values() if isinstance(device.tflops.get("fp4"), dict)]
    assert [device.fp4_tflops for device in by_format] == [12600]


def test_apple_limits_and_bandwidth_follow_the_memory_version() -> None:
    m4_max = catalogue().accelerators["apple-m4-max-40c"]
    assert m4_max.metal_limit_gib_for(64) == 48
    assert m4_max.metal_limit_gib_for(None) == m4_max.metal_default_limit_gib
    varying = [device for device in catalogue().accelerators.values() if device.bandwidth_gb_s_by_option]
    assert {device.bandwidth_for(size) for device in varying for size in (16, 24, 32)} >= {
        rate for device in varying for rate in (device.bandwidth_gb_s_by_option or {}).values()
    }
    assert m4_max.bandwidth_for(64) == m4_max.bandwidth_gb_s == 546


def test_experts_are_told_from_dense_models() -> None:
    models = catalogue().models
    mixtral, llama = models["mistralai/Mixtral-8x7B-Instruct-v0.1"], models["meta-llama/Llama-3.1-8B-Instruct"]
    assert (mixtral.is_moe, llama.is_moe) == (True, False)
    assert mixtral.active_params < mixtral.params_total
    assert llama.active_params == llama.params_total == 8_030_261_248
    assert llama.name == "Llama-3.1-8B-Instruct"


def test_active_parameters_never_exceed_the_total() -> None:
    assert [model.id for model in catalogue().models.values() if model.active_params > model.params_total] == []


@pytest.mark.parametrize(
    ("kv_format", "head_dim", "bytes_per_element"),
    [
        ("kv-bf16", 64, 2.0),
        ("kv-q8_0", 64, 34 / 32),
        # fp16 scale and zero point for each head and token
        ("kv-int4", 64, 0.5 + 4 / 64),
        ("kv-int4", None, 0.53125),
        # vLLM: key 64 + 2, value 64 + 4 bytes for head_dim 128
        ("kv-turboquant-4bit", 128, (66 + 68) / 256),
        ("kv-turboquant-k8v4", 128, (128 + 68) / 256),
        ("kv-turboquant-3bit", 256, (98 + 100) / 512),
    ],
)
def test_kv_bytes_of_an_element_with_its_scales(kv_format: str, head_dim: int | None, bytes_per_element: float) -> None:
    assert catalogue().kv_formats[kv_format].bytes_per_element_at(head_dim) == pytest.approx(bytes_per_element)


@pytest.mark.parametrize("entry", catalogue().kv_formats.values(), ids=lambda entry: entry.id)
def test_kv_bits_and_bytes_agree(entry: KvFormat) -> None:
    assert entry.bits_per_element == pytest.approx(8 * entry.bytes_per_element, rel=1e-4)
    assert entry.bytes_per_element_at(128) == pytest.approx(entry.bytes_per_element)
