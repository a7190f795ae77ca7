"""The reverse question: which models run on given hardware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.answer import Table
from bot.compose.labels import margin_cell, memory_cell, speed_cell
from bot.reply.wording import Wording
from bot.sized import Sized, size, size_parsed
from bot.thread import Spec
from sizing.catalogue.entries import Model
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.reverse import brand_of, classes_of, current_models, generation
from sizing.sensitivity import formats_that_fit

MOST_ROWS: Final = 10
# Any model that can be sized: what is known of hardware by itself does not depend on it.
PROBE: Final = "Qwen/Qwen3-4B"
_SERVER: Final = "vllm"
# Takes less of a card beside weights and cache than servers do, and computes from RAM what the card does not hold.
_LOCAL: Final = "llama.cpp"
_MOST_TRIED: Final = 24
_MOST_FOUND: Final = 20
_MOST_IN_RAM: Final = 2
_MOST_OF_A_BRAND: Final = 3
_TOLD_HOST_GIB: Final = 2.0
_SAME_LEAGUE: Final = 1.5  # times as large at most: a model twice as large is slower, and no replacement
_LEAST_BYTES: Final = 0.5  # of a parameter


def runnable(spec: Spec, defaults: Defaults, coding: bool = False) -> list[Sized]:
    """Current models that run on the spec's hardware, each in the widest usual format that leaves a reserve, the largest first.

    Where RAM is named, mixtures of experts that fit with their experts in RAM come last. Without `coding`, models made for it are left out.
    """
    wanted = [model for model in current_models() if coding or "coding" not in classes_of(model)]
    on_cards = {key: value for key, value in spec.items() if key != "host"} | _without_ram(spec)
    found: list[Sized] = []
    room = _room_gib(spec, defaults)
    near = [model for model in wanted if room is None or model.params_total * _LEAST_BYTES / 2**30 <= room]
    for model in near[: _MOST_TRIED * 2]:
        if len(found) >= _MOST_FOUND:
            break
        one = _best(on_cards, model.id, defaults)
        if one is not None:
            found.append(one)
    return [*found, *_from_ram(spec, wanted, found, defaults)]


def _without_ram(spec: Spec) -> Spec:
    host = {name: value for name, value in (spec.get("host") or {}).items() if name != "ram_gb"}
    return {"host": host} if host else {}


def _room_gib(spec: Spec, defaults: Defaults) -> float | None:
    """Memory of all devices together; None where none of them says."""
    probe = size({**spec, "model": {"id": PROBE}}, defaults)
    known = [device.visible_gib for device in probe.resolved.devices] if probe.resolved else []
    return sum(room for room in known if room is not None) or None


def _best(spec: Spec, model: str, defaults: Defaults) -> Sized | None:
    """The model on the cards alone: with a reserve if any engine and format gives one, else as it just fits."""
    tight: Sized | None = None
    for tried in _with_engines({**spec, "model": {"id": model}}):
        for one in _formats(tried, defaults):
            if one.figures["host_gib"] >= _TOLD_HOST_GIB:
                continue
            if one.verdict == "fits":
                return one
            tight = tight or one
    return tight


def _with_engines(spec: Spec) -> Iterator[Spec]:
    """The engine that was said; else a server for several requests at once, the usual one, and the one that takes least."""
    engine = spec.get("engine") or {}
    if engine.get("name"):
        yield spec
        return
    several = (spec.get("concurrency") or spec.get("users") or 1) > 1
    for name in ((_SERVER,) if several else ()) + (None, _LOCAL):
        yield {**spec, "engine": {**engine, "name": name}} if name else spec


def _formats(spec: Spec, defaults: Defaults) -> Iterator[Sized]:
    sized = size(spec, defaults)
    if sized.parsed is None or not sized.estimate.ok:
        return
    if spec.get("weights"):
        if has_room(sized):
            yield sized
        return
    for name, estimate in formats_that_fit(sized.parsed, defaults):
        yield size_parsed(sized.parsed.model_copy(update={"weights": name}), defaults, known=estimate)


def _from_ram(spec: Spec, wanted: list[Model], found: list[Sized], defaults: Defaults) -> Iterator[Sized]:
    """Mixtures of experts larger than what the cards hold, the fastest format first that reads fluently, else the narrowest."""
    ram_gb = (spec.get("host") or {}).get("ram_gb")
    engine = (spec.get("engine") or {}).get("name")
    if not ram_gb or engine not in (None, _LOCAL):
        return
    known, least = {one.spec["model"]["id"] for one in found}, defaults.min_tokens_s_per_user or 0.0
    larger = [model for model in wanted if model.moe is not None and model.id not in known]
    tried = [
        one for model in larger if _in_ram(model, ram_gb) and (one := _best_from_ram(spec, model, least, defaults))
    ]
    fluent = [one for one in tried if _rate(one) >= least]
    yield from fluent[:_MOST_IN_RAM] or sorted(tried, key=_rate, reverse=True)[:1]


def _in_ram(model: Model, ram_gb: float) -> bool:
    """At four bits, with nothing beside the weights."""
    return model.params_total * _LEAST_BYTES <= ram_gb * 1e9


def _best_from_ram(spec: Spec, model: Model, least_tok_s: float, defaults: Defaults) -> Sized | None:
    tried = {**spec, "model": {"id": model.id}, "engine": {**(spec.get("engine") or {}), "name": _LOCAL}}
    fits = [one for one in _formats(tried, defaults) if has_room(one)]
    best = next((one for one in fits if _rate(one) >= least_tok_s), fits[-1] if fits else None)
    return best if best is not None and from_ram(best) else None


def from_ram(sized: Sized) -> bool:
    """Whether part of the model is computed from RAM."""
    return float(sized.figures.get("host_gib") or 0.0) >= _TOLD_HOST_GIB and bool(sized.devices)


def first_choice(models: list[Sized], defaults: Defaults, coding: bool) -> Sized:
    """The one to try first: made for the task, with a reserve, fast enough, of the newest generation, and then the largest."""

    def rank(one: Sized) -> tuple[int, ...]:
        slow = _rate(one) < (defaults.min_tokens_s_per_user or 0.0)
        return from_ram(one), coding and not codes(one), one.verdict != "fits", slow, generation(_entry(one))

    return min(models, key=lambda one: (rank(one), -float(one.figures["params_b"])))


def shown_rows(models: list[Sized], first: Sized, coding: bool) -> list[Sized]:
    """The rows of the table: what is made for the task, then the largest, few of one family, what needs RAM at the end.

    An older model stands among them only where no newer one of its kind is as large.
    """
    seen: dict[str, int] = {}
    kept: list[Sized] = []
    for one in sorted(models, key=lambda one: (from_ram(one), coding and not codes(one))):
        brand = brand_of(_entry(one)) or ""
        told = one is first or (not _outdone(one, models) and seen.get(brand, 0) < _MOST_OF_A_BRAND)
        if told or from_ram(one):
            seen[brand] = seen.get(brand, 0) + 1
            kept.append(one)
    cards, ram = [one for one in kept if not from_ram(one)], [one for one in kept if from_ram(one)]
    cards = cards[: MOST_ROWS - len(ram)]
    return [*(cards if first in cards or first in ram else [*cards[:-1], first]), *ram]


def _outdone(one: Sized, models: list[Sized]) -> bool:
    """Older than a model of the same use and build that runs here and is as large or somewhat larger."""
    entry = _entry(one)
    others = [_entry(other) for other in models if not from_ram(other)]
    return any(
        generation(other) < generation(entry) and 1.0 <= other.params_total / entry.params_total <= _SAME_LEAGUE
        and bool(other.moe) == bool(entry.moe) and classes_of(other)[0] == classes_of(entry)[0]
        for other in others
    )  # fmt: skip


def _entry(one: Sized) -> Model:
    return catalogue().models[one.spec["model"]["id"]]


def codes(one: Sized) -> bool:
    """Whether the model is made for code."""
    return "coding" in classes_of(_entry(one))


def _rate(one: Sized) -> float:
    speed = one.estimate.speed
    return speed.decode_tok_s_per_user.expected if speed and speed.decode_tok_s_per_user else 0.0


def has_room(sized: Sized) -> bool:
    """It fits, and not only by the upper end of the estimate."""
    return bool(sized.estimate.fits) and (sized.margin_gib or 0.0) >= 0


def runnable_table(models: list[Sized], words: Wording) -> Table:
    """Models that run, with their release, format, memory, headroom and speed; what lies in RAM is told with the memory."""
    keys = ("col_model", "col_released", "col_weights", "col_memory", "col_margin", "col_speed")
    rows = tuple(
        (
            str(one.figures["model"]),
            _released(one, words),
            str(one.figures["weights"]),
            _memory(one, words),
            margin_cell(one, words),
            speed_cell(one, words),
        )
        for one in models[:MOST_ROWS]
    )
    return Table(
        caption=words.text("ui", "models_caption"), columns=tuple(words.text("ui", key) for key in keys), rows=rows
    )


def _released(one: Sized, words: Wording) -> str:
    released = _entry(one).released
    return words.month(released) if released else "–"


def _memory(one: Sized, words: Wording) -> str:
    shown = memory_cell(one, words)
    return words.text("best", "and_ram", memory=shown, ram=one.figures["host_gib"]) if from_ram(one) else shown
