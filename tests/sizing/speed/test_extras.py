"""What is asked beside the plain model: power limits, drafts, adapters, prefill apart, slots, cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sizing.engine import estimate
from sizing.errors import UserError
from sizing.estimate import Range, Speed
from sizing.spec import parse_spec
from sizing.speed.extras import ACCEPTED

Say = Callable[..., Speed]


def expected(figure: Range | None) -> float:
    assert figure is not None
    return figure.expected


def cards(name: str, count: int = 1) -> list[dict[str, Any]]:
    return [{"accelerator": name, "count": count}]


CHAT = {
    "model": "Llama-3.1-8B",
    "weights": "q4_k_m",
    "engine": {"name": "llama.cpp"},
    "input_tokens": 2048,
    "output_tokens": 256,
}


def test_a_power_limit_hardly_slows_writing_and_slows_reading(say: Say) -> None:
    """RTX 3090 at 250 of 350 W: 2.6 % of writing and 15 % of reading lost in the measured curve."""
    free, held = (say(**CHAT, hardware=cards("RTX 3090"), host=host) for host in ({}, {"power_limit_w": 250}))
    written, read = (
        expected(getattr(held, name)) / expected(getattr(free, name))
        for name in ("decode_tok_s_per_user", "prefill_tok_s")
    )
    assert 0.95 < written < 1
    assert 0.8 < read < 0.9


@pytest.mark.parametrize("limit_w", [350, 500])
def test_a_limit_that_is_none_changes_nothing(say: Say, limit_w: float) -> None:
    assert say(**CHAT, hardware=cards("RTX 3090"), host={"power_limit_w": limit_w}) == say(
        **CHAT, hardware=cards("RTX 3090")
    )


def test_an_apple_has_no_limit_per_card(say: Say) -> None:
    apple = cards("Apple M4 Max 40-Core GPU 128GB")
    assert say(**CHAT, hardware=apple, host={"power_limit_w": 30}) == say(**CHAT, hardware=apple)


SERVED = {
    "model": "Llama-3.1-8B",
    "weights": "bf16",
    "input_tokens": 512,
    "output_tokens": 256,
    "hardware": cards("H100"),
}
VLLM = {"name": "vllm", "as_of": "2025-10"}


def test_adapters_cost_some_milliseconds_a_token(say: Say) -> None:
    """Punica's 2 ms for 32 layers; reading eight adapters of rank 16 adds little."""
    plain = say(**SERVED, engine=VLLM, concurrency=8)
    served = say(**SERVED, engine=VLLM, concurrency=8, beside=[{"role": "lora", "count": 8, "rank": 16}])
    extra_ms = 1000 / expected(served.decode_tok_s_per_user) - 1000 / expected(plain.decode_tok_s_per_user)
    assert 2.0 < extra_ms < 3.5


def test_larger_adapters_cost_more(say: Say) -> None:
    small, large = (
        say(**SERVED, engine=VLLM, concurrency=16, beside=[{"role": "lora", "count": 16, "rank": rank}])
        for rank in (8, 128)
    )
    assert expected(large.decode_tok_s_per_user) < expected(small.decode_tok_s_per_user)


def drafted(say: Say, method: str, **more: Any) -> float:
    engine = {**VLLM, "speculative": {"method": method, "tokens": 4}}
    return expected(say(**{**SERVED, "engine": engine, "concurrency": 1, **more}).decode_tok_s_per_user)


def test_what_a_draft_reads_is_paid_for(say: Say) -> None:
    """A lookup in the text is free, a head costs one block, a model of 1B all of its own."""
    model = {"beside": [{"role": "draft", "model": {"id": "Llama-3.2-1B"}, "weights": "bf16"}]}
    assert drafted(say, "ngram") > drafted(say, "eagle3") > drafted(say, "draft_model", **model)


def test_drafts_gain_less_the_more_sequences_share_a_step(say: Say) -> None:
    def gain(concurrency: int) -> float:
        plain = expected(say(**SERVED, engine=VLLM, concurrency=concurrency).decode_tok_s_per_user)
        return drafted(say, "eagle3", concurrency=concurrency) / plain

    assert gain(1) > 1.5
    assert gain(256) < 0.8 * gain(1)


def test_the_share_of_drafts_accepted_is_said_to_be_assumed() -> None:
    with_drafts = {**SERVED, "engine": {**VLLM, "speculative": "eagle k=3"}}
    assumed = {one.field: one.value for one in estimate(parse_spec(with_drafts)).assumptions}
    assert assumed["draft_acceptance"] == ACCEPTED
    plain = estimate(parse_spec({**SERVED, "engine": VLLM}))
    assert "draft_acceptance" not in {one.field for one in plain.assumptions}


LONG = {
    "model": "Llama-3.1-8B", "weights": "bf16", "input_tokens": 8000, "output_tokens": 200, "hardware": cards("H100", 4),
    "parallel": {"tensor": 1, "data": 4}, "concurrency": 64,
}  # fmt: skip


def apart(say: Say, prefill_replicas: int | None, **more: Any) -> Speed:
    return say(**{**LONG, **more}, engine={**VLLM, "prefill_replicas": prefill_replicas})


def test_prompts_computed_apart_do_not_disturb_those_who_read(say: Say) -> None:
    together, split = apart(say, None), apart(say, 2)
    assert expected(split.tpot_ms) < 0.8 * expected(together.tpot_ms)
    assert expected(split.output_tok_s_total) < 1.3 * expected(together.output_tok_s_total)


def test_too_few_replicas_for_prompts_let_requests_queue(say: Say) -> None:
    few, right = apart(say, 1), apart(say, 3)
    assert expected(few.ttft_ms) > 2 * expected(right.ttft_ms)
    assert expected(few.output_tok_s_total) < expected(right.output_tok_s_total)


@pytest.mark.parametrize("pattern", ["closed", "burst", "offline", "poisson"])
def test_prefill_apart_answers_every_load(say: Say, pattern: str) -> None:
    said = apart(say, 2, load={"pattern": pattern, "requests": 200, "rate_rps": 2.0})
    assert expected(said.output_tok_s_total) > 0 and expected(said.ttft_ms) > 0
    assert said.in_flight is not None and said.in_flight >= 1


@pytest.mark.parametrize("prefill_replicas", [4, 9])
def test_all_replicas_can_never_be_for_prompts(say: Say, prefill_replicas: int) -> None:
    with pytest.raises(UserError, match="of 4 replicas") as refused:
        apart(say, prefill_replicas)
    assert refused.value.field == "engine.prefill_replicas"


def test_a_narrow_slot_slows_tensor_parallelism(say: Say) -> None:
    common = {**SERVED, "hardware": cards("RTX 4090", 2), "parallel": {"tensor": 2}, "engine": VLLM, "concurrency": 64}
    wide, narrow = say(**common), say(**common, host={"pcie_gen": 3, "pcie_lanes": 4})
    assert expected(narrow.output_tok_s_total) < 0.7 * expected(wide.output_tok_s_total)


def test_more_cores_read_prompts_faster(say: Say) -> None:
    few, many = (
        say(**CHAT, hardware=cards("CPU"), host={"cpu": "EPYC 9334", "cpu_cores": cores}) for cores in (16, 64)
    )
    assert expected(many.prefill_tok_s) > 2 * expected(few.prefill_tok_s)


def test_a_prompt_split_among_experts_fills_them_worse(say: Say) -> None:
    """64 tokens are four for each of 128 experts with eight in use; a dense matrix gets all of them."""

    def growth(model: str) -> float:
        return expected(say(**{**SERVED, "model": model}, engine=VLLM, concurrency=1).prefill_tok_s) / expected(
            say(**{**SERVED, "model": model, "input_tokens": 64}, engine=VLLM, concurrency=1).prefill_tok_s
        )

    assert growth("Qwen3-30B-A3B") > growth("Qwen3-8B")
