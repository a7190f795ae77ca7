"""What a deployment costs as it is used: by month, by way, over the years, against an API, by the million tokens, in energy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from bot.compose.draft import Draft
from bot.compose.prices import dated, hours_text, price_sentences
from bot.explain import with_mark
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, is_machine, size
from sizing.catalogue.load import catalogue
from sizing.cost import board_sizes
from sizing.defaults import Defaults
from sizing.economics import (
    UTILISATIONS,
    PerMillion,
    against_api,
    break_even,
    kwh_per_million,
    per_million,
    tokens_per_joule,
    totals,
)
from sizing.sensitivity import best_format
from sizing.usage import Usage, in_team_currency, used_as_said

Focus = Literal["api", "million", "even", "total", "month"]

# What a busy server is filled with where a message says nothing: enough requests to be worth its price.
BUSY_REQUESTS: Final = 32
_USUAL_UTILISATION: Final = 0.5
_MILLION: Final = re.compile(
    r"(?:/|\b(?:per|pro|je|eine|a|one|1)\s)\s?(?:1?m\b|mtok|mio|million)|\bmillion(?:en|s)? (?:output[- ])?tok",
    re.IGNORECASE,
)
_EVEN: Final = re.compile(
    r"\bab wann\b|\bab wie ?viel|break[- ]?even|\blohn(?:t|en)\b|amortis|pays? (?:itself |for itself )?off|payback|rechne(?:t|n) sich|"
    r"rentier|worth (?:buying|renting|it)|buy(?:ing)? or rent|rent(?:ing)? or buy|kaufen oder miet|mieten oder kauf|(?:miete|kauf)\w* "
    r"(?:guenstiger|günstiger|billiger)",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(
    r"\btco\b|total cost|gesamtkosten|\b(?:over|über|ueber) (?:the )?\d+ ?(?:years|jahre)", re.IGNORECASE
)
_ENERGY: Final = re.compile(r"kwh|strom|electric|energy|energie|joule|watt", re.IGNORECASE)


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
        if spec.get("concurrency") or spec.get("users"):
            return self.sized
        return size({**spec, "concurrency": BUSY_REQUESTS}, self.defaults)

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
        return (_rate(self) or 0.0) * 3600 * float(self.cost["hours_per_month"])

    @property
    def as_used(self) -> Defaults:
        return used_as_said(self.defaults, self.usage)

    @property
    def months(self) -> int:
        return self.as_used.amortisation_months

    def money(self, amount: float, decimals: int | None = 0) -> str:
        """An amount as it is shown, and known to the guard."""
        shown = amount * self.factor
        self.draft.material.add_money({"amount": shown})
        return self.words.money(shown, str(self.cost["currency"]), decimals)

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


def headline(bill: Bill, question: str) -> str | None:
    """The first sentence of an answer that was asked for money; None where no price is known."""
    for focus in _focuses(bill, question):
        found = _HEADLINES[focus](bill)
        if found:
            return found
    return None


def _focuses(bill: Bill, question: str) -> Iterator[Focus]:
    if bill.usage.api is not None:
        yield "api"
    if _MILLION.search(question) and bill.usage.api is None:
        yield "million"
    if _EVEN.search(question):
        yield "even"
    if bill.usage.years is not None or _TOTAL.search(question):
        yield "total"
    yield "month"


def _month_headline(bill: Bill) -> str | None:
    month = bill.cost["monthly"]
    known = {way: amount for way, amount in month.items() if amount is not None}
    if not known:
        return None
    params = {way: bill.money(amount) for way, amount in known.items()}
    key = "headline_month" if len(known) > 1 else f"headline_month_{next(iter(known))}"
    if bill.cost["owned"]:
        key = "headline_month_owned"
    return bill.text(key, **_named(bill), **params, hours=bill.hours(), months=bill.months)


def _million_headline(bill: Bill) -> str | None:
    row = _row_at(bill, bill.utilisation)
    ways = _ways(row)
    if row is None or not ways:
        return None
    bill.draft.material.add(row.utilisation, "share")
    told = [bill.text(f"million_{way}", price=bill.money(amount, None)) for way, amount in ways]
    return bill.text("headline_million", **_named(bill), prices=bill.words.listed(told), share=row.utilisation)


def _even_headline(bill: Bill) -> str | None:
    even = break_even(dict(bill.cost), bill.as_used)
    if even is None:
        return None
    if even.utilisation is None or even.utilisation > 1:
        return bill.text("headline_even_never", **_named(bill))
    hours = even.utilisation * 24
    bill.draft.material.add(hours * 3600, "time")
    bill.draft.material.add(hours)
    bill.draft.material.add(bill.months)
    return bill.text("headline_even", **_named(bill), hours=hours, months=bill.months)


def _total_headline(bill: Bill) -> str | None:
    found = totals(dict(bill.cost), bill.as_used, bill.months)
    if not found:
        return None
    params = {one.way: bill.money(one.together) for one in found}
    key = "headline_total" if len(found) > 1 else f"headline_total_{found[0].way}"
    return bill.text(key, **_named(bill), **params, time=bill.span(), hours=bill.hours())


def _api_headline(bill: Bill) -> str | None:
    usage, rate = bill.usage, _rate(bill)
    if usage.api is None or rate is None:
        return None
    price = in_team_currency(usage.api, bill.as_used)
    case = against_api(dict(bill.cost), rate, usage.tokens_per_month or 0.0, price)
    if case is None:
        return None
    even = case.even_tokens_per_month
    for tokens in (even, usage.tokens_per_month or 0.0):
        bill.draft.material.add(tokens, "count")
    even_text = (
        bill.text("tokens", tokens=even / 1e6) if case.within_capacity else bill.text("beyond", tokens=even / 1e6)
    )
    if not usage.tokens_per_month:
        return bill.text("headline_api_even", **_named(bill), even=even_text, price=bill.money(price, None))
    cheaper = "own" if case.own_per_month < case.api_per_month else "api"
    return bill.text(
        f"headline_api_{cheaper}", **_named(bill), tokens=usage.tokens_per_month / 1e6, api=bill.money(case.api_per_month),
        own=bill.money(case.own_per_month), even=even_text,
    )  # fmt: skip


_HEADLINES: Final = {
    "api": _api_headline, "million": _million_headline, "even": _even_headline, "total": _total_headline, "month": _month_headline,
}  # fmt: skip


def hardware_headline(bill: Bill, question: str) -> str | None:
    """As `headline` where no model is named: nothing by the token, no load."""
    asked = [focus for focus in _focuses(bill, question) if focus in ("even", "total")]
    found = (_HEADLINES[focus](bill) for focus in asked)
    return next((text for text in found if text), None) or _bare_headline(bill)


def _bare_headline(bill: Bill) -> str | None:
    known = {way: bill.money(amount) for way, amount in bill.cost["monthly"].items() if amount is not None}
    if not known:
        return None
    key = "headline_bare" if len(known) > 1 else f"headline_bare_{next(iter(known))}"
    bill.draft.material.add(bill.months)
    return bill.text(key, hardware=bill.sized.hardware, **known, hours=bill.hours(), months=bill.months)


def runnable(sized: Sized, defaults: Defaults) -> Sized:
    """For a price the format that does fit, where none was said and the usual one does not; it stands among the assumptions."""
    if (
        sized.parsed is None
        or sized.parsed.weights
        or not sized.estimate.ok
        or sized.estimate.fits
        or sized.parsed.task != "inference"
    ):
        return sized
    found = best_format(sized.parsed, defaults)
    return sized if found is None else size({**sized.spec, "weights": found[0]}, defaults)


def _named(bill: Bill) -> dict[str, str]:
    figures = bill.sized.figures
    return {
        "hardware": bill.sized.hardware,
        "model": str(figures["model"]),
        "weights": str(figures.get("weights") or ""),
    }


def say(bill: Bill, question: str) -> None:
    """The paragraphs of the bill; what has no price is said to have none."""
    say_price(bill)
    if bill.sized.parsed is not None and bill.sized.parsed.task == "inference":
        _say(bill, "tokens_a_month", "cost_api", _capacity(bill))
        _say(bill, "per_million", "cost_api", _millions(bill))
        if _ENERGY.search(question):
            _say(bill, "energy", "electricity", _energy(bill))


def say_price(bill: Bill) -> None:
    """What it costs to buy and to rent, and which is cheaper."""
    bill.draft.material.add_money(dict(bill.cost))
    _add_grossed(bill.draft, bill.cost, bill.factor)
    _say(bill, "cost", "cost_buy", _costs(bill))
    _say(bill, "rent_or_buy", "break_even", _rent_or_buy(bill))


def _add_grossed(draft: Draft, amounts: Mapping[str, Any], factor: float) -> None:
    for value in amounts.values():
        if isinstance(value, Mapping):
            _add_grossed(draft, value, factor)
        elif isinstance(value, (int, float)):
            draft.material.add_money({"amount": value * factor})


def _say(bill: Bill, title: str, topic: str, sentences: Iterator[str]) -> None:
    text = " ".join(sentences)
    if text:
        bill.draft.say("note", with_mark(text, bill.draft.sources.topic(topic, text)), bill.draft.title(title))


def _costs(bill: Bill) -> Iterator[str]:
    cost = bill.cost
    yield from price_sentences(cost, len(bill.sized.devices), bill.words, bill.factor, machine=is_machine(bill.sized))
    yield from _market(bill)
    yield from _boards(bill)
    for way in ("buy", "rent"):
        if cost["monthly"][way] is not None and not (way == "buy" and cost["owned"]):
            bill.draft.material.add(bill.months)
            yield bill.text(
                f"month_{way}", price=bill.money(cost["monthly"][way]), months=bill.months, hours=bill.hours()
            )
    if cost["electricity_per_month"] and cost["monthly"]["buy"] is not None:
        bill.draft.material.add(cost["wall_w"], "power")
        yield bill.text(
            "power", price=bill.money(cost["electricity_per_month"]), rate=bill.money(cost["per_kwh"], None), watts=cost["wall_w"],
            hours=bill.hours(),
        )  # fmt: skip
    if bill.usage.pue is not None:
        bill.draft.material.add(bill.usage.pue)
        yield bill.text("pue", pue=bill.usage.pue)
    if cost.get("vat"):
        bill.draft.material.add(cost["vat"], "share")
        yield bill.text("gross" if bill.usage.gross else "net", vat=cost["vat"])


def _market(bill: Bill) -> Iterator[str]:
    """A rate of the asker's own against what the same costs on demand; reserved capacity is paid for every hour."""
    market, said = bill.cost.get("market_per_hour"), bill.cost["rent_per_hour"]
    if not market or not said:
        return
    share = said["amount"] / market["amount"]
    bill.draft.material.add(abs(1 - share), "share")
    key = "market_more" if share > 1 else "market_less"
    text = bill.text(key, price=bill.money(market["amount"], None), provider=market["provider"], share=abs(1 - share))
    yield dated(text, market, bill.words) + "."
    if bill.usage.reserved:
        hours = share * 24
        bill.draft.material.add(hours * 3600, "time")
        yield bill.text("reserved_never" if share >= 1 else "reserved", hours=hours)


def _boards(bill: Bill) -> Iterator[str]:
    """Modules are sold on whole boards only."""
    device = catalogue().accelerators.get(bill.sized.devices[0].accelerator or "") if bill.sized.devices else None
    sizes = board_sizes(device) if device is not None else ()
    if sizes and len(bill.sized.devices) not in sizes and not bill.cost["owned"]:
        for size_of_board in sizes:
            bill.draft.material.add(size_of_board)
        yield bill.text("boards", sizes=bill.words.listed([bill.words.count(one) for one in sizes], "or"))


def _rent_or_buy(bill: Bill) -> Iterator[str]:
    """Over the years, and where both ways cost the same."""
    even = break_even(dict(bill.cost), bill.as_used)
    found = {one.way: one for one in totals(dict(bill.cost), bill.as_used, bill.months)}
    if even is None or len(found) < 2 or bill.cost["owned"]:
        return
    buy, rent = found["buy"], found["rent"]
    cheaper = "buy" if buy.together < rent.together else "rent"
    yield bill.text(
        f"together_{cheaper}", time=bill.span(), hours=bill.hours(), buy=bill.money(buy.together), rent=bill.money(rent.together),
        once=bill.money(buy.once), difference=bill.money(abs(buy.together - rent.together)),
    )  # fmt: skip
    yield from _even(bill, even.utilisation, even.months)


def _even(bill: Bill, share: float | None, months: float | None) -> Iterator[str]:
    material = bill.draft.material
    if share is None or share > 1:
        yield bill.text("even_never")
        return
    material.add(share * 24 * 3600, "time")
    material.add(share, "share")
    material.add(share * 24)
    yield bill.text("even", hours=share * 24, share=share)
    if months is not None:
        material.add(months)
        yield bill.text("paid_back", months=months, hours=bill.hours())


def _capacity(bill: Bill) -> Iterator[str]:
    """Whether the tokens of a month can be made at all."""
    usage = bill.usage
    if (usage.api is None and usage.tokens_per_month is None) or not bill.capacity:
        return
    capacity = bill.capacity
    bill.draft.material.add(capacity, "count")
    bill.draft.material.add(capacity / 1e6)
    yield bill.text("capacity", tokens=capacity / 1e6, hours=bill.hours(), **_load(bill))
    wanted = usage.tokens_per_month
    if wanted and wanted > capacity:
        bill.draft.material.add(wanted / capacity)
        yield bill.text("too_much", share=wanted / capacity)


def _millions(bill: Bill) -> Iterator[str]:
    """A million output tokens at the utilisation said, over the range of speed, and how it falls with utilisation."""
    row, speed = _row_at(bill, bill.utilisation), bill.busy.estimate.speed
    ways = _ways(row)
    if row is None or not ways or speed is None or speed.output_tok_s_total is None:
        return
    rate, material = speed.output_tok_s_total, bill.draft.material
    material.add(row.utilisation, "share")
    told = [bill.text(f"million_{way}", price=bill.money(amount, None)) for way, amount in ways]
    yield bill.text("million", prices=bill.words.listed(told), share=row.utilisation, **_load(bill))
    way, amount = min(ways, key=lambda pair: pair[1])
    yield bill.text(
        "million_range", low=bill.money(amount * rate.expected / rate.high, None), high=bill.money(amount * rate.expected / rate.low, None)
    )  # fmt: skip
    steps = []
    for step in per_million(dict(bill.cost), rate.expected, UTILISATIONS):
        price = step.buy if way == "buy" else step.rent
        if price is not None:
            material.add(step.utilisation, "share")
            steps.append(bill.text("million_step", share=step.utilisation, price=bill.money(price, None)))
    yield bill.text(f"million_steps_{way}", steps=", ".join(steps))


def _energy(bill: Bill) -> Iterator[str]:
    rate, wall = _rate(bill), bill.cost.get("wall_w")
    if rate is None or not wall:
        return
    energy, each = kwh_per_million(rate, wall), tokens_per_joule(rate, wall)
    for value in (energy, each):
        bill.draft.material.add(value, "energy")
        bill.draft.material.add(value)
    price = energy * bill.cost["per_kwh"] * bill.as_used.pue
    yield bill.text("energy", kwh=energy, each=each, price=bill.money(price, None), watts=wall)


def _load(bill: Bill) -> dict[str, Any]:
    """The load that the price by the token holds for."""
    rate, requests = _rate(bill) or 0.0, bill.busy.figures.get("concurrency", 1)
    bill.draft.considered.append(bill.busy)
    bill.draft.material.add(rate, "rate")
    bill.draft.material.add(requests)
    return {"rate": rate, "concurrency": requests}


def _rate(bill: Bill) -> float | None:
    speed = bill.busy.estimate.speed
    return speed.output_tok_s_total.expected if speed and speed.output_tok_s_total else None


def _row_at(bill: Bill, utilisation: float) -> PerMillion | None:
    rate = _rate(bill)
    return None if not rate else per_million(dict(bill.cost), rate, (utilisation,))[0]


def _ways(row: PerMillion | None) -> Sequence[tuple[str, float]]:
    if row is None:
        return ()
    return [(way, amount) for way, amount in (("buy", row.buy), ("rent", row.rent)) if amount is not None]
