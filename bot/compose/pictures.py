"""Pipelines for pictures and video: the formats in which one runs on a card, and what one needs where no card is named."""

from __future__ import annotations

from typing import Final

from bot.compose.draft import Draft
from bot.compose.runnable import has_room
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.defaults import Defaults

_NARROWER: Final = ("fp8", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "nf4")
_TASKS: Final = frozenset({"image", "video"})
_TOLD: Final = ("fp8", "q4_k_m")
_LESS: Final = 0.95
# Holds any pipeline of the catalogue with all its parts.
_PROBE: Final = [{"memory_gb": 288.0, "count": 1}]


def ways(sized: Sized, defaults: Defaults) -> list[Sized]:
    """The narrower formats in which a pipeline runs on its card, the widest first."""
    tried = (size({**sized.spec, "weights": weights}, defaults) for weights in _NARROWER)
    return [one for one in tried if one.estimate.ok and has_room(one)]


def way_text(one: Sized, draft: Draft) -> str:
    """`in FP8 with its parts taking turns (12.2 GiB at peak)`."""
    name, need = _format(one, draft), peak_gib(one)
    draft.material.add(need * 2**30, "bytes")
    return draft.words.text("work", "way_turns" if in_turns(one) else "way_whole", format=name, need=need)


def narrower_headline(draft: Draft, sized: Sized, one: Sized, model: str, usable_gib: float) -> str:
    """Yes, in another format than the usual: what it then takes, and what it would take in the usual one."""
    params = {"model": model, "hardware": sized.hardware, "usable": usable_gib, "way": way_text(one, draft)}
    return draft.words.text("pictures", "narrower", **params, weights=sized.figures["weights"], need=peak_gib(sized))


def need_headline(draft: Draft, spec: Spec, defaults: Defaults) -> str | None:
    """What a pipeline needs of a card, in its own format and in narrower ones; None for any other work."""
    if spec.get("task") not in _TASKS or not spec.get("model"):
        return None
    own = size({**spec, "hardware": _PROBE}, defaults)
    if not own.estimate.ok or not (own.estimate.work or {}).get("resident_gib"):
        return None
    words = draft.words
    others = (
        [] if spec.get("weights") else [size({**spec, "hardware": _PROBE, "weights": name}, defaults) for name in _TOLD]
    )
    work = own.estimate.work or {}
    shown = [
        _turns_text(one, words, draft)
        for one in _saving([one for one in others if one.estimate.ok], work["offload_gib"])
    ]
    for need in (work["resident_gib"], work["offload_gib"]):
        draft.material.add(need * 2**30, "bytes")
    params = {"model": own.figures["model"], "weights": _format(own, draft), "others": words.listed(shown)}
    draft.material.add_names([params["model"]])
    key = "need" if shown else "need_alone"
    return words.text("pictures", key, **params, turns=work["offload_gib"], whole=work["resident_gib"])


def _saving(others: list[Sized], need_gib: float) -> list[Sized]:
    """Those that take less than the one before: below some width other parts of a pipeline set the peak."""
    kept = []
    for one in others:
        least = (one.estimate.work or {})["offload_gib"]
        if least < _LESS * need_gib:
            kept.append(one)
            need_gib = least
    return kept


def _turns_text(one: Sized, words: Wording, draft: Draft) -> str:
    need = (one.estimate.work or {})["offload_gib"]
    draft.material.add(need * 2**30, "bytes")
    return words.text("pictures", "in_format", format=_format(one, draft), need=need)


def in_turns(sized: Sized) -> bool:
    """Whether the parts lie on the card one after the other."""
    return (sized.estimate.work or {}).get("placement") == "offload"


def peak_gib(sized: Sized) -> float:
    """Most of the card that is in use at a time."""
    return float((sized.estimate.work or {})["offload_gib" if in_turns(sized) else "resident_gib"])


def _format(one: Sized, draft: Draft) -> str:
    name = names.weight_format(str(one.spec.get("weights") or one.figures["weights"]))
    draft.material.add_names([name])
    return name
