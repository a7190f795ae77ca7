"""Comparisons whose sides each name a model and a machine, or two ways to spread one model over the same cards."""

from __future__ import annotations

from typing import Any

import pytest

from bot.understand.read import read, read_thread
from bot.understand.specs import specs_of


def named(text: str) -> list[tuple[str, str, int, str | None]]:
    return [_named(spec) for spec in specs_of(read(text))]


def _named(spec: dict[str, Any]) -> tuple[str, str, int, str | None]:
    (device,) = spec["hardware"]
    return spec["model"]["id"].split("/")[-1], device["accelerator"], device.get("count", 1), spec.get("weights")


QWEN, LLAMA = "Qwen3-32B", "Llama-3.3-70B-Instruct"


@pytest.mark.parametrize(
    "text",
    [
        "/size compare Qwen3-32B fp8 on L40S | Llama 3.3 70B q4 on 2x3090",
        "Qwen3-32B fp8 auf L40S gegen Llama 3.3 70B q4 auf 2x 3090",
        "Qwen3-32B fp8 on an L40S vs Llama 3.3 70B q4 on 2x RTX 3090, which is faster?",
    ],
)
def test_sides_are_not_crossed(text: str) -> None:
    assert named(text) == [(QWEN, "nvidia-l40s", 1, "fp8"), (LLAMA, "nvidia-rtx-3090", 2, "4bit")]


def test_models_on_the_same_machines_are_still_crossed() -> None:
    assert len(named("Qwen3-32B and Llama 3.3 70B in fp8 on L40S vs H200")) == 4


def test_what_holds_for_all_sides_reaches_each_of_them() -> None:
    specs = specs_of(read("Qwen3-32B fp8 on L40S | Llama 3.3 70B fp8 on H200, 16k context, 8 concurrent users"))
    assert [(spec["context_tokens"], spec["concurrency"]) for spec in specs] == [(16384, 8)] * 2


def test_a_thread_keeps_the_sides_until_others_are_named() -> None:
    turns = [
        "Qwen3-32B fp8 on L40S | Llama 3.3 70B fp8 on H200",
        "and with 5 concurrent requests?",
        "what about 2x L40S for Qwen3-14B?",
    ]
    second, third = (specs_of(one) for one in read_thread(turns)[1:])
    assert [(_named(spec)[:2], spec["concurrency"]) for spec in second] == [
        ((QWEN, "nvidia-l40s"), 5), ((LLAMA, "nvidia-h200-sxm-141gb"), 5)
    ]  # fmt: skip
    assert [spec["model"]["id"] for spec in third] == ["Qwen/Qwen3-14B"]


@pytest.mark.parametrize(
    "text",
    [
        "Vergleich 2x L40S mit TP 2 gegen zwei Replikate für Qwen3-14B",
        "tensor parallel or data parallel on 2x L40S for Qwen3-14B?",
    ],
)
def test_two_ways_to_spread_a_model_are_two_specs(text: str) -> None:
    request = read(text)
    assert request.intent == "compare"
    assert [spec["parallel"] for spec in specs_of(request)] == [{"tensor": 2, "data": 1}, {"tensor": 1, "data": 2}]


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("70B on H100 vs 32B on L40S for 20 users, 16k context?", [(70.0, None), (32.0, None)]),
        ("8B auf 4090 oder 14B auf 2x 5090?", [(8.0, None), (14.0, 2)]),
        ("70B auf 2x H100 gegen 32B auf einer L40S", [(70.0, 2), (32.0, 1)]),
    ],
)
def test_each_side_has_its_size_and_only_the_counts_that_were_said(
    text: str, sides: list[tuple[float, int | None]]
) -> None:
    specs = specs_of(read(text))
    assert [(spec["model"]["params_b"], spec["hardware"][0].get("count")) for spec in specs] == sides
