"""The real pipeline in processes of its own says what it says in this one, sources, clicks and pictures included."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bot.conversation import act, respond
from bot.thread import Context, TeamDefaults, ThreadState

QUESTION = "llama3.3-70b q4 32k x10 on 2x4090"
_SCRIPT = """
import json, os, sys
from bot.answering import InProcesses, processes_for
from bot.reply.chart import png
from bot.thread import Context, TeamDefaults, ThreadState

if __name__ == "__main__":
    processes = processes_for(1, 300.0)
    answers = InProcesses(processes)
    answers.warm()
    context = Context(defaults=TeamDefaults(currency="USD"), answer_id="a1")
    first, thread = answers.respond(sys.argv[1], ThreadState(), context)
    why, _ = answers.act("why", {"answer_id": "a1"}, thread, context)
    picture = processes.run(png, first.chart, first.lang, titled=False)
    processes.close()
    said = {"first": first.model_dump(mode="json"), "why": why.model_dump(mode="json"), "picture": picture[:4].hex()}
    print(json.dumps(said))
"""


def test_answers_in_processes_are_the_same(tmp_path: Path) -> None:
    script = tmp_path / "answers.py"
    script.write_text(_SCRIPT, "utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(Path(__file__).parents[2]), "SIZEWISE_DATA_DIR": str(tmp_path),
    }  # fmt: skip
    command = [sys.executable, str(script), QUESTION]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    context = Context(defaults=TeamDefaults(currency="USD"), answer_id="a1")
    first, thread = respond(QUESTION, ThreadState(), context)
    why, _ = act("why", {"answer_id": "a1"}, thread, context)
    for name, here in (("first", first), ("why", why)):
        there = found[name]
        # Sources are open there and not here; whatever does not cite is the same.
        assert (there["headline"], there["specs"], there["table"]) == (
            here.headline, list(here.specs), here.table and here.table.model_dump(mode="json"),
        )  # fmt: skip
        assert there["id"] == "a1"
    assert found["first"]["citations"] and found["why"]["citations"]
    assert found["picture"] == "89504e47"
    # Answers cite by topic: the vectors that a search would need are not computed for them (12 s and 600 MiB at a first start).
    assert not (tmp_path / "chroma").exists()
