"""Answers computed in a process of its own: what `bot.processes` starts there, and the responder that asks for it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

# Imported here and not at first use: the processes then share one copy of the catalogue in memory.
from bot import conversation, logs
from bot.answer import Answer
from bot.outgoing import guard_by_settings
from bot.processes import Processes
from bot.responder import Pipeline
from bot.settings import Settings
from bot.surroundings import context_for
from bot.thread import Context, ThreadState


def prepare() -> None:
    """Open the sources and load what the first question would wait for."""
    settings = Settings()
    logs.configure(settings.log_level, settings.log_text)
    guard_by_settings()
    _around()
    Pipeline().warm()


@functools.cache
def _around() -> Context:
    return context_for(None, sources=True)


def _here(context: Context) -> Context:
    """What the asking process knows of a question, with the sources and models that are open in this one."""
    return dataclasses.replace(
        _around(), defaults=context.defaults, lang=context.lang, answer_id=context.answer_id, extra=context.extra
    )


def _respond(text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
    return conversation.respond(text, thread, _here(context))


def _act(action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
    return conversation.act(action, payload, thread, _here(context))


class InProcesses:
    """The pipeline, computed elsewhere. Sources are open there: those of a context given here do not matter."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes

    def respond(self, text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
        return self.processes.run(_respond, text, thread, context)

    def act(
        self, action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context
    ) -> tuple[Answer, ThreadState]:
        return self.processes.run(_act, action, payload, thread, context)

    def warm(self) -> None:
        """Start the first process, so that the first person does not wait for what it loads."""
        self.processes.run(_nothing)


def _nothing() -> None:
    """Comes to its turn once `prepare` is through."""


def processes_for(count: int, timeout_s: float) -> Processes:
    """Processes that answer; none of them is started yet."""
    return Processes(count, timeout_s, prepare, __name__)
