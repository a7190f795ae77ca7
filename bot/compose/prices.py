"""What a deployment costs to rent and to buy, with the date of each price; a missing price is said, never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.reply.wording import Wording
from sizing.cost import Way
from sizing.usage import Usage


def price_cell(cost: Mapping[str, Any], words: Wording, way: Way | None = None) -> str:
    """The cheaper way as far as prices are known, or the one given: the rent an hour, or the purchase with the machine; with its date."""
    if cost.get("owned"):
        return words.text("cost", "owned")
    price = told_price(cost, way)
    if price is None:
        return words.text("ui", "ask_price")
    name = "rent_per_hour" if price is cost.get("rent_per_hour") else "buy"
    return dated(_amount(cost, name, words), price, words, short=True)


def common_way(costs: Iterable[Mapping[str, Any] | None]) -> Way | None:
    """The way to pay by which options can be held against each other: buying where all can be bought, else renting where all can be
    rented; None where neither holds for all of them, or something is owned."""
    known = list(costs)
    if any(not cost or cost.get("owned") for cost in known):
        return None
    ways: tuple[Way, ...] = ("buy", "rent")
    return next((way for way in ways if all((cost or {})["monthly"][way] is not None for cost in known)), None)


def told_price(cost: Mapping[str, Any], way: Way | None = None) -> Mapping[str, Any] | None:
    """The price that a cell tells: that of the way given or the cheaper one, else of the one that has any."""
    order = ("buy", "rent_per_hour") if (way or cost.get("way")) == "buy" else ("rent_per_hour", "buy")
    return next((cost[name] for name in order if cost.get(name)), None)


def has_old_price(costs: Iterable[Mapping[str, Any] | None]) -> bool:
    """Whether a cell of these tells a price of more than 90 days or without a date."""
    told = (told_price(cost) for cost in costs if cost and not cost.get("owned"))
    return any(price is not None and price.get("stale") for price in told)


def _amount(cost: Mapping[str, Any], name: str, words: Wording) -> str:
    if name == "rent_per_hour":
        return words.text("cost", "from_hour", price=words.money(cost[name]["amount"], cost["currency"]))
    if gross := cost.get("gross"):
        return words.text("cost", "buy_gross", price=words.money(gross["amount"], cost["currency"], 0))
    whole = bool(cost.get("machine") and cost.get("whole"))
    amount = cost["whole"]["amount"] if whole else cost[name]["planning_amount"]
    return words.text("cost", "buy_whole" if whole else "buy", price=words.money(amount, cost["currency"], 0))


def dated(text: str, price: Mapping[str, Any], words: Wording, *, short: bool = False) -> str:
    """A price with the month of its source, marked where it is older than 90 days; the asker's own needs no date."""
    if price.get("basis") == "quote" and not price.get("as_of"):
        return words.text("cost", "as_said", text=text)
    month = str(price.get("as_of") or "")
    if not month:
        return words.text("cost", "as_of_unknown", text=text)
    lifted = "_lifted" if (price.get("uplift") or 1.0) > 1.0 else ""
    key = f"as_of{lifted}" if not price.get("stale") else f"as_of{lifted}_old{'_short' if short else ''}"
    return words.text("cost", key, text=text, date=words.month(month))


def hours_text(usage: Usage, words: Wording) -> str:
    """When something runs, as said: `at 8 h a day`; around the clock where nothing was said."""
    day, days = usage.hours_per_day or 24.0, usage.days_per_week
    if day == 24.0 and days is None:
        return words.text("bill", "always")
    return words.text("bill", "hours" if days is None else "hours_on_days", hours=day, days=days)


def price_sentences(
    cost: Mapping[str, Any], count: int, words: Wording, factor: float = 1.0, *, machine: bool = False
) -> list[str]:
    """Rent and purchase as sentences, amounts times `factor` (VAT); the gap is said where there is no price at all."""
    found = []
    currency = str(cost.get("currency", ""))
    if rent := cost.get("rent_per_hour"):
        key = "rent_sentence" if rent.get("provider") else "rent_sentence_said"
        text = words.text(
            "cost", key, price=words.money(rent["amount"] * factor, currency), provider=rent.get("provider")
        )
        found.append(dated(text, rent, words) + ".")
        if words.has("cost", f"rent_{rent['trust']}"):
            found.append(words.text("cost", f"rent_{rent['trust']}"))
    if buy := cost.get("buy"):
        key = "buy_sentence_machine" if machine else "buy_sentence"
        text = words.text("cost", key, price=words.money(buy["planning_amount"] * factor, currency, 0), count=count)
        found.append(dated(text, buy, words) + ".")
        if cost.get("machine"):
            price = words.money(cost["machine"] * factor, currency, 0)
            found.append(
                words.text("cost", "machine" if cost.get("machine_is_planning_figure") else "machine_said", price=price)
            )
        if buy["uplift"] > 1.0:
            price = words.money(buy["amount"] * factor, currency, 0)
            found.append(words.text("cost", "read", price=price))
    if not found:
        found.append(words.text("cost", "owned_sentence" if cost.get("owned") else "none"))
    return found
