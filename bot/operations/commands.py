"""The operator's commands: `turns`, `data`, `keys`, `backup`, `restore`. Databases are loaded by the command that needs one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from bot.operations.turns import Unfinished

turns = typer.Typer(help="Questions that were given up: list, retry, drop.", no_args_is_help=True)
data = typer.Typer(help="What is kept about people and workspaces: export, forget.", no_args_is_help=True)
keys = typer.Typer(help="The keys that seal the tokens of installed workspaces.", no_args_is_help=True)

_Name = Annotated[str | None, typer.Argument(metavar="ID", help="The number that the asker was told, or the key.")]
_All = Annotated[bool, typer.Option("--all", help="All that were given up.")]
_Team = Annotated[str, typer.Option(help="Workspace id, as in T0123456789.")]
_User = Annotated[str | None, typer.Option(help="User id; without it the whole workspace.")]


def register(app: typer.Typer) -> None:
    """Add the operator's commands to `sizewise`."""
    app.add_typer(turns, name="turns")
    app.add_typer(data, name="data")
    app.add_typer(keys, name="keys")
    app.command()(backup)
    app.command()(restore)


def _engine() -> Engine:
    from bot.database import engine_for, migrate
    from bot.settings import Settings

    engine = engine_for(Settings().database)
    migrate(engine)
    return engine


def _documents() -> Engine:
    """The database of documents: the same one, or a file of its own. Its tables are made where they are missing."""
    from bot.database import engine_for
    from knowledge.settings import Settings
    from knowledge.store import Store

    url = Settings.from_environment().database_url
    Store(url)
    return engine_for(url)


def _line(turn: Unfinished) -> str:
    when = datetime.fromtimestamp(turn.received_at, UTC).isoformat(timespec="seconds")
    where = f"{turn.team}/{turn.channel}"
    return (
        f"{turn.id}  {turn.state:<7}  {when}  {where}  {turn.user}  tried {turn.attempts}x  {turn.error or ''}".rstrip()
    )


@turns.command("list")
def list_turns(
    unfinished: Annotated[bool, typer.Option("--unfinished", help="Also those that wait or run.")] = False,
) -> None:
    """Questions that were given up, with the error of each. What people wrote is not shown."""
    from bot.operations.turns import DeadLetters

    for turn in DeadLetters(_engine()).unfinished(dead_only=not unfinished):
        typer.echo(_line(turn))


@turns.command()
def retry(name: _Name = None, everything: _All = False) -> None:
    """Try again; what was posted before is not posted twice."""
    from bot.operations.turns import DeadLetters

    found = DeadLetters(_engine()).retry(_chosen(name, everything))
    typer.echo(f"{len(found)} to be tried again")
    raise typer.Exit(0 if found or everything else 1)


@turns.command()
def drop(name: _Name = None, everything: _All = False) -> None:
    """Remove for good."""
    from bot.operations.turns import DeadLetters

    found = DeadLetters(_engine()).drop(_chosen(name, everything))
    typer.echo(f"{len(found)} removed")
    raise typer.Exit(0 if found or everything else 1)


def _chosen(name: str | None, everything: bool) -> str | None:
    if (name is None) != everything:
        raise typer.BadParameter("name one by its ID, or give --all")
    return name


@data.command()
def export(team: _Team, user: _User = None) -> None:
    """Everything kept about a workspace, or a person in it, as JSON Lines. Tokens are never in it."""
    from bot.operations.data import Holdings

    for row in Holdings(_engine()).export(team, user):
        typer.echo(json.dumps(row, ensure_ascii=False))


@data.command()
def forget(
    team: Annotated[str | None, typer.Option(help="Workspace id, as in T0123456789.")] = None,
    user: _User = None,
    older_than_days: Annotated[float | None, typer.Option(min=0.0, help="Threads without a turn for so long.")] = None,
) -> None:
    """Remove a person's threads, a workspace, or what is old."""
    from bot.operations.data import Holdings

    if (team is None) == (older_than_days is None):
        raise typer.BadParameter("name a workspace (--team) or an age (--older-than-days)")
    holdings = Holdings(_engine())
    if older_than_days is not None:
        count = holdings.forget_older(older_than_days)
    else:
        count = holdings.forget_user(str(team), user) if user else holdings.forget_team(str(team))
    typer.echo(f"{count} threads removed")


@keys.command()
def new() -> None:
    """Make a key. SIZEWISE_ENCRYPTION_KEYS takes several, comma separated, the newest first."""
    from cryptography.fernet import Fernet

    typer.echo(Fernet.generate_key().decode("ascii"))


@keys.command()
def rotate() -> None:
    """Seal every stored token under the first key; older keys may then be taken out."""
    from bot.settings import Settings
    from bot.slack.installations import Installations, Vault

    count = Installations(_engine(), Vault.of(Settings().sealing_keys)).rotate()
    typer.echo(f"{count} tokens sealed under the first key")


def backup(path: Annotated[Path, typer.Argument(metavar="FILE", help="The zip file to write.")]) -> None:
    """Write threads, answers, defaults, installations and documents into one file. The bot may go on running."""
    from bot.operations.backup import backup as write

    _echo_rows(write(_engine(), path, _documents()))


def restore(path: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by `sizewise backup`.")]) -> None:
    """Fill an empty database (SQLite or PostgreSQL, whichever is set) from a backup."""
    from bot.operations.backup import restore as read

    _echo_rows(read(path, _engine(), _documents()))


def _echo_rows(rows: dict[str, Any]) -> None:
    for table, count in sorted(rows.items()):
        typer.echo(f"{count:>8}  {table}")
