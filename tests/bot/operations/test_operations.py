"""Operations on both databases: dead letters, export and forgetting, backup and restore, sealed tokens, fair order."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from cryptography.fernet import Fernet
from slack_sdk.oauth.installation_store import Bot
from sqlalchemy import Engine, select

from bot import database
from bot.answer import Answer
from bot.cli import main
from bot.database import engine_for, migrate, reading, revisions, sqlite_url
from bot.fairness import Shares
from bot.inbox import Inbox, NewTurn
from bot.operations.backup import backup, restore
from bot.operations.data import Holdings
from bot.operations.turns import DeadLetters
from bot.schema import installations, metadata, turns
from bot.slack.installations import Installations, Vault
from bot.store import Store
from bot.surface import error_id_of
from bot.thread import TeamDefaults, ThreadState, Turn
from knowledge.tables import metadata as knowledge_metadata
from sizing.errors import UserError

BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, made once."""
    path = tmp_path_factory.mktemp("empty") / "s.db"
    engine = engine_for(sqlite_url(path))
    migrate(engine)
    engine.dispose()
    return path


def fresh(empty_file: Path, path: Path) -> Engine:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(empty_file, path)
    return engine_for(sqlite_url(path))


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return sqlite_url(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def engine(url: str, empty_file: Path, tmp_path: Path) -> Iterator[Engine]:
    found = fresh(empty_file, tmp_path / "s.db") if url.startswith("sqlite") else engine_for(url)
    if not url.startswith("sqlite"):
        migrate(found)
    yield found
    found.dispose()


def asked(inbox: Inbox, team: str, user: str, name: str, *, channel: str = "C1", secret: str | None = None) -> str:
    key = f"{team}/{channel}/{name}"
    body = {"text": name, "response_url": secret} if secret else {"text": name}
    turn = NewTurn(key, key, "message", team, channel, user, f"1700000000.{abs(hash(name)) % 10**6:06d}", body=body)
    assert inbox.record(turn) == "new"
    return key


def filled(engine: Engine) -> None:
    """Two workspaces with the same channel and user ids."""
    inbox, store = Inbox(engine), Store(engine)
    for team in ("T1", "T2"):
        for user, name in (("U1", "one"), ("U2", "two")):
            key = asked(inbox, team, user, name, secret="https://hooks.example/secret")
            inbox.lease("me", 1)
            answer = Answer(id=f"{team}{name}", lang="en", intent="fits", headline=f"answer to {name}")
            store.save_answer(key, answer)
            inbox.finish(key, "me", state=ThreadState().add(Turn(text=name, intent="fits"), "en"), answer_id=answer.id)
            store.vote(answer.id, user, 1)
        store.set_defaults(team, TeamDefaults(electricity_per_kwh=0.2))


def contents(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    with reading(engine) as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in metadata.sorted_tables
        }


# Migrations


def test_a_database_of_the_first_release_is_brought_up_with_what_is_in_it(url: str) -> None:
    engine = engine_for(url)
    with engine.begin() as connection:
        config = database._config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    inbox = Inbox(engine)
    key = asked(inbox, "T1", "U1", "before")
    migrate(engine)
    assert revisions(engine)[0] == revisions(engine)[1]
    assert [turn.key for turn in inbox.lease("me", 1)] == [key]
    with reading(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), [metadata, knowledge_metadata]) == []
    engine.dispose()


# Fair order


def test_workspaces_take_turns_and_so_do_their_people(engine: Engine) -> None:
    clock = Clock()
    inbox = Inbox(engine, clock=clock)
    for team, user, name in [
        ("T1", "U1", "a"), ("T1", "U1", "b"), ("T1", "U1", "c"), ("T1", "U2", "d"), ("T2", "U1", "e"), ("T2", "U1", "f"),
    ]:  # fmt: skip
        clock.now += 1
        asked(inbox, team, user, name)
    assert [inbox.ahead(f"{team}/C1/{name}") for team, name in (("T1", "a"), ("T2", "e"), ("T1", "c"))] == [0, 1, 5]
    order = [found.body["text"] for found in inbox.lease("me", 6)]
    assert sorted(order) == list("abcdef")
    assert set(order[:2]) == {"a", "e"}
    # In hand is not answered yet: those taken before still stand ahead.
    assert [inbox.ahead(f"{team}/C1/{name}") for team, name in (("T1", "a"), ("T2", "e"), ("T1", "c"))] == [0, 4, 2]


def test_a_hundred_questions_of_one_do_not_hold_up_another(engine: Engine) -> None:
    clock = Clock()
    inbox = Inbox(engine, clock=clock)
    for number in range(100):
        asked(inbox, "T1", "U1", f"flood{number}")
    clock.now += 1
    asked(inbox, "T1", "U2", "patient")
    asked(inbox, "T2", "U1", "elsewhere")
    first = {turn.body["text"] for turn in inbox.lease("me", 3)}
    assert {"patient", "elsewhere"} <= first


def test_nobody_holds_all_of_a_process(engine: Engine) -> None:
    inbox, shares = Inbox(engine), Shares(person=2, team=3)
    for number in range(5):
        asked(inbox, "T1", "U1", f"hangs{number}")
    assert [len(inbox.lease("me", 10, shares)) for _ in range(2)] == [2, 0]
    for number in range(5):
        asked(inbox, "T1", f"U{number + 2}", f"other{number}")
    assert [len(inbox.lease("me", 10, shares)) for _ in range(2)] == [1, 0]
    key = asked(inbox, "T2", "U1", "free")
    assert [turn.key for turn in inbox.lease("me", 10, shares)] == [key]
    assert len(inbox.lease("another process", 10, shares)) == 3


# Dead letters


def test_a_dead_letter_is_listed_retried_and_dropped(engine: Engine) -> None:
    inbox, dead = Inbox(engine), DeadLetters(engine)
    keys = [asked(inbox, "T1", "U1", name) for name in ("one", "two")]
    for turn in inbox.lease("me", 2):
        inbox.bury(turn.key, "me", "ValueError: a fault")
    assert {(found.id, found.state, found.error) for found in dead.unfinished()} == {
        (error_id_of(key), "dead", "ValueError: a fault") for key in keys
    }
    assert [found.key for found in dead.retry(error_id_of(keys[0]))] == [keys[0]]
    assert [(turn.key, turn.attempts) for turn in inbox.lease("me", 5)] == [(keys[0], 1)]
    assert [found.key for found in dead.drop(None)] == [keys[1]]
    assert dead.unfinished() == dead.retry("unknown") == []


# Export and forgetting


def test_two_workspaces_with_the_same_ids_share_nothing(engine: Engine) -> None:
    filled(engine)
    holdings = Holdings(engine)
    before = list(holdings.export("T2"))
    assert len(before) == 9
    assert "T1" not in json.dumps(before)
    assert holdings.forget_user("T1", "U1") == 1
    assert holdings.forget_team("T1") == 1
    assert list(holdings.export("T1")) == []
    assert list(holdings.export("T2")) == before


def test_an_export_of_a_person_is_that_persons_alone_and_has_no_addresses(engine: Engine) -> None:
    filled(engine)
    found = list(Holdings(engine).export("T1", "U1"))
    assert sorted(row["table"] for row in found) == ["answers", "feedback", "threads", "turns"]
    assert "two" not in json.dumps(found)
    assert "hooks.example" not in json.dumps(found)


def test_old_threads_go_and_those_with_an_open_question_stay(engine: Engine) -> None:
    clock = Clock()
    inbox = Inbox(engine, clock=clock)
    done, still = asked(inbox, "T1", "U1", "done"), asked(inbox, "T1", "U1", "waits")
    inbox.lease("me", 1)
    inbox.finish(done, "me") if inbox.states().get("running") else None
    clock.now += 31 * 86_400
    assert Holdings(engine, clock).forget_older(30) == 1
    assert [turn.key for turn in DeadLetters(engine).unfinished(dead_only=False)] == [still]


# Backup


@pytest.mark.parametrize("target", BOTH)
def test_a_backup_is_restored_into_an_empty_database_of_either_kind(
    target: str, empty_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source = fresh(empty_file, tmp_path / "old" / "s.db")
    filled(source)
    rows = backup(source, tmp_path / "b.zip")
    url = sqlite_url(tmp_path / "new" / "s.db") if target == "sqlite" else request.getfixturevalue("postgres")
    restored = engine_for(url)
    assert restore(tmp_path / "b.zip", restored) == rows
    assert contents(restored) == contents(source)
    assert backup(restored, tmp_path / "again.zip") == rows
    with pytest.raises(UserError, match="not empty"):
        restore(tmp_path / "b.zip", restored)
    source.dispose()
    restored.dispose()


@pytest.mark.parametrize(
    ("damage", "told"),
    [("cut", "backup"), ("changed", "backup"), ("no zip", "no whole backup"), ("absent", "there is no file")],
)
def test_a_damaged_backup_changes_nothing(damage: str, told: str, empty_file: Path, tmp_path: Path) -> None:
    engine, path = fresh(empty_file, tmp_path / "s.db"), tmp_path / "b.zip"
    filled(engine)
    backup(engine, path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    elif damage == "changed":
        _rewrite(path, "threads.jsonl", lambda text: text.replace(b"one", b"two"))
    elif damage == "no zip":
        path.write_bytes(b"garbage")
    else:
        path.unlink()
    empty = engine_for(sqlite_url(tmp_path / "n.db"))
    with pytest.raises(UserError, match=told):
        restore(path, empty)
    migrate(empty)
    assert not any(contents(empty).values())
    engine.dispose()
    empty.dispose()


def _rewrite(path: Path, name: str, change: object) -> None:
    assert callable(change)
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, change(content) if part == name else content)


def test_the_commands_back_up_and_restore_into_an_empty_folder(
    empty_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path / "old"))
    engine = fresh(empty_file, tmp_path / "old" / "sizewise.db")
    filled(engine)
    file = tmp_path / "b.zip"
    assert _code(["backup", str(file)]) == 0
    written = capsys.readouterr().out
    assert file.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("SIZEWISE_DATA_DIR", str(tmp_path / "new"))
    assert _code(["restore", str(file)]) == 0
    assert capsys.readouterr().out == written
    restored = engine_for(sqlite_url(tmp_path / "new" / "sizewise.db"))
    assert contents(restored) == contents(engine)
    assert _code(["restore", str(file)]) == 2
    assert "not empty" in capsys.readouterr().err
    engine.dispose()
    restored.dispose()


def _code(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


# Sealed tokens


def bot(team: str = "T1", enterprise: str | None = None, token: str = "xoxb-1") -> Bot:
    return Bot(
        app_id="A1", enterprise_id=enterprise, team_id=team, bot_token=token, bot_id="B1", bot_user_id="U0",
        bot_scopes=["chat:write"], installed_at=1_700_000_000.0,
    )  # fmt: skip


def test_a_token_is_found_by_exactly_its_workspace_and_sealed_at_rest(engine: Engine) -> None:
    kept = Installations(engine, Vault([Fernet.generate_key().decode()]))
    kept.save(bot("T1", token="xoxb-" + "x" * 3000), "U1")
    kept.save(bot("T1", enterprise="E1", token="xoxb-of-e1"), "U1")
    kept.save(bot("T1", token="xoxb-newer"), "U2")
    found = kept.find(None, "T1")
    assert found is not None
    assert (found.bot_token, found.bot_user_id, found.bot_scopes) == ("xoxb-newer", "U0", ["chat:write"])
    assert kept.find("E1", "T1").bot_token == "xoxb-of-e1"  # type: ignore[union-attr]
    assert kept.find("E1", "T2") is kept.find(None, "T2") is kept.find("E2", "T1") is None
    with reading(engine) as connection:
        assert "xoxb" not in str(connection.execute(select(installations)).all())
    assert [kept.remove(None, "T1"), kept.remove(None, "T1"), kept.find(None, "T1")] == [True, False, None]


def test_keys_rotate_without_an_installation_being_lost(engine: Engine) -> None:
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    Installations(engine, Vault.of(old)).save(bot(), "U1")
    assert Installations(engine, Vault.of(f"{new},{old}")).rotate() == 1
    found = Installations(engine, Vault.of(new)).find(None, "T1")
    assert found is not None
    assert found.bot_token == "xoxb-1"
    with pytest.raises(UserError, match="no key opens"):
        Installations(engine, Vault.of(old)).find(None, "T1")


@pytest.mark.parametrize("keys", ["", " , ", "garbage"])
def test_without_a_proper_key_nothing_is_sealed(keys: str) -> None:
    with pytest.raises(UserError, match="sizewise keys new"):
        Vault.of(keys)


def test_a_state_is_good_once_and_for_a_while(engine: Engine) -> None:
    clock = Clock()
    kept = Installations(engine, Vault([Fernet.generate_key().decode()]), clock)
    state, late = kept.issue_state(), kept.issue_state()
    assert [kept.use_state(state), kept.use_state(state), kept.use_state("other")] == [True, False, False]
    clock.now += 601
    assert not kept.use_state(late)


def test_no_answer_leaves_an_address_behind(engine: Engine) -> None:
    inbox = Inbox(engine)
    for name, end in (("one", inbox.finish), ("two", lambda key, owner: inbox.bury(key, owner, "x"))):
        key = asked(inbox, "T1", "U1", name, secret="https://hooks.example/secret")
        assert inbox.lease("me", 1)[0].body["response_url"] == "https://hooks.example/secret"
        end(key, "me")
    with reading(engine) as connection:
        bodies = connection.execute(select(turns.c.body).order_by(turns.c.key)).scalars().all()
    assert bodies == [{"text": "one"}, {"text": "two"}]
