"""JSON Lines that survive what people feed them: one reader and one writer for every command."""

from __future__ import annotations

import io
import json
import traceback
from typing import TextIO

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from sizing.errors import UserError

# Faults of ours, caught at the edge of a command so that the lines after them are still answered.
OWN_FAULTS = (LookupError, ValueError, TypeError, ArithmeticError, AttributeError, RecursionError)
_BYTE_ORDER_MARK = "\ufeff"


def own_fault(ident: object, fault: BaseException) -> dict[str, object]:
    """The answer to a line that a fault of ours kept from being answered; the traceback goes to standard error."""
    traceback.print_exception(fault)
    message = "this line could not be answered because of a fault of ours; standard error says which"
    return {"id": ident, "ok": False, "error": {"field": "internal", "message": message}}


def read_object(line: str, example: str) -> dict[str, object]:
    """The object on one line; `example` shows what a right line looks like.

    Raises:
        UserError: the line is no JSON (NaN and Infinity are none), is nested too deeply, or holds no object.
    """
    found = read_value(line)
    if not isinstance(found, dict):
        raise UserError("line", line[:80], f"a JSON object such as {example} is wanted, not {type(found).__name__}")
    return found


def read_value(line: str) -> object:
    """The value on one line.

    Raises:
        UserError: the line is no JSON (NaN and Infinity are none), is nested too deeply, has a number of thousands of digits, or a key
            twice, of which only one could count.
    """
    try:
        return json.loads(
            line.removeprefix(_BYTE_ORDER_MARK), parse_constant=_refuse_constant, object_pairs_hook=_object
        )
    except RecursionError:
        raise UserError("line", line[:80], "not JSON: nested too deeply") from None
    except ValueError as fault:
        raise UserError("line", line[:80], f"not JSON: {fault}") from None


def written(answer: object) -> str:
    """One line of JSON with its line end, of a model or of plain data.

    Half a surrogate pair has no UTF-8; it leaves as the escape it came in as.
    """
    if isinstance(answer, BaseModel):
        try:
            return answer.model_dump_json() + "\n"
        except PydanticSerializationError:
            answer = answer.model_dump(mode="json")
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def tolerant(stream: TextIO) -> TextIO:
    """The stream, read as UTF-8 whatever the locale; a byte that is none becomes U+FFFD instead of ending the command."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")
    return stream


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if _met(name, seen))
        raise ValueError(f"the key {twice[:80]!r} stands twice in one object")
    return found


def _met(name: str, seen: set[str]) -> bool:
    met = name in seen
    seen.add(name)
    return met


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")
