"""What a training run costs on the cards that are named: rented for its hours, on cards of one's own in electricity, bought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.compose.cost_bill import Bill
from bot.compose.prices import price_sentences
from bot.compose.topics import hours_text
from bot.explain import with_mark
from bot.sized import is_machine

_ENDS = ("low", "high")
_MILLION = 1e6


def headline(bill: Bill) -> str | None:
    """The rent of the whole run where its tokens are said, else of a million tokens; None without a rent or a rate."""
    rent, training = bill.cost["rent_per_hour"], bill.sized.estimate.training or {}
    if not rent or not training.get("tokens_per_second"):
        return _powered(bill, training)
    bill.draft.material.add_text(str(rent.get("as_of") or ""))
    named = {
        "model": bill.sized.figures["model"],
        "hardware": bill.sized.hardware,
        "rate": bill.money(rent["amount"], None),
    }
    if hours := training.get("hours"):
        bill.draft.material.add_hours(hours)
        low, high = (_paid(bill, "rent_of_the_run", float(hours[end]), rent["amount"]) for end in _ENDS)
        return bill.words.text("train", "rented_run", **named, low=low, high=high, hours=hours_text(hours, bill.words))
    low, high = (_a_million(bill, training["tokens_per_second"][end], rent["amount"]) for end in reversed(_ENDS))
    return bill.words.text("train", "rented_million", **named, low=low, high=high)


def _powered(bill: Bill, training: Mapping[str, Mapping[str, float]]) -> str | None:
    """On cards that nobody rents out: the electricity of the run."""
    hours, watts = training.get("hours"), bill.cost.get("wall_w")
    if not hours or not watts:
        return None
    bill.draft.material.add_hours(hours)
    low, high = (_electricity(bill, float(hours[end]), watts)[1] for end in _ENDS)
    named = {"model": bill.sized.figures["model"], "hardware": bill.sized.hardware}
    return bill.words.text("train", "powered_run", **named, low=low, high=high, hours=hours_text(hours, bill.words))


def say(bill: Bill) -> None:
    """Where the rent comes from, what the run draws on cards of one's own, what those cost to buy, and what changes the sum."""
    text = " ".join(_sentences(bill))
    bill.draft.material.add_money(dict(bill.cost))
    bill.draft.say(
        "note", with_mark(text, bill.draft.sources.topic("cost_rent", text)), bill.draft.title("cost_of_run")
    )


def _sentences(bill: Bill) -> Iterator[str]:
    yield from price_sentences(
        bill.cost, len(bill.sized.devices), bill.words, bill.factor, machine=is_machine(bill.sized)
    )
    hours, watts = (bill.sized.estimate.training or {}).get("hours"), bill.cost.get("wall_w")
    if hours and watts:
        drawn = [_electricity(bill, float(hours[end]), watts) for end in _ENDS]
        bill.draft.material.add(watts, "power")
        yield bill.words.text(
            "train", "own_run", low_kwh=drawn[0][0], high_kwh=drawn[1][0], low=drawn[0][1], high=drawn[1][1],
            rate=bill.money(bill.cost["per_kwh"], None), watts=watts,
        )  # fmt: skip
    yield bill.words.text("train", "not_counted" if hours else "say_tokens")
    if bill.cost.get("vat"):
        bill.draft.material.add(bill.cost["vat"], "share")
        yield bill.text("gross" if bill.usage.gross else "net", vat=bill.cost["vat"])


def _paid(bill: Bill, quantity: str, hours: float, rate: float) -> str:
    paid = {"hours_used": hours, "hour_price": rate}
    return bill.money(bill.draft.work_out(quantity, "hours_used * hour_price", bill.currency, **paid), None)


def _a_million(bill: Bill, tokens_s: float, rate: float) -> str:
    bill.draft.material.add(tokens_s, "rate")
    paid = {"hour_price": rate, "rate_tok_s": tokens_s}
    return bill.money(
        bill.draft.work_out(
            "rent_of_a_million", f"hour_price / (rate_tok_s * 3600) * {_MILLION:g}", bill.currency, **paid
        ),
        None,
    )


def _electricity(bill: Bill, hours: float, watts: float) -> tuple[float, str]:
    """(kWh, price) of so many hours under full load."""
    drawn = {"wall_w": watts, "hours_used": hours, "pue": bill.as_used.pue}
    energy = bill.draft.work_out("energy_of_the_run", "wall_w / 1000 * hours_used * pue", "kWh", **drawn)
    bill.draft.material.add(energy, "energy")
    price = {"energy_kwh": energy, "kwh_price": bill.cost["per_kwh"]}
    return energy, bill.money(
        bill.draft.work_out("electricity_of_the_run", "energy_kwh * kwh_price", bill.currency, **price), None
    )
