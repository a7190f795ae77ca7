"""One machine visited: whether it can do at all, then its candidates in the order of preference until one is accepted.

The most frugal candidate says whether the machine holds the model; the quickest layout of each engine whether it comes near the targets.
What those two and every further plan show to be too large or too slow is not planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sizing.search.bounds import Learned, Need, memory_bytes, needed_bytes, quickest, shortfall
from sizing.search.candidates import Candidate
from sizing.search.machines import Machine
from sizing.search.need import Question
from sizing.search.trial import Trial, trial

# Layouts and formats of one engine come within a factor of two of each other's distance from their bounds.
_SPREAD = 2.0
# A narrower KV cache alone makes no layout faster than by this.
_NARROWER_CACHE_GAINS = 1.3
_ROOMIER_SERVES = 1.5


@dataclass(frozen=True)
class Lot:
    """A machine with the candidates that passed the bounds, the preferred first, and its least price a month."""

    machine: Machine
    candidates: tuple[Candidate, ...]
    per_month: float
    priced: bool
    limited: bool
    rented: bool


@dataclass
class Found:
    """What the search turned up, and how many candidates each bound took out."""

    accepted: list[Trial] = field(default_factory=list)
    near: list[Trial] = field(default_factory=list)
    searched: int = 0
    too_small: int = 0
    too_slow: int = 0
    planned: int = 0
    learned: Learned = field(default_factory=Learned)
    served: dict[str, tuple[int, float]] = field(default_factory=dict)
    incapable: set[Machine] = field(default_factory=set)

    def serves(self, machine: Machine, wanted_rps: float) -> bool:
        """Whether a machine might serve that many requests a second, as far as fewer of its devices tell: twice as many serve twice as
        many, or half as much again where memory was what they lacked."""
        count, rate = self.served.get(machine.accelerator.id, (0, 0.0))
        return not count or rate * machine.count / count * _ROOMIER_SERVES >= wanted_rps


def visit(lot: Lot, question: Question, need: Need, found: Found) -> Trial | None:
    """The best accepted trial of a machine; the nearest miss is kept where there is none."""
    return _Visit(lot, question, need, found).outcome()


class _Visit:
    """A machine with the trials made of it, each once."""

    def __init__(self, lot: Lot, question: Question, need: Need, found: Found) -> None:
        self._lot, self._question, self._need, self._found = lot, question, need, found
        self._made: dict[Candidate, Trial] = {}
        self._slowness: dict[str, tuple[int, float]] = {}

    def outcome(self) -> Trial | None:
        frugal = self._trial(self._frugal())
        if frugal.memory_lacks:
            self._found.near.append(frugal)
            self._found.incapable.add(self._lot.machine)
            return None
        self._find_slowness()
        tight: Trial | None = None
        for one in self._tries():
            if one.accepted and one.verdict == "fits":
                self._found.accepted.append(one)
                return one
            tight = tight or (one if one.accepted else None)
        if tight is not None:
            self._found.accepted.append(tight)
        else:
            nearest = min(self._made.values(), key=_distance)
            self._found.near.append(nearest)
            if nearest.memory_lacks or any(entry["code"] == "target_missed" for entry in nearest.lacks):
                self._found.incapable.add(self._lot.machine)
            self._remember_served()
        return tight

    def _remember_served(self) -> None:
        speeds = [one.speed for one in self._made.values() if not one.memory_lacks]
        rates = [speed.requests_s.expected for speed in speeds if speed and speed.requests_s]
        if rates:
            self._found.served[self._lot.machine.accelerator.id] = self._lot.machine.count, max(rates)

    def _trial(self, candidate: Candidate) -> Trial:
        if candidate not in self._made:
            one = self._made[candidate] = trial(candidate, self._question)
            self._found.planned += 1
            if _tells(one):
                self._found.learned.add(candidate, self._need, *_times(one))
        return self._made[candidate]

    def _frugal(self) -> Candidate:
        """The candidate that takes the least of each device's memory."""
        return min(
            self._lot.candidates,
            key=lambda one: (needed_bytes(one.setup, self._need, one.data) / one.replica, one.pipeline),
        )

    def _find_slowness(self) -> None:
        """By engine: copies of its quickest layout, and how many times as long as its bound says it takes."""
        for engine in dict.fromkeys(one.setup.engine for one in self._lot.candidates):
            own = [one for one in self._lot.candidates if one.setup.engine == engine]
            first = min(own, key=lambda one: quickest(one, self._need))
            bound = quickest(first, self._need)
            if bound:
                one = self._trial(first)
                slowness = shortfall(self._need, *_times(one)) / bound if _tells(one) else 0.0
                self._slowness[engine] = first.data, slowness

    def _tries(self) -> Iterator[Trial]:
        """Trials in order of preference."""
        least: dict[int, float] = {}
        late: set[tuple[str, int, int, int]] = set()
        for candidate in self._lot.candidates:
            replica, needed = candidate.replica, needed_bytes(candidate.setup, self._need, candidate.data)
            if needed > least.get(replica, memory_bytes(self._lot.machine) * replica) or self._is_hopeless(candidate):
                continue
            speed = (
                candidate.setup.engine + candidate.setup.weights,
                candidate.tensor,
                candidate.pipeline,
                candidate.data,
            )
            if speed in late:
                continue
            one = self._trial(candidate)
            if _tells(one) and shortfall(self._need, *_times(one)) > _NARROWER_CACHE_GAINS:
                late.add(speed)
            if one.memory_lacks and one.margin is not None and one.margin.expected < 0:
                least[replica] = needed * (1 - 1e-6)
            yield one

    def _is_hopeless(self, candidate: Candidate) -> bool:
        if candidate in self._made:
            return False
        copies, slowness = self._slowness.get(candidate.setup.engine, (0, 0.0))
        too_slow = candidate.data <= copies and quickest(candidate, self._need) * slowness > _SPREAD
        return too_slow or not self._found.learned.may_reach(candidate, self._need)


def _tells(one: Trial) -> bool:
    """Whether the speed of a trial says something of others: where requests queue for memory, a roomier layout is far faster."""
    return not one.memory_lacks and not (one.speed is not None and one.speed.saturated)


def _distance(one: Trial) -> tuple[bool, int, float]:
    return bool(one.memory_lacks), len(one.lacks), -_rate(one)


def _times(one: Trial) -> tuple[float | None, float | None]:
    """Seconds to the first token and between two tokens of a user, as expected."""
    first = one.speed.ttft_ms if one.speed else None
    return first.expected / 1000 if first else None, 1 / _rate(one) if _rate(one) else None


def _rate(one: Trial) -> float:
    rate = one.speed.decode_tok_s_per_user if one.speed and not one.memory_lacks else None
    return rate.expected if rate else 0.0
