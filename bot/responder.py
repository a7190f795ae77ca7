"""Where answers come from: the pipeline, behind a protocol so that the worker need not load it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from bot.answer import Answer
from bot.thread import Context, ThreadState


class Responder(Protocol):
    """Computes answers. Both methods are called in worker threads, several at a time."""

    def respond(self, text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]: ...

    def act(
        self, action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context
    ) -> tuple[Answer, ThreadState]: ...

    def warm(self) -> None:
        """Load what the first question would wait for. Called once, before any other."""
        ...


class Pipeline:
    """The real one. Loading it takes a second or two and happens at the first use or at `warm`."""

    def respond(self, text: str, thread: ThreadState, context: Context) -> tuple[Answer, ThreadState]:
        from bot.conversation import respond

        return respond(text, thread, context)

    def act(
        self, action: str, payload: Mapping[str, Any], thread: ThreadState, context: Context
    ) -> tuple[Answer, ThreadState]:
        from bot.conversation import act

        return act(action, payload, thread, context)

    def warm(self) -> None:
        """Load catalogue and reader, so that the first person does not wait for them."""
        self.respond("Llama 3.1 8B on an RTX 4090", ThreadState(), Context())
