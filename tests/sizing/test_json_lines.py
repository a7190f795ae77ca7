"""Every line of the commands is answered, whatever stands on it."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
        ({"hidden_size": 16}, "num_attention_heads"),
        ({"kv_lora_rank": 512}, "qk_nope_head_dim"),
        ({"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}, "v_head_dim"),
        ({"num_experts": 8, "intermediate_size": None}, "moe_intermediate_size"),
    ],
)
def test_a_hostile_config_is_refused_by_the_name_of_its_field(changed: dict[str, Any], named: str) -> None:
    spec = {"model": {"config": _CONFIG | changed}, "hardware": [{"accelerator": "RTX 4090"}]}
    found = estimate_data(spec)
    assert found.error is not None
    assert (found.ok, found.error.field, named in found.error.message) == (False, f"model.config.{named}", True)


def test_one_expert_of_one_is_no_fault() -> None:
    assert architecture_from_config(_CONFIG | {"num_experts": 1}).moe is not None


_JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
_FIELDS = st.sampled_from([
    *_CONFIG, "head_dim", "sliding_window", "sliding_window_pattern", "kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "v_head_dim",
    "num_experts", "num_experts_per_tok", "moe_intermediate_size", "first_k_dense_replace", "layer_types", "linear_num_value_heads",
    "mamba_n_heads", "index_head_dim", "text_config", "vision_config", "torch_dtype", "model_type", "tie_word_embeddings",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(_FIELDS, _JUNK, max_size=4))
def test_a_config_is_sized_or_refused_whatever_it_holds(changed: dict[str, Any]) -> None:
    found = estimate_data({"model": {"config": _CONFIG | changed}, "hardware": [{"accelerator": "H100"}]})
    if found.ok:
        assert found.memory is not None
        assert found.memory.per_device[0].weights_gib > 0
        assert "NaN" not in found.model_dump_json()
    else:
        assert found.error is not None


@pytest.mark.parametrize(("size", "sized"), [(1e-300, False), (1e-4, True), (13, True), (1e5, True), (1e6, False)])
@pytest.mark.parametrize("task", ["inference", "training"])
def test_a_bare_size_is_sized_within_what_models_have(size: float, sized: bool, task: str) -> None:
    spec = {"task": task, "model": {"params_b": size}, "hardware": [{"accelerator": "H100"}]}
    assert estimate_data(spec).ok is sized


@pytest.mark.parametrize("line", ['{"id": 1, "id": 2}', '{"hardware": [{"count": 1, "count": 2}]}'])
def test_a_key_that_stands_twice_is_refused(line: str) -> None:
    with pytest.raises(UserError, match="stands twice"):
        read_value(line)


def test_the_mark_that_windows_puts_before_a_file_is_read_over() -> None:
    assert read_value('\ufeff{"id": 1}') == {"id": 1}
