"""Tokens for energy: of a deployment and under power limits, and of two machines by tokens a second and watts."""

from __future__ import annotations

import itertools
import re
from typing import Final

from bot.compose.cost_bill import Bill
from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.sized import Sized, size
from sizing.cost import kwh_price
from sizing.defaults import Defaults
from sizing.economics import PowerStep, energy_step, joule_step, power_steps, total_rate

_PAIR: Final = re.compile(
    r"(\d+(?:[.,]\d+)?)\s?(?:tok(?:en)?s?|t)\s?(?:/\s?s(?:ek\w*|ec\w*)?|(?:per|pro|je) se[ck]\w+)\b\D{0,20}?(\d{2,5})\s?w(?:att)?\b"
)


def write(draft: Draft, text: str, defaults: Defaults) -> bool:
    """Energy of a million tokens on either; False unless two pairs are named."""
    found = [(float(rate.replace(",", ".")), float(power)) for rate, power in _PAIR.findall(text.lower())]
    if len(found) != 2 or min(itertools.chain(*found)) <= 0:
        return False
    best, other = sorted(found, key=lambda pair: pair[1] / pair[0])
    price = kwh_price(defaults)
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


_PER_JOULE: Final = re.compile(
    r"tok(?:en)?s?\s?(?:/|per|pro|je)\s?(?:joule|j\b|watt|wh\b|kwh)|\bjoules?\b|(?:kwh|wh|energy|energie|strom)\w*\s?(?:/|per|pro|je|for|für)\s?"
    r"(?:a |one |1 |eine |million(?:en)? |mio\.? )*tok(?:en)?s?|energieeffizien|energy[- ]efficien|tokens? per watt",
    re.IGNORECASE,
)
_SHARES: Final = (1.0, 0.85, 0.7, 0.55)


def headline(draft: Draft, sized: Sized, question: str, defaults: Defaults) -> str | None:
    """Tokens a joule of one user and of a busy server, where they are asked for."""
    free = _unlimited(sized, defaults) if _PER_JOULE.search(question) else None
    if free is None:
        return None
    bill = Bill(draft, free, defaults)
    alone, busy, wall = total_rate(free.estimate), total_rate(bill.busy.estimate), bill.cost.get("wall_w")
    if not alone or not busy or not wall:
        return None
    draft.considered.append(bill.busy)
    words, figures = draft.words, free.figures
    named = {
        "model": figures["model"],
        "hardware": free.hardware,
        "watts": wall,
        "each": draft.carry(joule_step(busy, wall)),
    }
    requests = bill.running
    draft.material.add(wall, "power")
    draft.material.add(requests)
    if figures["concurrency"] == requests:
        return words.text("energy", "per_joule", **named, concurrency=requests)
    return words.text(
        "energy", "per_joule_both", **named, concurrency=requests, alone=draft.carry(joule_step(alone, wall)), one=figures["concurrency"]
    )  # fmt: skip


def say(draft: Draft, sized: Sized, question: str, defaults: Defaults) -> None:
    """What power limits keep of the speed, save in money and gain in tokens a joule, where energy is asked for by the token."""
    free = _unlimited(sized, defaults) if _PER_JOULE.search(question) else None
    if free is None:
        return
    bill = Bill(draft, free, defaults)
    limit, tdp = (
        sized.spec.get("host", {}).get("power_limit_w"),
        (bill.cost.get("power_w") or 0.0) / max(1, len(free.devices)),
    )
    shares = (1.0, limit / tdp) if limit and tdp and limit < tdp else _SHARES
    steps = power_steps(dict(bill.cost), bill.busy.estimate, bill.as_used, shares)
    rows = [_step_text(bill, step, len(free.devices)) for step in steps]
    text = draft.words.text("energy", "limits", rows="; ".join(rows)) if len(rows) > 1 else ""
    draft.say("note", with_mark(text, draft.sources.topic("power_limit", text)), draft.title("energy_limits"))


def _step_text(bill: Bill, step: PowerStep, devices: int) -> str:
    material = bill.draft.material
    material.add(step.watts / devices, "power")
    for share in (step.decode_share, step.prefill_share):
        material.add(share, "share")
    material.add(step.tokens_per_joule or 0.0)
    params = {
        "watts": step.watts / devices,
        "each": step.tokens_per_joule or 0.0,
        "writing": step.decode_share,
        "reading": step.prefill_share,
    }
    key = "step" if step.share_of_tdp < 1 else "step_free"
    return bill.words.text("energy", key, **params, saved=bill.money(step.saved_per_month))


def _unlimited(sized: Sized, defaults: Defaults) -> Sized | None:
    """The deployment without a power limit; None for anything that writes no tokens or does not fit."""
    if sized.figures["task"] != "inference" or not sized.estimate.fits or not (sized.estimate.cost or {}).get("wall_w"):
        return None
    host = {name: value for name, value in sized.spec.get("host", {}).items() if name != "power_limit_w"}
    return size({**sized.spec, "host": host}, defaults) if sized.spec.get("host", {}).get("power_limit_w") else sized
