"""The first sentence of an answer that was asked for money: by month, by the million tokens, where ways break even, over years, an API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from bot.compose.cost_bill import Bill, row_at, total_rate_of, ways_of
from sizing.economics import against_api, break_even, totals
from sizing.usage import in_team_currency

Focus = Literal["api", "electricity", "million", "even", "total", "month"]

_MILLION: Final = re.compile(
    r"(?:/|\b(?:per|pro|je|eine|a|one|1)\s)\s?(?:1?m\b|mtok|mio|million)|\b1 ?m(?:io\.?)?[- ]tok|\bmillion(?:en|s)? (?:output[- ])?tok",
    re.IGNORECASE,
)
_ELECTRICITY: Final = re.compile(
    r"\bstrom(?:kosten|rechnung|verbrauch)\b|\b(?:kostet|kosten)\b[^.?!]{0,40}\bstrom\b|\belectricity (?:costs?|bill)\b|"
    r"\belectricity\b[^.?!]{0,60}\bcosts?\b|\bcosts?\b[^.?!]{0,40}\belectricity\b|\bpower bill\b|\benergiekosten\b",
    re.IGNORECASE,
)
_SHARES: Final = re.compile(
    r"(?:\d{1,3} ?%? ?(?:,|/|and|und|or|oder|&) ?)+\d{1,3} ?(?:%|percent|prozent)", re.IGNORECASE
)
_UTILISATION: Final = re.compile(r"utili[sz]ation|auslastung|ausgelastet|utili[sz]ed|\bload\b|\blast\b", re.IGNORECASE)
_EVEN: Final = re.compile(
    r"\bab wann\b|\bab wie ?viel|break[- ]?even|\blohn(?:t|en)\b|amortis|pays? (?:itself |for itself )?off|payback|rechne(?:t|n) sich|"
    r"rentier|worth (?:buying|renting|it)|buy(?:ing)? or rent|rent(?:ing)? or buy|kaufen oder miet|mieten oder kauf|(?:miete|kauf)\w* "
    r"(?:guenstiger|günstiger|billiger)",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(
    r"\btco\b|total cost|gesamtkosten|\b(?:over|über|ueber) (?:the )?\d+ ?(?:years|jahre)", re.IGNORECASE
)


def headline(bill: Bill, question: str) -> str | None:
    """The first sentence of an answer that was asked for money; None where no price is known."""
    shares = shares_in(question)
    if len(shares) > 1 and (several := _several_headline(bill, shares)):
        return several
    for focus in _focuses(bill, question):
        found = _HEADLINES[focus](bill)
        if found:
            return found
    return None


def _focuses(bill: Bill, question: str) -> Iterator[Focus]:
    if bill.usage.api is not None:
        yield "api"
    if _ELECTRICITY.search(question) and not _EVEN.search(question):
        yield "electricity"
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
    row = row_at(bill, bill.utilisation)
    ways = ways_of(row)
    if row is None or not ways:
        return None
    bill.draft.material.add(row.utilisation, "share")
    rate = total_rate_of(bill) or 0.0
    told = [bill.text(f"million_{way}", price=bill.million(way, row.utilisation, rate)) for way, _ in ways]
    return bill.text("headline_million", **_named(bill), prices=bill.words.listed(told), share=row.utilisation)


def _even_headline(bill: Bill) -> str | None:
    even = break_even(dict(bill.cost), bill.as_used)
    if even is None:
        return _board_headline(bill)
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
    if len(found) == 1 and (board := _board_headline(bill)):
        return board
    params = {one.way: bill.money(one.together) for one in found}
    key = "headline_total" if len(found) > 1 else f"headline_total_{found[0].way}"
    return bill.text(key, **_named(bill), **params, time=bill.span(), hours=bill.hours())


def _board_headline(bill: Bill) -> str | None:
    """Rented as many as are needed, against the smallest board that is sold."""
    rented = next((one for one in totals(dict(bill.cost), bill.as_used, bill.months) if one.way == "rent"), None)
    if bill.board is None or rented is None:
        return None
    count, cost = bill.board
    bought = next((one for one in totals(dict(cost), bill.as_used, bill.months) if one.way == "buy"), None)
    if bought is None:
        return None
    bill.draft.material.add_data({"count": count})
    key = "headline_board_rent" if rented.together < bought.together else "headline_board_buy"
    return bill.text(
        key, **_named(bill), rent=bill.money(rented.together), buy=bill.money(bought.together), once=bill.money(bought.once),
        time=bill.span(), hours=bill.hours(), count=count,
    )  # fmt: skip


def _several_headline(bill: Bill, shares: Sequence[float]) -> str | None:
    """A million tokens at each utilisation that is asked about."""
    rate = total_rate_of(bill)
    ways = ways_of(row_at(bill, shares[0]))
    if rate is None or not ways:
        return None
    told = []
    for way, _ in ways:
        steps = [bill.text("million_step", share=share, price=bill.million(way, share, rate)) for share in shares]
        told.append(bill.text(f"at_shares_{way}", steps=", ".join(steps)))
    for share in shares:
        bill.draft.material.add(share, "share")
    return bill.text("headline_million_shares", **_named(bill), ways="; ".join(told))


def shares_in(question: str) -> tuple[float, ...]:
    """Several shares in one list: "at 10, 30 and 60 % utilization"."""
    found = _SHARES.search(question)
    if found is None or not _UTILISATION.search(question):
        return ()
    values = [float(number) / 100 for number in re.findall(r"\d{1,3}", found.group())]
    return tuple(dict.fromkeys(value for value in values if 0 < value <= 1))


def _electricity_headline(bill: Bill) -> str | None:
    """What the power costs a month: at the mean draw planned with, and under full load."""
    month, watts = bill.cost["electricity_per_month"], bill.cost["wall_w"]
    if not month or not watts:
        return None
    bill.draft.material.add(watts, "power")
    full = bill.draft.work_out(
        "electricity_under_full_load", f"mean_price / {bill.as_used.load_share:g}", bill.currency, mean_price=month
    )
    return bill.text(
        "headline_electricity", **_named(bill), half=bill.money(month), full=bill.money(full), rate=bill.money(bill.cost["per_kwh"], None),
        watts=watts, hours=bill.hours(),
    )  # fmt: skip


def _api_headline(bill: Bill) -> str | None:
    usage, rate = bill.usage, total_rate_of(bill)
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
        row = row_at(bill, bill.utilisation)
        own = next((way for way, _ in ways_of(row)), None)
        if not case.within_capacity and row is not None and own:
            # Dearer even when never idle: then no volume turns it, and what a million costs here says by how much.
            bill.draft.material.add(row.utilisation, "share")
            return bill.text(
                "headline_api_always", **_named(bill), price=bill.money(price, None), share=row.utilisation,
                own=bill.text(f"million_{own}", price=bill.million(own, row.utilisation, rate)),
            )  # fmt: skip
        return bill.text("headline_api_even", **_named(bill), even=even_text, price=bill.money(price, None))
    cheaper = "own" if case.own_per_month < case.api_per_month else "api"
    return bill.text(
        f"headline_api_{cheaper}", **_named(bill), tokens=usage.tokens_per_month / 1e6, api=bill.money(case.api_per_month),
        own=bill.money(case.own_per_month), even=even_text,
    )  # fmt: skip


_HEADLINES: Final = {
    "api": _api_headline, "electricity": _electricity_headline, "million": _million_headline, "even": _even_headline,
    "total": _total_headline, "month": _month_headline,
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


def _named(bill: Bill) -> dict[str, str]:
    figures = bill.sized.figures
    return {
        "hardware": bill.sized.hardware,
        "model": str(figures["model"]),
        "weights": str(figures.get("weights") or ""),
    }
