"""What a turn does to its thread, and what it says has changed."""

import pytest

from bot.understand.read import read, read_thread
from bot.understand.request import Device


def _hardware(*turns: str) -> list[tuple[str, float | None]]:
    return [(device.accelerator, device.count) for device in read_thread(turns)[-1].hardware]


_FIRST = "Llama 3.3 70B fp8 on 2x H100, 25 concurrent, 8k"


@pytest.mark.parametrize(
    ("turn", "field", "value"),
    [
        ("and with int4?", "weights", "int4"),
        ("50 users", "concurrency", 50),
        ("drop the context to 4k", "context_tokens", 4096),
        ("double the users", "concurrency", 50),
        ("halve the context", "context_tokens", 4096),
        ("kv at q8", "kv_cache", "8bit"),
        ("und 3.1?", "models", ("meta-llama/Llama-3.1-70B-Instruct",)),
        ("no, rather 40", "concurrency", 40),
        ("not at once", "users", 25),
        ("in SGLang", "engine", "sglang"),
    ],
)
def test_a_value_replaces_its_own_kind_and_keeps_the_rest(turn: str, field: str, value: object) -> None:
    before, after = read_thread([_FIRST, turn])
    assert getattr(after, field) == value
    kept = {"models", "weights", "context_tokens", "hardware"} - {field}
    assert {name: getattr(after, name) for name in kept} == {name: getattr(before, name) for name in kept}
    assert field in {change.field for change in after.changes}


@pytest.mark.parametrize(
    ("turns", "hardware"),
    [
        ([_FIRST, "and on 4x L40S?"], [("L40S", 4)]),
        ([_FIRST, "compare with a MI300X"], [("H100", 2), ("MI300X", 1)]),
        ([_FIRST, "compare with a MI300X", "take the second one"], [("MI300X", 1)]),
        ([_FIRST, "add another one"], [("H100", 3)]),
        ([_FIRST, "4 of those"], [("H100", 4)]),
        ([_FIRST, "on an L4?", "undo"], [("H100", 2)]),
        ([_FIRST, "on an L4?", "with q4", "back to the first one"], [("H100", 2)]),
        ([_FIRST, "new: gemma 3 12b on a 4070"], [("RTX 4070", 1)]),
        ([_FIRST, "thanks!"], [("H100", 2)]),
    ],
)
def test_hardware_is_replaced_added_picked_and_restored(turns: list[str], hardware: list[tuple[str, float]]) -> None:
    assert _hardware(*turns) == hardware


def test_a_share_of_people_gives_the_concurrency_and_follows_both() -> None:
    turns = read_thread(["RAG für 200 Leute, Gemma 3 27B", "10 % gleichzeitig", "nein, 350", "use 20% instead"])
    assert [(turn.users, turn.active_share, turn.concurrency) for turn in turns] == [
        (200, None, None),
        (200, 0.1, 20),
        (350, 0.1, 35),
        (350, 0.2, 70),
    ]
    assert "concurrency" in turns[-1].derived


def test_a_follow_up_in_the_other_language_is_understood() -> None:
    assert read_thread([_FIRST, "und mit int4?"])[-1].weights == "int4"
    assert read_thread(["Passt Qwen3-32B auf eine L40S?", "fp8?"])[-1].lang == "de"


def test_a_message_without_thread_has_no_changes() -> None:
    assert read(_FIRST).changes == ()
    assert read(_FIRST).hardware == (Device(accelerator="H100", count=2),)
