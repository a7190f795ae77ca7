"""What a deployment costs: buying (device, machine, write-down, energy, support, staff) and renting, in the team's currency.

Amounts are net of VAT. Prices come from a price book with their dates; what nobody named a price for stays None. The machine around
the cards is a planning figure and marked as one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from sizing.catalogue.entries import Accelerator
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.places import ANYWHERE, EEA, Where
from sizing.prices import (
    HOURS_PER_MONTH,
    VAT_BY_COUNTRY,
    Price,
    PriceBook,
    Rate,
    age_days,
    catalogue_prices,
    in_currency,
    is_stale,
)
from sizing.system.power import Platform, around_w, gold_efficiency
from sizing.usage import NOTHING_SAID, Usage, in_team_currency, used_as_said

Way = Literal["buy", "rent"]

# A machine around the cards (board, CPU, RAM about twice the cards' memory, disk, supply, case), EUR net by number of cards: planning
# figures without a source, shown as such and open to the team's quote. Actively cooled cards go into desktops and towers, passively
# cooled ones into servers, modules (SXM, OAM) onto boards of four or eight with their own chassis.
_MACHINE_EUR: dict[str, tuple[tuple[int, float], ...]] = {
    "active": ((1, 1200.0), (2, 2200.0), (4, 5500.0), (8, 14000.0)),
    "passive": ((1, 4500.0), (2, 5500.0), (4, 8000.0), (8, 16000.0)),
    "module": ((4, 25000.0), (8, 45000.0)),
}
_COMPLETE_KINDS = frozenset({"soc", "apu", "laptop"})
_CLASS_W = {
    "soc": 150.0,
    "apu": 120.0,
    "laptop": 120.0,
}  # planning figures of sizing.system.power where vendors give none
MODULES = frozenset({"sxm", "oam", "module"})
_TRUST_ORDER = ("offer", "undated", "marketplace", "doubtful")


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is paid for: devices of one kind; `replica` is how many of them must share one machine.

    `quote` is what all devices cost to buy, `rent_per_hour` to rent, where the asker names it: net, in the team's currency. `reserved`
    rent is paid for every hour.
    """

    accelerator: str
    count: int = 1
    memory_gb: float | None = None
    replica: int = 1
    owned: bool = False
    quote: float | None = None
    rent_per_hour: float | None = None
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class Rented:
    """Instances that together hold the devices of a deployment: the price of all of them an hour, net, in the team's currency."""

    rate: Rate
    instances: int
    per_hour: float


def book_of(defaults: Defaults) -> PriceBook:
    """The team's price book, else the catalogue's."""
    return defaults.prices or catalogue_prices()


def is_module(device: Accelerator) -> bool:
    """Whether a device only comes on a board of several (SXM, OAM) or in a whole system."""
    return device.form_factor in MODULES


def is_complete(device: Accelerator) -> bool:
    """Whether a price of the device is the price of a whole machine."""
    return device.kind in _COMPLETE_KINDS


def board_sizes(device: Accelerator) -> tuple[int, ...]:
    """Numbers of devices that can be bought together: boards of four and eight up to Hopper, of eight only since; () for any number."""
    if not is_module(device):
        return ()
    if device.form_factor == "module":
        return (1, 4) if device.id.startswith("nvidia-gh") else (4, 8)
    small = device.vendor == "nvidia" and float(device.compute_capability or 0) < 10.0
    return (4, 8, 16) if small else (8, 16)


def device_watts(device: Accelerator) -> float:
    """The power of one device as the vendor limits it, or a planning figure for whole machines."""
    return device.tdp_w or _CLASS_W.get(device.kind, 0.0)


def machine(device: Accelerator, count: int, defaults: Defaults) -> float:
    """Planning figure of the machines around the cards, in the team's currency; 0 where the device is a whole machine."""
    if is_complete(device):
        return 0.0
    if defaults.machine_price is not None:
        return defaults.machine_price * max(1, -(-count // 8))
    kind = "module" if is_module(device) else "passive" if device.cooling in ("passive", "liquid") else "active"
    eur = _stepped(_MACHINE_EUR[kind], count)
    return in_currency(eur, "EUR", defaults.currency, defaults.eur_per_usd)


def _stepped(steps: tuple[tuple[int, float], ...], count: int) -> float:
    return next((value for most, value in steps if count <= most), steps[-1][1] * -(-count // steps[-1][0]))


def wall_watts(device: Accelerator, count: int) -> float:
    """What a machine with so many devices draws at the wall under full load: cards, processor and board over the supply's efficiency.

    2 x RTX 4090: 900 W, 230 W around them, over 0.92: 1,228 W.
    """
    cards_w = device_watts(device) * count
    if not cards_w:
        return 0.0
    around = 0.0 if is_complete(device) else around_w(_platform(device, count), count if is_module(device) else 0)
    return (cards_w + around) / gold_efficiency(None)


def _platform(device: Accelerator, count: int) -> Platform:
    """As `sizing.system.place` builds it."""
    if is_module(device) or device.cooling == "passive" or count > 4:
        return "server"
    return "workstation" if count > 2 else "desktop"


def kwh_price(defaults: Defaults) -> float:
    """The team's price of a kWh, else that of households in its country, else the EU's average there, in its currency; Germany's
    anywhere else."""
    if defaults.electricity_per_kwh is not None:
        return defaults.electricity_per_kwh
    facts, country = catalogue().facts, defaults.country
    if country == "US":
        amount, currency = float(facts["electricity-us"].value["commercial"]), "USD"
    elif country != "DE" and country in EEA:
        known = facts["electricity-eu-household"].value
        amount, currency = float(known.get(country, known["EU"])), "EUR"
    else:
        amount, currency = float(facts["electricity-de-household"].value), "EUR"
    return in_currency(amount, currency, defaults.currency, defaults.eur_per_usd)


def standing_in(defaults: Defaults, countries: frozenset[str] | None) -> Defaults:
    """With the one country that was named in place of the team's: its price of a kWh and its VAT hold there."""
    if countries is None or len(countries) != 1 or countries == {defaults.country}:
        return defaults
    return replace(defaults, country=next(iter(countries)), electricity_per_kwh=None)


def electricity_per_month(watts: float, defaults: Defaults, load_share: float | None = None) -> float:
    """Cost of running at `load_share` of that power in the hours of the team, PUE included, in the team's currency."""
    share = defaults.load_share if load_share is None else load_share
    return watts / 1000 * share * defaults.hours_per_month * defaults.pue * kwh_price(defaults)


def uplift(device: Accelerator, price: Price, book: PriceBook) -> float:
    """How far the price to plan with stands above the one that was read, for a list price or one without a month.

    List prices are lifted by the median of street over list of parts with the same memory; an undated price is lifted to the newest
    dated one of the same chip (RTX PRO 6000 Max-Q and Workstation differ in cooling only).
    """
    if price.basis == "list":
        return book.list_uplift(device.memory_type)
    if price.basis != "street" or (price.as_of or "").count("-"):
        return 1.0
    newer = _sibling_price(device.id, book)
    return 1.0 if newer is None else max(1.0, newer / price.amount)


@lru_cache(maxsize=512)
def _sibling_price(ident: str, book: PriceBook) -> float | None:
    device = catalogue().accelerators[ident]
    if device.kind not in ("workstation", "datacenter", "consumer"):
        return None
    alike = [
        book.purchase(other.id)
        for other in catalogue().accelerators.values()
        if other.id != ident
        and (other.architecture, other.memory_gb, other.bandwidth_gb_s)
        == (device.architecture, device.memory_gb, device.bandwidth_gb_s)
    ]
    dated = [
        row.amount
        for row in alike
        if row and row.basis == "street" and (row.as_of or "").count("-") and row.currency == "USD"
    ]
    return max(dated, default=None)


def rent(deployment: Deployment, defaults: Defaults, place: Where = ANYWHERE) -> Rented | None:
    """The cheapest rent of the most trustworthy kind: dated offers before undated ones, those before marketplaces and doubtful rows."""
    found = _rents(
        book_of(defaults),
        deployment.accelerator,
        deployment.count,
        deployment.replica,
        defaults.currency,
        defaults.eur_per_usd,
    )
    for trust in _TRUST_ORDER:
        allowed = [one for one in found if one.rate.trust == trust and place.allows(one.rate)]
        if allowed:
            return min(allowed, key=lambda one: one.per_hour)
    return None


@lru_cache(maxsize=4096)
def _rents(
    book: PriceBook, ident: str, count: int, replica: int, currency: str, eur_per_usd: float
) -> tuple[Rented, ...]:
    found = []
    for rate in book.rates(ident):
        instances = _instances(rate, count, replica)
        if instances:
            amount = in_currency(rate.amount * instances, rate.currency, currency, eur_per_usd)
            found.append(Rented(rate, instances, amount))
    return tuple(found)


def _instances(rate: Rate, count: int, replica: int) -> int:
    """How many of an instance hold `count` devices with no replica torn apart; 0 where none do. Boards of eight may be joined."""
    if rate.by_the_card and replica <= 8:
        return count
    if replica <= rate.count:
        return -(-count // (rate.count // replica * replica))
    return -(-count // 8) if rate.count == 8 and replica % 8 == 0 else 0


def cost_of(deployment: Deployment, defaults: Defaults, place: Where = ANYWHERE) -> dict[str, Any]:
    """Everything about money and power of a deployment as plain data, net, in the team's currency; unknown amounts are None."""
    device = catalogue().accelerators[deployment.accelerator]
    bought = _bought(deployment, device, defaults) if place.buys else None
    market = rent(deployment, defaults, place)
    offered = None if market is None else _rent_view(market, defaults)
    rented = _stated(deployment) or offered
    cards_w = device_watts(device) * deployment.count
    wall_w = wall_watts(device, deployment.count)
    around = machine(device, deployment.count, defaults)
    per_month: dict[str, float | None] = {
        "buy": _owned_monthly(deployment, bought, around, wall_w, defaults) if place.buys else None,
        "rent": None if rented is None else round(rented["amount"] * _paid_hours(rented, defaults), 2),
    }
    return {
        "currency": defaults.currency,
        "buy": bought,
        "rent_per_hour": rented,
        "market_per_hour": None if rented is offered else offered,
        "hours_per_month": defaults.hours_per_month,
        "machine": round(around, 2) if bought or deployment.owned else None,
        "whole": None if bought is None else {"amount": round(bought["planning_amount"] + around, 2)},
        "machine_is_planning_figure": bool(around) and defaults.machine_price is None,
        "electricity_per_month": round(electricity_per_month(wall_w, defaults), 2) if wall_w else None,
        "per_kwh": kwh_price(defaults),
        "power_w": cards_w or None,
        "wall_w": wall_w or None,
        "monthly": per_month,
        "way": _cheaper(per_month),
        "amortisation_months": defaults.amortisation_months,
        "eur_per_usd": defaults.eur_per_usd,
        "vat": VAT_BY_COUNTRY.get(defaults.country),
        "owned": deployment.owned,
    }


def _stated(deployment: Deployment) -> dict[str, Any] | None:
    """The rent that the asker names."""
    if deployment.rent_per_hour is None:
        return None
    return {
        "amount": round(deployment.rent_per_hour, 4), "basis": "quote", "as_of": None, "age_days": None, "stale": False, "provider": None,
        "country": None, "instance": None, "instances": 1, "by_the_card": False, "trust": "offer", "net": True, "source": "", "setup": None,
        "condition": "reserved" if deployment.reserved else "stated", "monthly_only": deployment.reserved,
    }  # fmt: skip


def _paid_hours(rented: dict[str, Any], defaults: Defaults) -> float:
    """What is billed by the month costs the whole month, however long it runs."""
    return HOURS_PER_MONTH if rented["monthly_only"] else defaults.hours_per_month


def _cheaper(per_month: dict[str, float | None]) -> Way | None:
    bought, rented = per_month["buy"], per_month["rent"]
    if bought is None or rented is None:
        return "buy" if bought is not None else "rent" if rented is not None else None
    return "buy" if bought <= rented else "rent"


def _bought(deployment: Deployment, device: Accelerator, defaults: Defaults) -> dict[str, Any] | None:
    """The price of all the devices; None for one nobody names a price for, or a number that is not sold."""
    sizes = board_sizes(device)
    if deployment.owned:
        return None
    if deployment.quote is not None:
        return _quoted(deployment.quote, deployment.count)
    if sizes and deployment.count not in sizes:
        return None
    book = book_of(defaults)
    price = book.purchase(device.id, deployment.memory_gb)
    if price is None:
        return None
    factor = (
        in_currency(price.net_amount() / price.amount, price.currency, defaults.currency, defaults.eur_per_usd)
        * deployment.count
    )
    lifted = uplift(device, price, book)
    return {
        "amount": round(price.amount * factor, 2), "unit": round(price.amount * factor / deployment.count, 2), "basis": price.basis,
        "as_of": price.as_of, "age_days": age_days(price.as_of, defaults.today), "stale": is_stale(price.as_of, defaults.today),
        "low": round((price.low or price.amount) * factor, 2), "high": round((price.high or price.amount) * factor, 2),
        "planning_amount": round(price.amount * factor * lifted, 2), "uplift": round(lifted, 2), "condition": price.condition, "net": True,
        "provider": price.provider, "country": price.country, "source": price.source, "count": deployment.count,
    }  # fmt: skip


def _quoted(amount: float, count: int) -> dict[str, Any]:
    shown = round(amount, 2)
    return {
        "amount": shown, "unit": round(amount / count, 2), "basis": "quote", "as_of": None, "age_days": None, "stale": False, "low": shown,
        "high": shown, "planning_amount": shown, "uplift": 1.0, "condition": "new", "net": True, "provider": None, "country": None,
        "source": "", "count": count,
    }  # fmt: skip


def _rent_view(rented: Rented, defaults: Defaults) -> dict[str, Any]:
    rate = rented.rate
    return {
        "amount": round(rented.per_hour, 4), "basis": rate.basis, "as_of": rate.as_of, "age_days": age_days(rate.as_of, defaults.today),
        "stale": is_stale(rate.as_of, defaults.today), "provider": rate.provider, "country": rate.country, "instance": rate.instance,
        "instances": 1 if rate.by_the_card else rented.instances, "by_the_card": rate.by_the_card and rented.instances > 1,
        "trust": rate.trust, "condition": "monthly" if rate.per_month else "on-demand", "net": True, "source": rate.source,
        "monthly_only": rate.per_month is not None, "setup": rate.setup and rate.setup * rented.instances,
    }  # fmt: skip


def _owned_monthly(
    deployment: Deployment, bought: dict[str, Any] | None, around: float, wall_w: float, defaults: Defaults
) -> float | None:
    """Write-down to the resale share, energy, support and staff; for what is owned already only what running it costs."""
    running = electricity_per_month(wall_w, defaults) + defaults.staff_per_month
    if deployment.owned:
        return round(running, 2)
    if bought is None:
        return None
    months = defaults.amortisation_months * (defaults.used_life_share if bought["condition"] == "used" else 1.0)
    planned = float(bought["planning_amount"])
    invested = planned * (1 - defaults.resale_share)
    support = planned * defaults.support_share_per_year / 12
    return round(invested / months + around / defaults.amortisation_months + support + running, 2)


def costs(
    accelerator_id: str, count: int, defaults: Defaults, usage: Usage = NOTHING_SAID, place: Where = ANYWHERE
) -> dict[str, Any]:
    """`cost_of` for devices that share one machine, used and paid for as the asker says."""
    team = used_as_said(standing_in(defaults, place.countries), usage)
    gross = 1 + VAT_BY_COUNTRY.get(team.country, 0.0) if usage.gross else 1.0
    deployment = Deployment(
        accelerator_id,
        count,
        replica=count,
        quote=None if usage.quote is None else in_team_currency(usage.quote, team) / gross,
        rent_per_hour=None if usage.rent_per_hour is None else in_team_currency(usage.rent_per_hour, team),
        reserved=bool(usage.reserved),
    )
    return cost_of(deployment, team, place)


def monthly(cost: dict[str, Any]) -> float | None:
    """The cheaper of renting around the clock and owning; None without any price."""
    amounts = [float(amount) for amount in cost["monthly"].values() if amount is not None]
    return min(amounts, default=None)


def once(cost: dict[str, Any]) -> float | None:
    """What to plan with at the start to own it, devices and machine: list prices and old ones are lifted to those of the street; 0 for
    what is owned already."""
    if cost["owned"]:
        return 0.0
    return None if cost["buy"] is None else float(cost["buy"]["planning_amount"]) + float(cost["machine"] or 0.0)


def with_vat(amount: float, defaults: Defaults) -> float:
    """Gross of the team's country; unknown countries are taken without VAT."""
    return amount * (1 + VAT_BY_COUNTRY.get(defaults.country, 0.0))
