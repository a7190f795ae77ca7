"""Thirty pasted logs of ten kinds, figures from public threads: everything that is read, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.understand.logs.reader import observe

CASES = Path(__file__).with_name("cases")
EXPECTED: dict[str, Any] = json.loads((CASES / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_log_is_read_right(name: str) -> None:
    seen = observe((CASES / f"{name}.txt").read_text("utf-8"))
    assert seen is not None
    found = {key: value for key, value in seen.seen().items() if key not in ("sources", "engine_version")}
    found["devices"] = [_plain(device) for device in seen.devices]
    wanted = {"devices": [], **EXPECTED[name]["seen"]}
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        if key == "devices":
            assert [_close(a, b) for a, b in zip(found["devices"], value, strict=True)] == [True] * len(value)
        else:
            assert found[key] == (pytest.approx(value, rel=2e-3) if isinstance(value, (int, float)) else value), key


def _plain(device: Any) -> dict[str, Any]:
    return {key: value for key, value in device.model_dump().items() if value is not None}


def _close(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return found.keys() == wanted.keys() and all(
        found[key] == (pytest.approx(value, rel=2e-3) if isinstance(value, (int, float)) else value)
        for key, value in wanted.items()
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Reicht eine RTX 4090 für Llama 3.3 70B?",
        "I get 12 tok/s on a 3090",
        "VRAM 24 GB, 50 % of the users at once",
    ],
)
def test_a_question_is_no_log(text: str) -> None:
    assert observe(text) is None


def test_several_pastes_become_one_observation() -> None:
    texts = [(CASES / f"{name}.txt").read_text("utf-8") for name in ("nvidia_smi_two_3090", "vllm_serving_full")]
    seen = observe("\n".join(texts))
    assert seen is not None
    assert (seen.engine, len(seen.devices), seen.waiting, seen.sources) == ("vllm", 2, 12, ("vllm", "nvidia-smi"))


def test_kinds_are_at_least_eight() -> None:
    kinds = {name.split("_")[0] + "_" + name.split("_")[1] for name in EXPECTED}
    assert len(EXPECTED) >= 20
    assert len(kinds) >= 8
