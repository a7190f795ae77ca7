"""What a surface such as Slack owes the worker, and how it says that it cannot."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.answer import Answer, Lang
from bot.attached import Attached
from bot.inbox import NewTurn, Turn


class TryLater(Exception):
    """The surface could not take the answer now, e.g. it is rate limited or away."""

    def __init__(self, reason: str, delay_s: float | None = None) -> None:
        super().__init__(reason)
        self.delay_s = delay_s


class Refused(Exception):
    """The surface will never take this answer. `say` names the text that tells the asker why, if anything can."""

    def __init__(self, reason: str, say: str | None = "failed") -> None:
        super().__init__(reason)
        self.say = say


# A file as a turn keeps it: id and name.
FileRef = Mapping[str, str]


@dataclass(frozen=True)
class Discussion:
    """What people wrote in a thread since the bot last read it, oldest first."""

    texts: tuple[str, ...]
    read_until: str | None
    files: tuple[FileRef, ...] = ()


Begin = Callable[[], Awaitable[None]]


class Voice(Protocol):
    """What a surface owes the worker. `begin` must be awaited right before anything is said that counts."""

    async def enter(self, turn: Turn) -> None: ...
    async def progress(self, turn: Turn) -> None: ...
    async def settle(self, turn: Turn) -> None: ...
    async def locale(self, user: str) -> Lang: ...
    async def discussion(self, turn: Turn, since: str | None) -> Discussion: ...
    async def attached(self, turn: Turn, files: Sequence[FileRef]) -> Attached: ...
    async def missed(self, turn: Turn) -> tuple[NewTurn, ...]: ...
    async def deliver(self, turn: Turn, answer: Answer, begin: Begin) -> None: ...
    async def share(self, turn: Turn, answer: Answer, begin: Begin) -> str: ...
    async def export(self, turn: Turn, answer: Answer, begin: Begin) -> None: ...
    async def say(self, turn: Turn, key: str, **params: object) -> None: ...


def answer_id_of(key: str) -> str:
    """The id of a turn's answer: the same after a crash, so that buttons of what was posted before go on working."""
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def error_id_of(key: str) -> str:
    """The short number that a user sees and an operator finds in the log."""
    return hashlib.sha256(f"error:{key}".encode()).hexdigest()[:8]
