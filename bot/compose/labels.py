"""How a deployment, a price and a margin are written in one cell or one clause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.reply.wording import Wording
from bot.sized import Sized


def option_label(sized: Sized, words: Wording, with_model: bool = False) -> str:
    """`2 × H100 SXM 80 GB, FP8, KV FP8, TP 2`, the model before it where models differ."""
    figures = sized.figures
    parts = [str(figures["model"]) if with_model else "", sized.hardware, str(figures.get("weights") or "")]
    resolved = sized.resolved
    if resolved is not None and resolved.kv_k.bits_per_element < 16:
        parts.append(f"KV {figures['kv']}")
    return ", ".join(part for part in [*parts, *_layout(figures, words)] if part)


def _layout(figures: Mapping[str, Any], words: Wording) -> list[str]:
    shown = []
    if figures.get("tensor", 1) > 1:
        shown.append(words.text("value", "tensor_parallel", count=figures["tensor"]))
    if figures.get("pipeline", 1) > 1:
        shown.append(words.text("value", "pipeline_parallel", count=figures["pipeline"]))
    if figures.get("data", 1) > 1:
        shown.append(words.text("value", "replicas", count=figures["data"]))
    return shown


def memory_cell(sized: Sized, words: Wording) -> str:
    """`142 / 158 GiB`: what is needed of what may be used, over all devices."""
    figures = sized.figures
    if "need_gib" not in figures:
        return words.text("ui", "unknown_value")
    if not figures.get("usable_gib"):
        return words.gib(figures["need_gib"])
    return words.text("ui", "memory_of", need=words.number(figures["need_gib"]), usable=figures["usable_gib"])


def margin_cell(sized: Sized, words: Wording) -> str:
    """`12.3 GiB`, `-3.1 GiB`, with what is left on the tightest device named as such where there are several."""
    if sized.margin_gib is None:
        return words.text("ui", "unknown_value")
    shown = words.gib(sized.margin_gib)
    if len(sized.devices) > 1:
        shown = words.text("ui", "each", text=shown)
    return f"{shown} ({words.text('ui', 'verdict_tight')})" if sized.verdict == "tight" else shown


def speed_cell(sized: Sized, words: Wording) -> str:
    """The range of tokens a second that one user sees."""
    speed = sized.estimate.speed
    if speed is None or speed.decode_tok_s_per_user is None:
        return words.text("ui", "unknown_value")
    return words.span(speed.decode_tok_s_per_user)


def verdict_cell(sized: Sized, words: Wording) -> str:
    return words.text("ui", f"verdict_{sized.verdict or 'unknown'}")
