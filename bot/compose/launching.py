"""Commands to copy: the launch line that realises an estimate, and the load test that checks it."""

from __future__ import annotations

from collections.abc import Iterable

from bot.answer import Command
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.commands import LaunchCommand, launch, load_test
from sizing.defaults import Defaults


def launch_commands(sized: Sized, words: Wording, defaults: Defaults) -> tuple[Command, ...]:
    """How to start the workload as estimated."""
    return _shown(launch(sized.parsed, sized.estimate, defaults), words, "launch") if sized.parsed else ()


def load_commands(sized: Sized, words: Wording, defaults: Defaults) -> tuple[Command, ...]:
    """How to measure the running engine under the workload's own load."""
    return _shown(load_test(sized.parsed, sized.estimate, defaults), words, "loadtest") if sized.parsed else ()


def _shown(commands: Iterable[LaunchCommand], words: Wording, title: str) -> tuple[Command, ...]:
    found: list[Command] = []
    for command in commands:
        heading = f"{words.text('ui', title)} ({words.engine(command.engine)})"
        notes = " ".join(
            words.text("note_on_command", note) for note in command.notes if words.has("note_on_command", note)
        )
        found += [Command(title=name, code=content, language="text") for name, content in command.files]
        found.append(Command(title=f"{heading}. {notes}" if notes else heading, code=command.wrapped))
    return tuple(found)
