"""What share of a model in RAM explains a speed."""

from __future__ import annotations

import pytest

from sizing.engine import estimate
from sizing.slow import share_in_ram
from sizing.spec import WorkloadSpec, parse_spec

ON_A_CARD = {
    "model": "Llama 3.1 8B",
    "weights": "q4_k_m",
    "engine": {"name": "llama.cpp"},
    "hardware": [{"accelerator": "RTX 4090"}],
}


def with_layers(layers: int) -> WorkloadSpec:
    return parse_spec({**ON_A_CARD, "engine": {"name": "llama.cpp", "gpu_layers": layers}})


@pytest.mark.parametrize("layers", [8, 16, 24])
def test_the_engines_own_speed_of_a_split_gives_its_share(layers: int) -> None:
    speed = estimate(with_layers(layers)).speed
    assert speed and speed.decode_tok_s_per_user
    found = share_in_ram(parse_spec(ON_A_CARD), speed.decode_tok_s_per_user.expected)
    assert found is not None and not found.whole
    assert found.share == pytest.approx((32 - layers) / 32, abs=0.1)


def test_the_pace_of_the_processor_means_all_of_it() -> None:
    speed = estimate(with_layers(0)).speed
    assert speed and speed.decode_tok_s_per_user
    found = share_in_ram(parse_spec(ON_A_CARD), speed.decode_tok_s_per_user.low)
    assert found is not None and found.whole and found.share == 1


@pytest.mark.parametrize(
    "other", [{"engine": {"name": "vllm"}, "weights": "awq-int4"}, {"hardware": [{"accelerator": "M4 Max 128GB"}]}]
)
def test_servers_and_unified_memory_have_no_such_share(other: dict[str, object]) -> None:
    assert share_in_ram(parse_spec({**ON_A_CARD, **other}), 5.0) is None
