"""`sizewise chat`: a thread in the terminal, kept in the store."""

from __future__ import annotations

import sys

from rich.console import Console

from bot.conversation import respond
from bot.reply.plain import render
from bot.reply.wording import wording
from bot.surroundings import TERMINAL_TEAM, store
from bot.thread import Context

_ENDS = frozenset({"exit", "quit", "bye", "ende", "tschüss", ":q"})
_PROMPT = "› "
_UNNAMED = "terminal"


def run(name: str | None, new: bool, context: Context) -> None:
    """Asks until the input ends. Questions and answers go to stdout, the prompt only to a terminal.

    Without a name the conversation begins anew: what somebody asked last week would silently fill this question's gaps.
    """
    kept = store()
    thread_id = f"{TERMINAL_TEAM}:{name or _UNNAMED}"
    if new or name is None:
        kept.forget_thread(thread_id)
    console = Console(highlight=False, emoji=False)
    state = kept.thread_state(thread_id)
    if sys.stdin.isatty():
        console.print(wording(context.lang or state.lang or "en").text("ui", "chat_hello"), style="dim")
    while (text := _read()) is not None:
        if not text.strip():
            continue
        answer, state = respond(text, state, context)
        kept.save_thread(thread_id, state, team=TERMINAL_TEAM)
        console.print(render(answer))
        console.print()


def _read() -> str | None:
    """The next line, or None at the end of the input or a word of goodbye."""
    try:
        text = input(_PROMPT if sys.stdin.isatty() else "")
    except (EOFError, KeyboardInterrupt):
        return None
    return None if text.strip().casefold() in _ENDS else text
