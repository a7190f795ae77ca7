"""Whether NVLink is needed or pays: the engine's speeds with it and over PCIe, for both ways of splitting a model."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.compose import headline
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.explain import cite_devices, with_mark
from bot.heard import Heard
from bot.reply import names
from bot.sized import Sized, size, size_parsed
from bot.thread import Spec
from sizing.catalogue.entries import Accelerator
from sizing.defaults import Defaults
from sizing.estimate import Range
from sizing.sensitivity import best_format

_EXAMPLES: Final = ("meta-llama/Llama-3.3-70B-Instruct", "Qwen/Qwen3-32B", "Qwen/Qwen3-14B", "Qwen/Qwen3-8B")
_EXAMPLE_FORMAT: Final = "4bit"
_DOES_WITHOUT: Final = re.compile(
    r"\b(?:ohne|without)\b[^.?!]{0,30}nvlink[^.?!]{0,60}(?:sinnvoll|überhaupt|möglich|useful|worth|possible|make sense|at all)",
    re.IGNORECASE,
)
# A bridge that adds less to the pace of writing is not worth its price and its slots; above the second it clearly is.
_HARDLY: Final = 0.1
_CLEARLY: Final = 0.3


def write(draft: Draft, heard: Heard, defaults: Defaults) -> bool:
    """Fills the draft where a message asks about NVLink for a model on several cards of one kind; False otherwise."""
    spec = heard.specs[0] if len(heard.specs) == 1 else {}
    said = (heard.request.get("other") or {}).get("nvlink")
    without = said is False and _DOES_WITHOUT.search(draft.sources.query) is not None
    if not (said == "asked" or without) or len(spec.get("hardware") or ()) != 1 or spec.get("task") == "training":
        return False
    sized = size(spec, defaults) if spec.get("model") else _example(spec, defaults)
    card = sized.resolved.devices[0].accelerator if sized.resolved and sized.resolved.devices else None
    if not sized.estimate.ok or card is None or len(sized.devices) < 2:
        return False
    _write(draft, sized, card, defaults, without=without)
    if not spec.get("model"):
        draft.lead = f"{draft.lead} {draft.words.text('leads', 'example', model=sized.figures['model'])}".strip()
    return True


def _example(spec: Spec, defaults: Defaults) -> Sized:
    """The first model of everyday sizes that fits on the cards together, where none is named."""
    tried = [size({**spec, "model": {"id": ident}, "weights": _EXAMPLE_FORMAT}, defaults) for ident in _EXAMPLES]
    return next((one for one in tried if one.estimate.fits), tried[-1])


def _write(draft: Draft, sized: Sized, card: Accelerator, defaults: Defaults, *, without: bool) -> None:
    count, words = len(sized.devices), draft.words
    params = {"device": names.device(card.id), "model": sized.figures["model"], "count": count}
    params |= {"weights": sized.figures["weights"], "hardware": sized.hardware, "gen": card.pcie.get("gen") or 4}
    joined = size(_split(sized.spec, tensor=count, nvlink=True), defaults)
    bare = size(_split(sized.spec, tensor=count, nvlink=False), defaults)
    layers = size(_split(sized.spec, pipeline=count), defaults)
    alone = size(_on_one_card(sized), defaults)
    draft.sized, draft.considered, draft.asks_back = [sized], [joined, bare, layers, alone], False
    draft.material.add_data({"count": count, "gen": params["gen"]})
    draft.material.add_names([params["device"], f"PCIe {params['gen']}.0"])
    if without and (rate := _rate(bare)) and bare.estimate.fits:
        draft.headline = words.text("leads", "without", rate=rate, **params)
        lead = _layers(draft, layers)
    elif alone.verdict == "fits":
        draft.headline = words.text("nvlink", "one_card", **params, free=alone.margin_gib)
        lead = _alone(draft, alone, bare, params)
    else:
        draft.headline = _headline(draft, card, params, joined, bare)
        lead = " ".join(part for part in (_layers(draft, layers), _narrower(draft, alone, params, defaults)) if part)
    draft.lead = with_mark(lead, draft.sources.topic("nvlink", lead)) if lead else ""
    draft.say("note", headline.verdict_headline(sized, words), draft.title("memory_verdict"))
    draft.say(
        "note", words.text("machine", "lanes_prefill" if _joinable(card) else "lanes_loading"), draft.title("lanes")
    )
    draft.assumptions = assumption_views(sized, words)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "compare", "launch", "export")


def _split(spec: Spec, tensor: int | None = None, pipeline: int | None = None, nvlink: bool | None = None) -> Spec:
    """The spec with one way of splitting, or with none said."""
    parts = {"tensor": tensor, "pipeline": pipeline}
    kept = {key: value for key, value in spec.items() if key != "parallel"}
    parallel = {"parallel": said} if (said := {name: one for name, one in parts.items() if one}) else {}
    host = {"host": {**(spec.get("host") or {}), "nvlink": nvlink}} if nvlink is not None else {}
    return {**kept, **parallel, **host}


def _on_one_card(sized: Sized) -> Spec:
    """The same model in the same format on a single card."""
    weights = sized.resolved.weights.id if sized.resolved else sized.spec.get("weights")
    return {**_split(sized.spec), "weights": weights, "hardware": [{**sized.spec["hardware"][0], "count": 1}]}


def _joinable(card: Accelerator) -> bool:
    return card.interconnect["type"] == "nvlink"


def _headline(draft: Draft, card: Accelerator, params: dict[str, Any], joined: Sized, bare: Sized) -> str:
    """What NVLink adds to this card, or that it has none to add."""
    words, without, with_it = draft.words, _rate(bare), _rate(joined)
    if not _joinable(card):
        key = "none" if without and bare.estimate.fits else "none_bare"
        return words.text("nvlink", key, **params, without=without)
    if card.form_factor != "pcie-card":
        return words.text("nvlink", "built_in" if with_it else "built_in_bare", **params, with_it=with_it)
    if with_it is None or without is None:
        return words.text("nvlink", "bridge_unknown", **params)
    domain = int(card.interconnect.get("max_domain") or 0)
    if params["count"] > domain:  # the group spans more cards than a bridge joins: its slowest link is PCIe either way
        return words.text("nvlink", "bridge_pairs", **params, domain=domain)
    gain = with_it.expected / without.expected - 1
    draft.material.add(gain, "share")
    key = "bridge_no" if gain < _HARDLY else "bridge_yes" if gain >= _CLEARLY else "bridge_some"
    told = words.text("nvlink", key, **params, gain=gain, with_it=with_it, without=without)
    return " ".join(part for part in (told, _prompts(draft, joined, bare)) if part)


def _rate(one: Sized) -> Range | None:
    return one.estimate.speed.decode_tok_s_per_user if one.estimate.speed else None


def _prompts(draft: Draft, joined: Sized, bare: Sized) -> str:
    """How much faster prompts are read over the bridge."""
    fast = joined.estimate.speed.prefill_tok_s if joined.estimate.speed else None
    slow = bare.estimate.speed.prefill_tok_s if bare.estimate.speed else None
    if fast is None or slow is None:
        return ""
    draft.material.add(fast.expected / slow.expected - 1, "share")
    return draft.words.text("nvlink", "prompts", gain=fast.expected / slow.expected - 1)


def _layers(draft: Draft, layers: Sized) -> str:
    rate = _rate(layers)
    return draft.words.text("nvlink", "layers", rate=rate) if rate else draft.words.text("nvlink", "layers_bare")


def _alone(draft: Draft, alone: Sized, bare: Sized, params: dict[str, Any]) -> str:
    """What one card does by itself, and what sharing the model over PCIe makes of it."""
    one, shared = _rate(alone), _rate(bare)
    return draft.words.text("nvlink", "alone", **params, one=one, shared=shared) if one and shared else ""


def _narrower(draft: Draft, alone: Sized, params: dict[str, Any], defaults: Defaults) -> str:
    """The format in which a single card holds the model: then no link is needed at all."""
    if alone.parsed is None:
        return ""
    found = best_format(alone.parsed, defaults)
    if found is None:
        return ""
    one = size_parsed(alone.parsed.model_copy(update={"weights": found[0]}), defaults, known=found[1])
    if one.verdict != "fits":
        return ""
    draft.considered.append(one)
    return draft.words.text("nvlink", "on_one", **{**params, "weights": one.figures["weights"]}, free=one.margin_gib)
