"""A budget and a purpose without a model: the largest current model made for it that some hardware within the budget serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bot.answer import Alternative
from bot.compose.assumptions import assumption_view
from bot.compose.best_model import asks_for_coding
from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.prices import price_cell
from bot.compose.recommended import Options, options_for
from bot.heard import Heard
from bot.reply import names
from bot.sized import Sized
from bot.thread import Spec, ThreadState
from sizing.catalogue.entries import Model
from sizing.defaults import Defaults
from sizing.estimate import Assumption
from sizing.reverse import classes_of, current_models, generation

# Older than two of the catalogue's generations nobody would begin with.
_OLDEST: Final = 1
# A neighbour nearly as large costs nearly the same, so that the next one tried is clearly smaller.
_NEXT_SIZE: Final = 0.85
_SMALLER: Final = 0.6
_MOST_SMALLER: Final = 2
# What is short of money by more than this is not reached by a model half as large.
_FAR: Final = 8.0
# More cards want a board of their own in one person's machine, and a larger server where several share it.
_CARDS_OF_ONE_PERSON: Final = 2
_CARDS_OF_A_SERVER: Final = 4
_TASKS: Final = ("inference", None)


@dataclass(frozen=True)
class Proposal:
    """A workload with a model filled in, and smaller models that cost less, each on its cheapest hardware."""

    spec: Spec
    coding: bool
    smaller: tuple[Sized, ...]


def propose(heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> Proposal | None:
    """What to buy or rent for a purpose within a budget; None where no budget is said or nothing comes of it."""
    budget = heard.request.get("budget") or {}
    spec: Spec = heard.specs[0] if heard.specs else {"task": "inference"}
    if not budget.get("amount") or not heard.asks("size") or len(heard.specs) > 1 or spec.get("task") not in _TASKS:
        return None
    limit = {"budget": budget["amount"], "budget_currency": budget["currency"], "budget_period": budget["period"]}
    asked = _in_one_machine({**spec, "targets": {**(spec.get("targets") or {}), **limit}})
    coding = any(asks_for_coding(said) for said in (*(turn.text for turn in thread.turns), text))
    served = _served(asked, coding, defaults)
    first = next(served, None)
    if first is None:
        return None
    model, options = first
    return Proposal({**asked, "model": {"id": model.id}}, coding, tuple(_smaller(served, model, options)))


def _in_one_machine(spec: Spec) -> Spec:
    said = spec.get("constraints") or {}
    several = (spec.get("users") or spec.get("concurrency") or 1) > 1
    return {**spec, "constraints": {"max_devices": _CARDS_OF_A_SERVER if several else _CARDS_OF_ONE_PERSON, **said}}


def _served(spec: Spec, coding: bool, defaults: Defaults) -> Iterator[tuple[Model, Options]]:
    """Models from the largest down with what serves them within the budget; far too dear ones are passed over in one step."""
    kind, most = "coding" if coding else "general", float("inf")
    for model in current_models():
        if kind not in classes_of(model) or generation(model) > _OLDEST or model.params_total > most:
            continue
        options = options_for({**spec, "model": {"id": model.id}}, defaults)
        if options.good and options.good[0].verdict == "fits":
            most = model.params_total * _NEXT_SIZE
            yield model, options
        elif _times_the_budget(options) > _FAR:
            most = model.params_total / 2


def _times_the_budget(options: Options) -> float:
    changes = [near for near, _ in options.nearest if near.change == "budget" and near.after]
    needed = [float(near.after) / float(near.before) for near in changes]
    return min(needed, default=1.0)


def _smaller(served: Iterator[tuple[Model, Options]], model: Model, options: Options) -> Iterator[Sized]:
    """Steps down in size that also cost less."""
    size, price, found = model.params_total, _price(options.good[0]), 0
    for other, cheaper in served:
        cost = _price(cheaper.good[0])
        if other.params_total > size * _SMALLER or cost is None or price is None or cost >= price:
            continue
        yield cheaper.good[0]
        size, price, found = other.params_total, cost, found + 1
        if found == _MOST_SMALLER:
            return


def _price(option: Sized) -> float | None:
    cost = option.estimate.cost or {}
    monthly: float | None = (cost.get("monthly") or {}).get(cost.get("way"))
    return monthly


def say(draft: Draft, proposal: Proposal) -> None:
    """What the proposal is for, what costs less, and the model as the first of the assumptions."""
    words = draft.words
    key = "coding" if proposal.coding else "general"
    if draft.options:
        best = draft.options[0]
        params = {"hardware": option_label(best, words), "model": best.figures["model"]}
        draft.headline = words.text("purpose", key, **params, price=price_cell(best.estimate.cost or {}, words))
    draft.considered.extend(proposal.smaller)
    draft.material.add_data(proposal.spec["targets"])
    steps = [
        words.text(
            "purpose", "step", model=one.figures["model"], hardware=option_label(one, words),
            price=price_cell(one.estimate.cost or {}, words),
        )
        for one in proposal.smaller
    ]  # fmt: skip
    if steps:
        draft.say(
            "cheaper",
            words.text("purpose", "smaller", steps=words.listed(steps)),
            words.text("purpose", "smaller_title"),
        )
    chosen = Assumption(field="model", value=proposal.spec["model"]["id"], code="largest_in_budget")
    others = tuple(
        Alternative(label=names.model(one.spec["model"]["id"]), delta={"model": {"id": one.spec["model"]["id"]}})
        for one in proposal.smaller
    )
    draft.assumptions = (
        assumption_view(chosen, words).model_copy(update={"alternatives": others}),
        *draft.assumptions,
    )
