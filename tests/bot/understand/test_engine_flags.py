"""A pasted line is read as what it sets."""

from typing import Any

import pytest

from bot.testing import Conversation
from bot.understand.engine_flags import read_engine_flags
from bot.understand.text import fold

LINE = "llama-server -m Qwen3-235B-A22B-Q4_K_M.gguf -c 16384 -ngl 99 --n-cpu-moe 68 -ts 80,15 -ub 1024 -fa on"


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (LINE, {"gpu_layers": 99, "cpu_moe_layers": 68, "tensor_split": [80.0, 15.0], "ubatch_tokens": 1024, "flash_attention": True}),
        ("-sm row --batch-size=4096 -amb 512 --swa-full", {"split_mode": "row", "batch_tokens": 4096, "attention_max_mib": 512,
                                                           "swa_full": True}),
        ("-fa 0 -ts 3/1", {"flash_attention": False, "tensor_split": [3.0, 1.0]}),
        ("-fa -ngl many -b 0 -ts 1 -sm columns", {}),
        ("llama-server -sm tensor -fa on", {"split_mode": "tensor", "flash_attention": True}),
        ("sglang --tp 8 --dp 8 --enable-dp-attention", {"data_parallel_attention": True}),
        ("vllm serve m --gpu-memory-utilization 0.8 --max-num-batched-tokens=4096 --enforce-eager",
         {"gpu_memory_utilization": 0.8, "max_num_batched_tokens": 4096, "enforce_eager": True}),
        ("sglang --mem-fraction-static=0.75", {"gpu_memory_utilization": 0.75}),
        ("vLLM mit gpu_memory_utilization 0,85.", {"gpu_memory_utilization": 0.85}),
        ("GPU memory utilization of 90 %, 8k", {"gpu_memory_utilization": 0.9}),
        ("--gpu-memory-utilization 8 or --gpu-memory-utilization auto; the GPU memory utilization 4 users see", {}),
        ("Llama 3.1 7-b 4 users, q4-b 8", {}),
    ],
)  # fmt: skip
def test_flags_are_read(text: str, flags: dict[str, Any]) -> None:
    assert read_engine_flags(fold(text)) == flags


def test_a_pasted_line_is_sized_as_it_stands_and_kept_in_the_thread() -> None:
    talk = Conversation()
    talk.say(f"Does this fit on 2x RTX 3090: {LINE}").expect(
        spec__engine__cpu_moe_layers=68, spec__engine__tensor_split=[80.0, 15.0], spec__engine__gpu_layers=99
    )
    talk.say("and with 32k context?").expect(spec__context_tokens=32768, spec__engine__cpu_moe_layers=68)
    talk.say("and on one RTX 3090?").expect(spec__engine__gpu_layers=99)


def test_attention_apart_in_a_pasted_line_is_one_layout() -> None:
    """SGLang's --dp lies inside --tp: eight cards, no comparison of eight copies with one."""
    line = "python -m sglang.launch_server --model deepseek-ai/DeepSeek-V3 --tp 8 --dp 8 --enable-dp-attention"
    said = Conversation().say(f"Reicht das auf 8x H200 für 64 Anfragen mit 32k? {line}")
    said.expect(intent="fits", spec__engine__data_parallel_attention=True)
    said.never("Kopien", "Keine der Varianten")


def test_the_share_of_a_pasted_line_is_what_the_engine_gets() -> None:
    """0.8 of the 44.4 GiB that an L40S reports are 35.5 GiB; by default it would be 41."""
    talk = Conversation()
    line = "vllm serve Qwen/Qwen3-32B --quantization fp8 --gpu-memory-utilization 0.8 --max-model-len 16384"
    talk.say(f"Does this fit on one L40S: {line}").expect(
        r"gives the engine 35\.\d GiB", spec__engine__gpu_memory_utilization=0.8
    )
    talk.say("and with --gpu-memory-utilization 0.95?").expect(spec__engine__gpu_memory_utilization=0.95)
