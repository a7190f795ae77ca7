"""Asks questions of the bot and keeps, beside each answer, everything the engine handed over while it was made."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import sizing
from bench.grounding.facts import Fact, facts_in
from bot.answer import Answer
from bot.conversation import respond
from bot.thread import Context, ThreadState
from sizing.estimate import DerivationStep

_ENGINE = str(Path(sizing.__file__).parent)
_CATALOGUE = str(Path(sizing.__file__).parent / "catalogue")


@dataclass(frozen=True)
class Asked:
    """One turn: where it comes from, all messages of its thread so far, the answer, and what the engine returned to the bot."""

    id: str
    said: tuple[str, ...]
    answer: Answer
    returned: tuple[Fact, ...] = field(repr=False)


def asked(rows: Iterable[Mapping[str, Any]], context: Context) -> Iterator[Asked]:
    """Every turn of every row: `text`, or `turns` of a thread (texts, or objects with a `text`)."""
    for row in rows:
        thread, said = ThreadState(), []
        turns = row.get("turns") or [row["text"]]
        for number, turn in enumerate(turns):
            said.append(turn["text"] if isinstance(turn, Mapping) else str(turn))
            with _watched() as returned:
                answer, thread = respond(said[-1], thread, context)
            yield Asked(
                f"{row['id']}.{number}" if len(turns) > 1 else row["id"], tuple(said), answer, _figures(returned)
            )


def _figures(returned: Iterable[tuple[str, Any]]) -> tuple[Fact, ...]:
    found = [fact for name, value in returned for fact in facts_in(value, name)]
    limits = [fact for fact in found if fact.place.endswith(".after")]
    once = {(fact.value, fact.dimension): fact for fact in found}
    return (*once.values(), *(below for limit in limits for below in _below(limit)))


def _below(limit: Fact) -> Iterator[Fact]:
    """The engine says where it stops to fit; an answer names the number before, lengths in steps of 256 or 1,024 tokens."""
    last = int(limit.value) - 1
    yield from (Fact(float(last // step * step), limit.dimension, "before the flip") for step in (1, 256, 1024))


@contextmanager
def _watched() -> Iterator[list[tuple[str, Any]]]:
    """The name and the value of every call from outside the engine into it; the catalogue as a whole is no figure.

    A sum that the answer has worked out by the engine is none either: it counts where it is carried and comes out again.
    """
    returned: list[tuple[str, Any]] = []

    def watch(frame: FrameType, event: str, value: Any) -> None:
        if event != "return" or value is None or isinstance(value, DerivationStep):
            return
        file = frame.f_code.co_filename
        caller = frame.f_back
        inside = caller is not None and caller.f_code.co_filename.startswith(_ENGINE)
        if file.startswith(_ENGINE) and not file.startswith(_CATALOGUE) and not inside:
            returned.append((frame.f_code.co_name, value))

    sys.setprofile(watch)
    try:
        yield returned
    finally:
        sys.setprofile(None)
