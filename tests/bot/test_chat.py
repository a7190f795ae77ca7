"""`sizewise chat`: what one conversation leaves behind for the next."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bot.cli import main

FIRST = "Does Llama 3.3 70B in FP8 with 32k context for 10 concurrent requests fit on one H200?"
SECOND = "Does Qwen3 32B fit on one L40S?"


def talk(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *lines: str, options: str = "") -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    with pytest.raises(SystemExit) as ended:
        main(["chat", "--no-sources", *options.split()])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)


def test_a_conversation_without_a_name_begins_anew(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(monkeypatch, capsys, FIRST)
    said = talk(monkeypatch, capsys, SECOND)
    assert "8k" in said
    assert "10 ×" not in said


def test_a_named_one_goes_on_until_it_is_begun_anew(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(monkeypatch, capsys, FIRST, options="--thread team")
    assert "10 × 32k" in talk(monkeypatch, capsys, "and on 2 cards?", options="--thread team")
    assert "10 × 32k" not in talk(monkeypatch, capsys, "and on 2 cards?", options="--thread team --new")
