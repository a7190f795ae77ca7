"""What one must know of an option beside its figures, as codes: licence, warranty, delivery, age of prices, whole boards, class of loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Accelerator
from sizing.cost import board_sizes, is_complete, is_module
from sizing.defaults import Defaults
from sizing.places import EEA, US_OWNED, countries
from sizing.search.candidates import MOST_LOCAL_AUDIENCE, quality
from sizing.search.lacks import is_private, lack
from sizing.search.machines import form_of
from sizing.search.ranking import waits_long
from sizing.search.trial import Trial
from sizing.spec import WorkloadSpec
from sizing.usage import used_as_said

_FEW_SLOTS = 2
_NOTABLE_UPLIFT = 1.05


def notes(one: Trial, model: Architecture, audience: int) -> tuple[dict[str, Any], ...]:
    """Codes with their figures, the most consequential first."""
    device = one.candidate.machine.accelerator
    return (
        *_part(one, device),
        *_licence(one, device, audience),
        *_building(one, device),
        *_buying(one),
        *_renting(one),
        *_formats(one, model),
        *((lack("slow_first_token"),) if waits_long(one) else ()),
        *_private(one),
    )


def _part(one: Trial, device: Accelerator) -> Iterator[dict[str, Any]]:
    bought = one.cost["buy"]
    if bought and bought["condition"] == "used":
        yield lack("used_no_warranty")
    elif device.status == "discontinued" and not one.candidate.machine.owned:
        yield lack("discontinued")


def _licence(one: Trial, device: Accelerator, audience: int) -> Iterator[dict[str, Any]]:
    """NVIDIA's GeForce driver licence forbids data centres; it is told where many are served or a rack was asked for."""
    in_rack = form_of(one.asked.constraints) in ("rack", "1u") or one.cost["way"] == "rent"
    if device.vendor == "nvidia" and device.kind == "consumer" and (in_rack or audience > MOST_LOCAL_AUDIENCE):
        yield lack("geforce_datacentre_licence")


def _building(one: Trial, device: Accelerator) -> Iterator[dict[str, Any]]:
    if one.cost["way"] == "rent" or is_complete(device) or one.candidate.machine.owned:
        return
    if is_module(device):
        yield lack("sold_on_boards", sizes=list(board_sizes(device)))
        yield lack("long_lead_time")
    elif device.cooling == "passive":
        yield lack("needs_server_airflow")
    elif one.candidate.machine.count > _FEW_SLOTS:
        yield lack("many_cards_in_one_case", count=one.candidate.machine.count)
    if one.cost["machine_is_planning_figure"]:
        yield lack("machine_planning_figure", amount=one.cost["machine"])


def _buying(one: Trial) -> Iterator[dict[str, Any]]:
    bought = one.cost["buy"]
    if bought is None or one.cost["way"] != "buy":
        return
    if bought["basis"] == "list":
        yield lack("list_price", as_of=bought["as_of"])
    if bought["uplift"] > _NOTABLE_UPLIFT:
        yield lack(
            "plan_with",
            amount=bought["planning_amount"],
            read=bought["amount"],
            currency=one.cost["currency"],
            count=one.candidate.machine.count,
        )
    elif bought["high"] > bought["low"] * 1.1:
        yield lack("price_range", low=bought["low"], high=bought["high"])
    if bought["stale"]:
        yield lack("price_old", as_of=bought["as_of"], age_days=bought["age_days"])


def _renting(one: Trial) -> Iterator[dict[str, Any]]:
    rented = one.cost["rent_per_hour"]
    if rented is None or one.cost["way"] != "rent":
        return
    if rented["trust"] != "offer":
        yield lack(f"rent_{rented['trust']}", provider=rented["provider"])
    if rented["monthly_only"]:
        yield lack("billed_by_the_month", setup=rented["setup"])
    if rented["instances"] > 1:
        yield lack("several_instances", count=rented["instances"])
    elif rented["by_the_card"]:
        yield lack("rate_of_one_card", provider=rented["provider"], count=one.candidate.machine.count)
    asked = countries(one.asked.constraints.location)
    if asked is not None and asked <= EEA and rented["provider"] in US_OWNED:
        yield lack("us_owned_provider", provider=rented["provider"])
    if rented["stale"] and rented["as_of"]:
        yield lack("price_old", as_of=rented["as_of"], age_days=rented["age_days"])


def _formats(one: Trial, model: Architecture) -> Iterator[dict[str, Any]]:
    setup = one.candidate.setup
    if setup.engine and one.asked.weights is None:
        yield lack("quality", loss=quality(setup.weights, model), bits=setup.bits)
    if setup.kv_cache is not None:
        yield lack("narrow_kv_cache", format=setup.kv_cache)


def _private(one: Trial) -> Iterator[dict[str, Any]]:
    device = one.candidate.machine.accelerator
    if is_private(one.asked, one.defaults) and not is_complete(device):
        yield lack("pc_not_included")


def assumed(spec: WorkloadSpec, defaults: Defaults) -> tuple[dict[str, Any], ...]:
    """What the order of options takes for granted."""
    defaults = used_as_said(defaults, spec.usage)
    hours = spec.usage.hours_per_month
    used = lack("around_the_clock", hours_per_month=730) if hours is None else lack("hours_said", hours_per_month=hours)
    found = [lack("amortisation", months=defaults.amortisation_months), used]
    if spec.targets.tokens_s_per_user is None and defaults.min_tokens_s_per_user:
        found.append(lack("least_rate", tokens_s_per_user=defaults.min_tokens_s_per_user))
    if spec.targets.budget and spec.targets.budget_gross is None:
        found.append(lack("budget_gross" if is_private(spec, defaults) else "budget_net"))
    return tuple(found)
