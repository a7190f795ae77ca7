"""Prices as data: what devices cost to buy and machines to rent, each with date and source. Nothing is ever free or guessed.

The catalogue's prices are the default book; newer ones (a team's quotes, an imported list) come in as rows from outside, since
sizing reads no files of its own but its packaged data.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from sizing.catalogue.entries import Accelerator, Offer
from sizing.catalogue.load import catalogue

Basis = Literal["street", "list", "offer", "quote", "imported"]
Condition = Literal["new", "used"]
Trust = Literal["offer", "undated", "marketplace", "doubtful"]

HOURS_PER_MONTH = 730.0
STALE_DAYS = 90
VAT_BY_COUNTRY: Mapping[str, float] = {
    "AT": 0.20, "BE": 0.21, "BG": 0.20, "CH": 0.081, "CY": 0.19, "CZ": 0.21, "DE": 0.19, "DK": 0.25, "EE": 0.24, "ES": 0.21, "FI": 0.255,
    "FR": 0.20, "GB": 0.20, "GR": 0.24, "HR": 0.25, "HU": 0.27, "IE": 0.23, "IT": 0.22, "LT": 0.21, "LU": 0.17, "LV": 0.21, "MT": 0.18,
    "NL": 0.21, "NO": 0.25, "PL": 0.23, "PT": 0.23, "RO": 0.21, "SE": 0.25, "SI": 0.22, "SK": 0.23, "US": 0.0,
}  # fmt: skip

# Providers that rent the same card singly and by the board at one rate a card (recalled from their price pages): their single-card
# rate holds for up to eight cards of one machine. Elsewhere several cards need an instance of that size.
_BY_THE_CARD = frozenset({
    "RunPod", "Crusoe", "Hyperstack", "Nebius", "Verda (DataCrunch)", "CoreWeave", "Together AI", "Civo", "DigitalOcean", "Lambda",
    "Seeweb",
})  # fmt: skip
_MARKETPLACES = frozenset({"Akash", "Vast.ai", "TensorDock", "OpenRelay"})
_MEMORY_FIRST = re.compile(r"(\d+) GB")
_AMOUNT_WITH_MEMORY = re.compile(r"(\d+) with (\d+) GB")
_DAY = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_LEAST_RATIOS = 3


@dataclass(frozen=True, slots=True)
class Price:
    """One device (or whole machine) to buy. `net` False means with the VAT of `country`; `memory_gb` None: the only version.

    `as_of` None where the source shows no date; `low` and `high` are the range of street prices read for the same condition.
    """

    amount: float
    currency: str
    basis: Basis
    as_of: str | None
    source: str
    net: bool | None = True
    condition: Condition = "new"
    country: str | None = None
    memory_gb: float | None = None
    provider: str | None = None
    low: float | None = None
    high: float | None = None

    def net_amount(self) -> float:
        """Without VAT."""
        rate = VAT_BY_COUNTRY.get(self.country or "DE", 0.19) if self.net is False else 0.0
        return self.amount / (1 + rate)


@dataclass(frozen=True, slots=True)
class Rate:
    """A machine to rent with `count` devices: the price an hour of the whole instance without VAT; a monthly price is spread over 730 h."""

    accelerator: str
    count: int
    amount: float
    currency: str
    provider: str
    instance: str
    country: str | None
    as_of: str | None
    source: str
    trust: Trust
    by_the_card: bool
    per_month: float | None = None
    setup: float | None = None
    basis: Basis = "offer"


@dataclass(frozen=True, eq=False)
class PriceBook:
    """Every known price by accelerator id, in no order."""

    bought: Mapping[str, tuple[Price, ...]]
    rented: Mapping[str, tuple[Rate, ...]]

    def extended(self, prices: Mapping[str, Iterable[Price]], rates: Iterable[Rate] = ()) -> PriceBook:
        """A book with newer rows beside these; the newest row decides, a quote always."""
        bought, rented = dict(self.bought), dict(self.rented)
        for ident, rows in prices.items():
            bought[ident] = (*bought.get(ident, ()), *rows)
        for rate in rates:
            rented[rate.accelerator] = (*rented.get(rate.accelerator, ()), rate)
        return PriceBook(bought, rented)

    def purchase(self, ident: str, memory_gb: float | None = None) -> Price | None:
        """What one device costs today as far as known; None means "ask for a quote"."""
        return _purchase(self, ident, memory_gb)

    def priced_memory(self, ident: str) -> frozenset[float]:
        """Memory sizes of a machine that somebody names a price for."""
        return frozenset(row.memory_gb for row in self.bought.get(ident, ()) if row.memory_gb is not None)

    def rates(self, ident: str) -> tuple[Rate, ...]:
        """Every machine to rent with that accelerator."""
        return self.rented.get(ident, ())

    def list_uplift(self, memory_type: str) -> float:
        """How far street prices stand above list prices for parts with that memory: the median ratio, at least 1."""
        return _list_uplift(self, memory_type)


@lru_cache(maxsize=1)
def catalogue_prices() -> PriceBook:
    """The prices of this release."""
    known = catalogue()
    bought = {device.id: tuple(_bought(device)) for device in known.accelerators.values()}
    rented: dict[str, list[Rate]] = {}
    for offer in known.offers.values():
        rented.setdefault(offer.accelerator, []).extend(_rates(offer))
    return PriceBook(bought, {ident: tuple(rows) for ident, rows in rented.items()})


def _bought(device: Accelerator) -> Iterator[Price]:
    for row in device.street_prices:
        country = "DE" if row.get("net") is False else None
        yield Price(
            row["amount"], row["currency"], "street", row.get("date"), row.get("source", ""), row.get("net"),
            row.get("condition", "new"), country, _memory(device, row.get("note", "")),
        )  # fmt: skip
    listed = device.msrp_usd
    if listed is None or device.status == "discontinued":
        return
    basis = listed["basis"]
    yield Price(
        float(listed["amount"]), "USD", "list", listed["date"], basis, True, "new", "US", _memory(device, basis)
    )
    for amount, memory in _AMOUNT_WITH_MEMORY.findall(basis):
        yield Price(float(amount), "USD", "list", listed["date"], basis, True, "new", "US", float(memory))


def _memory(device: Accelerator, note: str) -> float | None:
    """The memory a price is for, where a device is sold with several: as the note says, else the smallest."""
    if not device.memory_options_gb:
        return None
    named = _MEMORY_FIRST.search(note)
    size = float(named.group(1)) if named else 0.0
    return size if size in device.memory_options_gb else float(min(device.memory_options_gb))


def _rates(offer: Offer) -> Iterator[Rate]:
    if offer.count < 1 or (offer.notes or "").startswith("teaching platform"):
        return
    amounts = (
        (offer.price_usd_h, "USD"), (offer.price_eur_h, "EUR"),
        (None if offer.price_eur_month is None else offer.price_eur_month / HOURS_PER_MONTH, "EUR"),
    )  # fmt: skip
    amount, currency = next(((value, unit) for value, unit in amounts if value), (None, ""))
    if amount is None:
        return
    monthly = offer.price_eur_month if "monthly" in offer.condition else None
    yield Rate(
        offer.accelerator, int(offer.count), amount, currency, offer.provider, offer.instance, offer.country, offer.as_of,
        offer.sources[0] if offer.sources else "", _trust(offer), offer.provider in _BY_THE_CARD and offer.count == 1, monthly,
        offer.setup_eur,
    )  # fmt: skip


def _trust(offer: Offer) -> Trust:
    if offer.confidence == "low":
        return "doubtful"
    if "marketplace" in offer.condition or offer.provider in _MARKETPLACES or "community" in offer.id:
        return "marketplace"
    return "offer" if offer.as_of else "undated"


@lru_cache(maxsize=4096)
def _purchase(book: PriceBook, ident: str, memory_gb: float | None) -> Price | None:
    """A quote first; else the newest new price, then the newest used one. List prices count only where no street price is known."""
    rows = [row for row in book.bought.get(ident, ()) if row.memory_gb is None or memory_gb in (None, row.memory_gb)]
    if memory_gb is None and len({row.memory_gb for row in rows}) > 1:
        largest = max(row.memory_gb or 0.0 for row in rows)
        rows = [row for row in rows if row.memory_gb == largest]
    for wanted in (_is_quote, _is_new_street, _is_list, _is_used):
        found = [row for row in rows if wanted(row)]
        if found:
            newest = max(found, key=lambda row: _sortable(row.as_of))
            amounts = [row.amount for row in found if row.currency == newest.currency]
            return _ranged(newest, min(amounts), max(amounts))
    return None


def _is_quote(row: Price) -> bool:
    return row.basis == "quote"


def _is_new_street(row: Price) -> bool:
    return row.basis in ("street", "imported") and row.condition == "new"


def _is_list(row: Price) -> bool:
    return row.basis == "list"


def _is_used(row: Price) -> bool:
    return row.condition == "used"


def _ranged(price: Price, low: float, high: float) -> Price:
    return Price(
        price.amount, price.currency, price.basis, price.as_of, price.source, price.net, price.condition, price.country,
        price.memory_gb, price.provider, low, high,
    )  # fmt: skip


def _sortable(written: str | None) -> tuple[int, int, int]:
    """Dates of pages are written "2026", "2025/2026", "2026-06" or "2026-06-25"; what is not said counts as the earliest."""
    found = _DAY.match(written or "")
    return (int(found[1]), int(found[2] or 0), int(found[3] or 0)) if found else (0, 0, 0)


def age_days(as_of: str | None, today: str | None) -> int | None:
    """Days between a price's date and today, a month counted to its end; None where either is unknown."""
    if today is None or not as_of:
        return None
    year, month, day = _sortable(as_of)
    if not year:
        return None
    end = date(year, month or 12, day or 28)
    return max(0, (date.fromisoformat(today[:10]) - end).days)


def is_stale(as_of: str | None, today: str | None) -> bool:
    """Whether a price is older than 90 days or shows no date; False where today is unknown and the price is dated."""
    age = age_days(as_of, today)
    return age > STALE_DAYS if age is not None else not as_of


@lru_cache(maxsize=256)
def _list_uplift(book: PriceBook, memory_type: str) -> float:
    ratios = []
    for device in catalogue().accelerators.values():
        if device.memory_type != memory_type or device.status != "shipping" or device.memory_options_gb:
            continue
        listed = [row for row in book.bought.get(device.id, ()) if _is_list(row)]
        street = [row for row in book.bought.get(device.id, ()) if _is_new_street(row) and row.currency == "USD"]
        if listed and street:
            ratios.append(max(street, key=lambda row: _sortable(row.as_of)).amount / listed[0].amount)
    return max(1.0, statistics.median(ratios)) if len(ratios) >= _LEAST_RATIOS else 1.0


def in_currency(amount: float, currency: str, wanted: str, eur_per_usd: float) -> float:
    """An amount in EUR or USD at the given rate."""
    if currency == wanted:
        return amount
    return amount * eur_per_usd if wanted == "EUR" else amount / eur_per_usd
