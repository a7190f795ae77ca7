"""What a conversation remembers, and what surrounds it.

A thread stores what was asked, never what was answered: estimates are computed anew at every turn, so that a newer engine
or newer prices change an old thread too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from bot.answer import Lang

Currency = Literal["EUR", "USD"]
Spec = dict[str, Any]


class _Stored(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class TeamDefaults(_Stored):
    """What a team has set once for all its questions; a question that says otherwise wins."""

    lang: Lang | None = None
    currency: Currency = "EUR"
    context_tokens: int = Field(default=8192, ge=1, le=10**7)
    reserve_share: float = Field(default=0.1, ge=0, lt=1)
    min_bits: float = Field(default=4.0, gt=0, le=32)
    country: str | None = None
    electricity_per_kwh: float | None = Field(default=None, gt=0)
    cloud: bool | None = None
    owned: tuple[Spec, ...] = ()
    strict_channels: tuple[str, ...] = ()
    """Channels in which every turn needs a mention."""


class Turn(_Stored):
    """One turn: what was written, how it was read, and the specs it led to (several where options are compared)."""

    text: str
    intent: str
    intents: tuple[str, ...] = ()
    specs: tuple[Spec, ...] = ()
    request: dict[str, Any] = {}
    why_depth: int = 0
    options: tuple[Spec, ...] = ()
    delta: Spec = {}
    labels: tuple[dict[str, str], ...] = ()
    """Words that a second reader pointed to, with the field they fill; kept, so that a thread reads the same again."""


class ThreadState(_Stored):
    """A thread as a list of turns; undo and "the first one" are list operations."""

    turns: tuple[Turn, ...] = ()
    lang: Lang | None = None

    @property
    def last(self) -> Turn | None:
        return self.turns[-1] if self.turns else None

    @property
    def last_sized(self) -> Turn | None:
        """The latest turn that led to a spec."""
        return next((turn for turn in reversed(self.turns) if turn.specs), None)

    def add(self, turn: Turn, lang: Lang) -> ThreadState:
        return self.model_copy(update={"turns": (*self.turns, turn), "lang": lang})

    def undone(self) -> ThreadState:
        """The thread before the last turn that changed the specs; empty where there was only one."""
        sized = [place for place, turn in enumerate(self.turns) if turn.specs]
        now = self.turns[sized[-1]].specs if sized else ()
        before = [place for place in sized if self.turns[place].specs != now]
        return self.model_copy(update={"turns": self.turns[: before[-1] + 1] if before else ()})


class Passage(Protocol):
    """A piece of a source as `knowledge` returns it."""

    @property
    def text(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def source(self) -> str: ...


class Library(Protocol):
    """The part of `knowledge.service.Knowledge` that answers need."""

    def passages(self, topic: str, lang: Lang) -> Sequence[Passage]: ...


class Phraser(Protocol):
    """Words the same facts anew, sentence by sentence; every sentence is checked before it is used."""

    def for_answer(self) -> Phraser:
        """One that has the whole budget of an answer."""
        ...

    def rephrase(self, text: str, lang: Lang) -> str | None: ...


class SecondReader(Protocol):
    """Points to words of a message that the rules left unread; `bot.understand.llm.Reader` is one."""

    def for_question(self) -> SecondReader:
        """One that has the whole budget of a message."""
        ...

    def labels(self, request: Any) -> Sequence[Any]: ...


class Configs(Protocol):
    """Configurations of models that the catalogue lacks, by repository id; `bot.model_files.Hub` is one."""

    def config(self, repo_id: str) -> Spec: ...


@dataclass(frozen=True)
class Context:
    """What a surface hands to `respond` beside the message."""

    defaults: TeamDefaults = field(default_factory=TeamDefaults)
    knowledge: Any = None
    lang: Lang | None = None
    phraser: Phraser | None = None
    reader: SecondReader | None = None
    answer_id: str | None = None
    hub: Configs | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
