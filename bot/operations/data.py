"""What is kept about people and workspaces: given out, deleted on demand, deleted when it is old."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from sqlalchemy import ColumnElement, Engine, Table, and_, delete, exists, not_, or_, select

from bot.database import reading
from bot.schema import answers, feedback, installations, team_defaults, threads, turns

_DAY_S: Final = 86_400.0
_UNFINISHED: Final = ("queued", "running")
# Never given out: they are addresses and keys, not anybody's data.
_HIDDEN: Final = frozenset({"response_url", "sealed"})


class Holdings:
    """Everything kept, by workspace and by person. Removal and export are one transaction each."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self.engine, self.clock = engine, clock

    def export(self, team: str, user: str | None = None) -> Iterator[dict[str, Any]]:
        """Every row about a workspace, or about a person in it, with the name of its table."""
        with reading(self.engine) as connection:
            for table, own in self._of(team, user).items():
                for row in connection.execute(select(table).where(own)):
                    yield {"table": table.name, **_shown(dict(row._mapping))}

    def _of(self, team: str, user: str | None) -> dict[Table, ColumnElement[bool]]:
        if user is None:
            own = threads.c.team == team
            of_answers = answers.c.thread_id.in_(select(threads.c.id).where(own))
            votes = feedback.c.answer_id.in_(select(answers.c.id).where(of_answers))
            return {
                threads: own, turns: turns.c.team == team, answers: of_answers, feedback: votes,
                team_defaults: team_defaults.c.team == team,
            }  # fmt: skip
        asked = and_(turns.c.team == team, turns.c.user == user)
        of_person = select(turns.c.thread_id).where(asked)
        return {
            threads: threads.c.id.in_(of_person), turns: asked, answers: answers.c.thread_id.in_(of_person),
            feedback: _votes(team, user),
        }  # fmt: skip

    def forget_user(self, team: str, user: str) -> int:
        """Remove a person's votes and every thread the person asked in, answers included; how many threads.

        A thread's state mixes what its people said, so it goes as a whole.
        """
        asked = select(turns.c.thread_id).where(turns.c.team == team, turns.c.user == user)
        with self.engine.begin() as connection:
            connection.execute(delete(feedback).where(_votes(team, user)))
            return connection.execute(delete(threads).where(threads.c.id.in_(asked))).rowcount

    def forget_team(self, team: str) -> int:
        """Remove everything of a workspace, its tokens too; how many threads."""
        with self.engine.begin() as connection:
            connection.execute(delete(turns).where(turns.c.team == team))
            connection.execute(delete(team_defaults).where(team_defaults.c.team == team))
            connection.execute(delete(installations).where(installations.c.team == team))
            return connection.execute(delete(threads).where(threads.c.team == team)).rowcount

    def forget_older(self, days: float) -> int:
        """Remove threads in which nothing happened for so many days and nothing waits; how many."""
        open_turns = exists().where(turns.c.thread_id == threads.c.id, turns.c.state.in_(_UNFINISHED))
        old = and_(threads.c.updated_at < self.clock() - days * _DAY_S, not_(open_turns))
        with self.engine.begin() as connection:
            return connection.execute(delete(threads).where(old)).rowcount


def _votes(team: str, user: str) -> ColumnElement[bool]:
    """A person's votes on answers of a workspace: user ids are unique within one only."""
    within = select(answers.c.id).join(threads, threads.c.id == answers.c.thread_id).where(threads.c.team == team)
    return and_(feedback.c.user == user, or_(feedback.c.answer_id.in_(within)))


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in row.items() if name not in _HIDDEN}
    if isinstance(found.get("body"), dict):
        found["body"] = {name: value for name, value in found["body"].items() if name not in _HIDDEN}
    return found
