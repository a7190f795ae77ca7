"""How much RAM a model needs that the cards do not hold: the part computed from RAM leads, its pace and the line to start it follow."""

from __future__ import annotations

from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.launching import launch_commands
from bot.compose.quantity import quantity_of
from bot.compose.runnable import from_ram, has_room
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.sized import Sized, is_machine, size
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.engines import LLAMA_FAMILY
from sizing.system.machine import System, system_of

_LOCAL = "llama.cpp"
# More than any host has: how much is needed is what is asked.
_ANY_RAM_GB = 8192.0


def write(draft: Draft, spec: Spec, heard: Heard, text: str, defaults: Defaults) -> bool:
    """Fills the draft where RAM is asked for a model that the named cards do not hold, but cards and RAM do."""
    if quantity_of(text) != "ram" or len(heard.specs) != 1 or not spec.get("model") or not spec.get("hardware"):
        return False
    engine = str((spec.get("engine") or {}).get("name") or _LOCAL)
    asked = size(spec, defaults)
    if engine not in LLAMA_FAMILY or asked.figures["task"] != "inference" or is_machine(asked):
        return False
    spread = size(_with_ram(spec, engine, _ANY_RAM_GB), defaults)
    if (
        (has_room(asked) and not from_ram(asked))
        or not has_room(spread)
        or not from_ram(spread)
        or spread.parsed is None
    ):
        return False
    bare = spread.parsed.model_copy(update={"host": spread.parsed.host.model_copy(update={"ram_gb": None})})
    system = system_of(bare, spread.estimate)
    if system.ram is None:
        return False
    one = size(_with_ram(spec, engine, float(system.ram.proposed_gb)), defaults)
    if not has_room(one):
        return False
    _write(draft, one, system, defaults)
    return True


def _with_ram(spec: Spec, engine: str, ram_gb: float) -> Spec:
    return {
        **spec,
        "engine": {**(spec.get("engine") or {}), "name": engine},
        "host": {**(spec.get("host") or {}), "ram_gb": ram_gb},
    }


def _write(draft: Draft, one: Sized, system: System, defaults: Defaults) -> None:
    words, ram = draft.words, system.ram
    assert ram is not None
    draft.sized, draft.asks_back = [one], False
    draft.material.add_data(system.data())
    draft.material.add_gb(ram.offloaded_gb + ram.services_gb)
    resolved = one.resolved
    experts = resolved is not None and resolved.architecture.moe is not None
    params = {**one.figures, "proposed": ram.proposed_gb, "offloaded": ram.offloaded_gb}
    draft.headline = words.text("ram", "experts" if experts else "layers", **params)
    rate = one.estimate.speed.decode_tok_s_per_user if one.estimate.speed else None
    lead = words.text("ram", "pace" if rate else "parts", rate=rate, **params)
    draft.lead = with_mark(lead, draft.sources.topic("moe_offload", lead))
    draft.say(
        "note",
        words.text(
            "ram",
            "sum",
            services=ram.services_gb,
            files=ram.files_gb,
            reserve=ram.reserve_gb,
            offloaded=ram.offloaded_gb,
            least=ram.offloaded_gb + ram.services_gb,
        ),
        draft.title("ram"),
    )
    draft.say("note", words.text("ram", "channels"), draft.title("cpu"))
    draft.commands = launch_commands(one, words, defaults)
    draft.say("note", words.text("ram", "next"), draft.title("next_step"))
    draft.assumptions = assumption_views(one, words)
    cite_devices([one], draft.sources)
    draft.actions = ("why", "compare", "launch", "export")
