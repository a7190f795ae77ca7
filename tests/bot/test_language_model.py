"""A language model that cannot be loaded: one sentence that names the variable and what to do, wherever it is wanted."""

from pathlib import Path
from typing import Any

import langchain.chat_models
import pytest

from bot.cli import main
from bot.doctor import main as examine
from bot.language_model import ModelUnavailable, chat_model


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ImportError("Initializing X requires the langchain-x package. Install it with `pip install langchain-x`"), "langchain-x"),
        (ValueError("Unable to infer model provider.\n\nSupported providers: a, b"), "PROVIDER:MODEL"),
        (RuntimeError("Missing credentials. Please pass an `api_key`."), "key is missing or wrong"),
        (ValueError("Did not find mistral_api_key"), "key is missing or wrong"),
        (KeyError(), "KeyError"),
    ],
)  # fmt: skip
def test_whatever_a_provider_raises(raised: Exception, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise raised

    monkeypatch.setattr(langchain.chat_models, "init_chat_model", refuse)
    with pytest.raises(ModelUnavailable, match=told) as fault:
        chat_model("some:model")
    assert str(fault.value).startswith("SIZEWISE_LLM='some:model': ")
    assert len(str(fault.value).splitlines()) == 1


@pytest.mark.parametrize("command", [["ask", "Llama 3.1 8B on a 4090"], ["chat"], ["playground"], ["serve"]])
def test_what_starts_says_so_at_once(
    command: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "SIZEWISE_DATA_DIR": str(tmp_path), "SIZEWISE_EMBEDDINGS": "off", "SIZEWISE_LLM": "nobody:x",
        "SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s", "SIZEWISE_TRANSPORT": "http",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert main(command) == 2
    assert "SIZEWISE_LLM='nobody:x'" in capfd.readouterr().err


def test_the_doctor_goes_on_and_says_that_none_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SIZEWISE_EMBEDDINGS", "off")
    monkeypatch.setenv("SIZEWISE_LLM", "nobody:x")
    monkeypatch.delenv("SLACK_BOT_TOKEN", raising=False)
    lines: list[str] = []
    assert examine(write=lines.append) == 1
    said = "".join(lines)
    assert "missing SIZEWISE_LLM='nobody:x'" in said
    assert "none is needed" in said
    assert "embeddings are switched off" in said
