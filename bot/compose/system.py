"""The machine around the devices in words: one paragraph a part, those asked about first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from bot.compose.draft import Draft
from bot.compose.focus import Focus, availability, focuses, names_supply, older_link
from bot.compose.labels import verdict_cell
from bot.compose.prices import hours_text
from bot.explain import with_mark
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, plain_spec, size
from sizing.availability import USUAL_TARGET, copies_left, topology
from sizing.cost import kwh_price
from sizing.defaults import Defaults
from sizing.ecosystems import ecosystem_of
from sizing.estimate import Estimate
from sizing.spec import WorkloadSpec
from sizing.system.machine import System, system_of
from sizing.system.power import Circuit, Power, Supply
from sizing.system.ram import workers_per_gpu
from sizing.system.storage import media
from sizing.usage import used_as_said

Say = Callable[["_Told"], Iterator[str]]

_TOPICS: Final[Mapping[Focus, str]] = {
    "supply": "power_supply",
    "circuit": "circuit",
    "heat": "heat_noise",
    "energy": "electricity",
    "limit": "power_limit",
    "ram": "host_ram",
    "cpu": "cpu",
    "storage": "load_time",
    "lanes": "pcie",
    "network": "network",
    "availability": "availability",
    "profile": "profiles",
    "operation": "backup",
    "ecosystem": "tpu_npu",
}
_TITLES: Final[Mapping[Focus, str]] = {"limit": "power_limit", "storage": "storage"}
EXAMPLE_GB: Final = 40.0  # of our sentences: a 70B model in 4 bit
_HOURS_PER_MONTH: Final = 730.0
_TOLD_MEDIA: Final = frozenset({"nvme_gen4", "object_store_32", "10gbe", "sata_ssd", "1gbe"})
_POWER_PARTS: Final[tuple[Focus, ...]] = ("supply", "circuit", "limit", "heat", "energy")
# Sentences for each part: where the machine is the question, and beside a verdict or among many parts.
_ALONE, _BESIDE, _FEW_PARTS = 4, 2, 3
_SYSTEM_PARTS: Final[tuple[Focus, ...]] = ("profile", "ram", "cpu", "storage", "lanes", "network")


class _Told:
    """What the paragraphs speak of."""

    def __init__(self, draft: Draft, system: System, spec: WorkloadSpec, sized: Sized, question: str) -> None:
        self.draft, self.system, self.spec, self.question = draft, system, spec, question
        self.hardware = sized.hardware
        self.context: int | None = sized.figures.get("context")
        self.words: Wording = draft.words

    def text(self, key: str, **params: Any) -> str:
        return self.words.text("machine", key, **params)


def with_place(spec: WorkloadSpec, question: str) -> WorkloadSpec:
    """The spec with what the message says of link and availability."""
    link, target = older_link(question), availability(question)
    update: dict[str, Any] = {}
    if link is not None:
        update |= {"pcie_gen": link[0]} | ({"pcie_lanes": link[1]} if link[1] else {})
    if target is not None:
        update["availability"] = target
    return spec.model_copy(update={"host": spec.host.model_copy(update=update)}) if update else spec


def write_machine(draft: Draft, sized: Sized, heard: Heard, question: str, estimate: Estimate | None = None) -> bool:
    """An answer about the machine itself, with the Estimate of the model on it where one is named; False where the spec cannot be read."""
    told = _told(draft, sized, estimate, question)
    if told is None:
        return False
    draft.sized = [sized]
    asked = _asked(heard, question)
    draft.headline, spoken = _headline(told, asked)
    _say_parts(told, asked, spoken, most=_ALONE if len(asked) <= _FEW_PARTS else _BESIDE)
    return True


def say_parts(draft: Draft, sized: Sized, heard: Heard, question: str) -> None:
    """What was asked of the machine beside a verdict."""
    told = _told(draft, sized, sized.estimate, question)
    if told is not None:
        asked = _asked(heard, question) if heard.asks("power", "system") else ("limit",)
        spoken: tuple[Focus, ...] = ("energy",) if (next(_energy(told), "") or "?") in draft.headline else ()
        _say_parts(told, asked, spoken, most=_ALONE if asked == ("availability",) else _BESIDE)


def energy_headline(draft: Draft, sized: Sized, question: str) -> str | None:
    """What a month of power takes and costs, where that is what was asked of a deployment."""
    told = _told(draft, sized, sized.estimate, question) if "energy" in focuses(question) else None
    return next(_energy(told), None) if told is not None else None


def _told(draft: Draft, sized: Sized, estimate: Estimate | None, question: str) -> _Told | None:
    if sized.parsed is None or not sized.parsed.hardware:
        return None
    placed = with_place(sized.parsed, question)
    system = system_of(placed, estimate)
    draft.material.add_data(system.data())
    if system.power:
        draft.material.add(system.power.kwh_per_day, "energy")
    return _Told(draft, system, placed, sized, question)


def _asked(heard: Heard, question: str) -> tuple[Focus, ...]:
    """The parts named; those of the intent where none is."""
    named = focuses(question)
    if heard.asks("power"):
        wanted = [focus for focus in named if focus in _POWER_PARTS]
        if "limit" in wanted and "supply" in wanted and not names_supply(question):
            wanted.remove("supply")  # the watts are those of the limit
        if "supply" in wanted and "circuit" not in wanted:
            wanted.append("circuit")
        others = [focus for focus in named if focus in ("availability", "lanes") and heard.asks("system")]
        return tuple(dict.fromkeys((*(wanted or _POWER_PARTS[:3]), *others)))
    wanted = [focus for focus in named if focus not in ("circuit", "supply")]
    return tuple(wanted) or _SYSTEM_PARTS


def _headline(told: _Told, asked: tuple[Focus, ...]) -> tuple[str, tuple[Focus, ...]]:
    """(first sentence, the parts it has already told)."""
    system, power = told.system, told.system.power
    if asked[:1] == ("limit",) and told.spec.host.power_limit_w and (capped := next(_limit(told), "")):
        told.draft.lead = _capped_speed(told)
        return capped, ("limit",)
    network = asked[:1] == ("network",)
    if network:
        return next(_network(told)), ("network",)
    if power is not None and asked and asked[0] == "heat":
        noise = told.text(f"noise_{system.place.noise}")
        return f"{told.text('machine_draws', hardware=told.hardware, wall=power.wall_w)} {noise}", ()
    if power is not None and asked and "energy" in asked:
        return next(_energy(told)), ("energy",)
    if power is not None and asked and asked[0] in _POWER_PARTS:
        return _power_headline(told, power), ()
    if asked and "lanes" in asked and system.lanes is not None:
        _add_link_names(told)
        return told.text(f"lanes_{system.lanes.matters}"), ("lanes",)
    if asked[:1] == ("ram",) and system.ram is not None and system.ram.verdict:
        return told.text(f"ram_{system.ram.verdict}", has=system.ram.has_gb, proposed=system.ram.proposed_gb), ()
    if system.ram is None or system.cpu is None:
        wall = power.wall_w if power else 0.0
        return told.words.text("headline", "machine_unified", hardware=told.hardware, wall=wall), ()
    return told.words.text(
        "headline",
        "machine",
        hardware=told.hardware,
        proposed=system.ram.proposed_gb,
        cores=system.cpu.cores,
        disk=system.storage.proposed_gb,
        wall=power.wall_w if power else 0.0,
    ), ()


def _capped_speed(told: _Told) -> str:
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


def _power_headline(told: _Told, power: Power) -> str:
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


def _add_link_names(told: _Told) -> None:
    """Widths and generations stand in fixed texts; they are names, not figures."""
    told.draft.material.add_names(
        [*(f"x{width}" for width in (1, 4, 8, 16)), *(f"PCIe {gen}.0" for gen in range(1, 8))]
    )


def _supply_headline(told: _Told, supply: Supply | None) -> str:
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


def _say_parts(told: _Told, asked: tuple[Focus, ...], spoken: tuple[Focus, ...], most: int) -> None:
    """A paragraph for each part, of `most` sentences at most; what more there is to say stands in an export."""
    draft = told.draft
    for focus in asked:
        sentences = [sentence for sentence in _PARTS[focus](told) if sentence]
        if focus in spoken:
            sentences = sentences[1:]
        if sentences:
            mark, title = draft.sources.topic(_TOPICS[focus], sentences[0]), draft.title(_TITLES.get(focus, focus))
            draft.say("note", with_mark(" ".join(sentences[:most]), mark), title)
            draft.detail("note", " ".join(sentences[most:]), title)


def _supply(told: _Told) -> Iterator[str]:
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


def _circuit(told: _Told) -> Iterator[str]:
    power = told.system.power
    for one in power.circuits if power else ():
        yield _circuit_text(told, one)


def _circuit_text(told: _Told, one: Circuit) -> str:
    return told.text(
        f"circuit_{one.verdict}",
        amperes=one.amperes,
        volts=one.volts,
        continuous=one.continuous_w,
        rated=one.rated_w,
        wall=one.wall_w,
        circuits=one.circuits,
    )


def _limit(told: _Told) -> Iterator[str]:
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


def _heat(told: _Told) -> Iterator[str]:
    power, place = told.system.power, told.system.place
    if power is not None:
        yield told.text("heat", wall=power.wall_w, btu=power.heat_btu_h, kwh=power.kwh_per_day, idle=power.idle_w)
    yield told.text(
        "heat_place", noise=told.text(f"noise_{place.noise}"), cooling=told.text(f"cooling_{place.cooling}")
    )
    if place.passive_cards:
        yield told.text("passive")
    if power is not None and power.wall_w > 10_000:
        told.draft.material.add(20_000, "power")
        yield told.text("racks" if place.racks_air == 1 else "racks_many", racks=place.racks_air)


def _energy(told: _Told) -> Iterator[str]:
    """Energy and its price a month in the hours and at the tariff that were said, else around the clock at the country's."""
    power, usage = told.system.power, told.spec.usage
    if power is None:
        return
    used = used_as_said(Defaults(), usage)
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
    if usage.pue is not None:
        yield told.words.text("bill", "pue", pue=usage.pue)


def _ram(told: _Told) -> Iterator[str]:
    ram = told.system.ram
    if ram is None:
        yield told.text("ram_unified")
        return
    parts = {
        "offloaded": ram.offloaded_gb,
        "services": ram.services_gb,
        "files": ram.files_gb,
        "index": ram.index_gb,
        "workers": ram.workers_gb,
        "reserve": ram.reserve_gb,
    }
    shown = [told.text(f"ram_part_{name}", value=value) for name, value in parts.items() if value >= 1]
    yield told.text("ram", proposed=ram.proposed_gb, parts=told.words.listed(shown))
    if ram.rule_gb > ram.sum_gb:
        yield told.text("ram_rule", rule=ram.rule_gb)
    if ram.has_gb is not None and ram.verdict:
        yield told.text(f"ram_{ram.verdict}", has=ram.has_gb, proposed=ram.proposed_gb)
    if told.system.place.ecc_advised:
        yield told.text("ecc_advised")
    elif "ecc" in told.question.lower():
        yield told.text("ecc_not_needed")


def _cpu(told: _Told) -> Iterator[str]:
    cpu = told.system.cpu
    if cpu is None:
        return
    told.draft.material.add(workers_per_gpu())
    yield told.text(f"cpu_{cpu.role}", cores=cpu.cores, workers=workers_per_gpu())


def _storage(told: _Told) -> Iterator[str]:
    disks = told.system.storage
    if disks.models_gb:
        told.draft.material.add(3)
        told.draft.material.add(1.5)
        yield told.text(
            "disks",
            models=disks.models_gb,
            versions=3,
            system=disks.system_gb,
            databases=disks.databases_gb,
            logs=disks.logs_gb,
            proposed=disks.proposed_gb,
        )
        shown = [
            told.text("load_one", medium=told.text(f"medium_{one.medium}"), time=one.seconds)
            for one in disks.load
            if one.medium in _TOLD_MEDIA
        ]
        told.draft.material.add_data([{"seconds": one.seconds} for one in disks.load])
        low, high = disks.engine_start_s
        size = disks.load[0].seconds * disks.load[0].gb_s
        told.draft.material.add_data({"size_gb": size, "low_seconds": low, "high_seconds": high})
        yield told.text("load_from", media=told.words.listed(shown), size=size, low=low, high=high)
        return
    yield told.text("disks_bare", system=disks.system_gb, databases=disks.databases_gb, logs=disks.logs_gb)
    rates = dict(media())
    told.draft.material.add_data({"size_gb": EXAMPLE_GB})
    times = {
        name: told.draft.work_out("load", "size_gb / rate_gb_s", "s", size_gb=EXAMPLE_GB, rate_gb_s=rates[name])
        for name in ("nvme_gen4", "nvme_gen3", "sata_ssd")
    }
    yield told.text("load_rule", nvme=times["nvme_gen4"], old=times["nvme_gen3"], sata=times["sata_ssd"])


def _lanes(told: _Told) -> Iterator[str]:
    lanes = told.system.lanes
    if lanes is None:
        return
    _add_link_names(told)
    yield told.text(f"lanes_{lanes.matters}")
    if older_link(told.question) is not None:
        told.draft.material.add(lanes.gb_s, "bandwidth")
        yield told.text("lanes_old", gen=lanes.gen, width=lanes.width, rate=lanes.gb_s)
    platform = (
        told.text("lanes_platform", name=lanes.platform, lanes=lanes.platform_lanes)
        if lanes.platform
        else told.text("lanes_none")
    )
    told.draft.material.add_names([lanes.platform or ""])
    yield told.text("lanes_need", cards=lanes.cards, full=lanes.lanes_full, slots=lanes.slots, platform=platform)
    if lanes.platform_least and lanes.platform_least != lanes.platform:
        told.draft.material.add_names([lanes.platform_least])
        yield told.text("lanes_least", least=lanes.lanes_least, platform=lanes.platform_least)
    if lanes.nvlink and lanes.cards > 1:
        yield told.text("lanes_nvlink", domain=lanes.domain)
    yield told.text("lanes_mechanical")


def _network(told: _Told) -> Iterator[str]:
    network = told.system.network
    streams = told.spec.concurrency or told.spec.users or 1
    told.draft.material.add_data(
        {"streams": streams, "text": network.text_mbit_s, "line": network.line_gbit, "share": network.share_of_line}
    )
    yield told.text(
        f"network_{network.verdict}",
        streams=streams,
        text=network.text_mbit_s,
        share=network.share_of_line,
        line=network.line_gbit,
    )
    told.draft.material.add_data({"size_gb": EXAMPLE_GB})
    sizes = {"size_gb": EXAMPLE_GB, "line_gb_s": network.line_gb_s}
    seconds = told.draft.work_out("copy", "size_gb / line_gb_s", "s", **sizes)
    yield told.text("network_more", time=seconds, line=network.line_gbit)
    if network.between_gbit:
        yield told.text("network_servers", servers=network.servers, gbit=network.between_gbit)
    yield told.text("network_vpn")


def _availability(told: _Told) -> Iterator[str]:
    target = told.spec.host.availability or USUAL_TARGET
    devices = sum(entry.count or 1 for entry in told.spec.hardware)
    found = topology(target, max(1, -(-devices // 8)), devices)
    told.draft.material.add_data(
        {"target": target * 100, "hours": found.target_downtime_h, "servers": found.servers, "devices": found.devices}
    )
    told.draft.material.add(target, "share")
    told.draft.material.add(found.target_downtime_h * 3600, "time")
    yield told.text(
        f"availability_{found.name}",
        target=target * 100,
        hours=found.target_downtime_h,
        servers=found.servers,
        devices=found.devices,
    )
    copies = told.spec.parallel.data or devices
    if devices > 1:
        left = copies_left(copies)
        told.draft.material.add(left, "share")
        yield told.text("availability_split", left=left)
        yield _left_after(told, devices)
    low, high = told.system.storage.engine_start_s
    told.draft.material.add_data({"low_seconds": low, "high_seconds": high})
    yield told.text("availability_restart", low=low, high=high)


def _left_after(told: _Told, devices: int) -> str:
    """What still runs when one of several cards is gone: the most of the others on which the model fits."""
    spec = plain_spec(told.spec)
    if not spec.get("model") or len(told.spec.hardware) != 1:
        return ""
    assumed = {"context_tokens": told.context} if told.context and not spec.get("input_tokens") else {}
    rest = assumed | {key: value for key, value in spec.items() if key != "parallel"}
    for count in range(devices - 1, 0, -1):
        tried = size({**rest, "hardware": [{**spec["hardware"][0], "count": count}]}, Defaults(reserve_share=0.1))
        if tried.estimate.fits:
            told.draft.considered.append(tried)
            return told.text("availability_left", left=tried.hardware, verdict=verdict_cell(tried, told.words))
    return told.text("availability_left_none")


def _profile(told: _Told) -> Iterator[str]:
    yield told.text(f"profile_{told.system.profile.name}")


def _operation(told: _Told) -> Iterator[str]:
    for key in ("backup", "versions", "access"):
        yield told.words.text("operation", key)


def _ecosystem(told: _Told) -> Iterator[str]:
    from sizing.devices import expand

    families = {ecosystem_of(d.accelerator).family for d in expand(told.spec.hardware) if d.accelerator is not None}
    for family in sorted(families):
        yield told.words.text("ecosystem", family)


_PARTS: Final[Mapping[Focus, Say]] = {
    "supply": _supply,
    "circuit": _circuit,
    "limit": _limit,
    "heat": _heat,
    "energy": _energy,
    "ram": _ram,
    "cpu": _cpu,
    "storage": _storage,
    "lanes": _lanes,
    "network": _network,
    "availability": _availability,
    "profile": _profile,
    "operation": _operation,
    "ecosystem": _ecosystem,
}
