"""An engine that does not start for want of memory: what took it, and what changes that on the same cards."""

from __future__ import annotations

from typing import Any, Final

from bot.answer import Table
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.labels import margin_cell, memory_cell, speed_cell
from bot.compose.launching import launch_commands
from bot.compose.runnable import has_room
from bot.explain import cite_devices, with_mark
from bot.reply.wording import Wording
from bot.sized import Sized, size_parsed
from bot.written import literal
from sizing.defaults import Defaults
from sizing.observation import Observation
from sizing.sensitivity import largest_context, usual_formats
from sizing.spec import WorkloadSpec

_FAULTS: Final = frozenset({"no_room_for_cache", "cache_too_small", "out_of_memory"})
# As much of a card as an engine can take where nothing else draws on it.
_FULLEST: Final = 0.97
_MOST_FORMATS: Final = 2
_LEAST_CONTEXT: Final = 2048


def write(draft: Draft, sized: Sized | None, seen: Observation, defaults: Defaults) -> bool:
    """Fills the draft for a start that failed on named cards; False where the log or the message shows something else."""
    if seen.fault not in _FAULTS or sized is None or sized.parsed is None or sized.resolved is None:
        return False
    if sized.figures["task"] != "inference" or not sized.devices:
        return False
    words, params = draft.words, _params(sized, seen)
    draft.intent, draft.sized, draft.asks_back = "explain", [sized], False
    draft.material.add_data({name: value for name, value in params.items() if isinstance(value, (int, float))})
    cause = _cause(sized)
    draft.headline = words.text("start", cause, **params)
    ways = _ways(sized.parsed, sized, defaults)
    if by_log := _as_logged(sized.parsed, seen, defaults):
        ways = [by_log, *(way for way in ways if way[0] != "context")]
        draft.headline = f"{words.text('start', 'by_log', length=literal(str(seen.longest_tokens)))} {draft.headline}"
    told = [words.text("start", f"{cause}_why", **params)]
    if cause == "weights" and all(kind != "share" for kind, _, _ in ways):
        told.append(words.text("start", "share_no"))
    draft.lead = with_mark(" ".join(told), draft.sources.topic("gpu_memory_utilization", told[0]))
    draft.options = [one for _, one, _ in ways]
    draft.table = _table(draft, ways)
    draft.say("note", words.text("start", "next", **params), draft.title("next"))
    if cause == "settings":
        draft.commands = launch_commands(sized, words, defaults)
    elif ways:
        draft.commands = launch_commands(ways[0][1], words, defaults)
    else:
        draft.say("note", words.text("start", "no_way", **params), draft.title("helps"))
    draft.assumptions = assumption_views(sized, words)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "cheaper", "launch", "export")
    return True


def _params(sized: Sized, seen: Observation) -> dict[str, Any]:
    engine = sized.parsed.engine if sized.parsed else None
    said = engine.gpu_memory_utilization if engine else None
    return {**sized.figures, "share": said, "longest": sized.figures.get("longest") or 0, "asked": seen.context_tokens}


def _cause(sized: Sized) -> str:
    """The weights alone are too large, weights and cache together are, or it should fit and the settings differ from what was assumed."""
    figures = sized.figures
    short = figures["need_gib"] > (figures["usable_gib"] or 0.0)
    if sized.estimate.fits is not False and not short:
        return "settings"
    return "weights" if figures["weights_gib"] + figures["rest_gib"] > (figures["usable_gib"] or 0.0) else "together"


def _ways(spec: WorkloadSpec, sized: Sized, defaults: Defaults) -> list[tuple[str, Sized, int | None]]:
    """(kind of change, what comes of it, the longest context then): a larger share, narrower formats, a narrower cache."""
    tried: list[tuple[str, dict[str, Any]]] = []
    resolved = sized.resolved
    server = resolved is not None and resolved.engine.kind == "server"
    if server:
        tried.append(("share", {"engine": spec.engine.model_copy(update={"gpu_memory_utilization": _FULLEST})}))
    now = resolved.weights.bits_per_weight if resolved else None
    narrower = [name for name in usual_formats(spec, defaults) if resolved is None or name != resolved.weights.id]
    tried += [("weights", {"weights": name}) for name in narrower]
    tried += [("context", {})] if sized.estimate.fits is False else []
    tried.append(("kv_cache", {"kv_cache": "fp8" if server else "q8_0"}))
    found: list[tuple[str, Sized, int | None]] = []
    for kind, update in tried:
        if kind == "weights" and sum(one == "weights" for one, _, _ in found) >= _MOST_FORMATS:
            continue
        one = _shortened(spec.model_copy(update=update), defaults)
        bits = one.resolved.weights.bits_per_weight if one and one.resolved else None
        if one and one.parsed and not (kind == "weights" and bits and now and bits >= now):
            found.append((kind, one, largest_context(one.parsed, defaults)))
    return found


def _as_logged(spec: WorkloadSpec, seen: Observation, defaults: Defaults) -> tuple[str, Sized, int | None] | None:
    """The length that the engine itself says would fit: what it measured goes before what is estimated."""
    if not seen.longest_tokens or seen.longest_tokens < _LEAST_CONTEXT:
        return None
    one = _with_context(spec, seen.longest_tokens, defaults)
    return ("context", one, seen.longest_tokens) if one.estimate.fits else None


def _shortened(spec: WorkloadSpec, defaults: Defaults) -> Sized | None:
    """The spec as it is where it fits, else with the longest context that does; None where that is no context to work with."""
    one = size_parsed(spec, defaults)
    if has_room(one) or not one.estimate.ok:
        return one if one.estimate.ok else None
    longest = largest_context(spec, defaults)
    if longest is None or longest < _LEAST_CONTEXT:
        return None
    shorter = _with_context(spec, longest // 1024 * 1024, defaults)
    return shorter if has_room(shorter) else None


def _with_context(spec: WorkloadSpec, tokens: int, defaults: Defaults) -> Sized:
    given = {"context_tokens": tokens, "input_tokens": None, "output_tokens": None, "prior_context_tokens": None}
    return size_parsed(spec.model_copy(update=given), defaults)


def _table(draft: Draft, ways: list[tuple[str, Sized, int | None]]) -> Table | None:
    if not ways:
        return None
    words = draft.words
    columns = [words.text("ui", key) for key in ("col_change", "col_memory", "col_margin", "col_longest", "col_speed")]
    rows = []
    for kind, one, longest in ways:
        draft.material.add_data({"context_tokens": longest, "share": _FULLEST})
        rows.append(
            (
                _change(kind, one, words),
                memory_cell(one, words),
                margin_cell(one, words),
                words.tokens(longest // 1024 * 1024) if longest else "–",
                speed_cell(one, words),
            )
        )
        draft.material.add_data({"longest": longest // 1024 * 1024 if longest else 0})
    return Table(caption=words.text("ui", "same_card_caption"), columns=tuple(columns), rows=tuple(rows))


def _change(kind: str, one: Sized, words: Wording) -> str:
    if kind == "share":
        return literal(f"--gpu-memory-utilization {_FULLEST}")
    if kind == "kv_cache":
        return words.text("start", "change_kv", kv=one.figures["kv"])
    if kind == "context":
        return words.text("start", "change_context", length=str(one.figures["context"]))
    return words.text("start", "change_weights", weights=one.figures["weights"])
