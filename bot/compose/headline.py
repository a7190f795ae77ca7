"""The first two sentences: the verdict, and what needs what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.reply.wording import Wording
from bot.sized import Sized, is_machine

# Below this, what lies in host memory is the engine's own bookkeeping and no news to anybody.
_TOLD_HOST_GIB = 2.0
_LEAST_GIB = 0.05
_STATES = ("weights", "gradients", "optimizer", "activations")


def verdict_headline(sized: Sized, words: Wording) -> str:
    """Yes, no or barely, and by how much. Stands alone in a notification."""
    figures = sized.figures
    if reason := blocker(sized):
        return _cannot(reason, figures, words)
    each = "_each" if len(sized.devices) > 1 else ""
    if sized.verdict == "no" and _host_is_short(sized):
        return words.text("headline", "no_host", **figures)
    if sized.verdict == "no":
        return words.text("headline", f"no{each}", **figures)
    if sized.verdict == "tight" and _spills(sized):
        return words.text("headline", "spills", **figures)
    if sized.verdict == "tight":
        return words.text("headline", f"tight{_how_tight(sized)}{each}", **figures)
    if sized.verdict == "fits":
        return words.text("headline", f"fits{each}", **figures)
    return words.text("headline", "need", **figures)


def _cannot(reason: Any, figures: Mapping[str, Any], words: Wording) -> str:
    """Why it cannot run like this, where that fits a sentence and memory is not the matter."""
    key = f"cannot_{reason.params.get('blocker')}"
    enough = (figures.get("usable_gib") or 0.0) > (figures.get("need_gib") or 0.0)
    if enough and words.has("headline", key):
        return words.text("headline", key, **{**figures, **reason.params})
    return words.text("headline", "cannot", **figures)


def _spills(sized: Sized) -> bool:
    """The cards hold their share because the rest went to host memory."""
    codes = {warning.code for warning in sized.estimate.warnings}
    return bool(codes & {"ollama_spills_to_ram", "offloaded_to_ram"}) and (sized.margin_gib or 0.0) >= 0


def _how_tight(sized: Sized) -> str:
    """Short of memory on paper; enough on paper with a range that crosses zero; or enough with little to spare."""
    margin = sized.estimate.margin_gib
    if margin is None or margin.expected < 0:
        return "_short"
    return "_range" if margin.low < 0 else ""


def _host_is_short(sized: Sized) -> bool:
    """The cards would do, but not the RAM for what was moved off them."""
    spare = [device.free_gib for device in sized.devices if device.free_gib is not None]
    return bool(spare) and min(spare) >= 0 > (sized.margin_gib or 0.0) and sized.figures["host_gib"] > 0


def lead(sized: Sized, words: Wording) -> str:
    """What needs how much, against what the hardware offers."""
    figures = dict(sized.figures)
    if "need_gib" not in figures:
        return ""
    figures["load"] = load(figures, words)
    if figures.get("usable_gib") is None:
        return words.text("lead", "parts_only", **figures)
    figures["offer"] = words.text("lead", _offer(sized), **figures)
    figures["parts"] = training_parts(figures, words)
    cached = "concurrency" in figures and figures["kv_gib"] > 0  # a pipeline for pictures or an encoder keeps no cache
    key = "parts_training" if figures["task"] == "training" else "parts" if cached else "parts_simple"
    host = words.text("lead", "host", **figures) if figures["host_gib"] >= _TOLD_HOST_GIB else ""
    return " ".join(part for part in (words.text("lead", key, **figures), host) if part)


def _offer(sized: Sized) -> str:
    if len(sized.devices) > 1:
        return "offer_many"
    return "offer_machine" if is_machine(sized) else "offer_one"


def training_parts(figures: dict[str, Any], words: Wording) -> str:
    """The states of a training run that take memory on the devices, largest first."""
    parts = [(figures[f"{name}_gib"], words.label("parts", name)) for name in _STATES]
    shown = [f"{label} {words.gib(size)}" for size, label in sorted(parts, reverse=True) if size >= _LEAST_GIB]
    return ", ".join(shown)


def load(figures: dict[str, Any], words: Wording) -> str:
    """`10 × 32k`, or `32k context` for a single request."""
    if "concurrency" not in figures:
        return ""
    return words.text("lead", "load" if figures["concurrency"] > 1 else "load_one", **figures)


def blocker(sized: Sized) -> Any:
    """The reason why it cannot run at all, or None."""
    return next((reason for reason in sized.estimate.reasons if reason.code == "cannot_run"), None)
