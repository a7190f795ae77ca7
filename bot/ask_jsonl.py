"""`bot ask` for scripts: JSON Lines in, finished answers out, as INTERFACE names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.answer import Answer
from bot.conversation import respond
from bot.reply.plain import text
from bot.thread import Context, ThreadState
from sizing.errors import UserError
from sizing.json_lines import OWN_FAULTS, own_fault, read_object

MAX_LINE_CHARACTERS = 1_000_000
_EXAMPLE = '{"id": "1", "text": "…"}'


def answer_lines(lines: Iterable[str], context: Context) -> Iterator[dict[str, Any]]:
    """One object for every line that is not blank; a line that cannot be read is answered with `ok` false."""
    for line in lines:
        if line.strip():
            yield _answer_line(line, context)


def as_json(answer: Answer, ident: object = None) -> dict[str, Any]:
    """An Answer in the form of INTERFACE: the plain text and the blocks beside the fields of the Answer itself."""
    shown = answer.model_dump(mode="json")
    shown["answer_id"] = shown.pop("id")
    return {"id": ident, "ok": True, **shown, "text": text(answer), "blocks": _blocks(answer)}


def _answer_line(line: str, context: Context) -> dict[str, Any]:
    if len(line) > MAX_LINE_CHARACTERS:
        return _fault(None, "line", f"a line may have {MAX_LINE_CHARACTERS:,} characters at most")
    ident: object = None
    try:
        asked = read_object(line, _EXAMPLE)
        ident = asked.get("id")
        return _answer_object(asked, context)
    except UserError as fault:
        return _fault(ident, fault.field, fault.message)
    except OWN_FAULTS as fault:
        return own_fault(ident, fault)


def _answer_object(asked: Mapping[str, Any], context: Context) -> dict[str, Any]:
    ident = asked.get("id")
    turns = asked.get("turns")
    if turns is None and isinstance(asked.get("text"), str):
        return as_json(respond(asked["text"], ThreadState(), context)[0], ident)
    texts = [_turn_text(turn) for turn in turns] if isinstance(turns, list) else []
    if not texts or any(turn is None for turn in texts):
        return _fault(ident, "text", 'give "text" (a string) or "turns" (a list of strings)')
    return {"id": ident, "ok": True, "turns": _thread([turn for turn in texts if turn is not None], context)}


def _turn_text(turn: object) -> str | None:
    found = turn.get("text") if isinstance(turn, Mapping) else turn
    return found if isinstance(found, str) else None


def _thread(texts: list[str], context: Context) -> list[dict[str, Any]]:
    state, answers = ThreadState(), []
    for turn in texts:
        answer, state = respond(turn, state, context)
        answers.append(as_json(answer))
    return answers


def _blocks(answer: Answer) -> list[dict[str, Any]]:
    from bot.reply.blocks import render

    return [dict(block) for message in render(answer).messages for block in message.blocks]


def _fault(ident: object, field: str, message: str) -> dict[str, Any]:
    return {"id": ident, "ok": False, "error": {"field": field, "message": message}}
