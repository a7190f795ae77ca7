"""A wrong set-up ends a command with one sentence that names the variable or the file, never with a traceback."""

from pathlib import Path

import pytest

from bot.cli import main
from bot.doctor import main as examine

QUESTION = "Llama 3.1 8B on a 4090"


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DATABASE_URL", "SIZEWISE_LLM", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SIZEWISE_EMBEDDINGS", "off")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("variable", "value", "command", "says"),
    [
        ("DATABASE_URL", "nonsense", ["turns", "list"], "DATABASE_URL"),
        ("DATABASE_URL", "mysql://a/b", ["turns", "list"], "DATABASE_URL names mysql"),
        ("DATABASE_URL", "mysql://a/b", ["knowledge", "list"], "DATABASE_URL names mysql"),
        ("DATABASE_URL", "postgresql://sizewise:secret@127.0.0.1:1/x", ["turns", "list"], "DATABASE_URL"),
        ("SIZEWISE_DATA_DIR", "/dev/null/x", ["turns", "list"], "SIZEWISE_DATA_DIR"),
        ("SIZEWISE_DATA_DIR", "/dev/null/x", ["knowledge", "list"], "SIZEWISE_DATA_DIR"),
        ("SIZEWISE_PORT", "99999", ["turns", "list"], "SIZEWISE_PORT"),
        ("SIZEWISE_TRANSPORT", "pigeon", ["serve"], "SIZEWISE_TRANSPORT"),
        ("SIZEWISE_LOG_LEVEL", "banana", ["serve"], "SIZEWISE_LOG_LEVEL"),
        ("SLACK_API_URL", "nonsense", ["serve"], "SLACK_API_URL"),
    ],
)
def test_a_setting_at_fault_is_named(
    variable: str, value: str, command: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.setenv(variable, value)
    assert _exit_code(command) == 2
    [said] = capfd.readouterr().err.splitlines()
    assert says in said
    assert "secret" not in said


def test_a_file_that_cannot_be_written_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["ask", QUESTION, "--chart", "/dev/null/x"]) == 2
    said = capfd.readouterr().err
    assert "/dev/null/x: Not a directory" in said
    assert "SIZEWISE_DATA_DIR" not in said


def test_a_chart_that_an_answer_does_not_have_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["ask", "hello", "--no-sources", "--chart", str(tmp_path / "x.png")]) == 0
    assert "has no chart" in capfd.readouterr().err
    assert not (tmp_path / "x.png").exists()


def test_a_folder_that_cannot_be_written_costs_no_answer(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIZEWISE_DATA_DIR", "/dev/null/x")
    assert _exit_code(["ask", QUESTION, "--no-sources"]) == 0
    assert "RTX 4090" in capfd.readouterr().out


@pytest.mark.parametrize("url", ["nonsense", "mysql://a/b"])
def test_the_doctor_survives_what_it_finds(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    lines: list[str] = []
    assert examine(write=lines.append) == 1
    said = "".join(lines)
    assert "set DATABASE_URL" in said
    assert "SLACK_BOT_TOKEN" in said


def test_a_blank_model_is_none(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SIZEWISE_LLM", " ")
    assert _exit_code(["ask", QUESTION, "--no-sources"]) == 0
    assert "RTX 4090" in capfd.readouterr().out


def _exit_code(command: list[str]) -> int | str | None:
    try:
        return main(command)
    except SystemExit as end:
        return end.code
