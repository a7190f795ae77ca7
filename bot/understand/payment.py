"""Who pays how for what: the figures of use for each machine of a message, and which of them is bought and which rented."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from bot.understand.request import Device
from bot.understand.text import fold

Way = Literal["buy", "rent"]

_SIDES = re.compile(
    r"\b(?:vs\.?|versus|oder|or|gegen(?:ueber)?|against|compared (?:to|with)|statt|instead of|rather than)(?![a-z])"
)
_RENTED = re.compile(r"\b(?:rent\w*|hire|lease\w*|(?:ge|an)?miet\w*|on[- ]demand|reserved|reserviert\w*|cloud)\b")
_BOUGHT = re.compile(
    r"\b(?:buy\w*|bought|purchas\w*|own(?:ing|ed)?|kauf\w*|gekauft\w*|eigene[nrsm]?|anschaff\w*|on[- ]prem\w*)\b"
)


def ways_of(text: str, machines: int) -> list[Way | None]:
    """For each machine whether it is bought or rented: where as many sides are named as machines, by the words of its side."""
    sides = [side for side in _SIDES.split(fold(text).folded) if side.strip()]
    if machines < 2 or len(sides) != machines:
        return [None] * machines
    return [_way(side) for side in sides]


def asks_both_ways(text: str) -> bool:
    """Whether buying and renting are both spoken of: neither is then a wish."""
    folded = fold(text).folded
    return bool(_RENTED.search(folded) and _BOUGHT.search(folded) and _SIDES.search(folded))


def _way(side: str) -> Way | None:
    rented, bought = _RENTED.search(side), _BOUGHT.search(side)
    if bool(rented) == bool(bought):
        return None
    return "rent" if rented else "buy"


def payment(other: Mapping[str, Any], machine: Sequence[Device], way: Way | None, machines: int) -> dict[str, Any]:
    """`usage` of a spec and, where one side is rented and another bought, where it stands. Prices count for all devices of a machine."""
    usage = {
        name: value for name, value in (other.get("usage") or {}).items() if name not in ("quote", "rent_per_hour")
    }
    count = sum(device.count or 1 for device in machine) or 1
    for name, side in (("quote", "buy"), ("rent_per_hour", "rent")):
        price = (other.get("usage") or {}).get(name)
        if price and machine and (machines == 1 or way == side):
            usage[name] = {"amount": price["amount"] * (count if price["each"] else 1), "currency": price["currency"]}
    out: dict[str, Any] = {"usage": usage} if usage else {}
    return out | ({"constraints": {"cloud": way == "rent"}} if way else {})
