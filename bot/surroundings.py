"""What surrounds a question in the terminal: the team's defaults from the store, and the knowledge index."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from bot.answer import Lang
from bot.model_files import Hub
from bot.thread import Context, TeamDefaults
from bot.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from bot.store import Store

TERMINAL_TEAM = "terminal"


def context_for(lang: Lang | None, sources: bool, quiet: bool) -> Context:
    """The Context of a terminal session. `quiet` keeps the progress bar of a first index build off the output."""
    return Context(
        defaults=TeamDefaults(),
        knowledge=_knowledge(quiet) if sources else None,
        lang=lang,
        phraser=_phraser(),
        reader=_reader(),
        hub=Hub.from_environment(),
    )


def _knowledge(quiet: bool) -> Any:
    """The knowledge index, built at the first use of each release; `quiet` leaves the progress bar out."""
    from knowledge.service import Knowledge

    knowledge = Knowledge()
    marker = knowledge.settings.data / "index-of-release"
    if _read(marker) != __version__:
        _build(knowledge, quiet)
        # A folder that cannot be written costs a look at the notes at each start, no answer.
        with contextlib.suppress(OSError):
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.write_text(__version__, "utf-8")
    return knowledge


def _read(marker: Path) -> str | None:
    try:
        return marker.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _build(knowledge: Any, quiet: bool) -> None:
    if not knowledge.stale():
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True, quiet=quiet), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def advance(kind: str, done: int, total: int) -> None:
            if kind not in tasks:
                tasks[kind] = bar.add_task(f"index of {kind}s", total=total)
            bar.update(tasks[kind], completed=done, total=total)

        knowledge.build(advance)


def _phraser() -> Any:
    model = os.environ.get("SIZEWISE_LLM", "").strip()
    if not model:
        return None
    from bot.phrasing import phraser_for

    return phraser_for(model)


def _reader() -> Any:
    """The second reader, on the same model as the phrasing; SIZEWISE_LLM_READS=0 leaves reading to the rules alone."""
    model = os.environ.get("SIZEWISE_LLM", "").strip()
    if not model or os.environ.get("SIZEWISE_LLM_READS", "1").lower() in ("0", "false", "no"):
        return None
    from bot.understand.llm import reader_for

    return reader_for(model)


def store() -> Store:
    """Threads and defaults: DATABASE_URL, else SQLite in the data directory."""
    from bot.database import engine_for, migrate
    from bot.settings import Settings
    from bot.store import Store

    engine = engine_for(Settings().database)
    migrate(engine)
    return Store(engine)
