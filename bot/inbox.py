"""The inbox: turns that wait, run, are done or are dead, in the one table that is also their history.

A turn is recorded before it is acknowledged and leased by a worker for a while; a lease that nobody renews lapses and
the turn is taken up again. Turns of one thread run one at a time in the order of their `ts`, across replicas too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    and_,
    case,
    exists,
    func,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.engine import Row

from bot.database import reading, relaxed
from bot.fairness import ORDERED_BY, Held, Shares, fair_order, served_lately
from bot.schema import threads, turns
from bot.store import upsert
from bot.thread import ThreadState

Kind = Literal["message", "command", "action", "share"]
Recorded = Literal["new", "duplicate", "too many", "busy"]

_UNFINISHED: Final = ("queued", "running")
_MINUTE_S: Final = 60.0
_ADDRESS: Final = "response_url"
_FILES: Final = "files"


class LeaseLost(Exception):
    """Another worker has, or may have, taken the turn over: whoever sees this must say nothing more about it."""


@dataclass(frozen=True)
class NewTurn:
    """A turn as it arrived. `key` is that of the message, so that both events of one message are one turn."""

    key: str
    thread_id: str
    kind: Kind
    team: str
    channel: str
    user: str
    ts: str
    root_ts: str | None = None
    conversation: bool = False
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Turn:
    """A leased turn. `attempts` counts this one."""

    key: str
    thread_id: str
    kind: Kind
    team: str
    channel: str
    user: str
    ts: str
    root_ts: str | None
    body: dict[str, Any]
    attempts: int
    posting_at: float | None
    received_at: float


_TURN_COLUMNS: Final = tuple(turns.c[name] for name in Turn.__dataclass_fields__)


class Inbox:
    """The `turns` table. Every method is one transaction."""

    def __init__(self, engine: Engine, lease_s: float = 30.0, clock: Callable[[], float] = time.time) -> None:
        self.engine = engine
        # What a power cut takes back of these is done again: the turn is leased once more, and what was said is found.
        self.relaxed = relaxed(engine)
        self.lease_s = lease_s
        self.clock = clock

    def record(
        self, turn: NewTurn, *, most_per_minute: int | None = None, most_open: Shares | None = None,
        revive: bool = False,
    ) -> Recorded:  # fmt: skip
        """Put a turn into the inbox unless it is there. `revive` takes up a dead one again.

        `most_open` bounds what its person and its workspace have waiting: others' questions are none of their business.
        """
        now = self.clock()
        with self.engine.begin() as connection:
            if revive and self._revive(connection, turn, now):
                return "new"
            known = connection.execute(select(turns.c.body).where(turns.c.key == turn.key)).first()
            if known is not None:
                if turn.body.get(_FILES) and not known.body.get(_FILES):
                    self._add_files(connection, turn, known.body, now)
                return "duplicate"
            if most_open is not None and self._crowded(connection, turn, most_open):
                return "busy"
            if most_per_minute is not None and self._recent(connection, turn.thread_id, now) >= most_per_minute:
                return "too many"
            self._know_thread(connection, turn, now)
            row = {
                name: getattr(turn, name)
                for name in ("key", "thread_id", "kind", "team", "channel", "user", "ts", "root_ts", "body")
            }
            row |= {"state": "queued", "attempts": 0, "not_before": now, "received_at": now}
            return "new" if upsert(connection, turns, row) else "duplicate"

    def _revive(self, connection: Connection, turn: NewTurn, now: float) -> bool:
        dead = and_(turns.c.key == turn.key, turns.c.state == "dead")
        changed = {"state": "queued", "attempts": 0, "not_before": now, "body": turn.body, "posting_at": None}
        return connection.execute(update(turns).where(dead).values(changed)).rowcount > 0

    def _add_files(self, connection: Connection, turn: NewTurn, known: dict[str, Any], now: float) -> None:
        """Of the two events of a message one may name no files. What is being worked on without them begins anew; said is said."""
        unsaid = and_(turns.c.key == turn.key, turns.c.state.in_(_UNFINISHED), turns.c.posting_at.is_(None))
        changed = {
            "body": {**known, _FILES: turn.body[_FILES]}, "state": "queued", "lease_until": None, "not_before": now,
        }  # fmt: skip
        connection.execute(update(turns).where(unsaid).values(changed))

    def _recent(self, connection: Connection, thread_id: str, now: float) -> int:
        recent = and_(turns.c.thread_id == thread_id, turns.c.received_at > now - _MINUTE_S)
        return connection.execute(select(func.count()).select_from(turns).where(recent)).scalar_one()

    def _crowded(self, connection: Connection, turn: NewTurn, most: Shares) -> bool:
        of_person = func.sum(case((turns.c.user == turn.user, 1), else_=0))
        open_turns = and_(turns.c.state.in_(_UNFINISHED), turns.c.team == turn.team)
        team, person = connection.execute(select(func.count(), of_person).where(open_turns)).one()
        return bool(team >= most.team or (person or 0) >= most.person)

    def _know_thread(self, connection: Connection, turn: NewTurn, now: float) -> None:
        row = {
            "id": turn.thread_id, "team": turn.team, "channel": turn.channel, "root_ts": turn.root_ts,
            "conversation": turn.conversation, "created_at": now, "updated_at": now,
        }  # fmt: skip
        upsert(connection, threads, row, change=("conversation",) if turn.conversation else ())

    def lease(self, owner: str, most: int, shares: Shares | None = None) -> list[Turn]:
        """Up to `most` turns to work on: the first unfinished one of threads in which none runs.

        Workspaces take turns, and so do the people of each. `shares` bounds what this owner holds of one of them.
        """
        if most <= 0:
            return []
        with self.relaxed.begin() as connection:
            held = Held.by(connection, owner, self.clock(), shares) if shares else Held()
            chosen = self._heads(connection, most, held)
            if connection.dialect.name == "postgresql":
                # Locking the threads and looking again with a fresh snapshot keeps two replicas off one thread.
                chosen = self._heads(connection, most, held, self._lock(connection, chosen))
            return [self._take(connection, row, owner) for row in held.within(chosen)]

    def _heads(
        self, connection: Connection, most: int, held: Held, within: Iterable[str] | None = None
    ) -> list[Row[Any]]:
        heads = self._first_of_threads().where(held.free)
        if within is not None:
            heads = heads.where(turns.c.thread_id.in_(list(within)))
        ordered = fair_order(connection.execute(heads), served_lately(connection, self.clock()))
        keys = [row.key for row in ordered[:most]]
        found = connection.execute(select(*_TURN_COLUMNS).where(turns.c.key.in_(keys)))
        return sorted(found, key=lambda row: keys.index(row.key))

    def _first_of_threads(self) -> Select[Any]:
        now = self.clock()
        other = turns.alias()
        same_thread = other.c.thread_id == turns.c.thread_id
        earlier = and_(
            other.c.state.in_(_UNFINISHED), tuple_(other.c.ts, other.c.key) < tuple_(turns.c.ts, turns.c.key)
        )
        running = and_(other.c.state == "running", other.c.lease_until >= now, other.c.key != turns.c.key)
        return select(*ORDERED_BY).where(_ready(now), ~exists().where(same_thread, or_(earlier, running)))

    def _lock(self, connection: Connection, rows: Iterable[Row[Any]]) -> list[str]:
        wanted = [row.thread_id for row in rows]
        query = select(threads.c.id).where(threads.c.id.in_(wanted)).with_for_update(skip_locked=True, key_share=True)
        return list(connection.execute(query).scalars())

    def _take(self, connection: Connection, row: Row[Any], owner: str) -> Turn:
        found = Turn(**row._mapping)
        changed = {
            "state": "running", "owner": owner, "lease_until": self.clock() + self.lease_s, "attempts": found.attempts + 1,
        }  # fmt: skip
        connection.execute(update(turns).where(turns.c.key == found.key).values(changed))
        return Turn(**{**row._mapping, "attempts": found.attempts + 1})

    # `attempt` tells one lease of an owner from its next: where the clock jumped, or the process slept for longer than
    # a lease, it may have taken up the same turn once more.

    def renew(self, key: str, owner: str, attempt: int | None = None) -> None:
        """Hold a turn for another while.

        Raises:
            LeaseLost: it is no longer this owner's.
        """
        self._change_own(key, owner, attempt, {"lease_until": self.clock() + self.lease_s})

    def start_posting(self, key: str, owner: str, attempt: int | None = None) -> None:
        """Note that the answer is about to be sent: from here on a later attempt must look before it speaks.

        Raises:
            LeaseLost: the turn is no longer this owner's.
        """
        now = self.clock()
        changed = {"posting_at": func.coalesce(turns.c.posting_at, now), "lease_until": now + self.lease_s}
        self._change_own(key, owner, attempt, changed)

    def finish(
        self, key: str, owner: str, attempt: int | None = None, *, state: ThreadState | None = None,
        answer_id: str | None = None, read_until: str | None = None,
    ) -> None:  # fmt: skip
        """The turn is answered; its thread's new state is kept with it.

        Raises:
            LeaseLost: the turn is no longer this owner's.
        """
        now = self.clock()
        done = {"state": "done", "finished_at": now, "lease_until": None, "answer_id": answer_id, "error": None}
        with self.relaxed.begin() as connection:
            thread_id = self._change(connection, key, owner, attempt, done)
            changed: dict[str, Any] = {"updated_at": now}
            if state is not None:
                changed["state"] = state.model_dump(mode="json")
            if read_until is not None:
                changed["read_until"] = read_until
            connection.execute(update(threads).where(threads.c.id == thread_id).values(changed))

    def put_back(self, key: str, owner: str, delay_s: float, error: str, attempt: int | None = None) -> None:
        """The turn is to be tried again, not before `delay_s` seconds from now.

        Raises:
            LeaseLost: it is no longer this owner's.
        """
        changed = {"state": "queued", "lease_until": None, "not_before": self.clock() + delay_s, "error": error}
        self._change_own(key, owner, attempt, changed)

    def bury(self, key: str, owner: str, error: str, attempt: int | None = None) -> None:
        """The turn is given up and kept as a dead letter.

        Raises:
            LeaseLost: it is no longer this owner's.
        """
        changed = {"state": "dead", "lease_until": None, "finished_at": self.clock(), "error": error}
        self._change_own(key, owner, attempt, changed)

    def stop(self, thread_id: str, error: str) -> list[Turn]:
        """Give up what runs in a thread and is not being said yet, whoever holds it; that one may then say nothing more."""
        running = and_(turns.c.thread_id == thread_id, turns.c.state == "running", turns.c.posting_at.is_(None))
        buried = {"state": "dead", "lease_until": None, "finished_at": self.clock(), "error": error}
        with self.engine.begin() as connection:
            found = connection.execute(update(turns).where(running).values(buried).returning(*_TURN_COLUMNS))
            stopped = [Turn(**row._mapping) for row in found]
            for turn in stopped:
                self._forget_address(connection, turn.key, turn.body)
        return stopped

    def _change_own(self, key: str, owner: str, attempt: int | None, changed: dict[str, Any]) -> None:
        with self.engine.begin() as connection:
            self._change(connection, key, owner, attempt, changed)

    def _change(
        self, connection: Connection, key: str, owner: str, attempt: int | None, changed: dict[str, Any]
    ) -> str:  # fmt: skip
        """Change a turn that this owner still holds; its thread's id. What is over keeps no address to answer to."""
        held = and_(
            turns.c.key == key, turns.c.state == "running", turns.c.owner == owner, turns.c.lease_until >= self.clock(),
            true() if attempt is None else turns.c.attempts == attempt,
        )  # fmt: skip
        query = update(turns).where(held).values(changed).returning(turns.c.thread_id, turns.c.body)
        found = connection.execute(query).one_or_none()
        if found is None:
            raise LeaseLost(key)
        if changed.get("state") in ("done", "dead"):
            self._forget_address(connection, key, found.body)
        return str(found.thread_id)

    def _forget_address(self, connection: Connection, key: str, body: dict[str, Any]) -> None:
        if _ADDRESS in body:
            kept = {name: value for name, value in body.items() if name != _ADDRESS}
            connection.execute(update(turns).where(turns.c.key == key).values(body=kept))

    def release(self, owner: str) -> None:
        """Give back whatever this owner still holds, so that others need not wait for its leases to lapse."""
        held = and_(turns.c.owner == owner, turns.c.state == "running")
        with self.engine.begin() as connection:
            connection.execute(update(turns).where(held).values(state="queued", lease_until=None))

    def waiting(self) -> int:
        """How many turns are not answered yet."""
        query = select(func.count()).select_from(turns).where(turns.c.state.in_(_UNFINISHED))
        with reading(self.engine) as connection:
            return connection.execute(query).scalar_one()

    def ahead(self, key: str) -> int:
        """How many turns are answered before this one, as the order is now; one in hand waits for those taken before."""
        open_turns = select(*ORDERED_BY, turns.c.state).where(turns.c.state.in_(_UNFINISHED))
        with reading(self.engine) as connection:
            rows: list[Row[Any]] = list(connection.execute(open_turns))
            served = served_lately(connection, self.clock())
        running = sorted((row.received_at, row.key) for row in rows if row.state == "running")
        queued = fair_order((row for row in rows if row.state == "queued"), served)
        order = [*(held for _, held in running), *(row.key for row in queued)]
        return order.index(key) if key in order else 0

    def states(self) -> dict[str, int]:
        """How many turns there are in each state."""
        with reading(self.engine) as connection:
            rows = connection.execute(select(turns.c.state, func.count()).group_by(turns.c.state))
            return {str(state): int(count) for state, count in rows}

    def dead_letters(self) -> list[tuple[str, str]]:
        """Keys and errors of the turns given up, oldest first."""
        with reading(self.engine) as connection:
            query = select(turns.c.key, turns.c.error).where(turns.c.state == "dead").order_by(turns.c.finished_at)
            return [(str(key), str(error)) for key, error in connection.execute(query)]


def _ready(now: float) -> ColumnElement[bool]:
    queued = and_(turns.c.state == "queued", turns.c.not_before <= now)
    lapsed = and_(turns.c.state == "running", turns.c.lease_until < now)
    return or_(queued, lapsed)
