"""What a deployment costs to rent and to buy, with the date of each price; a missing price is said, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.reply.wording import Wording


def price_cell(cost: Mapping[str, Any], words: Wording) -> str:
    """The rent an hour, else the purchase; each with its date."""
    for name, key in (("rent_per_hour", "from_hour"), ("buy", "buy")):
        if price := cost.get(name):
            decimals = 0 if name == "buy" else None
            return dated(
                words.text("cost", key, price=words.money(price["amount"], cost["currency"], decimals)), price, words
            )
    return words.text("ui", "ask_price")


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
