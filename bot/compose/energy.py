"""Two machines by tokens a second and watts: which is cheaper in electricity."""

from __future__ import annotations

import itertools
import re
from typing import Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from sizing.defaults import Defaults
from sizing.system.facts import number

_PAIR: Final = re.compile(
    r"(\d+(?:[.,]\d+)?)\s?(?:tok(?:en)?s?|t)\s?(?:/\s?s(?:ek\w*|ec\w*)?|(?:per|pro|je) se[ck]\w+)\b\D{0,20}?(\d{2,5})\s?w(?:att)?\b"
)
_HOURS_A_YEAR: Final = 8760


def write(draft: Draft, text: str, defaults: Defaults) -> bool:
    """Energy of a million tokens on either; False unless two pairs are named."""
    found = [(float(rate.replace(",", ".")), float(power)) for rate, power in _PAIR.findall(text.lower())]
    if len(found) != 2 or min(itertools.chain(*found)) <= 0:
        return False
    best, other = sorted(found, key=lambda pair: pair[1] / pair[0])
    price = defaults.electricity_per_kwh or number("electricity-de-household")
    kwh, other_kwh = (power / rate / 3.6 for rate, power in (best, other))
    low, high = sorted(power * _HOURS_A_YEAR / 1000 for _, power in found)
    words = draft.words
    cost = words.money(kwh * price, defaults.currency, 2)
    draft.material.add_text(text)
    draft.material.add_data(
        {"kwh": kwh, "other_kwh": other_kwh, "cost": round(kwh * price, 2), "low_kwh": low, "high_kwh": high}
    )
    draft.intent = "power"
    draft.headline = words.text("energy", "best", rate=best[0], power=best[1], kwh=kwh, cost=cost, other=other_kwh)
    lead = words.text("energy", "hours", low=low, high=high)
    draft.lead = with_mark(lead, draft.sources.topic("electricity", lead))
    return True
