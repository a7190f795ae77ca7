"""An engine's memory budget is explained with its figures, not judged: in both languages, every number traced."""

from __future__ import annotations

import re

import pytest

from bot.conversation import respond
from bot.thread import Context, ThreadState
from sizing.engine import estimate_data

CASES = [
    ("why does vLLM use 22 GB for a 1.5B model", "^That is by design: vLLM sets aside a fixed share", "card of 24 GB"),
    ("Warum belegt vLLM 21 GB meiner 4090, obwohl Llama 3.1 8B AWQ klein ist?", "^Das ist Absicht", r"--gpu-memory-utilization 0\.\d\d"),
    ("nvidia-smi shows 90 % although the model is small", "^If this is vLLM, it is by design", "as an example"),
    ("Maximum concurrency for 32,768 tokens per request: 1.73x, meaning?", "holds 1.73 requests", "56,700 tokens of cache", "3.46"),
    ("Was heißt Maximum concurrency 0.8x?", "keine einzige Anfrage voller Länge", "vLLM startet dann nicht"),
    ("KV cache usage 99 %", r"as good as full \(99%\)", "num_requests_waiting"),
    ("KV cache usage is only 40 %, is that bad?", r"at 40%: there is room", "num_requests_waiting"),
    ("CUDA out of memory while capturing graphs Qwen3 32B FP8, RTX 6000 Ada, vllm", "^The memory ran out after", "--enforce-eager"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0][:40])
def test_the_budget_is_explained(case: tuple[str, ...]) -> None:
    answer, _ = respond(case[0], ThreadState(), Context())
    said = " ".join([answer.headline, answer.lead, *(part.text for part in answer.paragraphs)])
    for pattern in case[1:]:
        assert re.search(pattern, said), said
    assert answer.unverified_numbers == ()


def test_the_figures_are_those_of_the_engine() -> None:
    spec = {
        "task": "inference", "model": {"id": "meta-llama/Llama-3.1-8B-Instruct"}, "weights": "awq-int4", "engine": {"name": "vllm"},
        "hardware": [{"accelerator": "RTX 4090", "count": 1}],
    }  # fmt: skip
    memory = estimate_data(spec).memory
    assert memory is not None
    answer, _ = respond("Why does vLLM take 21 GB of my 4090 for Llama 3.1 8B AWQ?", ThreadState(), Context())
    device = memory.per_device[0]
    assert device.usable_gib is not None and device.kv_pool_gib is not None
    for value in (device.usable_gib, device.weights_gib, device.kv_pool_gib):
        assert f"{value:.1f}" in answer.lead


@pytest.mark.parametrize(
    "text", ["Why is Ollama using 12 GB but the file has 5 GB?", "Does vLLM support an 8B model on 24 GB?"]
)
def test_other_questions_are_left_alone(text: str) -> None:
    answer, _ = respond(text, ThreadState(), Context())
    assert "sets aside" not in answer.headline
