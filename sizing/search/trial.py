"""One candidate tried: the memory plan first, the speed only where it fits; the Estimate only for what is shown."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from sizing.cost import Deployment, cost_of, monthly, once, with_vat
from sizing.defaults import Defaults
from sizing.engine import estimate
from sizing.errors import UserError
from sizing.estimate import Estimate, Range, Speed, Verdict, Warning_
from sizing.memory.inference import plan_inference
from sizing.memory.plan import MemoryPlan
from sizing.places import Where
from sizing.resolve import Resolved, resolve
from sizing.search.candidates import Candidate
from sizing.search.lacks import Lack, is_private, lack, limit_lacks, memory_lacks, speed_lacks
from sizing.search.need import Question
from sizing.spec import WorkloadSpec
from sizing.speed.model import Forecast, as_speed, forecast
from sizing.verdict import margin, verdict

# Tasks whose plan and speed are taken apart here; the others go through the engine's front door whole.
_PLANNED = frozenset({"inference"})
# Of the most that hardware serves so much may arrive at it: a judgement; nearer to the edge people wait in a queue.
_BUSIEST = 0.9
# Two hours a day; the PC is there already, and a used card is kept as long as a new one.
_PRIVATE_LOAD = 0.08


@dataclass(frozen=True)
class Trial:
    """A candidate with what the engine says of it; figures are computed when first asked for, each once. `spec` is what is planned with."""

    candidate: Candidate
    spec: WorkloadSpec
    question: Question

    @property
    def asked(self) -> WorkloadSpec:
        """The spec without this hardware."""
        return self.question.spec

    @property
    def shown(self) -> WorkloadSpec:
        """What is proposed: the spec as it was asked, with this hardware."""
        return self.candidate.proposal(self.asked)

    @property
    def defaults(self) -> Defaults:
        return self.question.defaults

    @property
    def least_loss_bits(self) -> float:
        """Bits a weight below which something is lost: 8, or what the checkpoint itself has, or what was asked for."""
        return self.candidate.setup.bits if self.asked.weights else self.question.native_bits - 0.3

    @cached_property
    def _parts(self) -> tuple[Resolved, MemoryPlan] | None:
        if self.spec.task not in _PLANNED:
            return None
        try:
            resolved = resolve(self.spec, self.defaults)
            return resolved, plan_inference(resolved)
        except UserError:
            return None

    @cached_property
    def estimate(self) -> Estimate:
        """The whole Estimate, priced, without a derivation."""
        found = estimate(self.shown, self.defaults, derivation=False)
        return found.model_copy(update={"cost": deepcopy(self.cost)})

    @cached_property
    def verdict(self) -> Verdict | None:
        if self._parts is None:
            return self.estimate.verdict if self.spec.task not in _PLANNED else "no"
        return verdict(self._parts[1], self.defaults.reserve_share, as_set=True)

    @cached_property
    def margin(self) -> Range | None:
        return margin(self._parts[1]) if self._parts else self.estimate.margin_gib

    @cached_property
    def _forecast(self) -> Forecast | None:
        return forecast(*self._parts) if self._parts and self._parts[0].devices else None

    @cached_property
    def speed(self) -> Speed | None:
        """Expected figures; for ranges that may be shown see `estimate`."""
        if self._parts is None:
            return self.estimate.speed
        return as_speed(self._forecast, doubted=False) if self._forecast else None

    @cached_property
    def cost(self) -> dict[str, Any]:
        return price(self.candidate, self.question)

    @cached_property
    def per_month(self) -> float | None:
        return monthly(self.cost)

    @cached_property
    def memory_lacks(self) -> tuple[Lack, ...]:
        """What keeps it from running in its devices' memory; weights pushed into RAM do not count as fitting."""
        found = tuple(memory_lacks(self.verdict, self.margin))
        return found or ((lack("spills_to_ram"),) if self._spills else ())

    @property
    def warnings(self) -> tuple[Warning_, ...]:
        """What the plan warns of."""
        return self._parts[1].warnings if self._parts else self.estimate.warnings

    @property
    def _spills(self) -> bool:
        """Whether more than the input embedding, which llama.cpp keeps there, lies in RAM that nobody spoke of."""
        if self._parts is None or self.asked.host.ram_gb is not None:
            return False
        embedding = self.question.model.params.get("embedding", 0) * 2.2
        return self._parts[1].host.weights_bytes > max(embedding, 0.02 * self.question.model.params_total)

    @cached_property
    def lacks(self) -> tuple[Lack, ...]:
        """Everything that keeps it from being an option; speed is not asked of what does not fit."""
        found = self.memory_lacks or tuple(speed_lacks(self.asked, self.speed, self.defaults, _BUSIEST))
        return (*found, *limit_lacks(self.asked, self.cost, self.defaults))

    @cached_property
    def carries(self) -> bool:
        """Whether what is proposed serves what arrives, held against arrivals in random order and not only as many requests in flight."""
        return not any(
            entry["params"].get("target") == "requests_s"
            for entry in speed_lacks(self.asked, self.estimate.speed, self.defaults)
        )

    @cached_property
    def barely_fast_enough(self) -> bool:
        """Whether the lower end of the range misses the wished rate of one user."""
        wanted = self.asked.targets.tokens_s_per_user or self.defaults.min_tokens_s_per_user
        speed = as_speed(self._forecast) if self._forecast else self.speed
        rate = speed.decode_tok_s_per_user if speed else None
        return bool(wanted and rate and rate.low < wanted)

    @property
    def accepted(self) -> bool:
        return not self.lacks


def price(candidate: Candidate, question: Question) -> dict[str, Any]:
    """The cost of a candidate under the constraints of the spec; a private person is told what the shop takes, VAT included."""
    machine, defaults = candidate.machine, question.defaults
    deployment = Deployment(machine.accelerator.id, machine.count, machine.memory_gb, candidate.replica, machine.owned)
    if not is_private(question.spec, defaults):
        return _cost(deployment, defaults, question.place)
    alone = replace(defaults, machine_price=0.0, load_share=_PRIVATE_LOAD, used_life_share=1.0)
    cost = _cost(deployment, alone, question.place)
    paid = once(cost)
    return cost if paid is None else cost | {"gross": {"amount": round(with_vat(paid, defaults), 2)}}


@lru_cache(maxsize=4096)
def _cost(deployment: Deployment, defaults: Defaults, place: Where) -> dict[str, Any]:
    """The same machines are priced for every change that the search for the nearest thing tries; nobody writes into what is returned."""
    return cost_of(deployment, defaults, place)


def trial(candidate: Candidate, question: Question) -> Trial:
    """A candidate ready to be judged against the spec that was asked."""
    return Trial(candidate, candidate.proposal(question.planned), question)
