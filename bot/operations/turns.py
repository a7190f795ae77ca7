"""Dead letters: questions that were given up, each with the error that ended it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Engine, and_, delete, select, update

from bot.database import reading
from bot.schema import turns
from bot.surface import error_id_of


@dataclass(frozen=True)
class Unfinished:
    """A turn that waits, runs or is dead. `id` is the number that the asker was told; times are seconds since 1970."""

    id: str
    key: str
    state: str
    kind: str
    team: str
    channel: str
    user: str
    attempts: int
    received_at: float
    error: str | None


class DeadLetters:
    """The turns that did not end in an answer. What people wrote is not shown."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self.engine, self.clock = engine, clock

    def unfinished(self, *, dead_only: bool = True) -> list[Unfinished]:
        """Oldest first."""
        names = [name for name in Unfinished.__dataclass_fields__ if name != "id"]
        wanted = ("dead",) if dead_only else ("queued", "running", "dead")
        query = (
            select(*(turns.c[name] for name in names)).where(turns.c.state.in_(wanted)).order_by(turns.c.received_at)
        )
        with reading(self.engine) as connection:
            return [Unfinished(id=error_id_of(row.key), **row._mapping) for row in connection.execute(query)]

    def retry(self, name: str | None) -> list[Unfinished]:
        """Put a dead turn, named by its id or key, back into the inbox; without a name, all of them.

        What an earlier attempt posted is looked for before anything is said again.
        """
        chosen = self._named(name)
        changed = {"state": "queued", "attempts": 0, "not_before": self.clock(), "error": None, "finished_at": None}
        with self.engine.begin() as connection:
            connection.execute(update(turns).where(_these(chosen)).values(changed))
        return chosen

    def drop(self, name: str | None) -> list[Unfinished]:
        """Remove a dead turn, or all of them, for good."""
        chosen = self._named(name)
        with self.engine.begin() as connection:
            connection.execute(delete(turns).where(_these(chosen)))
        return chosen

    def _named(self, name: str | None) -> list[Unfinished]:
        return [turn for turn in self.unfinished() if name in (None, turn.id, turn.key)]


def _these(chosen: list[Unfinished]) -> ColumnElement[bool]:
    """Only while they are still dead: a turn that somebody else retried is left alone."""
    return and_(turns.c.state == "dead", turns.c.key.in_([turn.key for turn in chosen]))
