"""`python -m bot parse`: one answer a line, whatever the line."""

import io
import json
import subprocess
import sys

import pytest

from bot.understand.parse_cli import answer_line, parse_lines

_QUESTION = {
    "id": "q1",
    "text": "Reichen zwei 4090 für Llama 3.3 70B in FP8 mit 32k Kontext und 10 gleichzeitigen Nutzern?",
}


def test_an_answer_has_the_fields_of_the_interface() -> None:
    answer = answer_line(json.dumps(_QUESTION))
    expected = {
        "id": "q1", "ok": True, "lang": "de", "in_scope": True, "intent": "fits",
        "models": ["meta-llama/Llama-3.3-70B-Instruct"], "params_b": None, "weights": "fp8", "kv_cache": None,
        "context_tokens": 32768, "input_tokens": None, "output_tokens": None, "concurrency": 10, "users": None,
        "active_share": None, "hardware": [{"accelerator": "RTX 4090", "count": 2, "memory_gb": None}],
        "alternatives": [], "method": None, "engine": None, "budget": None, "missing": [], "clarify": None,
        "targets": {"ttft_s": None, "tokens_s_per_user": None, "tokens_s_total": None}, "derived": [],
    }  # fmt: skip
    assert {name: answer[name] for name in expected} == expected
    assert answer["specs"] == [
        {
            "task": "inference", "model": {"id": "meta-llama/Llama-3.3-70B-Instruct"}, "weights": "fp8",
            "context_tokens": 32768, "concurrency": 10, "hardware": [{"accelerator": "nvidia-rtx-4090", "count": 2}],
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "ident", "field"),
    [
        ("not json", None, "line"),
        ("[1, 2]", None, "line"),
        ('{"id": NaN, "text": "x"}', None, "line"),
        ('{"id": ' + "9" * 5_000 + "}", None, "line"),
        ('{"id": 1}', 1, "text"),
        ('{"id": 2, "text": 5}', 2, "text"),
        ('{"id": 3, "turns": []}', 3, "turns"),
        ('{"id": 4, "turns": ["a", null]}', 4, "turns"),
        (json.dumps({"id": 5, "text": "x" * 40_001}), 5, "text"),
    ],
)
def test_a_bad_line_is_named_and_the_next_one_read(line: str, ident: object, field: str) -> None:
    out = io.StringIO()
    assert parse_lines([line, "", json.dumps(_QUESTION)], out) == 0
    bad, good = (json.loads(answer) for answer in out.getvalue().splitlines())
    assert (bad["id"], bad["ok"], bad["error"]["field"]) == (ident, False, field)
    assert (good["id"], good["ok"]) == ("q1", True)


def test_a_thread_gets_one_object_a_turn() -> None:
    answer = answer_line(json.dumps({"id": "t", "turns": ["qwen3-14b on an L4", "and 2 of them?", "why?"]}))
    assert [turn["intent"] for turn in answer["turns"]] == ["fits", "fits", "explain"]
    assert [turn["hardware"][0]["count"] for turn in answer["turns"]] == [1, 2, 2]


def test_the_command_loads_nothing_heavy() -> None:
    code = (
        'import sys, io; from bot.__main__ import main; sys.stdin = io.StringIO(\'{"id": 1, "text": "hi"}\'); main([\'parse\']);'
        "print([m for m in ('torch', 'chromadb', 'slack_bolt', 'langchain', 'langchain_core') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert json.loads(done.stdout)["in_scope"] is False
