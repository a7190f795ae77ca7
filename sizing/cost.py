"""Prices of devices: to buy (street or list price, dated) and to rent (offers of the catalogue). Nothing is ever free or guessed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sizing.catalogue.entries import Accelerator, Offer
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults

HOURS_PER_MONTH = 730.0
AMORTISATION_MONTHS = 36

# A machine around the cards (board, CPU, 64-512 GB of RAM, disk, supply, case), EUR net: planning figures without a source, shown as
# such and open to the team's quote. Desktop for one card, workstation for two, tower or server for four, eight-card server.
_MACHINE_EUR = {1: 1200.0, 2: 2200.0, 4: 5500.0, 8: 14000.0}
_COMPLETE_KINDS = frozenset({"soc", "apu", "laptop"})

PriceBasis = Literal["street", "list", "offer"]


@dataclass(frozen=True, slots=True)
class Price:
    """An amount in `currency`; `net` False means with VAT, None unknown; `as_of` None where the source shows no date."""

    amount: float
    currency: str
    basis: PriceBasis
    as_of: str | None
    source: str
    net: bool | None = None
    condition: str = "new"
    provider: str | None = None
    country: str | None = None


def in_currency(price: Price, currency: str, eur_per_usd: float) -> float:
    """The amount in another currency at the given rate."""
    if price.currency == currency:
        return price.amount
    return price.amount * eur_per_usd if currency == "EUR" else price.amount / eur_per_usd


@lru_cache(maxsize=512)
def purchase(accelerator_id: str) -> Price | None:
    """The price of one device: the newest new street price, else the list price, else None ("ask for a quote")."""
    device = catalogue().accelerators[accelerator_id]
    fresh = [row for row in device.street_prices if row.get("condition", "new") == "new"] or list(device.street_prices)
    if fresh:
        row = max(fresh, key=lambda one: one.get("date") or "")
        return Price(
            row["amount"],
            row["currency"],
            "street",
            row.get("date"),
            row.get("source", ""),
            row.get("net"),
            row.get("condition", "new"),
        )
    return _list_price(device)


def _list_price(device: Accelerator) -> Price | None:
    if device.msrp_usd is None or device.status == "discontinued":
        return None
    return Price(
        float(device.msrp_usd["amount"]), "USD", "list", device.msrp_usd["date"], device.msrp_usd["basis"], True
    )


def rent(accelerator_id: str, count: int, defaults: Defaults) -> Price | None:
    """The cheapest offer per hour for at least `count` of a device, in the team's currency; None where none is listed."""
    return _rent(accelerator_id, count, defaults.currency, defaults.eur_per_usd)


@lru_cache(maxsize=4096)
def _rent(accelerator_id: str, count: int, currency: str, eur_per_usd: float) -> Price | None:
    prices = [price for offer in catalogue().offers_for(accelerator_id) for price in _hourly(offer, count)]
    return min(prices, key=lambda price: in_currency(price, currency, eur_per_usd), default=None)


def _hourly(offer: Offer, count: int) -> Iterable[Price]:
    """The price of as many instances as hold `count` devices; marketplace rows marked low in confidence count last by price only."""
    if offer.count < 1 or offer.confidence == "low":
        return
    machines = -(-count // int(offer.count))
    if machines > 1 and offer.count < 8:
        return  # several small instances do not share a link
    amounts = ((offer.price_usd_h, "USD"), (offer.price_eur_h, "EUR"), (_per_hour(offer.price_eur_month), "EUR"))
    for amount, currency in amounts:
        if amount:
            source = offer.sources[0] if offer.sources else ""
            yield Price(
                amount * machines,
                currency,
                "offer",
                offer.as_of,
                source,
                True,
                offer.condition,
                offer.provider,
                offer.country,
            )
            return


def _per_hour(monthly: float | None) -> float | None:
    return None if monthly is None else monthly / HOURS_PER_MONTH


def machine(device: Accelerator, count: int, defaults: Defaults) -> float:
    """Planning figure of the machine around the cards, in the team's currency; 0 where the device is a whole machine."""
    if device.kind in _COMPLETE_KINDS:
        return 0.0
    eur = next((price for slots, price in _MACHINE_EUR.items() if count <= slots), _MACHINE_EUR[8] * -(-count // 8))
    return eur if defaults.currency == "EUR" else eur / defaults.eur_per_usd


def electricity_per_month(watts: float, defaults: Defaults, load_share: float = 0.5) -> float:
    """Cost of running at `load_share` of that power around the clock, PUE included, in the team's currency."""
    return watts / 1000 * load_share * HOURS_PER_MONTH * defaults.pue * defaults.electricity_per_kwh
