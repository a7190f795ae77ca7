"""What would flip the verdict, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized
from sizing.sensitivity import Flip

_COUNT = re.compile(r"^\d+ × ")
_RESCUE_ORDER = ("context", "concurrency", "kv_cache", "weights", "devices")
_MOST = 3


def flip_text(flips: Sequence[Flip], sized: Sized, words: Wording) -> str:
    """One short sentence for each single change that would turn the verdict."""
    if sized.estimate.fits:
        return " ".join(_limit(flip, sized, words) for flip in _told_limits(flips, sized))
    ordered = sorted(flips, key=lambda flip: _RESCUE_ORDER.index(flip.kind))
    sentences = [_rescue(flip, sized, words) for flip in ordered][:_MOST]
    return " ".join(sentences) if sentences else words.text("flip", "none")


def hint_text(flips: Sequence[Flip], sized: Sized, words: Wording) -> str:
    """What to write to get the first change that would turn a "no"; empty where none would, or where it fits."""
    if sized.estimate.fits or not flips:
        return ""
    first = min(flips, key=lambda flip: _RESCUE_ORDER.index(flip.kind))
    value = names.weight_format(str(first.after)) if first.kind in ("weights", "kv_cache") else first.after
    return words.text("hint", first.kind, value=value)


def _told_limits(flips: Sequence[Flip], sized: Sized) -> list[Flip]:
    """A context that is the model's whole one already is no limit to tell."""
    figures = sized.figures
    whole = figures.get("longest") and figures["context"] >= figures["longest"]
    return [flip for flip in flips if flip.kind == "concurrency" or (flip.kind == "context" and not whole)]


def _rescue(flip: Flip, sized: Sized, words: Wording) -> str:
    figures = sized.figures
    if flip.kind in ("context", "concurrency"):
        return words.text("flip", flip.kind, value=flip.after, now=figures[flip.kind])
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
