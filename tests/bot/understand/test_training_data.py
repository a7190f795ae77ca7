"""Tokens that a run trains on are read as such; lengths, rates and workloads that train nothing are not."""

from __future__ import annotations

import pytest

from bot.heard import hear
from bot.thread import ThreadState

READ = [
    ("QLoRA Llama 3.1 8B on a 4090 with 10M tokens", 10e6),
    ("Finetuning von Qwen3 14B mit 2,5 Mio. Tokens auf einer 3090", 2.5e6),
    ("full finetune of Llama 3.1 8B on 1.5B tokens, 8x H100", 1.5e9),
    ("LoRA-Training mit 2 Mrd. Tokens, Qwen3 8B, 4x L40S", 2e9),
    ("QLoRA Llama 3.1 8B on a 4090, 32k tokens sequence", None),
    ("train Llama 3.1 8B at 2M tokens/s?", None),
    ("Llama 3.3 70B on 2x H100 with 10M tokens a day", None),
]


@pytest.mark.parametrize(("text", "tokens"), READ, ids=lambda value: str(value)[:40])
def test_data_of_a_run(text: str, tokens: float | None) -> None:
    spec = hear(text, ThreadState()).specs[0]
    assert (spec.get("training") or {}).get("dataset_tokens") == tokens
