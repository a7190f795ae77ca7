"""A file `.env` in the working directory counts for every part of the project, and less than the environment."""

from pathlib import Path

import pytest

from bot.cli import main
from knowledge.__main__ import main as knowledge_main

NOTE = "# Policy\n\nTwo cards per machine at most.\n"
VARIABLES = ("DATABASE_URL", "SIZEWISE_DATA_DIR", "SIZEWISE_LLM", "SIZEWISE_EMBEDDINGS")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        # Set first, so that what the file brings is taken back after the test.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    Path("note.md").write_text(NOTE)


def env_file(*lines: str) -> None:
    Path(".env").write_text("\n".join(("SIZEWISE_EMBEDDINGS=off", *lines)) + "\n")


@pytest.mark.parametrize("command", [knowledge_main, lambda arguments: _exit_code(["knowledge", *arguments])])
def test_documents_and_threads_go_where_the_file_says(
    command: object, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert callable(command)
    env_file(f"SIZEWISE_DATA_DIR={tmp_path / 'kept'}", f"DATABASE_URL=sqlite:///{tmp_path / 'one.db'}")
    assert command(["add", "note.md"]) == 0
    assert _exit_code(["doctor"]) == 1
    said = capfd.readouterr().out
    assert f"data directory {tmp_path / 'kept'}" in said
    assert "1 documents, bm25" in said
    assert (tmp_path / "one.db").exists()
    assert not (tmp_path / "kept" / "knowledge.db").exists()


def test_a_language_model_may_stand_in_the_file(capfd: pytest.CaptureFixture[str]) -> None:
    env_file("SIZEWISE_LLM=nobody:x")
    assert _exit_code(["ask", "Llama 3.1 8B on a 4090", "--no-sources"]) == 2
    [said] = capfd.readouterr().err.splitlines()
    assert "SIZEWISE_LLM='nobody:x'" in said


def test_the_environment_goes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    env_file(f"SIZEWISE_DATA_DIR={tmp_path / 'file'}")
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path / "environment"))
    _exit_code(["doctor"])
    assert f"data directory {tmp_path / 'environment'}" in capfd.readouterr().out


def test_a_file_that_is_no_text_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    Path(".env").write_bytes("SIZEWISE_EMBEDDINGS=off # für uns\n".encode("utf-16"))
    assert _exit_code(["doctor"]) == 2
    assert ".env cannot be read" in capfd.readouterr().err


def _exit_code(command: list[str]) -> int | str | None:
    try:
        return main(command)
    except SystemExit as end:
        return end.code
