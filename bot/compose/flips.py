"""What would flip the verdict, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.compose.draft import Draft
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.sensitivity import Flip

_COUNT = re.compile(r"^\d+ × ")
_RESCUE_ORDER = ("context", "concurrency", "kv_cache", "attention", "weights", "devices")
# In a comparison the work stays what it is: what changes the machine or how it is set up goes first.
_KEEPING_ORDER = ("kv_cache", "attention", "weights", "devices", "context", "concurrency")
_NEEDS_WORDS = ("attention",)  # nothing that a follow-up message would say
_MOST = 3
_SPILLS = "ollama"
_ROUNDING_GIB = 1.0  # what an engine that serves more at once may save elsewhere


def flip_text(flips: Sequence[Flip], sized: Sized, words: Wording) -> str:
    """One short sentence for each single change that would turn the verdict."""
    if sized.estimate.fits:
        return " ".join(_limit(flip, sized, words) for flip in _told_limits(flips, sized))
    ordered = sorted(flips, key=lambda flip: _RESCUE_ORDER.index(flip.kind))
    sentences = [_rescue(flip, sized, words) for flip in ordered][:_MOST]
    return " ".join(sentences) if sentences else words.text("flip", "none")


def keeping_text(flips: Sequence[Flip], sized: Sized, words: Wording) -> str:
    """What would make an option do the work as it was asked for, and only then how much less of it fits."""
    ordered = sorted(flips, key=lambda flip: _KEEPING_ORDER.index(flip.kind))
    return " ".join([_rescue(flip, sized, words) for flip in ordered][:_MOST]) or words.text("flip", "none")


def hint_text(flips: Sequence[Flip], sized: Sized, words: Wording, first: str | None = None) -> str:
    """What to write to get the change that would turn a "no", of the kind `first` where there is one; empty where none would, or where it
    fits."""
    sayable = [flip for flip in flips if flip.kind not in _NEEDS_WORDS]
    if sized.estimate.fits or not sayable:
        return ""
    told = min(sayable, key=lambda flip: (flip.kind != first, _RESCUE_ORDER.index(flip.kind)))
    value = names.weight_format(str(told.after)) if told.kind in ("weights", "kv_cache") else told.after
    return words.text("hint", told.kind, value=value)


def add_flips(draft: Draft, flips: Sequence[Flip]) -> None:
    """Makes what flips say known to the guard."""
    draft.flips += [flip.estimate for flip in flips]
    draft.material.add_names(names.weight_format(str(flip.after)) for flip in flips)
    draft.material.add_data([{"before": flip.before, "after": flip.after, "most": most(flip)} for flip in flips])


def _told_limits(flips: Sequence[Flip], sized: Sized) -> list[Flip]:
    """A context that is the model's whole one already is no limit to tell."""
    figures = sized.figures
    whole = figures.get("longest") and figures["context"] >= figures["longest"]
    kept = [flip for flip in flips if not _is_spilled(flip, sized)]
    return [flip for flip in kept if flip.kind == "concurrency" or (flip.kind == "context" and not whole)]


def _is_spilled(flip: Flip, sized: Sized) -> bool:
    """An engine that moves to RAM what the card does not hold always fits, and ever slower: where that ends is no limit of the card."""
    if sized.resolved is None or sized.resolved.engine.name != _SPILLS:
        return False
    now, cache = float(sized.figures.get(flip.kind) or 0.0), float(sized.figures.get("kv_gib") or 0.0)
    free = sum(max(0.0, device.free_gib or 0.0) for device in sized.devices)
    return now > 0 and cache * (most(flip) / now - 1) > free + _ROUNDING_GIB


def _rescue(flip: Flip, sized: Sized, words: Wording) -> str:
    figures = sized.figures
    if flip.kind in ("context", "concurrency"):
        return words.text("flip", flip.kind, value=flip.after, now=figures[flip.kind])
    if flip.kind == "attention":
        return words.text("flip", "attention", value=flip.after)
    if flip.kind == "devices":
        return words.text("flip", "devices", value=_devices(flip, sized), now=sized.hardware)
    now = figures["weights" if flip.kind == "weights" else "kv"]
    return words.text("flip", flip.kind, value=names.weight_format(str(flip.after)), now=now)


def _devices(flip: Flip, sized: Sized) -> str:
    """`4 × RTX 4090`, by the name that the hardware has without its count."""
    bare = _COUNT.sub("", sized.hardware)
    return f"{flip.after} × {bare}"


def _limit(flip: Flip, sized: Sized, words: Wording) -> str:
    """For what fits: the most that still does."""
    limit = most(flip)
    if flip.kind == "context":
        longest = sized.resolved.architecture.max_position_tokens if sized.resolved else None
        if longest and limit >= longest:
            return words.text("flip", "whole_context", value=longest, concurrency=sized.figures["concurrency"])
        return words.text("flip", "largest_context", value=limit, concurrency=sized.figures["concurrency"])
    key = "most_users_one" if limit == 1 else "most_users"
    return words.text("flip", key, value=limit, context=sized.figures["context"])


def most(flip: Flip) -> int:
    """The largest value before the one at which it stops to fit; lengths as people would set them."""
    if flip.kind not in ("context", "concurrency"):
        return 0
    limit = int(str(flip.after)) - 1
    return _rounded_down(limit) if flip.kind == "context" else limit


def _rounded_down(tokens: int) -> int:
    """A length that people would set: 37,412 → 36,864 (36k)."""
    return tokens // 1024 * 1024 if tokens >= 8192 else tokens // 256 * 256 or tokens
