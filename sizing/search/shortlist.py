"""The search: cheapest machines first, each tried from the setup one would prefer there down to the one that just fits.

About ten thousand candidates (machines x setups x layouts) pass the bounds of `sizing.search.bounds` in bulk; what is left is grouped
by machine, and a machine is visited at its price. One memory plan of its most frugal candidate says whether the machine can do at
all; then its candidates are planned in the order of preference until one is accepted. The walk ends when enough kinds of devices are
found: since machines come in the order of their price, those not visited cost more. A second, short walk looks where price does not
lead: few large cards, and the fastest that the budget allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sizing.search.bounds import Need, may_fit, may_reach, memory_bytes, needed_bytes
from sizing.search.candidates import Candidate, Setup, layouts
from sizing.search.lacks import limit_lacks
from sizing.search.machines import Machine
from sizing.search.need import Question, setups_of
from sizing.search.ranking import MOST_TIMES_THE_CHEAPEST, family, planning_cost
from sizing.search.trial import Trial, price, trial

_ENOUGH_FAMILIES = 8
_MOST_VISITS = 60
_SECOND_WALK = 4
_MOST_BEYOND = 4


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


def search(question: Question, machines: Sequence[Machine], need: Need, enough: int = _ENOUGH_FAMILIES) -> Found:
    """Accepted trials of enough kinds of devices, and those that fell short."""
    found = Found()
    lots = sorted(
        _lots(question, machines, need, found), key=lambda lot: (not lot.priced, lot.per_month, lot.machine.count)
    )
    within = [lot for lot in lots if not lot.limited]
    rest = _walk(within, question, need, found, enough)
    if enough > 1:
        for lot in _second_walk(rest, found):
            _visit(lot, question, need, found)
    for lot in _beyond(lots):
        _visit(lot, question, need, found)
    return found


def candidates(question: Question, machine: Machine, known: Iterable[Setup]) -> Iterator[Candidate]:
    """Every layout of every setup on a machine."""
    for setup in known:
        for tensor, pipeline, data in layouts(machine, setup, question.model.heads, question.concurrency):
            yield Candidate(machine, setup, tensor, pipeline, data)


def _lots(question: Question, machines: Sequence[Machine], need: Need, found: Found) -> Iterator[Lot]:
    by_device: dict[str, tuple[Setup, ...]] = {}
    for machine in machines:
        device = machine.accelerator.id
        if device not in by_device:
            by_device[device] = setups_of(question, machine)
        kept = tuple(_bounded(candidates(question, machine, by_device[device]), need, found))
        if kept:
            yield _lot(machine, kept, question)


def _bounded(all_of_them: Iterable[Candidate], need: Need, found: Found) -> Iterator[Candidate]:
    for candidate in all_of_them:
        found.searched += 1
        if not may_fit(candidate, need):
            found.too_small += 1
        elif not may_reach(candidate, need):
            found.too_slow += 1
        else:
            yield candidate


def _lot(machine: Machine, kept: tuple[Candidate, ...], question: Question) -> Lot:
    """Priced with the smallest replica, which may be spread over more kinds of rented machines than a larger one."""
    smallest = min(kept, key=lambda one: one.replica)
    cost = price(smallest, question)
    limited = any(True for _ in limit_lacks(question.spec, cost, question.defaults))
    per_month = planning_cost(cost)
    return Lot(machine, kept, per_month or 0.0, per_month is not None, limited, cost["way"] == "rent")


def _walk(lots: Sequence[Lot], question: Question, need: Need, found: Found, enough: int) -> list[Lot]:
    """Visits lots in order; returns those that were not reached."""
    families: set[object] = set()
    settled: set[str] = set()
    visits = 0
    for place, lot in enumerate(lots):
        if len(families) >= enough or visits >= _MOST_VISITS:
            return [one for one in lots[place:] if one.machine.accelerator.id not in settled]
        if lot.machine.accelerator.id in settled:
            continue
        visits += 1
        taken = _visit(lot, question, need, found)
        if taken is not None:
            families.add(family(lot.machine.accelerator, lot.machine.memory_gb))
            if taken.candidate.setup.bits >= min(7.9, question.floor_bits + 4) or question.spec.weights:
                settled.add(lot.machine.accelerator.id)
    return []


def _second_walk(rest: Sequence[Lot], found: Found) -> list[Lot]:
    """The cheapest machines of few large cards, and the fastest of those left."""
    fewest = min((one.candidate.machine.count for one in found.accepted), default=99)
    small = [lot for lot in rest if lot.machine.count < fewest or lot.machine.count == 1][:_SECOND_WALK]
    rented = (
        []
        if any(one.cost["way"] == "rent" for one in found.accepted)
        else [lot for lot in rest if lot.rented][:_SECOND_WALK]
    )
    most = MOST_TIMES_THE_CHEAPEST * min((one.per_month for one in found.accepted if one.per_month), default=0.0)
    fast = sorted((lot for lot in rest if lot.priced and lot.per_month <= most), key=_bandwidth, reverse=True)[
        :_SECOND_WALK
    ]
    return list({id(lot): lot for lot in (*small, *rented, *fast)}.values())


def _bandwidth(lot: Lot) -> float:
    return (lot.machine.accelerator.bandwidth_gb_s or 0.0) * lot.machine.count


def _beyond(lots: Sequence[Lot]) -> list[Lot]:
    """The cheapest machines beyond a limit of money or power: the first of them almost work."""
    return [lot for lot in lots if lot.limited and lot.priced][:_MOST_BEYOND]


def _visit(lot: Lot, question: Question, need: Need, found: Found) -> Trial | None:
    """The best accepted trial of a machine; the nearest miss is kept where there is none."""
    frugal = trial(_frugal(lot, need), question)
    if frugal.memory_lacks:
        found.near.append(frugal)
        return None
    tight: Trial | None = None
    missed: list[Trial] = []
    for one in _tries(lot, question, need):
        if one.accepted and one.verdict == "fits":
            found.accepted.append(one)
            return one
        if one.accepted:
            tight = tight or one
        else:
            missed.append(one)
    if tight is not None:
        found.accepted.append(tight)
    elif missed:
        found.near.append(min(missed, key=lambda one: (bool(one.memory_lacks), len(one.lacks), -_rate(one))))
    return tight


def _rate(one: Trial) -> float:
    rate = one.speed.decode_tok_s_per_user if one.speed and not one.memory_lacks else None
    return rate.expected if rate else 0.0


def _frugal(lot: Lot, need: Need) -> Candidate:
    """The candidate that takes the least of each device's memory."""
    return min(lot.candidates, key=lambda one: (needed_bytes(one.setup, need, one.data) / one.replica, one.pipeline))


def _tries(lot: Lot, question: Question, need: Need) -> Iterator[Trial]:
    """Trials in order of preference; what a failed plan shows to be too large as well is left out."""
    least: dict[int, float] = {}
    for candidate in lot.candidates:
        replica = candidate.replica
        if needed_bytes(candidate.setup, need, candidate.data) > least.get(
            replica, memory_bytes(lot.machine) * replica
        ):
            continue
        one = trial(candidate, question)
        if one.memory_lacks and one.margin is not None and one.margin.expected < 0:
            least[replica] = needed_bytes(candidate.setup, need, candidate.data) * (1 - 1e-6)
        yield one
