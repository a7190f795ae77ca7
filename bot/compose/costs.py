"""Prices that a message names: per million tokens at its load, against a price per head, for its hours."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.answer import Table
from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.heard import Heard
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.catalogue.entries import Offer
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.economics import hourly_million_step
from sizing.prices import HOURS_PER_MONTH

_CARDS: Final = ("nvidia-l40s", "nvidia-a100-sxm4-80gb", "nvidia-h100-sxm-80gb", "nvidia-h200-sxm-141gb")
_USUAL_LOAD: Final = 0.5
# What a busy server is filled with where a message says nothing: enough requests to be worth its rent.
_BUSY_REQUESTS: Final = 32


def prices_of(heard: Heard) -> Sequence[Mapping[str, Any]]:
    """Prices quoted in the message (never a budget)."""
    found = (heard.request.get("other") or {}).get("prices") or ()
    return [one for one in found if one.get("amount")]


def say_prices(draft: Draft, sized: Sized, heard: Heard) -> None:
    """Everything that the named prices allow to be said of this deployment."""
    other = heard.request.get("other") or {}
    monthly, each = (_priced(heard, per) for per in ("month", "user"))
    if each is not None and monthly is not None:
        _say_flat(draft, each, monthly, sized)
    elif each is not None and (sized.estimate.cost or {}).get("rent_per_hour"):
        rent = (sized.estimate.cost or {})["rent_per_hour"]
        currency = str((sized.estimate.cost or {})["currency"])
        paid = {"hour_price": rent["amount"], "hours_per_month": HOURS_PER_MONTH}
        month = draft.work_out("rent_per_month", "hour_price * hours_per_month", currency, **paid)
        _say_flat(draft, each, (month, currency), sized)
    _say_hours(draft, sized, other)
    say_instances(draft, sized, Defaults())


_PROVIDERS: Final = (
    ("AWS", re.compile(r"\b(?:ec2|aws|amazon)\b", re.IGNORECASE)),
    ("Google", re.compile(r"\b(?:gcp|google cloud|gce)\b", re.IGNORECASE)),
    ("Azure", re.compile(r"\bazure\b", re.IGNORECASE)),
    ("RunPod", re.compile(r"\brunpod\b", re.IGNORECASE)),
    ("Hetzner", re.compile(r"\bhetzner\b", re.IGNORECASE)),
    ("OVH", re.compile(r"\bovh\w*\b", re.IGNORECASE)),
    ("Lambda", re.compile(r"\blambda\b", re.IGNORECASE)),
    ("Scaleway", re.compile(r"\bscaleway\b", re.IGNORECASE)),
)
_MOST_INSTANCES: Final = 3
_TOLD_HOST_GIB: Final = 2.0


def say_instances(draft: Draft, sized: Sized, defaults: Defaults) -> None:
    """Instances of the provider named that hold the model, the cheapest first."""
    asked = next((name for name, pattern in _PROVIDERS if pattern.search(draft.sources.query)), None)
    if asked is None or not sized.spec.get("model"):
        return
    offers = [
        one
        for one in catalogue().offers.values()
        if asked.lower() in one.provider.lower() and one.price_usd_h and one.count >= 1
    ]
    fitting = []
    for offer in _cheapest_of_each(offers):
        tried = size(
            {**sized.spec, "hardware": [{"accelerator": offer.accelerator, "count": int(offer.count)}]}, defaults
        )
        if tried.estimate.fits and not _spills(tried):
            fitting.append((offer, tried))
        if len(fitting) == _MOST_INSTANCES:
            break
    if fitting:
        _say_offers(draft, asked, fitting)


def _cheapest_of_each(offers: Sequence[Offer]) -> Sequence[Offer]:
    """One offer of an instance that costs differently by region, the cheapest instance first."""
    found: dict[str, Offer] = {}
    for one in sorted(offers, key=lambda offer: offer.price_usd_h or 0.0):
        found.setdefault(one.instance, one)
    return list(found.values())


def _spills(tried: Sized) -> bool:
    """Whether part of the model would lie in RAM: it runs, but nobody rents a card for that."""
    memory = tried.estimate.memory
    return memory is not None and memory.host.weights_gib > _TOLD_HOST_GIB


def _say_offers(draft: Draft, provider: str, fitting: Sequence[tuple[Offer, Sized]]) -> None:
    words, rows = draft.words, []
    for offer, tried in fitting:
        name = f"{offer.instance} in {offer.region}" if offer.region else offer.instance
        draft.material.add_names([name, tried.hardware])
        draft.material.add_money({"hour": offer.price_usd_h})
        rows.append(
            words.text(
                "price",
                "instance",
                name=name,
                hardware=tried.hardware,
                price=words.money(offer.price_usd_h or 0.0, "USD"),
            )
        )
    text = words.text("price", "instances", provider=provider, rows=words.listed(rows, "or"))
    draft.say("note", with_mark(text, draft.sources.topic("cost_rent", text)), draft.title("cost"))


def write_flat(draft: Draft, spec: Spec, heard: Heard, defaults: Defaults) -> bool:
    """A price per head against a server of that hardware, with no model named."""
    each, people = _priced(heard, "user"), spec.get("users") or spec.get("concurrency")
    if each is None or not people or not spec.get("hardware") or spec.get("model"):
        return False
    probe = size({**spec, "model": {"id": "Qwen/Qwen3-8B"}}, defaults)
    if not probe.estimate.ok:
        return False
    draft.sized = [probe]
    say_prices(draft, probe, heard)
    told = next((one for one in draft.paragraphs if one.title == draft.title("break_even")), None)
    if told is None:
        return False
    draft.paragraphs.remove(told)
    draft.headline = f"{told.text[:1].upper()}{told.text[1:]}"
    return True


def _priced(heard: Heard, per: str) -> tuple[float, str] | None:
    return next(
        ((float(one["amount"]), str(one["currency"])) for one in prices_of(heard) if one.get("per") == per), None
    )


def _say_flat(draft: Draft, each: tuple[float, str], server: tuple[float, str], sized: Sized) -> None:
    """A price per head and month against the server's month."""
    people = sized.spec.get("users") or sized.spec.get("concurrency")
    if not people or each[1] != server[1]:
        return
    words, currency = draft.words, each[1]
    paid = {"each_price": each[0], "server_price": server[0]}
    flat = draft.work_out("flat_per_month", "people * each_price", currency, people=people, each_price=each[0])
    draft.work_out("break_even_people", "server_price / each_price", "", **paid)
    even = math.ceil(server[0] / each[0])
    cheaper = "flat_cheaper" if flat < server[0] else "server_cheaper"
    low, high = sorted((flat, server[0]))
    difference = draft.work_out("difference", "high_price - low_price", currency, low_price=low, high_price=high)
    draft.material.add_data({"people": people, "even": even})
    verdict = words.text("price", cheaper, difference=words.money(difference, currency, 0), even=even)
    text = words.text(
        "price",
        "flat",
        people=people,
        each=words.money(each[0], currency),
        flat=words.money(flat, currency, 0),
        server=words.money(server[0], currency, 0),
        verdict=verdict,
    )
    draft.say("note", with_mark(text, draft.sources.topic("break_even", text)), draft.title("break_even"))


def _say_hours(draft: Draft, sized: Sized, other: Mapping[str, Any]) -> None:
    hours, cost = other.get("hours"), sized.estimate.cost or {}
    rent = cost.get("rent_per_hour")
    if not hours or not rent or "hours_per_day" in (other.get("usage") or {}):
        return
    paid = {"hour_price": rent["amount"], "hours_used": float(hours)}
    total = draft.work_out("rent_for_the_hours", "hour_price * hours_used", str(cost["currency"]), **paid)
    draft.material.add(float(hours))
    draft.say(
        "note",
        draft.words.text("price", "total_hours", hours=hours, total=draft.words.money(total, str(cost["currency"]), 0)),
        draft.title("cost"),
    )


def write_unnamed(draft: Draft, spec: Spec, heard: Heard, defaults: Defaults) -> bool:
    """A price per hour of cards without a name: the same sum for the usual cards, side by side."""
    hourly = _priced(heard, "hour")
    entry: Mapping[str, Any] = next(iter(spec.get("hardware") or ()), {})
    if hourly is None or not spec.get("model") or entry.get("accelerator") or entry.get("memory_gb"):
        return False
    load = float((heard.request.get("other") or {}).get("utilization") or _USUAL_LOAD)
    count, words = int(entry.get("count") or 1), draft.words
    busy = {"concurrency": _BUSY_REQUESTS, **{key: value for key, value in spec.items() if key != "hardware"}}
    candidates = [size({**busy, "hardware": [{"accelerator": card, "count": count}]}, defaults) for card in _CARDS]
    hour = draft.work_out("price_per_hour", "each_price * cards", hourly[1], each_price=hourly[0], cards=count)
    rows = [
        (one, draft.carry(hourly_million_step(hour, hourly[1], one.estimate.speed.output_tok_s_total.expected, load)))
        for one in candidates
        if one.estimate.fits and one.estimate.speed and one.estimate.speed.output_tok_s_total
    ]
    if not rows:
        return False
    draft.sized = [one for one, _ in rows[:1]]
    draft.options = [one for one, _ in rows]
    draft.material.add(load, "share")
    draft.material.add(busy["concurrency"])
    prices = sorted(price for _, price in rows)
    draft.headline = words.text(
        "headline", "per_million", low=words.money(prices[0], hourly[1]), high=words.money(prices[-1], hourly[1])
    )
    text = words.text("price", "by_utilisation")
    draft.say("note", with_mark(text, draft.sources.topic("cost_api", text)), draft.title("per_million"))
    draft.table = Table(
        caption=words.text("price", "table_caption", share=load, concurrency=busy["concurrency"]),
        columns=(
            words.text("ui", "col_option"),
            words.text("ui", "col_total_speed"),
            words.text("price", "col_hour"),
            words.text("price", "col_million"),
        ),
        rows=tuple(
            (
                one.hardware,
                words.span(one.estimate.speed.output_tok_s_total),
                words.money(hour, hourly[1]),
                words.money(price, hourly[1]),
            )
            for one, price in rows
            if one.estimate.speed
        ),
    )
    return True
