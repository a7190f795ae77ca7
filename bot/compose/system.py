"""The machine around the devices in words: one paragraph a part, those asked about first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from bot.compose import availability, box_told, power_told
from bot.compose.draft import Draft
from bot.compose.focus import Focus, focuses, names_supply
from bot.compose.told import Told, with_place
from bot.explain import with_mark
from bot.heard import Heard
from bot.sized import Sized
from sizing.estimate import Estimate
from sizing.system.machine import system_of

Say = Callable[[Told], Iterator[str]]
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
_POWER_PARTS: Final[tuple[Focus, ...]] = ("supply", "circuit", "limit", "heat", "energy")
# Sentences for each part: where the machine is the question, and beside a verdict or among many parts.
_ALONE, _BESIDE, _FEW_PARTS = 4, 2, 3
_SYSTEM_PARTS: Final[tuple[Focus, ...]] = ("profile", "ram", "cpu", "storage", "lanes", "network")


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
        spoken: tuple[Focus, ...] = ("energy",) if (next(power_told.energy(told), "") or "?") in draft.headline else ()
        _say_parts(told, asked, spoken, most=_ALONE if asked == ("availability",) else _BESIDE)


def energy_headline(draft: Draft, sized: Sized, question: str) -> str | None:
    """What a month of power takes and costs, where that is what was asked of a deployment."""
    told = _told(draft, sized, sized.estimate, question) if "energy" in focuses(question) else None
    return next(power_told.energy(told), None) if told is not None else None


def _told(draft: Draft, sized: Sized, estimate: Estimate | None, question: str) -> Told | None:
    if sized.parsed is None or not sized.parsed.hardware:
        return None
    placed = with_place(sized.parsed, question)
    system = system_of(placed, estimate)
    draft.material.add_data(system.data())
    if system.power:
        draft.material.add(system.power.kwh_per_day, "energy")
    return Told(draft, system, placed, sized, question)


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


def _headline(told: Told, asked: tuple[Focus, ...]) -> tuple[str, tuple[Focus, ...]]:
    """(first sentence, the parts it has already told)."""
    system, power = told.system, told.system.power
    if asked[:1] == ("limit",) and told.spec.host.power_limit_w and (capped := next(power_told.limit(told), "")):
        told.draft.lead = power_told.capped_speed(told)
        return capped, ("limit",)
    network = asked[:1] == ("network",)
    if network:
        return next(box_told.network(told)), ("network",)
    if power is not None and asked and asked[0] == "heat":
        noise = told.text(f"noise_{system.place.noise}")
        return f"{told.text('machine_draws', hardware=told.hardware, wall=power.wall_w)} {noise}", ()
    if power is not None and asked and "energy" in asked:
        return next(power_told.energy(told)), ("energy",)
    if power is not None and asked and asked[0] in _POWER_PARTS:
        return power_told.power_headline(told, power), ()
    if asked and "lanes" in asked and system.lanes is not None:
        box_told.add_link_names(told)
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


def _say_parts(told: Told, asked: tuple[Focus, ...], spoken: tuple[Focus, ...], most: int) -> None:
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


_PARTS: Final[Mapping[Focus, Say]] = {
    "supply": power_told.supply,
    "circuit": power_told.circuit,
    "limit": power_told.limit,
    "heat": power_told.heat,
    "energy": power_told.energy,
    "ram": box_told.ram,
    "cpu": box_told.cpu,
    "storage": box_told.storage,
    "lanes": box_told.lanes,
    "network": box_told.network,
    "availability": availability.availability,
    "profile": box_told.profile,
    "operation": box_told.operation,
    "ecosystem": box_told.ecosystem,
}
