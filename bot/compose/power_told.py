"""Power of a machine in words: supply and plugs, the circuit, a power limit, heat and noise, energy and its price."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.compose.prices import hours_text
from bot.compose.told import Told
from bot.sized import plain_spec, size
from sizing.cost import kwh_price, standing_in
from sizing.defaults import Defaults
from sizing.places import countries, named_in
from sizing.system.power import Circuit, Power, Supply
from sizing.usage import used_as_said

_HOURS_PER_MONTH: Final = 730.0


def power_headline(told: Told, power: Power) -> str:
    """The circuit that was named comes first where it does not carry the machine."""
    circuit = power.circuits[0] if told.spec.host.circuit_a or told.spec.host.circuit_v else None
    supply = _supply_headline(told, power.supply)
    if circuit is None or circuit.verdict != "no":
        return supply
    told.draft.lead = supply
    return told.text(
        "circuit_named",
        hardware=told.hardware,
        wall=circuit.wall_w,
        amperes=circuit.amperes,
        volts=circuit.volts,
        continuous=circuit.continuous_w,
    )


def _supply_headline(told: Told, supply: Supply | None) -> str:
    power = told.system.power
    assert power is not None
    if supply is None:
        return told.text("machine_draws", hardware=told.hardware, wall=power.wall_w)
    if supply.verdict is None or supply.has_w is None:
        supplies = told.text("supplies", units=supply.units, size=supply.proposed_w)
        return told.text("supply_open", hardware=told.hardware, wall=power.wall_w, supplies=supplies)
    return told.text(
        f"supply_{supply.verdict}",
        has=supply.has_w,
        hardware=told.hardware,
        sum=power.sum_w,
        needed=supply.needed_atx3_w,
    )


def supply(told: Told) -> Iterator[str]:
    power = told.system.power
    if power is None or power.supply is None:
        return
    supply, count = (
        power.supply,
        len(told.system.power.supply.connectors) if told.system.power and told.system.power.supply else 0,
    )
    yield told.text(
        "parts",
        cards=power.cards_w,
        devices=round(power.cards_w / power.card_w),
        card=power.card_w,
        cpu=power.cpu_w,
        base=power.base_w,
    )
    yield told.text("supply_rule", needed=supply.needed_atx3_w, older=supply.needed_older_w)
    yield told.text("excursion_ok" if supply.excursion_ok else "excursion_no", excursion=supply.excursion_w)
    known = {kind: number for kind, number in supply.connectors.items() if kind != "unknown"}
    if count and known:
        told.draft.material.add_names([f"{number} × {kind}" for kind, number in known.items()])
        yield told.text("connectors", plugs=told.words.listed(f"{number} × {kind}" for kind, number in known.items()))


def circuit(told: Told) -> Iterator[str]:
    power = told.system.power
    for one in power.circuits if power else ():
        yield _circuit_text(told, one)


def _circuit_text(told: Told, one: Circuit) -> str:
    return told.text(
        f"circuit_{one.verdict}",
        amperes=one.amperes,
        volts=one.volts,
        continuous=one.continuous_w,
        rated=one.rated_w,
        wall=one.wall_w,
        circuits=one.circuits,
    )


def limit(told: Told) -> Iterator[str]:
    limit = told.system.power.limit if told.system.power else None
    if limit is None or limit.share_of_tdp >= 1:
        return
    yield told.text(
        "limit_decode",
        limit=limit.watts,
        share=limit.share_of_tdp,
        decode=limit.decode_share,
        prefill=limit.prefill_share,
    )
    told.draft.material.add(limit.share_of_tdp, "share")
    told.draft.material.add_names(["RTX 3090"])
    yield told.text("limit_saves", saved=limit.saved_w)
    yield told.text("limit_hint")


def capped_speed(told: Told) -> str:
    """What the limit leaves of the pace of one user and of reading prompts; empty where no speed is known.

    The estimate knows of the limit already: what it would be without is estimated beside it.
    """
    spec = plain_spec(told.spec)
    host = {name: value for name, value in spec.get("host", {}).items() if name != "power_limit_w"}
    free = size({**spec, "host": host}, Defaults(reserve_share=0.1)).estimate.speed if told.context else None
    now = told.draft.sized[0].estimate.speed
    if now is None or free is None or now.decode_tok_s_per_user is None or free.decode_tok_s_per_user is None:
        return ""
    rates = {"left": now.decode_tok_s_per_user, "rate": free.decode_tok_s_per_user}
    sentences = [told.text("limit_speed", **rates)]
    if now.prefill_tok_s and free.prefill_tok_s:
        prompts = {"left": now.prefill_tok_s, "rate": free.prefill_tok_s}
        sentences.append(told.text("limit_prompts", **prompts))
        rates |= {f"prompt_{name}": rate for name, rate in prompts.items()}
    for rate in rates.values():
        told.draft.material.add_rates(rate.model_dump())
    return " ".join(sentences)


def heat(told: Told) -> Iterator[str]:
    power, place = told.system.power, told.system.place
    if power is not None:
        yield told.text("heat", wall=power.wall_w, btu=power.heat_btu_h, kwh=power.kwh_per_day, idle=power.idle_w)
    noise, cooling = told.text(f"noise_{place.noise}"), told.text(f"cooling_{place.cooling}")
    yield cooling if noise in told.draft.headline else told.text("heat_place", noise=noise, cooling=cooling)
    if place.passive_cards:
        yield told.text("passive")
    if power is not None and power.wall_w > 10_000:
        told.draft.material.add(20_000, "power")
        yield told.text("racks" if place.racks_air == 1 else "racks_many", racks=place.racks_air)


def energy(told: Told) -> Iterator[str]:
    """Energy and its price a month in the hours and at the tariff that were said, else around the clock at the country's."""
    power, usage = told.system.power, told.spec.usage
    if power is None:
        return
    used = used_as_said(standing_in(Defaults(), countries(told.spec.constraints.location)), usage)
    full, idle = (watts / 1000 * used.pue for watts in (power.wall_w, power.idle_w))
    rate = kwh_price(used)
    price = full * used.hours_per_month * rate
    for value in (full * used.hours_per_month, idle * _HOURS_PER_MONTH):
        told.draft.material.add(value, "energy")
    told.draft.material.add_money({"month": price, "rate": rate, "year": price * 12})
    told.draft.material.add((usage.hours_per_day or 24.0) * 3600, "time")
    told.draft.material.add_data({"days": usage.days_per_week or 7.0, "pue": used.pue})
    yield told.text(
        "energy",
        hours=hours_text(usage, told.words),
        kwh=full * used.hours_per_month,
        price=told.words.money(price, used.currency, 0),
        year=told.words.money(price * 12, used.currency, 0),
        rate=told.words.money(rate, used.currency),
        idle_kwh=idle * _HOURS_PER_MONTH,
    )
    yield _by_country(told, full * used.hours_per_month)
    if usage.pue is not None:
        yield told.words.text("bill", "pue", pue=usage.pue)


def _by_country(told: Told, kwh: float) -> str:
    """The same energy where several countries are named, each at the price of its households."""
    named = named_in(told.question)
    if len(set(named.values())) < 2 or told.spec.usage.electricity is not None:
        return ""
    rows = []
    for written, code in named.items():
        there = Defaults(country=code)
        rate = kwh_price(there)
        month = told.draft.work_out(
            "electricity_per_month", "energy_kwh * kwh_price", there.currency, energy_kwh=kwh, kwh_price=rate
        )
        told.draft.material.add_money({"month": month, "rate": rate})
        shown = {"price": told.words.money(month, there.currency, 0), "rate": told.words.money(rate, there.currency)}
        rows.append(told.text("energy_country", country=written, **shown))
    return told.text("energy_countries", rows="; ".join(rows))
