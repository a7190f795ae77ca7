"""Search over hardware x layout x format: options ranked by what meeting the workload costs, rejections explained.

Bounds that no estimate can beat (`sizing.search.bounds`) take most of about ten thousand candidates out before anything is planned;
`sizing.search.shortlist` says in which order the rest is tried, `sizing.search.ranking` how options are ordered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find
from sizing.cost import costs, monthly
from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.engine import failed
from sizing.errors import UserError
from sizing.estimate import Estimate, Failure
from sizing.places import ANY_TRUST
from sizing.search.bounds import Learned
from sizing.search.lacks import arriving_rps, budget_for, budget_of, speed_lacks
from sizing.search.machines import Machine, Rejection, machines
from sizing.search.nearest import Near, nearest
from sizing.search.need import Question, need_of, question_of
from sizing.search.notes import assumed, notes
from sizing.search.ranking import chosen, labels, order, tiers
from sizing.search.shortlist import Found, search
from sizing.search.trial import Trial
from sizing.spec import HardwareRef, WorkloadSpec, parse_spec

__all__ = ["Nearest", "Option", "Recommendation", "costs", "monthly", "recommend", "recommend_data"]

_ALMOST = 3
_MOST_NAMED = 8
# Where nothing works, so many plans at most go into looking for what would: each takes about half a millisecond.
_MOST_PLANNED = 120
_MOST_PLANNED_EACH = 60
# What "almost" means: at most so large a share missing of what was wanted.
_CLOSE = {"memory_missing": 0.25, "target_missed": 0.5, "over_budget": 1.0, "too_much_power": 0.5}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Option(_Part):
    """A proposal: the spec with its hardware, what the engine says of it, and why it stands where it does.

    `why` holds what it is best at and what it loses to the first (for one that almost works: what it lacks), `notes` what one must
    know before ordering it; both are codes with figures. `way` is the cheaper of buying and renting where both are known.
    """

    rank: int
    spec: dict[str, Any]
    estimate: Estimate
    why: tuple[dict[str, Any], ...] = ()
    notes: tuple[dict[str, Any], ...] = ()
    way: str | None = None
    per_month: float | None = None
    needs_quote: bool = False
    owned: bool = False


class Nearest(_Part):
    """One change that gives a workload an option where it has none."""

    change: str
    before: Any
    after: Any
    option: Option


class Recommendation(_Part):
    """Options in order, those that almost work with what they lack, and why the rest was rejected.

    `tiers` names the ranks of a good, a better and the best option; `nearest` is filled where there is no option; `assumed` says what
    the order takes for granted.
    """

    id: str | int | None = None
    ok: bool
    options: tuple[Option, ...] = ()
    almost: tuple[Option, ...] = ()
    rejected: tuple[dict[str, Any], ...] = ()
    searched: int = 0
    tiers: dict[str, int] = {}
    nearest: tuple[Nearest, ...] = ()
    assumed: tuple[dict[str, Any], ...] = ()
    error: Failure | None = None


def recommend(spec: WorkloadSpec, defaults: Defaults = ENGINE_DEFAULTS) -> Recommendation:
    """Options for a spec without hardware."""
    try:
        return _recommend(spec, defaults)
    except UserError as fault:
        return Recommendation(id=spec.id, ok=False, error=failed(spec.id, fault).error)


def recommend_data(data: object, defaults: Defaults = ENGINE_DEFAULTS) -> Recommendation:
    """`recommend` for plain data as it comes from JSON."""
    ident = data.get("id") if isinstance(data, dict) and isinstance(data.get("id"), str | int) else None
    try:
        return recommend(parse_spec(data), defaults)
    except UserError as fault:
        return Recommendation(id=ident, ok=False, error=failed(ident, fault).error)


def _recommend(spec: WorkloadSpec, defaults: Defaults) -> Recommendation:
    """As asked; where trustworthy prices lead to nothing, once more with marketplaces and doubtful rates."""
    question = question_of(spec, defaults)
    admitted, barred, found = _searched(question)
    if not found.accepted and question.place.rents:
        question = question_of(spec, defaults, ANY_TRUST)
        admitted, barred, found = _searched(question, found)
    options = chosen([one for one in found.accepted if arriving_rps(spec) is None or one.carries])
    shown = {one.candidate.machine.accelerator.id for one in options}
    near = _almost([one for one in found.near if one.candidate.machine.accelerator.id not in shown])
    return Recommendation(
        id=spec.id,
        ok=True,
        options=_options(options, question),
        almost=tuple(_option(one, n, one.lacks, question) for n, one in enumerate(near, start=1)),
        rejected=_rejected(barred, found),
        searched=found.searched,
        tiers=tiers(options),
        nearest=() if options else _nearest(question, admitted, found.learned),
        assumed=assumed(spec, defaults),
    )


def _searched(
    question: Question, before: Found | None = None
) -> tuple[tuple[Machine, ...], tuple[Rejection, ...], Found]:
    admitted, barred = machines(question.spec, question.defaults, question.place)
    owned = _owned(question.spec, question.defaults)
    return admitted, barred, search(question, (*owned, *admitted), need_of(question), before=before)


def _owned(spec: WorkloadSpec, defaults: Defaults) -> tuple[Machine, ...]:
    """What the asker has already, each kind of device by itself with all of its pieces and with fewer."""
    found = []
    for named in spec.constraints.owned or defaults.owned:
        entry = HardwareRef(accelerator=named) if isinstance(named, str) else named
        match = _accelerator(entry)
        if match is not None:
            counts = {entry.count or 1, *(count for count in (1, 2, 4, 8) if count < (entry.count or 1))}
            found += [Machine(match, count, entry.memory_gb, True) for count in sorted(counts)]
    return tuple(found)


def _accelerator(entry: HardwareRef) -> Accelerator | None:
    ident = find(entry.accelerator, "accelerator").id if entry.accelerator else None
    return catalogue().accelerators.get(ident) if ident else None


def _options(options: Sequence[Trial], question: Question) -> tuple[Option, ...]:
    why = labels(options)
    return tuple(_option(one, n, why[n - 1], question) for n, one in enumerate(options, start=1))


def _option(one: Trial, rank: int, why: tuple[dict[str, Any], ...], question: Question) -> Option:
    return Option(
        rank=rank,
        spec=one.shown.model_dump(mode="json", exclude_none=True),
        estimate=one.estimate,
        why=why,
        notes=notes(one, question.model, question.audience),
        way=one.cost["way"],
        per_month=one.per_month,
        needs_quote=one.per_month is None,
        owned=one.candidate.machine.owned,
    )


def _almost(near: Sequence[Trial]) -> tuple[Trial, ...]:
    """The cheapest of the machines that lack one thing and not much of it; where there is none, those that lack least."""
    near = [one for one in near if not _far_too_slow(one)] or near
    close = [one for one in near if len(one.lacks) == 1 and _distance(one) <= 1.0]
    best: dict[str, Trial] = {}
    for one in sorted(close or near, key=order if close else _distance):
        best.setdefault(one.candidate.machine.accelerator.id, one)
    return tuple(sorted(list(best.values())[:_ALMOST], key=order))


def _far_too_slow(one: Trial) -> bool:
    """Whether a machine that lacks memory would be far from its targets of speed even with it."""
    if not one.memory_lacks:
        return False
    return any(
        _share(entry, one) > _CLOSE["target_missed"] for entry in speed_lacks(one.asked, one.speed, one.defaults)
    )


def _distance(one: Trial) -> float:
    """How far a trial is from being an option, 1 being as far as "almost" goes; several lacks add up."""
    return sum(_share(entry, one) / _CLOSE.get(entry["code"], 0.001) for entry in one.lacks)


def _share(entry: dict[str, Any], one: Trial) -> float:
    params = entry["params"]
    if entry["code"] == "memory_missing":
        seen = (one.candidate.machine.memory_gb or one.candidate.machine.accelerator.memory_gb or 1.0) or 1.0
        return float(params["missing_gib"] / seen)
    if entry["code"] == "target_missed":
        got, wanted = params["got"], params["wanted"]
        return float(max(0.0, got / 1000 / wanted - 1 if params["target"] == "ttft_s" else 1 - got / wanted))
    if entry["code"] == "over_budget":
        return float(params["amount"] / params["limit"]) - 1
    return float(params["power_w"] / params["limit_w"]) - 1 if entry["code"] == "too_much_power" else 1.0


def _rejected(barred: Sequence[Rejection], found: Found) -> tuple[dict[str, Any], ...]:
    """Rejections by reason, with how many candidates each took out and a few names."""
    counts = Counter(one.code for one in barred)
    rows: list[dict[str, Any]] = [
        {
            "candidate": ", ".join([one.candidate for one in barred if one.code == code][:_MOST_NAMED]),
            "reasons": [{"code": code, "count": n}],
        }
        for code, n in counts.most_common()
    ]
    for code, n in (("cannot_hold_weights_and_kv", found.too_small), ("below_roofline", found.too_slow)):
        if n:
            rows.append({"candidate": f"{n} layouts", "reasons": [{"code": code, "count": n}]})
    return tuple(rows)


def _nearest(question: Question, admitted: Sequence[Machine], learned: Learned) -> tuple[Nearest, ...]:
    planned = 0

    def best(spec: WorkloadSpec) -> Trial | None:
        nonlocal planned
        if planned >= _MOST_PLANNED:
            return None
        changed = question_of(spec, question.defaults, question.place.trusts)
        most = min(_MOST_PLANNED_EACH, _MOST_PLANNED - planned)
        hits = search(changed, admitted, need_of(changed), enough=1, learned=learned, most_planned=most)
        planned += hits.planned
        return min(hits.accepted, key=order, default=None)

    found = nearest(question.spec, question.context_tokens, question.concurrency, best)
    return tuple(
        Nearest(change=one.change, before=_plain(_said(one, question)), after=_plain(_needed(one)),
                option=_option(one.trial, n, (), replace(question, model=_model(one.trial, question))))
        for n, one in enumerate(found, start=1)
    )  # fmt: skip


def _said(one: Near, question: Question) -> object:
    """A budget in the currency that costs are told in."""
    return budget_of(question.spec.targets, question.defaults) if one.change == "budget" else one.before


def _needed(one: Near) -> object:
    """What the change comes to: what the machine costs or draws where a limit of either was dropped, the format that was found."""
    if one.change == "budget":
        return budget_for(one.trial.asked, one.trial.cost, one.trial.defaults)
    return one.trial.cost["power_w"] if one.change == "power_w" else one.after or one.trial.spec.weights


def _plain(value: object) -> object:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else value


def _model(one: Trial, question: Question) -> Architecture:
    return question.model if one.spec.model == question.spec.model else question_of(one.asked, one.defaults).model
