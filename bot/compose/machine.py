"""Turns about the machine itself: power, RAM, drives, network, with or without a model on it."""

from __future__ import annotations

import re
from typing import Final

from bot.compose import cardless, focus, headline, system
from bot.compose.assumptions import assumption_views
from bot.compose.common import parsed_or_none
from bot.compose.draft import Draft
from bot.compose.quantity import quantity_of
from bot.heard import Heard
from bot.sized import Sized, is_machine, size
from bot.thread import Spec
from bot.understand.planning import topic_of
from sizing.defaults import Defaults
from sizing.spec import WorkloadSpec
from sizing.system.ram import SERVICES_GB

_POWER: Final = frozenset({"heat", "supply", "circuit", "energy", "limit", "ram"})
_RAM: Final = r"\b(?:d?ram|arbeitsspeicher|ddr[345])\b"
_ENOUGH: Final = r"\b(?:enough|reich\w*|genug|sufficient|genüg\w*|need\w*|brauch\w*|how much|wie ?viel|zu wenig|too little|more|mehr)\b"
# RAM that is only listed among what a machine has is no question on it.
_ASKS_RAM: Final = re.compile(
    rf"{_ENOUGH}[^.?!]{{0,60}}{_RAM}|{_RAM}(?:[^.?!]{{0,40}}{_ENOUGH}|[^.?!,]{{0,12}}\?)", re.IGNORECASE
)
_MODELS: Final = re.compile(r"model", re.IGNORECASE)
_SLOWER: Final = re.compile(
    r"slow|faster|langsam|schneller|los(?:e|ing|s)\b|verlier|verlust|kostet|\bcosts?\b|impact|effect|auswirk|bleibt|left|"
    r"wie viel|how much|lohnt|worth",
    re.IGNORECASE,
)
# What is asked beside the machine takes a verdict.
_OTHER_INTENTS: Final = ("fits", "size", "compare", "cost", "finetune")


def write(draft: Draft, spec: Spec, heard: Heard, text: str, defaults: Defaults) -> bool:
    """Fills the draft where the machine, or a part of it, is what is asked about; False otherwise."""
    parsed = parsed_or_none(_with_services(spec, text))
    if parsed is None:
        return False
    if not (
        heard.intent in ("power", "system")
        or _names_machine(spec, heard, text)
        or _asks_of_limit(parsed, heard, text)
        or _is_processor(spec)
    ):
        return False
    cores = (heard.request.get("other") or {}).get("cpu_cores")
    if cores and not spec.get("model") and _is_processor(spec):
        return cardless.write_cores(draft, float(cores))
    if spec.get("hardware") and not spec.get("model"):
        probe = Sized(spec, parsed, size({**spec, "model": {"id": "Qwen/Qwen3-8B"}}, defaults).estimate, None)
        return probe.estimate.ok and system.write_machine(draft, probe, heard, text)
    if spec.get("hardware"):
        return _write_machine_of(draft, spec, parsed, heard, text, defaults)
    asked = focus.focuses(text)
    if "network" in asked:
        return cardless.write_network(draft, parsed)
    if spec.get("model") and {"cpu", "ram"} & set(asked):
        return cardless.write_channels(draft, parsed)
    threads = focus.threads(text) or (heard.request.get("other") or {}).get("cpu_cores")
    return bool(threads) and not spec.get("model") and cardless.write_cpu_only(draft, float(threads or 0))


def _is_processor(spec: Spec) -> bool:
    """No card, only a processor."""
    names = [str(entry.get("accelerator") or "") for entry in spec.get("hardware") or ()]
    return bool(names) and all(name.startswith("cpu-") for name in names)


def _names_machine(spec: Spec, heard: Heard, text: str) -> bool:
    """A part of the machine is what is asked about, whatever else the words may mean."""
    if _about_ram(spec, text) or _about_the_machine(spec, text):
        return True
    if spec.get("hardware") and quantity_of(text) == "ram":
        return True
    bare = not spec.get("model") and not _MODELS.search(text)
    return heard.asks("power", "system") and bare and bool(focus.focuses(text))


def _write_machine_of(
    draft: Draft, spec: Spec, parsed: WorkloadSpec, heard: Heard, text: str, defaults: Defaults
) -> bool:
    """Power, RAM or machine of a deployment with its model: whether the model fits is only said where it does not."""
    ram = quantity_of(text) == "ram"
    capped = _asks_of_limit(parsed, heard, text)
    if not (ram or capped) and (heard.intent not in ("power", "system") or heard.asks(*_OTHER_INTENTS)):
        return False
    sized = size(spec, defaults)
    if not sized.estimate.ok or len(heard.specs) != 1 or (ram and is_machine(sized)):
        return False
    probe = Sized(spec, parsed, sized.estimate, sized.resolved)
    if not system.write_machine(draft, probe, heard, text, sized.estimate):
        return False
    if capped:
        _say_beside_limit(draft, sized)
    elif sized.estimate.fits is False:
        draft.say("warning", headline.verdict_headline(sized, draft.words), draft.title("warning"))
    return True


def _say_beside_limit(draft: Draft, sized: Sized) -> None:
    """The verdict on memory stands second where the pace under a limit was asked; what to do is to measure both."""
    draft.asks_back = False
    draft.say("note", headline.verdict_headline(sized, draft.words), draft.title("memory_verdict"))
    limit = sized.parsed.host.power_limit_w if sized.parsed else None
    draft.say("note", draft.words.text("machine", "limit_next", limit=limit), draft.title("next_step"))
    draft.assumptions = assumption_views(sized, draft.words)


def _asks_of_limit(parsed: WorkloadSpec, heard: Heard, text: str) -> bool:
    """What a power limit does to the pace is asked for, by a question of power or of speed."""
    of_pace = heard.intent in ("throughput", "explain", "system") and _SLOWER.search(text) is not None
    return bool(parsed.host.power_limit_w) and "limit" in focus.focuses(text) and (heard.intent == "power" or of_pace)


def _with_services(spec: Spec, text: str) -> Spec:
    """A database, a workflow tool or a proxy named beside the card takes its share of RAM."""
    found = topic_of(text)
    if found is None or found[0] != "services":
        return spec
    return {**spec, "host": {"services_gb": SERVICES_GB, **(spec.get("host") or {})}}


def _about_ram(spec: Spec, text: str) -> bool:
    """ "Are 16 GB of RAM enough for a server with …": RAM is named, a card is, a model is not."""
    return bool((spec.get("host") or {}).get("ram_gb")) and not spec.get("model") and _ASKS_RAM.search(text) is not None


def _about_the_machine(spec: Spec, text: str) -> bool:
    """Heat, supply, circuit or energy of a card named without a model, where no model is asked for."""
    asked = focus.focuses(text)[:1]
    return (
        bool(spec.get("hardware"))
        and not spec.get("model")
        and asked != ()
        and asked[0] in _POWER
        and (asked[0] != "ram" or _ASKS_RAM.search(text) is not None)
        and not _MODELS.search(text)
    )
