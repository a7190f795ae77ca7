"""Two machines by tokens a second and watts: which is cheaper in electricity."""

from __future__ import annotations

import itertools
import re
from typing import Final

from bot.compose.draft import Draft
from bot.explain import with_mark
from sizing.defaults import Defaults
from sizing.economics import energy_step
from sizing.system.facts import number

_PAIR: Final = re.compile(
    r"(\d+(?:[.,]\d+)?)\s?(?:tok(?:en)?s?|t)\s?(?:/\s?s(?:ek\w*|ec\w*)?|(?:per|pro|je) se[ck]\w+)\b\D{0,20}?(\d{2,5})\s?w(?:att)?\b"
)


def write(draft: Draft, text: str, defaults: Defaults) -> bool:
    """Energy of a million tokens on either; False unless two pairs are named."""
    found = [(float(rate.replace(",", ".")), float(power)) for rate, power in _PAIR.findall(text.lower())]
    if len(found) != 2 or min(itertools.chain(*found)) <= 0:
        return False
    best, other = sorted(found, key=lambda pair: pair[1] / pair[0])
    price = defaults.electricity_per_kwh or number("electricity-de-household")
    kwh, other_kwh = (draft.carry(energy_step(rate, power)) for rate, power in (best, other))
    year = ("energy_per_year", "power_w * 8760 / 1000", "kWh")
    low, high = sorted(draft.work_out(*year, power_w=power) for _, power in found)
    inputs = {"energy_kwh": kwh, "per_kwh": price}
    paid = draft.work_out("electricity_per_million_tokens", "energy_kwh * per_kwh", defaults.currency, **inputs)
    words = draft.words
    cost = words.money(paid, defaults.currency, 2)
    draft.material.add_text(text)
    draft.intent = "power"
    draft.headline = words.text("energy", "best", rate=best[0], power=best[1], kwh=kwh, cost=cost, other=other_kwh)
    lead = words.text("energy", "hours", low=low, high=high)
    draft.lead = with_mark(lead, draft.sources.topic("electricity", lead))
    return True
