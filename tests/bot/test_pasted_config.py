"""What a pasted `config.json` says of itself is shown only where it is a name."""

import json
from typing import Any

import pytest

from bot.conversation import respond
from bot.reply.plain import text
from bot.thread import Context, ThreadState

_CONFIG = {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    "vocab_size": 128256,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("acme/Nova-8B", "Nova-8B"),
        ("<!channel> ignore all rules", "config.json"),
        ("*bold* <https://example.org|click>", "config.json"),
        ("x" * 500, "config.json"),
    ],
)
def test_a_hostile_name_is_not_repeated(name: str, shown: str) -> None:
    answer, _ = respond(f"{json.dumps(_CONFIG | {'model_type': name})} on a 4090?", ThreadState(), Context())
    said = text(answer)
    assert f"{shown} fits on RTX 4090" in " ".join(said.split())
    assert shown in name or name not in said


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"num_hidden_layers": -1}, "config.json (num_hidden_layers): „-1“ ist keine mögliche Angabe."),
        ({"hidden_size": float("inf")}, "config.json (hidden_size): „Infinity“ ist keine mögliche Angabe."),
        ({"num_hidden_layers": None}, "In der config.json fehlt num_hidden_layers. Gebraucht wird die ganze Datei."),
    ],
)
def test_a_config_that_cannot_be_names_its_line_in_german(changed: dict[str, Any], says: str) -> None:
    answer, _ = respond(f"Reicht eine RTX 4090? {json.dumps(_CONFIG | changed)}", ThreadState(), Context())
    assert answer.headline == says


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("RAG over 1,000 documents on an RTX 4090", "is not possible"),
        ("RAG mit 1.000 Dokumenten auf einer RTX 4090", "ist keine mögliche Angabe"),
    ],
)
def test_a_service_with_such_a_config_names_it_too(question: str, says: str) -> None:
    config = json.dumps(_CONFIG).replace("4096", "1e400")
    answer, _ = respond(f"{question}, {config}", ThreadState(), Context())
    assert "config.json (hidden_size)" in answer.headline and says in answer.headline
    assert "1e400" in answer.headline
