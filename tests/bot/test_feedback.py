"""`sizewise feedback`: votes with what they were about, newest first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.answer import Answer
from bot.feedback import show
from bot.surroundings import store
from bot.thread import ThreadState


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)


def _shown(as_json: bool) -> str:
    written: list[str] = []
    show(10, as_json, written.append)
    return "".join(written)


def test_votes_are_listed_with_the_headline_they_were_about() -> None:
    kept = store()
    kept.save_thread("T1/C1/1", ThreadState(), team="T1", channel="C1")
    for number, headline in enumerate(["No: 3 GiB are missing.", "Yes, with 5 GiB to spare."]):
        kept.save_answer("T1/C1/1", Answer(id=f"a{number}", lang="en", intent="fits", headline=headline))
    assert kept.vote("a0", "U1", -1)
    assert kept.vote("a1", "U2", 1)
    text = _shown(False)
    assert text.startswith("2 votes: 1 helpful, 1 not helpful\n")
    assert "not helpful   U1  No: 3 GiB are missing.  [a0]" in text
    lines = [json.loads(line) for line in _shown(True).splitlines()]
    assert [(line["vote"], line["headline"]) for line in lines] == [
        ("helpful", "Yes, with 5 GiB to spare."), ("not helpful", "No: 3 GiB are missing."),
    ]  # fmt: skip


def test_without_votes_it_says_so() -> None:
    assert _shown(False) == "0 votes: 0 helpful, 0 not helpful\n"
