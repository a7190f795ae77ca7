"""As many of one kind of device as a workload needs: the search of `sizing.recommend`, held to that device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.cost import is_complete
from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.estimate import Estimate
from sizing.search.candidates import MOST_LOCAL_AUDIENCE
from sizing.search.machines import Machine, numbers_of
from sizing.search.need import Question, need_of, question_of
from sizing.search.ranking import order
from sizing.search.shortlist import search
from sizing.search.trial import Trial
from sizing.spec import HardwareRef, Parallel, WorkloadSpec

# Where nothing is known of how a device is sold or rented.
_COUNTS = (1, 2, 4, 8)
# A service that weighs cards by what they cost does so at one precision: 8 bit, below which something is lost.
_SERVICE_BITS = 8.0


def enough_of(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> tuple[WorkloadSpec, Estimate] | None:
    """The spec on the fewest of its one kind of device that meet it, and the estimate; None where no number that is sold does, the
    hardware is of several kinds or unknown, or a whole machine. A number that was said stays; engine, format and layout are found for it.

    A service (more than a handful of requests or people) gets weights of 8 bits or more where those fit at all.

    Raises:
        UserError: the spec names no model, or one that is unknown.
    """
    device = _device(spec)
    if device is None or is_complete(device):
        return None
    free = spec.model_copy(update={"hardware": (), "parallel": Parallel()})
    for question in _questions(free, defaults):
        found = _fewest(question, _machines(device, spec.hardware[0], question))
        if found is not None:
            return found.shown, found.estimate
    return None


def most_sold(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> int | None:
    """The largest number in which the spec's one kind of device comes in one machine; None for whole machines and unknown devices.

    Raises:
        UserError: the spec names no model, or one that is unknown.
    """
    device = _device(spec)
    if device is None or is_complete(device):
        return None
    question = question_of(spec.model_copy(update={"hardware": (), "parallel": Parallel()}), defaults)
    return max((one.count for one in _machines(device, spec.hardware[0], question)), default=None)


def _device(spec: WorkloadSpec) -> Accelerator | None:
    if len(spec.hardware) != 1 or not spec.hardware[0].accelerator:
        return None
    ident = find(spec.hardware[0].accelerator, "accelerator").id
    return catalogue().accelerators.get(ident) if ident else None


def _questions(spec: WorkloadSpec, defaults: Defaults) -> Iterator[Question]:
    question = question_of(spec, defaults)
    if question.audience > MOST_LOCAL_AUDIENCE and not spec.weights and question.floor_bits < _SERVICE_BITS:
        wide = spec.constraints.model_copy(update={"min_bits": _SERVICE_BITS})
        yield question_of(spec.model_copy(update={"constraints": wide}), defaults)
    yield question


def _machines(device: Accelerator, named: HardwareRef, question: Question) -> tuple[Machine, ...]:
    sold = tuple(numbers_of(device, question.spec, question.defaults, question.place))
    counts = (named.count,) if named.count else sorted({one.count for one in sold}) or _COUNTS
    return tuple(Machine(device, count, named.memory_gb) for count in counts)


def _fewest(question: Question, machines: Sequence[Machine]) -> Trial | None:
    """One count after the other: the dearer of two counts may come first where prices of rent are odd."""
    need = need_of(question)
    for machine in sorted(machines, key=lambda one: one.count):
        accepted = search(question, (machine,), need, enough=1).accepted
        if accepted:
            return min(accepted, key=order)
    return None
