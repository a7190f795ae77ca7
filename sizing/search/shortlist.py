"""The search: cheapest machines first, each tried from the setup one would prefer there down to the one that just fits.

About ten thousand candidates (machines x setups x layouts) pass the bounds of `sizing.search.bounds` in bulk; what is left is grouped
by machine, and a machine is visited (`sizing.search.visit`) at its price. The walk ends when enough kinds of devices are
found: since machines come in the order of their price, those not visited cost more. A second, short walk looks where price does not
lead: few large cards, and the fastest that the budget allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sizing.search.bounds import Learned, Need, may_fit, may_reach
from sizing.search.candidates import Candidate, Setup, layouts
from sizing.search.lacks import arriving_rps, limit_lacks
from sizing.search.machines import Machine
from sizing.search.need import Question, setups_of
from sizing.search.ranking import MOST_TIMES_THE_CHEAPEST, family, planning_cost
from sizing.search.trial import price
from sizing.search.visit import Found, Lot, visit

__all__ = ["Found", "Lot", "candidates", "search"]

_ENOUGH_FAMILIES = 8
_MOST_VISITS = 60
_MOST_VISITS_OF_A_RATE = 120  # no bound tells how many requests a machine serves: most are seen before one does
_MOST_PLANNED = 500
_SECOND_WALK = 4
_MOST_BEYOND = 4


def search(
    question: Question,
    machines: Sequence[Machine],
    need: Need,
    enough: int = _ENOUGH_FAMILIES,
    learned: Learned | None = None,
    most_planned: int = _MOST_PLANNED,
    before: Found | None = None,
) -> Found:
    """Accepted trials of enough kinds of devices, and those that fell short; `learned` is what an earlier search like it has taught.

    `before` is a search of the same workload at other prices: what could not do the work then is not tried again.
    """
    found = Found(learned=learned or Learned())
    if before is not None:
        found = Found(
            learned=before.learned, near=list(before.near), incapable=set(before.incapable), served=dict(before.served)
        )
    able = [machine for machine in machines if machine not in found.incapable]
    lots = sorted(
        _lots(question, able, need, found), key=lambda lot: (not lot.priced, lot.per_month, lot.machine.count)
    )
    if before is not None:  # the same candidates, of which fewer are looked at again
        found.searched, found.too_small, found.too_slow = before.searched, before.too_small, before.too_slow
    within = [lot for lot in lots if not lot.limited]
    rest = _walk(within, question, need, found, (enough, most_planned))
    if enough > 1:
        for lot in (*_second_walk(rest, found), *_beyond(lots)):
            visit(lot, question, need, found)
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


def _walk(lots: Sequence[Lot], question: Question, need: Need, found: Found, until: tuple[int, int]) -> list[Lot]:
    """Visits lots in order; returns those that were not reached."""
    families: set[object] = set()
    settled: set[str] = set()
    enough, most_planned = until
    visits = 0
    arriving = arriving_rps(question.spec)
    most_visits = _MOST_VISITS_OF_A_RATE if arriving else _MOST_VISITS
    for place, lot in enumerate(lots):
        if len(families) >= enough or visits >= most_visits or found.planned >= most_planned:
            return [one for one in lots[place:] if one.machine.accelerator.id not in settled]
        if lot.machine.accelerator.id in settled or not _worth_trying(lot, need, found):
            continue
        if arriving and not found.serves(lot.machine, arriving):
            continue
        visits += 1
        taken = visit(lot, question, need, found)
        if taken is not None:
            families.add(family(lot.machine.accelerator, lot.machine.memory_gb))
            if taken.candidate.setup.bits >= min(7.9, question.floor_bits + 4) or question.spec.weights:
                settled.add(lot.machine.accelerator.id)
    return []


def _worth_trying(lot: Lot, need: Need, found: Found) -> bool:
    """Whether any candidate could come near its targets as far as estimates of its device go."""
    return any(found.learned.may_reach(one, need) for one in lot.candidates)


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
