"""What a deployment costs as it is used, in paragraphs: by way, over the years, by the million tokens and its utilisation, in energy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bot.compose import cost_training
from bot.compose.cost_bill import Bill, row_at, total_rate_of, ways_of
from bot.compose.cost_headlines import shares_in
from bot.compose.prices import dated, price_sentences
from bot.explain import with_mark
from bot.sized import is_machine
from sizing.catalogue.load import catalogue
from sizing.cost import board_sizes
from sizing.economics import Total, break_even, energy_step, joule_step, per_million, totals

_AMOUNTS: Final = frozenset({"amount", "planning_amount", "machine"})
_ENERGY: Final = re.compile(r"kwh|strom|electric|energy|energie|joule|watt", re.IGNORECASE)


def say(bill: Bill, question: str) -> None:
    """The paragraphs of the bill; what has no price is said to have none. A training run is paid for its hours, not by the month."""
    if bill.sized.parsed is not None and bill.sized.parsed.task == "training":
        cost_training.say(bill)
        return
    say_price(bill)
    if bill.sized.parsed is not None and bill.sized.parsed.task == "inference" and bill.sized.estimate.fits:
        _say(bill, "tokens_a_month", "cost_api", _capacity(bill))
        _say(bill, "per_million", "cost_api", _millions(bill, shares_in(question)))
        if _ENERGY.search(question):
            _say(bill, "energy", "electricity", _energy(bill))


def say_price(bill: Bill) -> None:
    """What it costs to buy and to rent, and which is cheaper."""
    bill.draft.material.add_money(dict(bill.cost))
    _add_grossed(bill, bill.cost)
    _say(bill, "cost", "cost_buy", _costs(bill))
    _say(bill, "rent_or_buy", "break_even", _rent_or_buy(bill))


def _add_grossed(bill: Bill, amounts: Mapping[str, Any]) -> None:
    """What sentences on prices take from the cost themselves."""
    for name, value in amounts.items():
        if isinstance(value, Mapping):
            _add_grossed(bill, value)
        elif name in _AMOUNTS and value:
            bill.grossed(value)


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
    amounts = {"said_per_hour_price": said["amount"], "market_per_hour_price": market["amount"]}
    share = bill.draft.work_out("share_of_market", "said_per_hour_price / market_per_hour_price", "share", **amounts)
    bill.draft.work_out("difference_to_market", "1 - said_per_hour_price / market_per_hour_price", "share", **amounts)
    key = "market_more" if share > 1 else "market_less"
    text = bill.text(key, price=bill.money(market["amount"], None), provider=market["provider"], share=abs(1 - share))
    yield dated(text, market, bill.words) + "."
    if bill.usage.reserved:
        hours = bill.draft.work_out("even_hours_a_day", "even_share * 24", "h", even_share=share)
        yield bill.text("reserved_never" if share >= 1 else "reserved", hours=hours)


def _boards(bill: Bill) -> Iterator[str]:
    """Modules are sold on whole boards only."""
    device = catalogue().accelerators.get(bill.sized.devices[0].accelerator or "") if bill.sized.devices else None
    sizes = board_sizes(device) if device is not None else ()
    if sizes and len(bill.sized.devices) not in sizes and not bill.cost["owned"]:
        bill.draft.material.add_data([{"count": one} for one in sizes])
        yield bill.text("boards", sizes=bill.words.listed([bill.text("board_size", count=one) for one in sizes], "or"))
        if bill.board is not None:
            count, cost = bill.board
            whole = float(cost["whole"]["amount"])
            bill.draft.material.add_data({"count": count})
            told = bill.text("board", count=count, price=bill.money(whole), month=bill.money(cost["monthly"]["buy"]))
            yield dated(told, cost["buy"], bill.words) + "."


def _rent_or_buy(bill: Bill) -> Iterator[str]:
    """Over the years, and where both ways cost the same."""
    even = break_even(dict(bill.cost), bill.as_used)
    found = {one.way: one for one in totals(dict(bill.cost), bill.as_used, bill.months)}
    if even is None or len(found) < 2 or bill.cost["owned"]:
        return
    buy, rent = found["buy"], found["rent"]
    _carry_totals(bill, buy, rent)
    cheaper = "buy" if buy.together < rent.together else "rent"
    yield bill.text(
        f"together_{cheaper}", time=bill.span(), hours=bill.hours(), buy=bill.money(buy.together), rent=bill.money(rent.together),
        once=bill.money(buy.once), difference=bill.money(abs(buy.together - rent.together)),
    )  # fmt: skip
    yield from _even(bill, even.utilisation, even.months)


def _carry_totals(bill: Bill, *totals_by_way: Total) -> None:
    """Each total and the difference of both, as sums."""
    draft, unit = bill.draft, bill.currency
    together = [
        draft.work_out(
            f"{one.way}_over_{one.months}_months",
            "once_price + per_month_price * months",
            unit,
            once_price=one.once,
            per_month_price=one.per_month,
            months=one.months,
        )
        for one in totals_by_way
    ]
    low, high = sorted(together)
    draft.work_out("difference", "high_price - low_price", unit, low_price=low, high_price=high)


def _even(bill: Bill, share: float | None, months: float | None) -> Iterator[str]:
    material = bill.draft.material
    if share is None or share > 1:
        yield bill.text("even_never")
        return
    hours = bill.draft.work_out("even_hours_a_day", "even_share * 24", "h", even_share=share)
    material.add(share, "share")
    material.add(hours)
    yield bill.text("even", hours=hours, share=share)
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


def _millions(bill: Bill, asked: Sequence[float] = ()) -> Iterator[str]:
    """A million output tokens at the utilisation said, over the range of speed, and how it falls with utilisation."""
    row, speed = row_at(bill, bill.utilisation), bill.busy.estimate.speed
    ways = ways_of(row)
    if row is None or not ways or speed is None or speed.output_tok_s_total is None:
        return
    rate, material = speed.output_tok_s_total, bill.draft.material
    material.add(row.utilisation, "share")
    told = [bill.text(f"million_{way}", price=bill.million(way, row.utilisation, rate.expected)) for way, _ in ways]
    yield bill.text("million", prices=bill.words.listed(told), share=row.utilisation, **_load(bill))
    way, _ = min(ways, key=lambda pair: pair[1])
    low, high = (bill.million(way, row.utilisation, one) for one in (rate.high, rate.low))
    yield bill.text("million_range", low=low, high=high)
    steps = []
    for share in sorted({*asked, *(one.utilisation for one in per_million(dict(bill.cost), rate.expected))}):
        material.add(share, "share")
        steps.append(bill.text("million_step", share=share, price=bill.million(way, share, rate.expected)))
    yield bill.text(f"million_steps_{way}", steps=", ".join(steps))


def _energy(bill: Bill) -> Iterator[str]:
    rate, wall = total_rate_of(bill), bill.cost.get("wall_w")
    if rate is None or not wall:
        return
    draft = bill.draft
    energy, each = draft.carry(energy_step(rate, wall)), draft.carry(joule_step(rate, wall))
    price = draft.work_out(
        "electricity_per_million_tokens",
        "energy_kwh * per_kwh * pue",
        bill.currency,
        energy_kwh=energy,
        per_kwh=bill.cost["per_kwh"],
        pue=bill.as_used.pue,
    )
    yield bill.text("energy", kwh=energy, each=each, price=bill.money(price, None), watts=wall)


def _load(bill: Bill) -> dict[str, Any]:
    """The load that the price by the token holds for."""
    rate, requests = total_rate_of(bill) or 0.0, bill.running
    bill.draft.considered.append(bill.busy)
    bill.draft.material.add(rate, "rate")
    bill.draft.material.add(requests)
    return {"rate": rate, "concurrency": requests}
