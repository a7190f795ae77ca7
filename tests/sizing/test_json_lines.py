"""Every line of the commands is answered, whatever stands on it."""

import io
import json
from typing import Any

import pytest

from sizing.architecture.from_config import architecture_from_config
from sizing.engine import estimate_data
from sizing.errors import UserError
from sizing.json_lines import read_value, tolerant, written


@pytest.mark.parametrize(
    "line", ["{", "", "{'a': 1}", '{"a": NaN}', '{"a": -Infinity}', "[" * 100_000, "9" * 5_000, "\x00", '{"id": 1']
)
def test_what_is_no_json_is_refused(line: str) -> None:
    with pytest.raises(UserError, match="not JSON") as fault:
        read_value(line)
    assert fault.value.field == "line"


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb", "😀", "\u202e", "\x00"])
def test_any_text_can_be_written_and_read_again(value: str) -> None:
    line = written({"id": value})
    assert line.encode("utf-8").decode("utf-8") == line
    assert json.loads(line) == {"id": value}


def test_bytes_that_are_no_utf8_do_not_end_the_command() -> None:
    stream = tolerant(io.TextIOWrapper(io.BytesIO(b'{"id": "\xff"}\n{"id": 2}\n'), encoding="ascii"))
    assert [read_value(line) for line in stream] == [{"id": "\ufffd"}, {"id": 2}]


_CONFIG = {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    "vocab_size": 128256, "max_position_embeddings": 10_485_760,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"num_hidden_layers": -1}, "num_hidden_layers"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_hidden_layers": 5_000}, "num_hidden_layers"),
        ({"hidden_size": "4096"}, "hidden_size"),
        ({"num_key_value_heads": 64}, "num_key_value_heads"),
        ({"num_experts": -1}, "num_experts"),
        ({"num_experts": 8, "num_experts_per_tok": 9}, "num_experts_per_tok"),
        ({"num_experts": [8, 8]}, "num_experts"),
        ({"num_experts": 8, "first_k_dense_replace": 33}, "first_k_dense_replace"),
        ({"head_dim": "128"}, "head_dim"),
        ({"kv_lora_rank": 1.5}, "kv_lora_rank"),
        ({"sliding_window": {"a": 1}}, "sliding_window"),
        ({"linear_num_value_heads": 32, "layer_types": ["linear_attention"] * 32}, "linear_num_key_heads"),
    ],
)
def test_a_hostile_config_is_refused_by_the_name_of_its_field(changed: dict[str, Any], named: str) -> None:
    spec = {"model": {"config": _CONFIG | changed}, "hardware": [{"accelerator": "RTX 4090"}]}
    found = estimate_data(spec)
    assert found.error is not None
    assert (found.ok, found.error.field, named in found.error.message) == (False, "model.config", True)


def test_one_expert_of_one_is_no_fault() -> None:
    assert architecture_from_config(_CONFIG | {"num_experts": 1}).moe is not None
