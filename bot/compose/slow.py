"""A measured speed against the estimate: how far off, the likeliest cause for that engine and card, what to look at and what to change."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.sized import Sized, size
from bot.thread import ThreadState
from sizing.defaults import Defaults
from sizing.diagnose import Compared, Diagnosis, diagnose
from sizing.observation import Observation
from sizing.resolve import Resolved
from sizing.sensitivity import largest_context
from sizing.slow import share_in_ram

_ASKS: Final = re.compile(
    r"\b(?:why|warum|wieso|weshalb|woran|slow\w*|langsam\w*|normal|wrong|falsch|bottleneck|bremst?|erwart\w*|expected|"
    r"what'?s up|issue|problem|crawl\w*|kriecht|only|nur)\b",
    re.IGNORECASE,
)
# A share below this explains nothing that a longer prompt or a warm card would not.
_TOLD_SHARE: Final = 0.05
# Below this, what lies in host memory is the engine's own bookkeeping.
_TOLD_HOST_GIB: Final = 2.0


def write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    """Fills the draft where a message gives the tokens/s it gets and asks about them; False for anything else."""
    rate = ((heard.request.get("other") or {}).get("observed") or {}).get("tok_s")
    last = thread.last_sized
    specs = heard.specs or (last.specs if last else ())
    if not rate or not _ASKS.search(text) or len(specs) != 1 or heard.asks("compare", "cost", "finetune"):
        return False
    sized = size(specs[0], defaults)
    speed, known = sized.estimate.speed, sized.spec.get("model") and sized.spec.get("hardware")
    one = (sized.figures.get("concurrency") or 1) == 1
    if not known or not sized.estimate.fits or not one or speed is None or sized.resolved is None:
        return False
    seen = Observation(sources=("figures",), engine=sized.resolved.engine.name, decode_tok_s=float(rate), concurrency=1)
    found = diagnose(seen, sized.estimate)
    compared = next((one for one in found.compared if one.quantity == "decode_tok_s" and one.expected), None)
    if compared is None or compared.expected is None:
        return False
    _write(draft, sized, sized.resolved, found, compared, defaults)
    return True


def _write(
    draft: Draft, sized: Sized, resolved: Resolved, found: Diagnosis, compared: Compared, defaults: Defaults
) -> None:
    draft.intent, draft.sized, draft.asks_back = "explain", [sized], False
    draft.material.add(compared.observed, "rate")
    params = {**sized.figures, "observed": compared.observed, "rate": compared.expected}
    if compared.judgement == "below":
        _write_slow(draft, sized, resolved, found, params, defaults)
    elif params["host_gib"] >= _TOLD_HOST_GIB:
        draft.headline = draft.words.text("slow", "spilled", **params)
        draft.lead = _with_mark(draft, draft.words.text("slow", "spilled_why", **params))
    else:
        draft.headline = draft.words.text("slow", compared.judgement or "as_expected", **params)
        draft.lead = _with_mark(draft, draft.words.text("slow", "normal_why", **params))
    draft.assumptions = assumption_views(sized, draft.words)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "launch", "loadtest", "export")


def _write_slow(
    draft: Draft, sized: Sized, resolved: Resolved, found: Diagnosis, params: dict[str, Any], defaults: Defaults
) -> None:
    words = draft.words
    params = {**params, "share": params["observed"] / params["rate"].expected}
    draft.material.add(params["share"], "share")
    cause, told = _cause(draft, sized, found, params, defaults)
    draft.headline = words.text("slow", cause, **told)
    room = _room(sized, cause, params, draft, defaults)
    draft.lead = _with_mark(draft, room) if room else ""
    family = resolved.engine.name if words.has("slow", f"measure_{resolved.engine.name}") else "other"
    layers = len(resolved.architecture.layers)
    draft.material.add_data({"layers": layers, "lines": layers + 1})  # llama.cpp counts the output layer too
    draft.say("note", words.text("slow", f"measure_{family}", layers=layers, lines=layers + 1), draft.title("next"))
    helps = f"help_{family}" if cause != "processor" else f"help_processor_{_tool(family)}"
    draft.say("note", words.text("slow", helps, length=str(params["context"])), draft.title("helps"))
    draft.say("note", words.text("slow", "other_causes"), words.text("slow", "otherwise"))


def _tool(family: str) -> str:
    return family if family == "ollama" else "other"


def _cause(
    draft: Draft, sized: Sized, found: Diagnosis, params: dict[str, Any], defaults: Defaults
) -> tuple[str, dict[str, Any]]:
    """(text of the likeliest cause, its figures)."""
    first = found.findings[0]
    if first.code == "does_not_fit_the_card":
        draft.material.add_data(first.params)
        return "does_not_fit", {**params, **first.params}
    in_ram = share_in_ram(sized.parsed, params["observed"], defaults) if sized.parsed else None
    if in_ram is None or in_ram.share < _TOLD_SHARE:
        return "unknown", params
    draft.material.add(in_ram.share, "share")
    draft.material.add_rates(in_ram.processor.model_dump())
    return "processor" if in_ram.whole else "part_in_ram", {
        **params,
        "in_ram": in_ram.share,
        "processor": in_ram.processor,
    }


def _room(sized: Sized, cause: str, params: dict[str, Any], draft: Draft, defaults: Defaults) -> str:
    """That by the estimate nothing needs to lie in RAM, and up to which context that holds."""
    if cause == "does_not_fit" or sized.parsed is None or (sized.margin_gib or 0.0) < 0:
        return ""
    longest = largest_context(sized.parsed, defaults)
    whole = bool(longest and params.get("longest") and longest >= params["longest"])
    draft.material.add_data({"tokens": longest})
    key = "room_whole" if whole or not longest else "room"
    return draft.words.text("slow", key, **{**params, "most": longest})


def _with_mark(draft: Draft, text: str) -> str:
    return with_mark(text, draft.sources.topic("diagnosis", text))
