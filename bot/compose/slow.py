"""A measured speed against the estimate: how far off, the likeliest cause for that engine and card, what to look at and what to change."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.sized import Sized, size, size_parsed
from bot.thread import ThreadState
from sizing.defaults import Defaults
from sizing.diagnose import Compared, Diagnosis, diagnose
from sizing.observation import Observation
from sizing.resolve import Resolved
from sizing.sensitivity import best_format, largest_context
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
    seen = _seen(heard)
    last = thread.last_sized
    specs = heard.specs or (last.specs if last else ())
    if seen is None or not _ASKS.search(text) or len(specs) != 1 or heard.asks("compare", "cost", "finetune"):
        return False
    sized = as_run(size(specs[0], defaults), defaults)
    speed, known = sized.estimate.speed, sized.spec.get("model") and sized.spec.get("hardware")
    one = (sized.figures.get("concurrency") or 1) == 1
    if not known or not sized.estimate.fits or not one or speed is None or sized.resolved is None:
        return False
    found = diagnose(seen.model_copy(update={"engine": sized.resolved.engine.name}), sized.estimate)
    compared = next((one for one in found.compared if one.expected), None)
    if compared is None or compared.expected is None:
        return False
    if compared.quantity == "prefill_tok_s":
        _write_reading(draft, sized, compared)
    else:
        _write(draft, sized, sized.resolved, found, compared, defaults)
    draft.assumptions = assumption_views(sized, draft.words)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "launch", "loadtest", "export")
    return True


def _seen(heard: Heard) -> Observation | None:
    """The rate that the message gives for one request: of writing, else of reading prompts."""
    rates = (heard.request.get("other") or {}).get("observed") or {}
    for told, field in (("tok_s", "decode_tok_s"), ("prefill_tok_s", "prefill_tok_s")):
        if rates.get(told):
            return Observation.model_validate({"sources": ("figures",), "concurrency": 1, field: float(rates[told])})
    return None


def _reading_key(compared: Compared) -> str:
    """What is a little under the range is no fault, and not within it either."""
    if compared.judgement == "as_expected" and compared.expected and compared.observed < compared.expected.low:
        return "just_under"
    return compared.judgement or "as_expected"


def _write_reading(draft: Draft, sized: Sized, compared: Compared) -> None:
    """A rate at which prompts are read: bound by compute, and by the link where several cards share each layer."""
    draft.intent, draft.sized, draft.asks_back = "explain", [sized], False
    draft.material.add(compared.observed, "rate")
    params = {**sized.figures, "observed": compared.observed, "rate": compared.expected}
    draft.headline = draft.words.text("slow", f"reading_{_reading_key(compared)}", **params)
    causes = [("reading_why", "prefill"), ("reading_cards", "tensor_parallel")][: min(2, len(sized.devices))]
    told = [(draft.words.text("slow", key), topic) for key, topic in causes]
    draft.lead = " ".join(with_mark(text, draft.sources.topic(topic, text)) for text, topic in told)


def as_run(sized: Sized, defaults: Defaults) -> Sized:
    """What is slow does run: where no format was said and the usual one is too large, the widest that fits, for one request at least."""
    if sized.parsed is None or sized.estimate.fits is not False or sized.spec.get("weights"):
        return sized
    alone = sized.parsed.model_copy(update={"concurrency": 1, "users": None})
    found = best_format(sized.parsed, defaults) or best_format(alone, defaults)
    if found is None:
        return sized
    return size_parsed(sized.parsed.model_copy(update={"weights": found[0]}), defaults)


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
