"""What fits of a training run: limits that users measured, laws of the ladder, rollouts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.memory.training.fitting import (
    devices_needed,
    largest_batch,
    largest_sequence,
    margin_gib,
    need_gib,
    steps_to_fit,
)
from sizing.memory.training.rollouts import rollouts
from sizing.memory.training.run import resolve_run
from sizing.spec import WorkloadSpec, parse_spec


def run(model: object, accelerator: str, count: int = 1, weights: str | None = None, **training: Any) -> WorkloadSpec:
    return parse_spec(
        {
            "task": "training",
            "model": model,
            "weights": weights,
            "hardware": [{"accelerator": accelerator, "count": count}],
            "training": training,
        }
    )


@pytest.mark.parametrize(
    ("spec", "fits", "does_not"),
    [
        # https://github.com/unslothai/unsloth/issues/2366: LoRA on one H100, anything over about 14k tokens runs out of memory
        (run("gemma-3-12b-it", "H100", method="lora"), 12_000, 24_000),
        # a 2k context of the LoRA recipe runs on one 4090, 8k does not
        (run("Llama 3 8B", "RTX 4090", method="lora"), 2048, 8192),
    ],
)
def test_limits_that_users_met(spec: WorkloadSpec, fits: int, does_not: int) -> None:
    longest = largest_sequence(spec)
    assert longest is not None
    assert fits <= longest < does_not


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["Llama 3.1 8B", "Qwen3-14B", "Mistral 7B"]),
    st.sampled_from(["RTX 4090", "L40S", "H100"]),
    st.sampled_from(["lora", "qlora"]),
)
def test_the_longest_sequence_is_the_longest(model: str, accelerator: str, method: str) -> None:
    spec = run(model, accelerator, method=method)
    longest = largest_sequence(spec)
    if longest is None:
        return
    at = run(model, accelerator, method=method, sequence_tokens=longest)
    over = run(model, accelerator, method=method, sequence_tokens=longest + 128)
    assert (margin_gib(at) or 0.0) >= 0
    assert (margin_gib(over) or 0.0) < 0


def test_a_batch_is_found_like_a_sequence() -> None:
    batch = largest_batch(run("Llama 3.1 8B", "H100", method="lora"))
    assert batch is not None and batch > 1


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        (run("Llama 2 70B", "A100 80GB", 8, method="full"), ["lora"]),
        (run("Llama 3 8B", "RTX 4090", method="lora", sequence_tokens=8192), ["qlora", "optimizer_8bit", "offload"]),
        (
            run("gemma-3-12b-it", "H100", method="lora", sequence_tokens=120_000),
            ["qlora", "optimizer_8bit", "offload", "shorter_sequence"],
        ),
    ],
)
def test_the_cheapest_steps_come_first(spec: WorkloadSpec, names: list[str]) -> None:
    steps = steps_to_fit(spec)
    assert [step.name for step in steps] == names
    assert [step.fits for step in steps] == [False] * (len(steps) - 1) + [True]
    assert all(later.need_gib <= earlier.need_gib + 1e-6 for earlier, later in itertools.pairwise(steps))


@pytest.mark.parametrize(("accelerator", "count"), [("RTX 4090", 16), ("L40S", 4), ("H100", 2), ("H200", 1)])
def test_devices_for_full_grpo_of_seven_billion(accelerator: str, count: int) -> None:
    found = devices_needed(
        parse_spec({"task": "training", "model": {"params_b": 7}, "training": {"method": "grpo"}}), accelerator
    )
    assert found is not None
    assert count / 2 <= found <= count * 2


@pytest.mark.parametrize(
    ("method", "extra", "models"),
    [
        ("grpo", {}, ("reference",)),
        ("ppo", {}, ("reference", "reward", "value")),
        ("grpo", {"lora_rank": 16}, ()),
        ("ppo", {"lora_rank": 16}, ("reward", "value")),
    ],
)
def test_models_beside_the_policy(method: str, extra: dict[str, Any], models: tuple[str, ...]) -> None:
    found = rollouts(resolve_run(run("Llama 3.1 8B", "H100", method=method, **extra)))
    assert found is not None
    assert found.models == models
    assert found.copy_gib == pytest.approx(14.96, abs=0.05)


def test_fine_tuning_generates_nothing() -> None:
    assert rollouts(resolve_run(run("Llama 3.1 8B", "H100", method="lora"))) is None


def test_need_is_the_same_with_and_without_hardware() -> None:
    without = parse_spec({"task": "training", "model": "Llama 3.1 8B", "training": {"method": "lora"}})
    assert need_gib(without) == pytest.approx(need_gib(run("Llama 3.1 8B", "H100", method="lora")))
