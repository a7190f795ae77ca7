"""Merging changes into specs, and telling what differs."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.specs import changes, delta_of, merged

SPEC = {
    "model": {"id": "Llama 3.3 70B"},
    "weights": "q4_k_m",
    "concurrency": 10,
    "hardware": [{"accelerator": "RTX 4090", "count": 1}],
}


def test_nested_objects_merge_and_lists_are_replaced() -> None:
    assert merged(SPEC, {"engine": {"name": "vllm"}, "hardware": [{"accelerator": "L40S", "count": 2}]}) == {
        **SPEC,
        "engine": {"name": "vllm"},
        "hardware": [{"accelerator": "L40S", "count": 2}],
    }


def test_users_take_the_place_of_concurrency_and_back() -> None:
    people = merged(SPEC, {"users": 50})
    assert "concurrency" not in people
    assert merged({**people, "active_share": 0.1}, {"concurrency": 4}) == {**SPEC, "concurrency": 4}


def test_none_removes() -> None:
    assert "weights" not in merged(SPEC, {"weights": None})


def test_changes_are_told_by_dotted_name() -> None:
    now = {**SPEC, "weights": "fp8", "engine": {"name": "vllm"}}
    assert changes(SPEC, now) == {"weights": ("q4_k_m", "fp8"), "engine.name": (None, "vllm")}


_VALUES = st.recursive(
    st.integers() | st.text(min_size=1, max_size=4) | st.lists(st.integers(), min_size=1, max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
    max_leaves=6,
)
_SPECS = st.dictionaries(st.sampled_from("vwxyz"), _VALUES, max_size=4)


@given(_SPECS, _SPECS)
def test_a_delta_leads_from_one_spec_to_the_other(before: dict[str, Any], now: dict[str, Any]) -> None:
    assert _without_empty(merged(before, delta_of(before, now))) == _without_empty(now)


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, part in value.items() if (inner := _without_empty(part)) != {}}
