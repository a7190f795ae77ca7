"""`python -m sizing estimate|recommend`: JSON Lines in, JSON Lines out, in input order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TextIO

from pydantic import BaseModel

from sizing.errors import UserError
from sizing.json_lines import OWN_FAULTS, own_fault, read_value, tolerant, written

_USAGE = "usage: python -m sizing estimate|recommend < specs.jsonl"
Answerer = Callable[[object], BaseModel]


def main(arguments: list[str]) -> int:
    """Run one command; exit code 2 where the command itself cannot run."""
    if len(arguments) != 1 or arguments[0] not in _COMMANDS:
        print(_USAGE, file=sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    answer_lines(tolerant(sys.stdin), tolerant(sys.stdout), _COMMANDS[arguments[0]]())
    return 0


def answer_lines(lines: TextIO, out: TextIO, answer: Answerer) -> None:
    """One answer for every line that is not blank; a bad line is answered and the rest goes on."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            out.write(written(_answer(line, number, answer)))
            out.flush()


def _answer(line: str, number: int, answer: Answerer) -> BaseModel | dict[str, Any]:
    try:
        data = read_value(line)
    except UserError as fault:
        return {"id": None, "ok": False, "error": {"field": "line", "message": f"line {number} is {fault.message}"}}
    try:
        return answer(data)
    except OWN_FAULTS as fault:
        return own_fault(data.get("id") if isinstance(data, dict) else None, fault)


def _estimator() -> Answerer:
    from sizing.engine import estimate_data

    return estimate_data


def _recommender() -> Answerer:
    from sizing.recommend import recommend_data

    return recommend_data


_COMMANDS: dict[str, Callable[[], Answerer]] = {"estimate": _estimator, "recommend": _recommender}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
