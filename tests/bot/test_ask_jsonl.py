"""`bot ask` as scripts use it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.ask_jsonl import answer_lines
from bot.thread import Context

QUESTION = {"id": "q1", "text": "Llama 3.1 8B on a 4090, 8k context"}
KEYS = {"id", "ok", "lang", "text", "blocks", "specs", "estimates", "options", "citations", "unverified_numbers"}


def _answers(*lines: str) -> list[dict[str, Any]]:
    return list(answer_lines(lines, Context()))


def test_an_answer_has_the_keys_of_the_interface() -> None:
    (answer,) = _answers(json.dumps(QUESTION))
    assert answer.keys() >= KEYS
    assert (answer["id"], answer["ok"], answer["lang"]) == ("q1", True, "en")
    assert answer["unverified_numbers"] == []
    assert json.loads(json.dumps(answer)) == answer


def test_turns_are_a_thread() -> None:
    (answer,) = _answers(json.dumps({"id": 7, "turns": ["Llama 3.1 8B on a 4090", {"text": "and with fp8?"}]}))
    assert (answer["id"], len(answer["turns"])) == (7, 2)
    assert answer["turns"][1]["specs"][0]["weights"] == "fp8"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("nonsense", "line"), ("[]", "line"), ("3", "line"), ('{"id": 1}', "text"), ('{"id": 1, "text": 5}', "text"),
        ('{"id": 1, "turns": []}', "text"), ('{"id": 1, "turns": [5]}', "text"), ("[" * 100_000, "line"), ('{"id": NaN}', "line"),
        ('{"id": ' + "9" * 5_000 + "}", "line"),
    ],
)  # fmt: skip
def test_a_bad_line_gets_an_error_and_the_next_is_answered(line: str, field: str) -> None:
    bad, good = _answers(line, json.dumps(QUESTION))
    assert (bad["ok"], bad["error"]["field"], good["ok"]) == (False, field, True)


def _run(*arguments: str, stdin: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SIZEWISE_DATA_DIR": str(folder), "SIZEWISE_EMBEDDINGS": "off"}
    return subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


def test_the_command_writes_lines_and_nothing_else(tmp_path: Path) -> None:
    done = _run("ask", "--jsonl", stdin=f"{json.dumps(QUESTION)}\n\nbad\n", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [True, False]


def test_heavy_modules_stay_out(tmp_path: Path) -> None:
    script = (
        "import sys; from bot.conversation import respond; from bot.thread import Context, ThreadState;"
        "respond('Llama 3.1 8B on a 4090', ThreadState(), Context());"
        "print([m for m in ('torch', 'chromadb', 'slack_bolt', 'langchain', 'matplotlib', 'sqlalchemy') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120
    )
    assert done.stdout.strip() == "[]", done.stderr
