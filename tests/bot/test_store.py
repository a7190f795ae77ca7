"""Threads, answers, defaults and feedback in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.answer import Answer
from bot.database import engine_for, migrate, sqlite_url
from bot.inbox import Inbox, NewTurn
from bot.store import Store
from bot.thread import TeamDefaults, ThreadState, Turn


@pytest.fixture
def store(tmp_path: Path) -> Store:
    engine = engine_for(sqlite_url(tmp_path / "new" / "s.db"))
    migrate(engine)
    return Store(engine)


def _answer(ident: str, headline: str = "Yes.") -> Answer:
    return Answer(id=ident, lang="en", intent="fits", headline=headline)


def test_a_thread_comes_back_as_it_was(store: Store) -> None:
    state = ThreadState(turns=(Turn(text="a", intent="fits", specs=({"weights": "fp8"},)),), lang="de")
    assert store.thread_state("t") == ThreadState()
    store.save_thread("t", state, team="T")
    store.save_thread("t", ThreadState(lang="de"), team="T")
    assert store.thread_state("t") == ThreadState(lang="de")
    store.forget_thread("t")
    assert store.thread("t") is None


def test_an_answer_said_again_replaces_itself(store: Store) -> None:
    store.save_thread("t", ThreadState(), team="T")
    store.save_answer("t", _answer("a"))
    store.save_answer("t", _answer("a", "No."))
    found = store.answer("a")
    assert found is not None
    assert (found.thread_id, found.answer) == ("t", _answer("a", "No."))
    assert store.answer("b") is None


def test_defaults_are_those_of_one_team(store: Store) -> None:
    store.set_defaults("T", TeamDefaults(currency="USD"))
    store.set_defaults("T", TeamDefaults(currency="USD", lang="de"))
    assert store.defaults("T") == TeamDefaults(currency="USD", lang="de")
    assert store.defaults("other") == TeamDefaults()


def test_a_vote_counts_once_a_person(store: Store) -> None:
    store.save_thread("t", ThreadState(), team="T")
    store.save_answer("t", _answer("a"))
    assert [store.vote("a", "U1", 1), store.vote("a", "U1", -1), store.vote("a", "U2", 1)] == [True] * 3
    assert store.vote("gone", "U1", 1) is False
    assert store.votes("a") == {"U1": -1, "U2": 1}


def test_a_workspace_that_leaves_takes_everything_along(store: Store) -> None:
    inbox = Inbox(store.engine)
    for team in ("T", "other"):
        inbox.record(NewTurn(f"{team}/1", f"{team}/t", "message", team, "C", "U", "1700000000.000000"))
        store.save_answer(f"{team}/t", _answer(f"{team}-a"))
        store.vote(f"{team}-a", "U", 1)
        store.set_defaults(team, TeamDefaults(lang="de"))
    store.forget_team("T")
    assert (store.thread("T/t"), store.answer("T-a"), store.votes("T-a")) == (None, None, {})
    assert store.defaults("T") == TeamDefaults()
    assert store.thread("other/t") is not None
    assert inbox.states() == {"queued": 1}
