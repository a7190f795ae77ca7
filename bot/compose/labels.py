"""How a deployment, a price and a margin are written in one cell or one clause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.reply.wording import Wording
from bot.sized import Sized, capacity_gib, fullest


def option_label(sized: Sized, words: Wording, with_model: bool = False, with_engine: bool = False) -> str:
    """`2 × H100 SXM 80 GB, FP8, KV FP8, TP 2`, the engine or the model before it where those differ."""
    figures = sized.figures
    first = [str(figures.get("engine") or "") if with_engine else "", str(figures["model"]) if with_model else ""]
    parts = [*first, sized.hardware, str(figures.get("weights") or "")]
    resolved = sized.resolved
    if resolved is not None and resolved.kv_k.bits_per_element < 16:
        parts.append(f"KV {figures['kv']}")
    apart = resolved is not None and bool(resolved.spec.engine.data_parallel_attention)
    return ", ".join(part for part in [*parts, *_layout(figures, words, apart)] if part)


def _layout(figures: Mapping[str, Any], words: Wording, apart: bool) -> list[str]:
    """How the model is spread; `apart`: only attention is copied, the experts are not."""
    shown = []
    if figures.get("tensor", 1) > 1:
        shown.append(words.text("value", "tensor_parallel", count=figures["tensor"]))
    if figures.get("pipeline", 1) > 1:
        key = "stages" if figures.get("tensor", 1) > 1 else "pipeline_parallel"
        shown.append(words.text("value", key, count=figures["pipeline"]))
    if figures.get("data", 1) > 1:
        shown.append(words.text("value", "attention_apart" if apart else "replicas", count=figures["data"]))
    return shown


def memory_cell(sized: Sized, words: Wording) -> str:
    """`71 of 79 GiB`: what is needed of what may be used, on the fullest device, as in the chart and beside the headroom."""
    figures, device = sized.figures, fullest(sized)
    if "need_gib" not in figures:
        return words.text("ui", "unknown_value")
    if device is None:
        return words.gib(figures["need_gib"])
    shown = words.text("ui", "memory_of", need=words.number(device.total_gib), usable=capacity_gib(device))
    return words.text("ui", "each", text=shown) if len(sized.devices) > 1 else shown


def margin_cell(sized: Sized, words: Wording) -> str:
    """`12.3 GiB`, `-3.1 GiB`, with what is left on the tightest device named as such where there are several."""
    if sized.margin_gib is None:
        return words.text("ui", "unknown_value")
    shown = words.gib(sized.margin_gib)
    if len(sized.devices) > 1:
        shown = words.text("ui", "each", text=shown)
    return f"{shown} ({verdict_cell(sized, words)})" if sized.verdict == "tight" else shown


def speed_cell(sized: Sized, words: Wording) -> str:
    """The range of tokens a second that one user sees."""
    speed = sized.estimate.speed
    if sized.estimate.fits is False:
        return "–"
    if speed is None or speed.decode_tok_s_per_user is None:
        return words.text("ui", "unknown_value")
    return words.span(speed.decode_tok_s_per_user)


def verdict_cell(sized: Sized, words: Wording) -> str:
    if is_short(sized):
        return words.text("ui", "verdict_short")
    return words.text("ui", f"verdict_{sized.verdict or 'unknown'}")


def is_short(sized: Sized) -> bool:
    """Within the uncertainty of the estimate, but on the wrong side of it."""
    return sized.verdict == "tight" and (sized.margin_gib or 0.0) < 0
