"""What flips a verdict, how far a workload goes, and what a little more costs: laws rather than figures."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.catalogue.load import catalogue
from sizing.defaults import CHAT_DEFAULTS
from sizing.engine import estimate
from sizing.resolve import resolve_format
from sizing.reverse import brand_of, classes_of, current_models, what_fits
from sizing.sensitivity import (
    Flip,
    best_format,
    flips,
    largest_context,
    last_that_holds,
    marginal,
    most_concurrent,
    usual_formats,
)
from sizing.spec import WorkloadSpec, parse_spec

FITS = {
    "model": "Qwen3-32B",
    "weights": "fp8",
    "context_tokens": 16384,
    "concurrency": 4,
    "hardware": [{"accelerator": "RTX PRO 6000 Max-Q"}],
}
LOCAL = {
    "model": "Llama 3.1 8B",
    "weights": "q4_k_m",
    "hardware": [{"accelerator": "RTX 3060 12GB"}],
    "context_tokens": 8192,
}
TOO_LONG = {
    "model": "Qwen3-32B",
    "weights": "fp8",
    "context_tokens": 40960,
    "concurrency": 16,
    "hardware": [{"accelerator": "RTX PRO 6000 Max-Q"}],
}
TOO_WIDE = {
    "model": "gemma-3-27b-it",
    "weights": "bf16",
    "context_tokens": 16384,
    "hardware": [{"accelerator": "L40S"}],
}


def spec(data: dict[str, Any]) -> WorkloadSpec:
    return parse_spec(data)


def turned(data: dict[str, Any]) -> dict[str, Flip]:
    asked = spec(data)
    return {flip.kind: flip for flip in flips(asked, estimate(asked, CHAT_DEFAULTS), CHAT_DEFAULTS)}


def margin(**data: Any) -> float:
    found = estimate(spec(data), CHAT_DEFAULTS, derivation=False).margin_gib
    assert found is not None
    return found.expected


@given(edge=st.integers(0, 5000), guess=st.integers(1, 10_000), upper=st.integers(1, 6000), slope=st.floats(0.01, 100))
def test_the_edge_is_found_wherever_one_starts(edge: int, guess: int, upper: int, slope: float) -> None:
    asked = []

    def left(n: int) -> float:
        asked.append(n)
        return (edge - n) * slope

    assert last_that_holds(left, guess, upper) == (min(edge, upper) or None)
    assert len(asked) <= 40 and all(1 <= n <= upper for n in asked)


@given(edge=st.integers(1, 3000))
def test_a_cliff_is_found_by_bisection(edge: int) -> None:
    assert last_that_holds(lambda n: 1.0 if n <= edge else float("-inf"), 7, 4096) == edge


@pytest.mark.parametrize("data", [FITS, LOCAL])
def test_limits_are_the_last_that_fit(data: dict[str, Any]) -> None:
    asked = spec(data)
    most, longest = most_concurrent(asked, CHAT_DEFAULTS), largest_context(asked, CHAT_DEFAULTS)
    assert most is not None and longest is not None
    assert margin(**data | {"concurrency": most}) >= 0 > margin(**data | {"concurrency": most + 1})
    assert margin(**data | {"context_tokens": longest}) >= 0
    window = catalogue().models[_ident(data)].max_position_embeddings or 0
    assert longest >= window or margin(**data | {"context_tokens": longest + 512}) < 0


def _ident(data: dict[str, Any]) -> str:
    return {"Qwen3-32B": "Qwen/Qwen3-32B", "Llama 3.1 8B": "meta-llama/Llama-3.1-8B-Instruct"}[data["model"]]


def test_one_change_rescues_and_each_really_does() -> None:
    found = turned(TOO_LONG)
    assert found.keys() >= {"context", "concurrency", "devices"}
    for flip in found.values():
        assert flip.estimate.fits and flip.estimate.margin_gib is not None and flip.estimate.margin_gib.expected >= 0
    assert int(str(found["context"].after)) < 40960 and int(str(found["concurrency"].after)) < 16


def test_a_narrower_format_rescues_what_weights_burst() -> None:
    found = turned(TOO_WIDE)
    assert resolve_format(str(found["weights"].after)).bits_per_weight in (8.0, 4.15625)


def test_latents_fit_once_each_rank_keeps_its_own_sequences() -> None:
    long = {
        "model": "DeepSeek R1",
        "hardware": [{"accelerator": "H200", "count": 8}],
        "context_tokens": 32768,
        "concurrency": 60,
    }
    assert turned(long)["attention"].estimate.fits
    dense = long | {"model": "Llama 3.3 70B", "concurrency": 200}
    assert turned(dense) and "attention" not in turned(dense)
    assert "attention" not in turned(long | {"parallel": {"tensor": 8}})


@pytest.mark.parametrize(
    ("data", "before", "after"),
    [
        ({**TOO_LONG, "concurrency": 8}, None, "fp8"),
        ({**TOO_LONG, "concurrency": 8, "kv_cache": "bf16"}, "kv-bf16", "fp8"),
        ({**LOCAL, "context_tokens": 65536}, None, "q8_0"),
        ({**LOCAL, "context_tokens": 65536, "kv_cache": "f16"}, "kv-fp16", "q8_0"),
        ({**LOCAL, "context_tokens": 131072, "kv_cache": "q8_0"}, "kv-q8_0", "q5_1"),
        (
            {**LOCAL, "context_tokens": 131072, "concurrency": 8, "kv_cache": "q8_0", "engine": {"name": "ollama"}},
            "kv-q8_0",
            "q4_0",
        ),
        ({"model": "Qwen3-32B", "weights": "awq", "context_tokens": 40960, "concurrency": 4, "engine": {"name": "lmdeploy"},
          "hardware": [{"accelerator": "RTX 4090", "count": 2}]}, None, "int8"),
    ],
)  # fmt: skip
def test_a_narrower_cache_of_the_engine_rescues(data: dict[str, Any], before: str | None, after: str) -> None:
    found = turned(data)["kv_cache"]
    assert (found.before, found.after) == (before, after)
    assert found.estimate.fits


def test_what_fits_says_where_it_stops() -> None:
    assert turned(FITS).keys() == {"concurrency", "context"}


def test_a_fault_or_a_mac_gets_no_second_device() -> None:
    mac = {
        "model": "Llama 3.3 70B",
        "weights": "q8_0",
        "hardware": [{"accelerator": "M4 Max 40c", "memory_gb": 48}],
        "context_tokens": 8192,
    }
    assert "devices" not in turned(mac)
    unknown = spec({"model": "no-such-model-9000", "hardware": [{"accelerator": "L40S"}]})
    assert flips(unknown, estimate(unknown), CHAT_DEFAULTS) == ()


def test_marginal_cost_is_the_cache_of_a_token_and_of_a_request() -> None:
    """Qwen3-32B: 64 layers x 8 KV heads x 128 x 2 x 2 B = 256 KiB a token; 1k tokens for 4 requests are 1 GiB, 16k for one more 4 GiB."""
    found = marginal(spec(FITS), CHAT_DEFAULTS)
    assert found is not None
    assert found.per_1k_tokens_gib == pytest.approx(1.0, rel=0.02)
    assert found.per_request_gib == pytest.approx(4.0, rel=0.02)


def test_the_best_format_is_the_widest_that_fits() -> None:
    data = {"model": "Qwen3-32B", "context_tokens": 8192, "hardware": [{"accelerator": "L40S"}]}
    asked = spec(data)
    found = best_format(asked, CHAT_DEFAULTS)
    assert found is not None
    names = usual_formats(asked, CHAT_DEFAULTS)
    wider = names[: names.index(found[0])]
    assert all(margin(**data | {"weights": name}) < 0 for name in wider)
    assert usual_formats(asked.model_copy(update={"model": spec({"model": "gpt-oss-20b"}).model}), CHAT_DEFAULTS) == (
        "mxfp4",
    )


@pytest.mark.parametrize("hardware", [{"accelerator": "RTX 3090"}, {"accelerator": "M4 Max 40c", "memory_gb": 64}])
def test_what_runs_on_given_hardware(hardware: dict[str, Any]) -> None:
    found = what_fits(spec({"hardware": [hardware]}), CHAT_DEFAULTS)
    assert found.keys() >= {"general", "coding", "vision", "embedding"}
    for kind, fits in found.items():
        families = [fit.family.split()[0] for fit in fits]
        assert len(set(families)) == len(families)
        for fit in fits:
            assert kind in classes_of(catalogue().models[fit.model])
            assert fit.estimate.verdict == "fits"
            assert kind != "general" or (resolve_format(fit.weights).bits_per_weight or 4) >= 4


def test_newest_first() -> None:
    fits = what_fits(spec({"hardware": [{"accelerator": "RTX 3090"}]}), CHAT_DEFAULTS, ("general",))["general"]
    assert all((fit.released or "") >= "2024" for fit in fits)


def test_current_models_hold_no_predecessor_of_another() -> None:
    models = current_models()
    names = {model.id for model in models}
    assert "Qwen/Qwen3.8-27B" in names and not names & {"Qwen/Qwen3-32B", "Qwen/Qwen3.6-27B", "google/gemma-3-27b-it"}
    for one in models:
        alike = [
            other for other in models
            if brand_of(other) == brand_of(one) and classes_of(other)[0] == classes_of(one)[0]
            and bool(other.moe) == bool(one.moe) and 0.75 <= other.params_total / one.params_total <= 1.0
        ]  # fmt: skip
        assert alike == [one]
