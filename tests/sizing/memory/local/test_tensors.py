"""MLX, ExLlama, Transformers, KTransformers, MLC: what is live where, by formula."""

from typing import Any

import pytest

from sizing.memory.local.plan import plan_local
from sizing.memory.local.tensors import kind_of
from sizing.memory.plan import MemoryPlan
from sizing.resolve import Resolved, resolve
from sizing.spec import parse_spec
from sizing.units import GIB


def _resolved(model: str, engine: str, weights: str | None, accelerator: str, **fields: Any) -> Resolved:
    data = {
        "model": {"id": model},
        "engine": {"name": engine},
        "weights": weights,
        "hardware": [{"accelerator": accelerator}],
    }
    return resolve(parse_spec({"context_tokens": 8192} | data | fields))


def _plan(*args: Any, **fields: Any) -> MemoryPlan:
    return plan_local(_resolved(*args, **fields))


@pytest.mark.parametrize(
    ("engine", "weights", "kind"),
    [("mlx", "4bit", "mlx"), ("lm-studio", "mlx-4bit", "mlx"), ("lm-studio", "q4_k_m", None), ("llama.cpp", "q4_k_m", None),
     ("exllamav2", "exl2-4.65bpw", "exllama"), ("exllamav3", "exl3-4bpw", "exllama"), ("autoawq", "awq", "transformers"),
     ("transformers", "bf16", "transformers"), ("ktransformers", "q4_k_m", "ktransformers"), ("mlc-llm", "mlc-q4f16_1", "mlc-llm")],
)  # fmt: skip
def test_every_engine_has_its_room(engine: str, weights: str, kind: str | None) -> None:
    assert kind_of(_resolved("Llama-3.1-8B-Instruct", engine, weights, "RTX 4090")) == kind


# (plan, weights on devices, in RAM, KV cache) in GiB, worked out by hand from parameters x bits and layers x heads x bytes.
CASES = [
    (("Llama-3.1-8B-Instruct", "mlx", "mlx-4bit", "M4 Max 64GB"), 8.03e9 * 4.5 / 8 / GIB, 0.0, 1.0),
    (("Llama-3.1-8B-Instruct", "transformers", "bf16", "RTX 4090"), 8.03e9 * 2 / GIB, 0.0, 1.0),
    (
        ("Llama-3.1-8B-Instruct", "exllamav2", "exl2-4bpw", "RTX 4090"),
        (6.98e9 * 4 + 0.525e9 * 6) / 8 / GIB,
        0.525e9 * 2 / GIB,
        1.0,
    ),
]


@pytest.mark.parametrize(("case", "weights", "host", "kv"), CASES, ids=[row[0][1] for row in CASES])
def test_shares_are_parameters_times_bits(case: tuple[Any, ...], weights: float, host: float, kv: float) -> None:
    plan = _plan(*case)
    held = (plan.devices[0].weights_bytes / GIB, plan.host.weights_bytes / GIB, plan.devices[0].kv_bytes / GIB)
    assert held == pytest.approx((weights, host, kv), rel=0.01)


def test_mlx_prompts_take_what_runs_show() -> None:
    activations = _plan("Llama-3.1-8B-Instruct", "mlx", "mlx-4bit", "M4 Max 64GB").devices[0].activations_bytes / GIB
    assert 0.5 < activations < 0.9


def test_ktransformers_keeps_the_experts_in_ram() -> None:
    plan = _plan("DeepSeek-R1", "ktransformers", "q4_k_m", "RTX 4090")
    assert plan.devices[0].weights_bytes < 14 * GIB
    assert plan.host.weights_bytes > 350 * GIB


def test_replicas_share_the_sequences() -> None:
    hardware = {
        "hardware": [{"accelerator": "RTX 4090", "count": 2}],
        "parallel": {"data": 2, "pipeline": 1, "tensor": 1},
    }
    plan = plan_local(
        _resolved("Llama-3.1-8B-Instruct", "exllamav2", "exl2-4bpw", "RTX 4090", concurrency=4, **hardware)
    )
    assert [round(d.kv_bytes / GIB, 2) for d in plan.devices] == [2.0, 2.0]
    assert plan.devices[0].weights_bytes == plan.devices[1].weights_bytes
