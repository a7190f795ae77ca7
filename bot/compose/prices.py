"""What a deployment costs to rent and to buy, with the date of each price; a missing price is said, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.reply.wording import Wording


def price_cell(cost: Mapping[str, Any], words: Wording) -> str:
    """The cheaper way as far as prices are known: the rent an hour, or the purchase with the machine; each with its date."""
    if cost.get("owned"):
        return words.text("cost", "owned")
    order = ("buy", "rent_per_hour") if cost.get("way") == "buy" else ("rent_per_hour", "buy")
    name = next((name for name in order if cost.get(name)), None)
    return words.text("ui", "ask_price") if name is None else dated(_amount(cost, name, words), cost[name], words)


def _amount(cost: Mapping[str, Any], name: str, words: Wording) -> str:
    if name == "rent_per_hour":
        return words.text("cost", "from_hour", price=words.money(cost[name]["amount"], cost["currency"]))
    if gross := cost.get("gross"):
        return words.text("cost", "buy_gross", price=words.money(gross["amount"], cost["currency"], 0))
    whole = bool(cost.get("machine") and cost.get("whole"))
    amount = cost["whole" if whole else name]["amount"]
    return words.text("cost", "buy_whole" if whole else "buy", price=words.money(amount, cost["currency"], 0))


def dated(text: str, price: Mapping[str, Any], words: Wording) -> str:
    """A price with the month of its source."""
    month = str(price.get("as_of") or "")
    return words.text("cost", "as_of" if month else "as_of_unknown", text=text, date=words.month(month))


def price_sentences(cost: Mapping[str, Any], count: int, words: Wording) -> list[str]:
    """Rent, purchase and electricity as sentences; the gap is said where there is no price at all."""
    found = []
    currency = str(cost.get("currency", ""))
    if rent := cost.get("rent_per_hour"):
        provider = rent.get("provider") or words.label("words", "unknown")
        text = words.text("cost", "rent_sentence", price=words.money(rent["amount"], currency), provider=provider)
        found.append(dated(text, rent, words) + ".")
    if buy := cost.get("buy"):
        text = words.text("cost", "buy_sentence", price=words.money(buy["amount"], currency, 0), count=count)
        found.append(dated(text, buy, words) + ".")
    if not found:
        found.append(words.text("cost", "none"))
    if monthly := cost.get("electricity_per_month"):
        found.append(words.text("cost", "electricity_sentence", price=words.money(monthly, currency, 0)))
    return found
