"""Whether a card can do a number format at all: "does FP8 work on a 3090?", with no model that would have to fit."""

from __future__ import annotations

from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.heard import Heard
from bot.reply import names
from bot.sized import size
from sizing.catalogue.entries import Accelerator, Format
from sizing.compatibility import format_floor
from sizing.defaults import Defaults

# Any model does: only card and format are looked at.
_SMALL = "Qwen/Qwen3-0.6B"


def write(draft: Draft, heard: Heard, defaults: Defaults) -> bool:
    """Fills the draft where the support of a format is asked and the catalogue knows what the card and the format need."""
    spec = heard.specs[0] if len(heard.specs) == 1 else {}
    if not (heard.request.get("other") or {}).get("format_support") or spec.get("model"):
        return False
    resolved = size({**spec, "model": {"id": _SMALL}}, defaults).resolved
    if resolved is None or not resolved.devices:
        return False
    card = resolved.devices[0].accelerator
    verdict = _verdict(card, resolved.weights) if card else None
    if card is None or verdict is None:
        return False
    key, needed = verdict
    device, kind = names.device(card.id), names.weight_format(resolved.weights.id)
    draft.headline = draft.words.text(
        "leads", f"format_{key}", device=device, format=kind, has=card.compute_capability, needed=f"{needed:.1f}"
    )
    draft.material.add_names([device, kind])
    draft.material.add_text(f"{card.compute_capability} {needed:.1f}")
    if key == "stored":
        lead = draft.words.text("leads", "format_unpacked", format=kind)
        draft.lead = with_mark(lead, draft.sources.topic("compatibility", lead))
    draft.asks_back = False
    return True


def _verdict(card: Accelerator, chosen: Format) -> tuple[str, float] | None:
    """How far the card goes and what is needed for the next step; None where either is not known."""
    native, floor = (chosen.hardware or {}).get("min_compute_capability"), format_floor(chosen)
    if card.vendor != "nvidia" or card.compute_capability is None or native is None or floor is None:
        return None
    has = float(card.compute_capability)
    if has >= native:
        return "computed", float(native)
    return ("stored", float(native)) if has >= floor else ("unknown", float(floor))
