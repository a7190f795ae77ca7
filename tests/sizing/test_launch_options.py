"""Every option that a line of ours carries is one that its program documents for that version, with a value that it takes."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from sizing.commands import LaunchCommand, launch, load_test
from sizing.engine import estimate
from sizing.spec import parse_spec

DOCUMENTED: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("launch_options.yaml").read_text(encoding="utf-8")
)
_MOE = {"model": {"id": "Qwen3-235B-A22B"}, "hardware": [{"accelerator": "RTX 4090"}, {"accelerator": "RTX 3090"}]}
# What people set, each on its own: everything that may put an option into a line.
SETTINGS: list[dict[str, Any]] = [
    {}, {"weights": "fp8"}, {"weights": "bnb-nf4"}, {"kv_cache": "fp8"}, {"kv_cache": "q8_0"}, {"kv_cache": "int8"},
    {"engine": {"gpu_memory_utilization": 0.85, "max_num_batched_tokens": 4096, "max_num_seqs": 16, "enforce_eager": True}},
    {"engine": {"kv_cache_memory_gib": 4.0}},
    {"parallel": {"tensor": 2}}, {"parallel": {"pipeline": 2}}, {"parallel": {"data": 2}},
    {"model": {"id": "DeepSeek-V3"}, "hardware": [{"accelerator": "H200", "count": 8}],
     "parallel": {"tensor": 8, "expert": 8, "context": 8}, "engine": {"data_parallel_attention": True}},
    {"engine": {"speculative": {"method": "mtp", "tokens": 3}}, "model": {"id": "Qwen3.6-27B"}},
    {"engine": {"speculative": {"method": "eagle3", "tokens": 3, "model": "org/draft"}}},
    {"engine": {"speculative": {"method": "draft", "tokens": 4, "model": "org/draft"}}},
    {"engine": {"speculative": {"method": "ngram", "tokens": 4}}},
    {"model": {"id": "Qwen2.5-VL-7B"}, "images_per_request": 2}, {"model": {"id": "Qwen2.5-VL-7B"}, "images_per_request": 0},
    {"beside": [{"role": "lora", "rank": 24, "count": 2}]},
    {"engine": {"gpu_layers": 20, "ubatch_tokens": 1024, "batch_tokens": 4096, "swa_full": True, "flash_attention": True}},
    {"engine": {"flash_attention": False}},
    _MOE | {"engine": {"cpu_moe_layers": 20, "split_mode": "layer", "tensor_split": [3, 1],
                        "tensor_overrides": ["blk.9=CPU", "blk.8=CPU"]}},
    {"model": {"id": "DeepSeek-R1"}, "hardware": [{"accelerator": "RTX 4090"}], "host": {"ram_gb": 768}, "engine": {"mla": 3}},
    {"input_tokens": 512, "output_tokens": 64, "prior_context_tokens": 2048, "load": {"rate_rps": 2.0, "shared_prefix_tokens": 128}},
]  # fmt: skip
_NO_VALUE = {
    "--enable-expert-parallel",
    "--enforce-eager",
    "--enable-lora",
    "--enable-dp-attention",
    "--disable-cuda-graph",
    "--swa-full",
}
# What a version could not do at all: a spec that asks for it is not held against its list.
_LATER = {
    "0.7.3": {
        "int8_per_token_head", "--data-parallel-size", "--enable-expert-parallel", "--decode-context-parallel-size",
        "--kv-cache-memory-bytes",
    },
}  # fmt: skip


def _commands(engine: dict[str, Any], setting: dict[str, Any]) -> tuple[LaunchCommand, ...]:
    base = {"model": {"id": "Llama-3.1-8B"}, "context_tokens": 8192, "concurrency": 2}
    base |= {"hardware": [{"accelerator": "RTX 4090", "count": 2}]}
    spec = parse_spec(base | setting | {"engine": engine | setting.get("engine", {})})
    made = estimate(spec)
    assert made.ok or made.error is not None
    return (*launch(spec, made), *load_test(spec, made)) if made.ok else ()


def _lines(documented: dict[str, Any]) -> list[LaunchCommand]:
    program = tuple(documented["program"])
    found = [command for setting in SETTINGS for command in _commands(dict(documented["engine"]), setting)]
    return [command for command in found if command.argv[: len(program)] == program]


def _options(command: LaunchCommand, program: list[str]) -> dict[str, str | None]:
    """Options with their values; an option that takes none has None."""
    words = command.argv[len(program) :]
    named: dict[str, str | None] = {}
    for word, after in pairwise([*words, "-"]):
        if word.startswith("-") and not word.lstrip("-")[:1].isdigit():
            named[word] = None if after.startswith("-") else after
    return named


@pytest.mark.parametrize(
    "documented", DOCUMENTED, ids=[f"{' '.join(row['program'])} {row['engine']}" for row in DOCUMENTED]
)
def test_lines_carry_documented_options_only(documented: dict[str, Any]) -> None:
    lines = _lines(documented)
    assert lines, "no line of ours calls this program"
    later = _LATER.get(str(documented["engine"].get("version")), set())
    for command in lines:
        named = _options(command, documented["program"])
        assert set(named) <= set(documented["options"]) | later, command.line
        assert {name for name, _ in command.env} <= set(documented.get("environment", ())), command.line
        for name, value in named.items():
            assert (value is None) == (name in _NO_VALUE or name in documented.get("bare", ())), command.line
            assert value is None or value in later or value in documented.get("choices", {}).get(name, [value]), (
                command.line
            )
            assert value is None or name not in documented.get("no_commas", ()) or "," not in value, command.line
        together = set(documented.get("together", ()))
        assert not together & set(named) or together <= set(named), command.line


def test_every_documented_list_names_where_it_was_read() -> None:
    assert all(row["source"].startswith("https://") for row in DOCUMENTED)
