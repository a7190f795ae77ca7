"""A command line as a value: words, environment and files, put together so that a shell reads it back unchanged."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Literal

Purpose = Literal["serve", "prepare", "load_test"]


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """One line to copy. `files` are (name, content) that it reads; `notes` are codes of what the reader must know first."""

    engine: str
    purpose: Purpose
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The line as typed into a POSIX shell."""
        return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in self.env), shlex.join(self.argv)])

    @property
    def wrapped(self) -> str:
        """The same line with one option a row, for reading."""
        head = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in self.env)])
        rows: list[str] = []
        for word in self.argv:
            if word.startswith("-") and rows and not _is_number(word):
                rows.append(shlex.quote(word))
            else:
                rows[-1:] = [f"{rows[-1]} {shlex.quote(word)}" if rows else shlex.quote(word)]
        return (f"{head} " if head else "") + " \\\n  ".join(rows)


def _is_number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).isdigit()


@dataclass
class Words:
    """Words of a command line under construction; options without a value given are left to the engine's default."""

    words: list[str] = field(default_factory=list)

    def option(self, name: str, value: object | None) -> Words:
        """`--name value`, unless the value is None."""
        if value is not None:
            self.words += [name, f"{value:g}" if isinstance(value, float) else str(value)]
        return self

    def flag(self, name: str, wanted: bool | None) -> Words:
        """`--name` where wanted."""
        if wanted:
            self.words.append(name)
        return self

    def degree(self, name: str, value: int | None) -> Words:
        """`--name N` for a degree of parallelism above 1."""
        return self.option(name, value if value and value > 1 else None)


def start(*words: str) -> Words:
    """A command line that begins with these words."""
    return Words(list(words))
