"""What surrounds a question: the notes that answers cite, models that word and read, the hub; in the terminal the store too."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from bot import language_model
from bot.answer import Lang
from bot.model_files import Hub
from bot.thread import Context, TeamDefaults

if TYPE_CHECKING:
    from bot.store import Store
    from knowledge.service import Knowledge

TERMINAL_TEAM = "terminal"


def context_for(lang: Lang | None, sources: bool) -> Context:
    """The Context of a terminal session or of a process that answers.

    Answers cite notes by their topic, which needs no vectors: who searches documents builds those.
    """
    return Context(
        defaults=TeamDefaults(),
        knowledge=_knowledge() if sources else None,
        lang=lang,
        phraser=_phraser(),
        reader=_reader(),
        hub=Hub.from_environment(),
    )


def _knowledge() -> Knowledge:
    from knowledge.service import Knowledge

    return Knowledge()


def _phraser() -> Any:
    model = language_model.named()
    if not model:
        return None
    from bot.phrasing import phraser_for

    return phraser_for(model)


def _reader() -> Any:
    """The second reader, on the same model as the phrasing; SIZEWISE_LLM_READS=0 leaves reading to the rules alone."""
    model = language_model.named()
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
