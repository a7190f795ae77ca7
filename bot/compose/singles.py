"""Answers to a single quantity that needs no verdict: adapters beside a model, a draft's cost, load time, room on disk, the KV cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.compose import headline
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.options import chart
from bot.compose.quantity import quantity_of, rank_in
from bot.explain import cite_devices, kv_formula, with_mark
from bot.heard import Heard
from bot.reply import names
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.devices import expand
from sizing.memory.weights import weights_bytes
from sizing.resolve import native_format, resolve_format, resolve_model
from sizing.spec import parse_spec
from sizing.system.needs import Needs
from sizing.system.storage import load_times, storage_of
from sizing.units import GB

_RANK: Final = 16
_MOST_ADAPTERS: Final = 1000
_SHOWN_FORMATS: Final = ("bf16", "fp8", "q4_k_m")
_TOLD_MEDIA: Final = ("nvme_gen4", "sata_ssd", "10gbe", "1gbe")
# Any card with room will do: what a token caches hangs on the model, the format and the engine alone.
_ANY_CARD: Final = "nvidia-h200-sxm-141gb"
_NARROW: Final = {"vLLM": "fp8", "SGLang": "fp8", "TensorRT-LLM": "fp8"}
_TELLING_SHARE: Final = 0.02
_BEARING_ON_CACHE: Final = ("context_tokens", "concurrency", "kv_cache")
Say = Callable[[Draft, Heard, Defaults], bool]


def write(draft: Draft, heard: Heard, text: str, defaults: Defaults) -> bool:
    """Fills the draft where the message asks for one of these; False for anything else."""
    wanted = quantity_of(text)
    if wanted == "adapters":
        return _adapters(draft, heard, rank_in(text) or _RANK, defaults)
    return wanted in _BY_QUANTITY and _BY_QUANTITY[wanted](draft, heard, defaults)


def _adapters(draft: Draft, heard: Heard, rank: int, defaults: Defaults) -> bool:
    """How many adapters fit beside a model at once: what one takes, and what is free for them."""
    spec = _only(heard)
    if spec is None or not spec.get("model") or not spec.get("hardware") or spec.get("task") == "training":
        return False
    bare = size({**spec, "task": "inference"}, defaults)
    one = size(_with_adapters(bare.spec, rank, 1), defaults)
    if not bare.estimate.fits or one.margin_gib is None or bare.margin_gib is None:
        return False
    each = bare.margin_gib - one.margin_gib
    count = min(_MOST_ADAPTERS, int(bare.margin_gib / each)) if each > 0 else _MOST_ADAPTERS
    words, full = draft.words, size(_with_adapters(bare.spec, rank, max(1, count)), defaults)
    token = bare.figures["kv_token_gib"]
    params = {
        **bare.figures, "count": count, "rank": rank, "each_gib": each, "free": bare.margin_gib,
        "tokens": each * len(bare.devices) / token if token else 0.0,
    }  # fmt: skip
    draft.material.add_data({"count": count, "rank": rank, "each_gib": each, "free_gib": bare.margin_gib})
    draft.material.add(params["tokens"])
    draft.sized, draft.considered = [full], [bare, one]
    key = "adapters_most" if count >= _MOST_ADAPTERS else "adapters" if count else "adapters_none"
    draft.headline = words.text("single", key, **params)
    lead = words.text("single", "adapters_each", **params)
    draft.lead = with_mark(lead, draft.sources.topic("lora", lead))
    draft.chart = chart(
        [bare, full], words, labels=[words.text("single", "without"), words.text("single", "with_adapters", **params)]
    )
    draft.say(
        "note", words.text("single", "adapters_next", count=max(1, min(count, 8)), rank=rank), draft.title("next_step")
    )
    _close(draft, bare)
    return True


def _with_adapters(spec: Spec, rank: int, count: int) -> Spec:
    return {**spec, "beside": [*(spec.get("beside") or ()), {"role": "lora", "rank": rank, "count": count}]}


def _draft_model(draft: Draft, heard: Heard, defaults: Defaults) -> bool:
    """What a draft model adds: its weights and its cache; the larger of two models named is the one that is served."""
    pair = _served_and_draft(heard)
    if pair is None:
        return False
    served, small = pair
    engine = {**(served.get("engine") or {})}
    plain = {**served, "engine": {key: value for key, value in engine.items() if key != "speculative"}}
    with_draft = {
        **served, "engine": {**engine, "speculative": engine.get("speculative") or "draft"},
        "beside": [*(served.get("beside") or ()), {"role": "draft", "model": small["model"], **_weights(small)}],
    }  # fmt: skip
    bare, both = size(plain, defaults), size(with_draft, defaults)
    if not (bare.estimate.ok and both.estimate.ok and bare.devices):
        return False
    words = draft.words
    weights = sum(device.weights_gib for device in both.devices) - bare.figures["weights_gib"]
    cache = both.figures["kv_gib"] - bare.figures["kv_gib"]
    extra = both.figures["need_gib"] - bare.figures["need_gib"]
    small_name = str(size({**served, "model": small["model"]}, defaults).figures["model"])
    params = {
        **both.figures,
        "draft": small_name,
        "extra": extra,
        "draft_weights": weights,
        "draft_cache": max(0.0, cache),
    }
    draft.material.add_names([small_name])
    draft.material.add_data({"extra_gib": extra, "weights_gib": weights, "cache_gib": max(0.0, cache)})
    draft.sized, draft.considered = [both], [bare]
    draft.headline = words.text("single", "draft", **params)
    lead = f"{words.text('single', 'draft_parts', **params)} {headline.verdict_headline(both, words)}"
    draft.lead = with_mark(lead, draft.sources.topic("speculative", lead))
    draft.chart = chart(
        [bare, both], words, labels=[words.text("single", "without"), words.text("single", "with_draft", **params)]
    )
    draft.say("note", words.text("single", "draft_next"), draft.title("next"))
    _close(draft, both)
    return True


def _served_and_draft(heard: Heard) -> tuple[Spec, Spec] | None:
    """(the model served, the draft), the larger first; None unless two models on the same hardware are named."""
    specs = [spec for spec in heard.specs if spec.get("model") and spec.get("hardware")]
    if len(specs) != 2 or specs[0].get("hardware") != specs[1].get("hardware"):
        return None
    first, second = sorted(specs, key=_params, reverse=True)
    return (first, second) if _params(second) else None


def _params(spec: Spec) -> int:
    model, _ = resolve_model(parse_spec({"model": spec["model"]}).model)
    return model.params_total


def _weights(spec: Spec) -> Spec:
    return {"weights": spec["weights"]} if spec.get("weights") else {}


def _load_time(draft: Draft, heard: Heard, defaults: Defaults) -> bool:
    """How long a model takes from the drive to the cards."""
    spec = _only(heard)
    if spec is None or not spec.get("model") or spec.get("task") == "training":
        return False
    needs, weights_id = _stored(spec, defaults)
    times = {one.medium: one for one in load_times(needs.model_file_gb, needs)}
    low, high = storage_of(needs).engine_start_s
    words, told = draft.words, [times[medium] for medium in _TOLD_MEDIA]
    draft.material.add_data([{"seconds": one.seconds, "rate_gb_s": one.gb_s} for one in told])
    draft.material.add_data({"size_gb": needs.model_file_gb, "low_seconds": low, "high_seconds": high})
    params = {
        "model": _model(draft, spec),
        "weights": _format(draft, weights_id),
        "size": needs.model_file_gb,
        "low": low,
        "high": high,
    }
    first, *others = told
    draft.headline = words.text(
        "single", "load", time=first.seconds, medium=words.text("machine", f"medium_{first.medium}"), **params
    )
    shown = [
        words.text("machine", "load_one", medium=words.text("machine", f"medium_{one.medium}"), time=one.seconds)
        for one in others
    ]
    lead = words.text("single", "load_others", media=words.listed(shown), **params)
    draft.lead = with_mark(lead, draft.sources.topic("load_time", lead))
    draft.say("note", words.text("single", "load_next"), draft.title("next"))
    _say_misfit(draft, spec, defaults)
    return True


def _disk(draft: Draft, heard: Heard, defaults: Defaults) -> bool:
    """What a model takes on disk, and what drive to plan."""
    spec = _only(heard)
    if spec is None or not spec.get("model") or spec.get("task") == "training":
        return False
    needs, weights_id = _stored(spec, defaults)
    found, words = storage_of(needs), draft.words
    model, _ = resolve_model(parse_spec({"model": spec["model"]}).model)
    others = {name: weights_bytes(model, resolve_format(name)) / GB for name in _SHOWN_FORMATS}
    for size_gb in (
        needs.model_file_gb,
        found.models_gb,
        found.proposed_gb,
        found.system_gb,
        found.logs_gb,
        *others.values(),
    ):
        draft.material.add_gb(size_gb)
    draft.material.add_data({"versions": 3, "growth": 1.5})
    draft.headline = words.text(
        "single",
        "disk",
        model=_model(draft, spec),
        weights=_format(draft, weights_id),
        size=needs.model_file_gb,
        proposed=found.proposed_gb,
    )
    shown = [
        words.text("single", "disk_format", format=_format(draft, name), size=size_gb)
        for name, size_gb in others.items()
    ]
    lead = words.text(
        "single",
        "disk_parts",
        formats=words.listed(shown),
        versions=3,
        models=found.models_gb,
        system=found.system_gb,
        logs=found.logs_gb,
    )
    draft.lead = with_mark(lead, draft.sources.topic("storage", lead))
    draft.say("note", words.text("single", "disk_next"), draft.title("next_step"))
    return True


def _kv_cache(draft: Draft, heard: Heard, defaults: Defaults) -> bool:
    """What a model caches by the token, the request and altogether, where no hardware is named; and half as wide."""
    spec = _only(heard)
    if spec is None or not spec.get("model") or spec.get("hardware") or spec.get("task") == "training":
        return False
    sized = size({**spec, "hardware": [{"accelerator": _ANY_CARD}]}, defaults)
    if not sized.estimate.ok or not sized.devices or not sized.figures["kv_gib"]:
        return False
    narrow = size({**sized.spec, "kv_cache": _NARROW.get(sized.figures["engine"], "q8_0")}, defaults)
    words, count = draft.words, int(sized.figures["concurrency"])
    each = sized.figures["kv_gib"] / count
    draft.considered = [sized, narrow]
    draft.material.add_data({"each_gib": each})
    draft.headline = words.text(
        "single", "kv", each_gib=each, at_once=words.text("single", "kv_sum", **sized.figures) if count > 1 else "",
        **sized.figures,
    )  # fmt: skip
    told = [kv_formula(sized, words)]
    rest = each - sized.figures["kv_token_gib"] * sized.figures["context"]
    if rest > _TELLING_SHARE * each:
        draft.material.add_data({"rest_gib": rest})
        told.append(words.text("single", "kv_rest", rest_gib=rest))
    if narrow.estimate.ok and 0 < narrow.figures["kv_gib"] < sized.figures["kv_gib"]:
        told.append(words.text("single", "kv_narrow", narrow=narrow.figures["kv"], narrow_gib=narrow.figures["kv_gib"]))
    told = [part for part in told if part]
    told[:1] = [with_mark(part, draft.sources.topic("kv_cache", part)) for part in told[:1]]
    draft.lead = " ".join(told)
    draft.say("note", words.text("single", "kv_next"), draft.title("next_step"))
    draft.assumptions = tuple(view for view in assumption_views(sized, words) if view.field in _BEARING_ON_CACHE)
    return True


_BY_QUANTITY: Final[Mapping[Any, Say]] = {
    "draft": _draft_model, "load_time": _load_time, "disk": _disk, "kv_cache": _kv_cache,
}  # fmt: skip


def _stored(spec: Spec, defaults: Defaults) -> tuple[Needs, str]:
    """One copy of the model as stored, in the format said or usual for its hardware; devices where they are named."""
    parsed = parse_spec(spec)
    model, _ = resolve_model(parsed.model)
    sized = size({**spec, "task": "inference"}, defaults) if spec.get("hardware") else None
    if sized is not None and sized.resolved is not None:
        chosen = sized.resolved.weights
    else:
        chosen = resolve_format(parsed.weights) if parsed.weights else native_format(model)
        chosen = chosen if chosen.bits_per_weight else native_format(model)
    size_gb = weights_bytes(model, chosen) / GB
    devices = expand(parsed.hardware) if parsed.hardware else ()
    return Needs(devices=devices, host=parsed.host, task="inference", model_file_gb=size_gb), chosen.id


def _say_misfit(draft: Draft, spec: Spec, defaults: Defaults) -> None:
    """That it does not fit at all is said beside whatever else was asked."""
    if not spec.get("hardware"):
        return
    sized = size({**spec, "task": "inference"}, defaults)
    draft.sized = [sized]
    if sized.estimate.fits is False:
        draft.say("warning", headline.verdict_headline(sized, draft.words), draft.title("warning"))
    _close(draft, sized, "weights")


def _close(draft: Draft, sized: Sized, *fields: str) -> None:
    """Assumptions (those of some fields where only those bear on the answer), data sheets, buttons."""
    views = assumption_views(sized, draft.words)
    draft.assumptions = tuple(view for view in views if not fields or view.field in fields)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "launch", "export")


def _model(draft: Draft, spec: Spec) -> str:
    model, _ = resolve_model(parse_spec({"model": spec["model"]}).model)
    name = names.model(model.id)
    draft.material.add_names([name])
    return name


def _format(draft: Draft, weights_id: str) -> str:
    name = names.weight_format(weights_id)
    draft.material.add_names([name])
    return name


def _only(heard: Heard) -> Spec | None:
    return heard.specs[0] if len(heard.specs) == 1 else None
