"""`python -m bot parse`: JSON Lines of messages or threads in, their readings out."""

from collections.abc import Iterable
from typing import Any, TextIO

from bot.understand.read import read, read_thread
from bot.understand.request import Request
from bot.understand.specs import specs_of
from sizing.errors import UserError
from sizing.json_lines import OWN_FAULTS, own_fault, read_object, written

LONGEST_MESSAGE = 40_000
_EXAMPLE = '{"id": "1", "text": "…"}'


def parse_lines(lines: Iterable[str], out: TextIO) -> int:
    """Answer every line in order; a bad line gets an error of its own and the next one is read."""
    for line in lines:
        if line.strip():
            out.write(written(answer_line(line)))
            out.flush()
    return 0


def answer_line(line: str) -> dict[str, Any]:
    """The answer to one line of input."""
    ident: Any = None
    try:
        data = read_object(line, _EXAMPLE)
        ident = data.get("id")
        return {"id": ident, **_answer(data)}
    except UserError as fault:
        return {"id": ident, "ok": False, "error": {"field": fault.field, "message": str(fault)}}
    except OWN_FAULTS as fault:
        return own_fault(ident, fault)


def _answer(data: dict[str, Any]) -> dict[str, Any]:
    if "turns" in data:
        turns = data["turns"]
        if not isinstance(turns, list) or not turns:
            raise UserError("turns", turns, "expected a list of messages")
        done = read_thread([_message("turns", turn) for turn in turns])
        return {"ok": True, "turns": [_as_answer(request) for request in done]}
    if "text" not in data:
        raise UserError("text", None, 'expected "text" or "turns"')
    return _as_answer(read(_message("text", data["text"])))


def _message(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise UserError(field, value, f"a message is text, not {type(value).__name__}")
    if len(value) > LONGEST_MESSAGE:
        raise UserError(field, f"{len(value)} characters", f"a message may have up to {LONGEST_MESSAGE} characters")
    return value


def _as_answer(request: Request) -> dict[str, Any]:
    return request.answer(specs_of(request))
