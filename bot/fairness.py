"""Who comes next: workspaces take turns, the people of each take turns, and nobody holds all of a process.

Without this a person who pastes a hundred questions, or one workspace on a busy morning, is answered first and the
others wait; and thirty questions that hang, say on a language model, would stop everybody's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, not_, or_, select, true, tuple_
from sqlalchemy.engine import Row

from bot.schema import turns

# What `fair_order` needs of the turns it orders.
ORDERED_BY: Final = (turns.c.key, turns.c.team, turns.c.user, turns.c.received_at)
_SHARE_OF_PERSON: Final = 0.5
_SHARE_OF_TEAM: Final = 0.75
_LATELY_S: Final = 60.0


@dataclass(frozen=True)
class Shares:
    """How many turns of one person and of one workspace a process has in hand at most."""

    person: int
    team: int


def shares_of(in_hand: int) -> Shares:
    """Half of a process for a person, three quarters for a workspace: who comes then finds a place free."""
    return Shares(max(1, int(in_hand * _SHARE_OF_PERSON)), max(1, int(in_hand * _SHARE_OF_TEAM)))


def fair_order(rows: Iterable[Row[Any]], served: Mapping[tuple[str, str], int]) -> list[Row[Any]]:
    """Rows of `ORDERED_BY`: every workspace's first turn of the last minute before any workspace's second one.

    Within a workspace likewise, by person. `served` counts what each person had in the last minute.
    """
    people, teams = Counter(served), Counter[str]()
    for (team, _), count in served.items():
        teams[team] += count
    by_person = []
    for row in sorted(rows, key=lambda row: (row.received_at, row.key)):
        people[row.team, row.user] += 1
        by_person.append((people[row.team, row.user], row.received_at, row.key, row))
    by_team = []
    for _, received_at, key, row in sorted(by_person, key=lambda found: found[:3]):
        teams[row.team] += 1
        by_team.append((teams[row.team], received_at, key, row))
    return [found[3] for found in sorted(by_team, key=lambda found: found[:3])]


def served_lately(connection: Connection, now: float) -> Counter[tuple[str, str]]:
    """How many turns of each person are worked on or were in the last minute; `now` in seconds since 1970."""
    found: Counter[tuple[str, str]] = Counter()
    # Two queries, because each has an index and their union has none.
    for lately in (turns.c.state == "running", turns.c.finished_at > now - _LATELY_S):
        found.update(
            (row.team, row.user) for row in connection.execute(select(turns.c.team, turns.c.user).where(lately))
        )
    return found


@dataclass(frozen=True)
class Held:
    """What an owner has in hand, by workspace and by person, and the bounds on it; without bounds, nothing matters."""

    shares: Shares | None = None
    people: Counter[tuple[str, str]] = field(default_factory=Counter)
    teams: Counter[str] = field(default_factory=Counter)

    @classmethod
    def by(cls, connection: Connection, owner: str, now: float, shares: Shares) -> Held:
        """Read what is in an owner's hands."""
        held = (turns.c.state == "running", turns.c.owner == owner, turns.c.lease_until >= now)
        query = select(turns.c.team, turns.c.user, func.count()).where(*held).group_by(turns.c.team, turns.c.user)
        found = cls(shares)
        for team, user, count in connection.execute(query):
            found.people[team, user] = count
            found.teams[team] += count
        return found

    @property
    def free(self) -> ColumnElement[bool]:
        """Turns of those whose share is not used up."""
        if self.shares is None:
            return true()
        teams = [team for team, count in self.teams.items() if count >= self.shares.team]
        people = [person for person, count in self.people.items() if count >= self.shares.person]
        used_up = [turns.c.team.in_(teams)] * bool(teams)
        used_up += [tuple_(turns.c.team, turns.c.user).in_(people)] * bool(people)
        return not_(or_(*used_up)) if used_up else true()

    def within(self, rows: Iterable[Row[Any]]) -> list[Row[Any]]:
        """The rows that fit the shares, in their order."""
        people, teams, found = self.people.copy(), self.teams.copy(), []
        for row in rows:
            people[row.team, row.user] += 1
            teams[row.team] += 1
            if self.shares is None or (
                people[row.team, row.user] <= self.shares.person and teams[row.team] <= self.shares.team
            ):
                found.append(row)
        return found
