"""The bill of one deployment: its price as it is used, the load that a price by the token holds for, and how amounts are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from bot.compose.draft import Draft
from bot.compose.prices import hours_text
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from sizing.catalogue.load import catalogue
from sizing.cost import Way, board_sizes, costs, standing_in
from sizing.defaults import Defaults
from sizing.economics import PerMillion, million_step, per_million
from sizing.places import ANY_TRUST, ANYWHERE, Where, where
from sizing.sensitivity import best_format
from sizing.usage import Usage, used_as_said

# What a busy server is filled with where a message says nothing: enough requests to be worth its price.
BUSY_REQUESTS: Final = 32
_USUAL_UTILISATION: Final = 0.5


@dataclass(frozen=True)
class Bill:
    """One deployment with its price, its use and the words it is told in."""

    draft: Draft
    sized: Sized
    defaults: Defaults

    @property
    def words(self) -> Wording:
        return self.draft.words

    @property
    def usage(self) -> Usage:
        return self.sized.parsed.usage if self.sized.parsed else Usage()

    @property
    def cost(self) -> Mapping[str, Any]:
        return self.sized.estimate.cost or {}

    @cached_property
    def factor(self) -> float:
        """What amounts are multiplied with to be shown: 1 net, with the VAT of the team's country gross."""
        return 1 + (self.cost.get("vat") or 0.0) if self.usage.gross else 1.0

    @cached_property
    def busy(self) -> Sized:
        """The deployment under the load that a price by the token is worth asking for, where no load was said."""
        spec = self.sized.spec
        if spec.get("concurrency") or spec.get("users") or spec.get("load"):
            return self.sized
        return size({**spec, "concurrency": BUSY_REQUESTS}, self.defaults)

    @property
    def running(self) -> int:
        """Of its requests, those that run at once; the others wait for room."""
        speed, asked = self.busy.estimate.speed, int(self.busy.figures.get("concurrency", 1))
        return max(1, min(asked, round(speed.in_flight))) if speed and speed.in_flight else asked

    @cached_property
    def board(self) -> tuple[int, Mapping[str, Any]] | None:
        """(devices, cost) of the smallest whole board that holds as many as are sized, where single devices are not sold."""
        devices = self.sized.devices
        device = catalogue().accelerators.get(devices[0].accelerator or "") if devices else None
        if device is None or self.cost["buy"] is not None or self.cost["owned"] or self.usage.quote is not None:
            return None
        for count in board_sizes(device):
            if count > len(devices):
                cost = costs(device.id, count, self.defaults, self.usage, self.place)
                return (count, cost) if cost["buy"] is not None else None
        return None

    @property
    def place(self) -> Where:
        return where(self.sized.parsed, self.defaults, ANY_TRUST) if self.sized.parsed else ANYWHERE

    @cached_property
    def utilisation(self) -> float:
        """As said; what the tokens of a month come to; else half."""
        wanted, capacity = self.usage.tokens_per_month, self.capacity
        if self.usage.utilisation is None and wanted and capacity:
            return min(1.0, wanted / capacity)
        return self.usage.utilisation or _USUAL_UTILISATION

    @cached_property
    def capacity(self) -> float:
        """Output tokens of a month in the hours it runs, under full load."""
        return (total_rate_of(self) or 0.0) * 3600 * float(self.cost["hours_per_month"])

    @property
    def as_used(self) -> Defaults:
        return used_as_said(standing_in(self.defaults, self.place.countries), self.usage)

    @property
    def months(self) -> int:
        return self.as_used.amortisation_months

    def money(self, amount: float, decimals: int | None = 0) -> str:
        """An amount as it is shown, and known to the guard."""
        shown = self.grossed(amount)
        self.draft.material.add_money({"amount": shown})
        return self.words.money(shown, self.currency, decimals)

    @property
    def currency(self) -> str:
        return str(self.cost["currency"])

    def grossed(self, amount: float) -> float:
        """With the VAT where it is shown with it."""
        if self.factor == 1:
            return amount
        net = f"net_{self.currency.lower()}"
        return self.draft.work_out(
            "with_vat", f"{net} * (1 + vat)", self.currency, **{net: amount, "vat": self.cost["vat"]}
        )

    def million(self, way: Way, utilisation: float, rate: float) -> str:
        """The price of a million output tokens at a rate of all requests together, with its sum."""
        step = million_step(self.cost, way, rate, utilisation)
        return "" if step is None else self.money(self.draft.carry(step), None)

    def text(self, key: str, **params: Any) -> str:
        return self.words.text("bill", key, **params)

    def span(self) -> str:
        """The years said or written down over, in months where they are no whole years."""
        years, whole = self.months / 12, self.months % 12 == 0
        self.draft.material.add(self.months)
        self.draft.material.add(years)
        return self.text("years" if whole else "months", count=years if whole else self.months)

    def hours(self) -> str:
        """When it runs, as said: `8 h am Tag`, or around the clock."""
        usage, material = self.usage, self.draft.material
        material.add((usage.hours_per_day or 24.0) * 3600, "time")
        material.add(usage.days_per_week or 7.0)
        return hours_text(usage, self.words)


def bill_of(draft: Draft, sized: Sized, defaults: Defaults) -> Bill | None:
    """The bill of a deployment; None where it has no cost at all (mixed or unnamed devices)."""
    return Bill(draft, sized, defaults) if sized.estimate.cost else None


def leads(heard: Heard) -> bool:
    """Whether money is what was asked for; two ways to pay for one machine are a comparison of money."""
    return heard.intent == "cost" or (heard.intent == "compare" and heard.asks("cost"))


def runnable(sized: Sized, defaults: Defaults) -> Sized:
    """For a price the widest format with room to spare, where none was said and the usual one has none."""
    if sized.parsed is None or sized.parsed.weights or sized.parsed.task != "inference" or not sized.estimate.ok:
        return sized
    if sized.estimate.fits and (sized.margin_gib or 0.0) >= 0:
        return sized
    found = best_format(sized.parsed, defaults)
    return sized if found is None else size({**sized.spec, "weights": found[0]}, defaults)


def total_rate_of(bill: Bill) -> float | None:
    speed = bill.busy.estimate.speed
    return speed.output_tok_s_total.expected if speed and speed.output_tok_s_total else None


def row_at(bill: Bill, utilisation: float) -> PerMillion | None:
    rate = total_rate_of(bill)
    return None if not rate else per_million(dict(bill.cost), rate, (utilisation,))[0]


def ways_of(row: PerMillion | None) -> Sequence[tuple[Way, float]]:
    if row is None:
        return ()
    amounts: tuple[tuple[Way, float | None], ...] = (("buy", row.buy), ("rent", row.rent))
    return [(way, amount) for way, amount in amounts if amount is not None]
