"""Threads, answers, team defaults and feedback. What waits to be answered stands in `bot.inbox`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Engine, Insert, Table, and_, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from bot.answer import Answer
from bot.database import reading, relaxed
from bot.schema import answers, feedback, team_defaults, threads, turns
from bot.thread import TeamDefaults, ThreadState


@dataclass(frozen=True)
class ThreadInfo:
    """Where a thread is, and whether the bot takes part in it without being mentioned."""

    id: str
    team: str
    channel: str
    root_ts: str | None
    conversation: bool
    read_until: str | None


_INFO: Final = tuple(ThreadInfo.__dataclass_fields__)


@dataclass(frozen=True)
class Opening:
    """A thread, what was said in it, and what its team has set."""

    thread: ThreadInfo | None
    state: ThreadState
    defaults: TeamDefaults


@dataclass(frozen=True)
class StoredAnswer:
    """An answer with the thread it belongs to."""

    thread_id: str
    answer: Answer


@dataclass(frozen=True)
class Feedback:
    """A person's vote on an answer, at seconds since 1970."""

    at: float
    user: str
    vote: int
    answer_id: str
    headline: str


def upsert(connection: Connection, table: Table, values: dict[str, Any], *, change: tuple[str, ...] = ()) -> bool:
    """Insert a row; on a known key change the named columns or, without any, leave it. False if nothing was done."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement: Any = insert(table).values(values)
    key = [column.name for column in table.primary_key]
    if change:
        statement = statement.on_conflict_do_update(
            index_elements=key, set_={name: statement.excluded[name] for name in change}
        )
    else:
        statement = statement.on_conflict_do_nothing(index_elements=key)
    query: Insert = statement
    return connection.execute(query.returning(*table.primary_key)).first() is not None


class Store:
    """Reads and writes of everything that outlives a turn. Every method is one transaction."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.time) -> None:
        self.engine = engine
        self.clock = clock

    def thread(self, thread_id: str) -> ThreadInfo | None:
        columns = [threads.c[name] for name in _INFO]
        with reading(self.engine) as connection:
            row = connection.execute(select(*columns).where(threads.c.id == thread_id)).one_or_none()
        return ThreadInfo(*row) if row else None

    def thread_state(self, thread_id: str) -> ThreadState:
        """What was said in a thread; an unknown one is empty."""
        with reading(self.engine) as connection:
            found = connection.execute(select(threads.c.state).where(threads.c.id == thread_id)).scalar()
        return ThreadState.model_validate(found) if found else ThreadState()

    def opening(self, thread_id: str, team: str) -> Opening:
        """All that a turn begins with, in one look."""
        columns = [threads.c[name] for name in (*_INFO, "state")]
        with reading(self.engine) as connection:
            row = connection.execute(select(*columns).where(threads.c.id == thread_id)).one_or_none()
            body = connection.execute(select(team_defaults.c.body).where(team_defaults.c.team == team)).scalar()
        known = TeamDefaults.model_validate(body) if body else TeamDefaults()
        if row is None:
            return Opening(None, ThreadState(), known)
        state = ThreadState.model_validate(row.state) if row.state else ThreadState()
        return Opening(ThreadInfo(*row[:-1]), state, known)

    def save_thread(
        self, thread_id: str, state: ThreadState, *, team: str, channel: str = "", root_ts: str | None = None,
        conversation: bool = True,
    ) -> None:  # fmt: skip
        """Keep a thread's state; the thread is made where it is new."""
        with self.engine.begin() as connection:
            now = self.clock()
            row = {
                "id": thread_id, "team": team, "channel": channel, "root_ts": root_ts, "conversation": conversation,
                "state": state.model_dump(mode="json"), "created_at": now, "updated_at": now,
            }  # fmt: skip
            upsert(connection, threads, row, change=("state", "updated_at"))

    def forget_thread(self, thread_id: str) -> None:
        """Remove a thread with its turns and answers."""
        with self.engine.begin() as connection:
            connection.execute(delete(threads).where(threads.c.id == thread_id))

    def save_answer(self, thread_id: str, answer: Answer) -> None:
        """Keep an answer under its id; saying the same turn again replaces it."""
        row = {
            "id": answer.id, "thread_id": thread_id, "body": answer.model_dump(mode="json"), "created_at": self.clock(),
        }  # fmt: skip
        # The mark set before it is posted goes to the disk after this, and takes it along.
        with relaxed(self.engine).begin() as connection:
            upsert(connection, answers, row, change=("body",))

    def answer(self, answer_id: str) -> StoredAnswer | None:
        with reading(self.engine) as connection:
            query = select(answers.c.thread_id, answers.c.body).where(answers.c.id == answer_id)
            row = connection.execute(query).one_or_none()
        return StoredAnswer(row.thread_id, Answer.model_validate(row.body)) if row else None

    def defaults(self, team: str) -> TeamDefaults:
        with reading(self.engine) as connection:
            body = connection.execute(select(team_defaults.c.body).where(team_defaults.c.team == team)).scalar()
        return TeamDefaults.model_validate(body) if body else TeamDefaults()

    def set_defaults(self, team: str, defaults: TeamDefaults) -> None:
        row = {"team": team, "body": defaults.model_dump(mode="json"), "updated_at": self.clock()}
        with self.engine.begin() as connection:
            upsert(connection, team_defaults, row, change=("body", "updated_at"))

    def vote(self, answer_id: str, user: str, vote: Literal[-1, 1], team: str | None = None) -> bool:
        """Count a person's vote on an answer, the last one if there are several.

        False if there is no such answer, or none of this workspace.
        """
        known = select(answers.c.id).join(threads, threads.c.id == answers.c.thread_id).where(answers.c.id == answer_id)
        known = known if team is None else known.where(threads.c.team == team)
        with self.engine.begin() as connection:
            if connection.execute(known).one_or_none() is None:
                return False
            row = {"answer_id": answer_id, "user": user, "vote": vote, "created_at": self.clock()}
            upsert(connection, feedback, row, change=("vote", "created_at"))
        return True

    def votes(self, answer_id: str) -> dict[str, int]:
        """Votes on an answer by user."""
        with reading(self.engine) as connection:
            rows = connection.execute(select(feedback.c.user, feedback.c.vote).where(feedback.c.answer_id == answer_id))
            return {row.user: row.vote for row in rows}

    def recent_questions(self, team: str, user: str, most: int) -> tuple[str, ...]:
        """What a person asked last, newest first, each text once. Their own questions only."""
        own = and_(turns.c.team == team, turns.c.user == user, turns.c.kind.in_(("message", "command")))
        query = select(turns.c.body).where(own).order_by(turns.c.received_at.desc()).limit(most * 4)
        with reading(self.engine) as connection:
            texts = [str(body.get("text") or "").strip() for body in connection.execute(query).scalars()]
        return tuple(dict.fromkeys(text for text in texts if text))[:most]

    def feedback(self, most: int) -> tuple[Feedback, ...]:
        """The latest votes with what they were about."""
        query = (
            select(feedback.c.created_at, feedback.c.user, feedback.c.vote, answers.c.id, answers.c.body)
            .join(answers, answers.c.id == feedback.c.answer_id)
            .order_by(feedback.c.created_at.desc())
            .limit(most)
        )
        with reading(self.engine) as connection:
            rows = connection.execute(query).all()
        return tuple(Feedback(row.created_at, row.user, row.vote, row.id, str(row.body["headline"])) for row in rows)

    def forget_team(self, team: str) -> None:
        """Remove everything a workspace has left here, as when it uninstalls the app."""
        with self.engine.begin() as connection:
            connection.execute(delete(turns).where(turns.c.team == team))
            connection.execute(delete(threads).where(threads.c.team == team))
            connection.execute(delete(team_defaults).where(team_defaults.c.team == team))
