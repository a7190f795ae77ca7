"""The inbox on both databases: leases, order, takeover, dead letters."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from bot.database import engine_for, migrate, reading, revisions, sqlite_url
from bot.inbox import Inbox, LeaseLost, NewTurn
from bot.schema import metadata
from bot.store import Store
from bot.thread import ThreadState, Turn
from knowledge.tables import metadata as knowledge_metadata


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    url = sqlite_url(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("postgres")
    found = engine_for(url)
    migrate(found)
    yield found
    found.dispose()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def inbox(engine: Engine, clock: Clock) -> Inbox:
    return Inbox(engine, 30.0, clock)


def turn(name: str, thread: str = "t", ts: float = 1.0) -> NewTurn:
    return NewTurn(name, thread, "message", "T", "C", "U", f"17000000{ts:02.0f}.000000", body={"text": name})


def test_the_migrated_schema_is_the_one_the_code_uses(engine: Engine) -> None:
    with reading(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), [metadata, knowledge_metadata]) == []
    current, newest = revisions(engine)
    assert current == newest is not None
    migrate(engine)


def test_a_key_is_recorded_once(inbox: Inbox) -> None:
    assert [inbox.record(turn("a")) for _ in range(3)] == ["new", "duplicate", "duplicate"]
    assert inbox.states() == {"queued": 1}


def test_a_thread_runs_one_turn_at_a_time_in_order_of_ts(inbox: Inbox) -> None:
    for name, ts in (("c", 3), ("a", 1), ("b", 2)):
        inbox.record(turn(name, ts=ts))
    inbox.record(turn("x", thread="other", ts=9))
    order = []
    while leased := inbox.lease("me", 10):
        order.append([found.key for found in leased])
        for found in leased:
            inbox.finish(found.key, "me")
    assert order == [["x", "a"], ["b"], ["c"]] or order == [["a", "x"], ["b"], ["c"]]


def test_a_late_turn_waits_for_the_one_that_runs(inbox: Inbox) -> None:
    inbox.record(turn("b", ts=2))
    inbox.lease("me", 1)
    inbox.record(turn("a", ts=1))
    assert inbox.lease("other", 5) == []
    inbox.finish("b", "me")
    assert [found.key for found in inbox.lease("other", 5)] == ["a"]


def test_a_turn_that_is_put_back_holds_its_thread(inbox: Inbox, clock: Clock) -> None:
    inbox.record(turn("a", ts=1))
    inbox.record(turn("b", ts=2))
    inbox.lease("me", 1)
    inbox.put_back("a", "me", 5.0, "away")
    assert inbox.lease("me", 5) == []
    clock.now += 6
    [found] = inbox.lease("me", 5)
    assert (found.key, found.attempts) == ("a", 2)


def test_a_lease_that_lapses_is_taken_over_and_its_owner_may_say_nothing_more(inbox: Inbox, clock: Clock) -> None:
    inbox.record(turn("a"))
    inbox.lease("dead", 1)
    clock.now += 20
    inbox.renew("a", "dead")
    clock.now += 20
    assert inbox.lease("heir", 1) == []
    clock.now += 20
    [found] = inbox.lease("heir", 1)
    assert (found.attempts, found.posting_at) == (2, None)
    for method in (inbox.renew, inbox.start_posting, inbox.finish):
        with pytest.raises(LeaseLost):
            method("a", "dead")
    inbox.finish("a", "heir")
    assert inbox.states() == {"done": 1}


def test_an_owner_that_took_a_turn_up_twice_speaks_for_the_later_lease_alone(inbox: Inbox, clock: Clock) -> None:
    """As after a machine slept, or its clock jumped: the earlier attempt is still at work in the same process."""
    inbox.record(turn("a"))
    inbox.lease("me", 1)
    clock.now += 31
    [again] = inbox.lease("me", 1)
    assert again.attempts == 2
    for method in (inbox.renew, inbox.start_posting, inbox.finish):
        with pytest.raises(LeaseLost):
            method("a", "me", 1)
    inbox.start_posting("a", "me", 2)
    inbox.finish("a", "me", 2)
    assert inbox.states() == {"done": 1}


def test_an_owner_whose_lease_has_lapsed_may_not_post_even_if_nobody_took_over(inbox: Inbox, clock: Clock) -> None:
    inbox.record(turn("a"))
    inbox.lease("slow", 1)
    clock.now += 31
    with pytest.raises(LeaseLost):
        inbox.start_posting("a", "slow")


def test_a_later_attempt_knows_that_something_may_have_been_said(inbox: Inbox, clock: Clock) -> None:
    inbox.record(turn("a"))
    inbox.lease("dead", 1)
    inbox.start_posting("a", "dead")
    posted_at = clock.now
    clock.now += 31
    [found] = inbox.lease("heir", 1)
    inbox.start_posting("a", "heir")
    assert found.posting_at == posted_at


def test_dead_letters_are_kept_and_free_their_thread(inbox: Inbox) -> None:
    inbox.record(turn("a", ts=1))
    inbox.record(turn("b", ts=2))
    inbox.lease("me", 1)
    inbox.bury("a", "me", "no use")
    assert inbox.dead_letters() == [("a", "no use")]
    assert [found.key for found in inbox.lease("me", 1)] == ["b"]


def test_a_dead_turn_may_be_taken_up_again_when_asked_for(inbox: Inbox) -> None:
    inbox.record(turn("a"))
    inbox.lease("me", 1)
    inbox.bury("a", "me", "no use")
    assert inbox.record(turn("a")) == "duplicate"
    assert inbox.record(turn("a"), revive=True) == "new"
    assert [found.attempts for found in inbox.lease("me", 1)] == [1]


def test_a_thread_takes_so_many_turns_a_minute(inbox: Inbox, clock: Clock) -> None:
    outcomes = [inbox.record(turn(f"k{n}", ts=n), most_per_minute=2) for n in range(4)]
    assert outcomes == ["new", "new", "too many", "too many"]
    assert inbox.record(turn("k0"), most_per_minute=2) == "duplicate"
    assert inbox.record(turn("x", thread="other"), most_per_minute=2) == "new"
    clock.now += 61
    assert inbox.record(turn("k9", ts=9), most_per_minute=2) == "new"


def test_a_stop_gives_back_what_it_holds(inbox: Inbox) -> None:
    inbox.record(turn("a"))
    inbox.lease("me", 1)
    inbox.release("me")
    assert [found.key for found in inbox.lease("other", 1)] == ["a"]


def test_the_state_of_a_thread_is_kept_with_the_turn_that_made_it(inbox: Inbox, engine: Engine) -> None:
    inbox.record(turn("a"))
    inbox.lease("me", 1)
    state = ThreadState(turns=(Turn(text="a", intent="fits"),), lang="de")
    inbox.finish("a", "me", state=state, answer_id="x", read_until="1700000001.000000")
    store = Store(engine)
    info = store.thread("t")
    assert store.thread_state("t") == state
    assert info is not None
    assert (info.conversation, info.read_until) == (False, "1700000001.000000")


def _finish(inbox: Inbox, key: str, owner: str) -> None:
    while True:
        with contextlib.suppress(OperationalError):
            return inbox.finish(key, owner)


def test_many_workers_never_share_a_turn_nor_a_thread(engine: Engine) -> None:
    """Four threads of execution lease and finish as fast as they can; each checks that it is alone in its thread."""
    inbox = Inbox(engine, 300.0)
    for n in range(60):
        inbox.record(turn(f"k{n:02}", thread=f"t{n % 12}", ts=n))
    busy: set[str] = set()
    finished: list[tuple[str, str]] = []
    clashes: list[str] = []
    guard = threading.Lock()

    def work(owner: str) -> None:
        while len(finished) < 60:
            # A locked file is tried again, as the worker does it after a pause.
            with contextlib.suppress(OperationalError):
                for found in inbox.lease(owner, 3):
                    with guard:
                        clashes.extend([found.key] if found.thread_id in busy else [])
                        busy.add(found.thread_id)
                    time.sleep(0.002)
                    with guard:
                        busy.discard(found.thread_id)
                    _finish(inbox, found.key, owner)
                    finished.append((found.thread_id, found.key))
            time.sleep(0.001)

    workers = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert clashes == []
    assert Counter(key for _, key in finished) == Counter({f"k{n:02}": 1 for n in range(60)})
    for thread in {thread for thread, _ in finished}:
        keys = [key for found, key in finished if found == thread]
        assert keys == sorted(keys)
