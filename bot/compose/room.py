"""What a pasted monitor leaves free: a model that is to run beside what runs already is sized on the freest card, else on all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from bot.compose import leading
from bot.compose.draft import Draft
from bot.heard import Heard
from bot.sized import size
from bot.thread import Spec
from bot.understand.logs.reader import observe
from sizing.defaults import Defaults
from sizing.observation import Observation, SeenDevice

# A driver's own few MiB on an idle card.
_IDLE_GIB: Final = 0.1


def is_asked(heard: Heard, seen: Observation | None, text: str) -> bool:
    """Whether a table of cards is shown to ask if something fits beside what they hold."""
    if seen is None or seen.sources != ("nvidia-smi",) or leading.asks_why(heard, text):
        return False
    known = all(one.memory_used_gib is not None and one.memory_total_gib for one in seen.devices)
    named = len(heard.specs) == 1 and bool(heard.specs[0].get("model")) and bool(heard.specs[0].get("hardware"))
    return bool(seen.devices) and known and named and heard.asks("fits") and leading.asks_fit(text)


def place(draft: Draft, heard: Heard, text: str, defaults: Defaults) -> Heard:
    """The workload on the cards as they are filled; unchanged where nothing of the kind is asked."""
    seen = observe(text)
    if seen is None or not is_asked(heard, seen, text):
        return heard
    order = sorted(range(len(seen.devices)), key=lambda index: -_free_gib(seen.devices[index]))
    spec = heard.specs[0]
    tried = [_on(spec, [seen.devices[index] for index in order[:count]]) for count in dict.fromkeys((1, len(order)))]
    chosen = next((one for one in tried if size(one, defaults).estimate.fits), tried[0])
    freest = seen.devices[order[0]]
    free = {"free": _free_gib(freest), "total": freest.memory_total_gib or 0.0}
    draft.material.add_data({f"{name}_gib": value for name, value in free.items()} | {"place": order[0]})
    draft.say("note", draft.words.text("room", "freest", place=order[0], **free))
    return replace(heard, specs=(chosen,))


def _free_gib(device: SeenDevice) -> float:
    return (device.memory_total_gib or 0.0) - (device.memory_used_gib or 0.0)


def _on(spec: Spec, devices: list[SeenDevice]) -> Spec:
    """The card named, as often as it is taken, each as full as the fullest of those taken."""
    card: dict[str, Any] = {**spec["hardware"][0], "count": len(devices)}
    used = max(one.memory_used_gib or 0.0 for one in devices)
    return {**spec, "hardware": [card | ({"in_use_gib": round(used, 2)} if used > _IDLE_GIB else {})]}
