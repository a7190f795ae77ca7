"""The reverse question: which models run on given hardware."""

from __future__ import annotations

from typing import Final

from bot.answer import Table
from bot.compose.labels import margin_cell, memory_cell, speed_cell
from bot.reply.wording import Wording
from bot.sized import Sized, size, size_parsed
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.sensitivity import best_format

# What people ask for most, from small to large; one of each family and size class.
SELECTION: Final = (
    "Qwen/Qwen3-4B", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-8B", "google/gemma-3-12b-it", "Qwen/Qwen3-14B",
    "microsoft/phi-4", "openai/gpt-oss-20b", "mistralai/Mistral-Small-3.2-24B-Instruct-2506", "google/gemma-3-27b-it",
    "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-32B", "meta-llama/Llama-3.3-70B-Instruct", "zai-org/GLM-4.5-Air",
    "openai/gpt-oss-120b", "Qwen/Qwen3-235B-A22B", "zai-org/GLM-4.6", "meta-llama/Llama-3.1-405B-Instruct",
    "deepseek-ai/DeepSeek-R1",
)  # fmt: skip
MOST_ROWS = 8
# Takes less of a card beside weights and cache than servers do: the last resort where no engine was said.
_LOCAL: Final = "llama.cpp"


def runnable(spec: Spec, defaults: Defaults) -> list[Sized]:
    """The models of the selection that fit on the spec's hardware, each in the widest usual format, the largest first."""
    return [found for name in reversed(SELECTION) if (found := _best(spec, name, defaults)) is not None]


def _best(spec: Spec, model: str, defaults: Defaults) -> Sized | None:
    sized = size({**spec, "model": {"id": model}}, defaults)
    if sized.parsed is None or not sized.estimate.ok:
        return None
    if spec.get("weights") or has_room(sized):
        return sized if has_room(sized) else None
    best = best_format(sized.parsed, defaults)
    if best is not None:
        return size_parsed(sized.parsed.model_copy(update={"weights": best[0]}), defaults, known=best[1])
    if (spec.get("engine") or {}).get("name"):
        return None
    local = size({**spec, "model": {"id": model}, "engine": {**(spec.get("engine") or {}), "name": _LOCAL}}, defaults)
    return local if local.estimate.ok and has_room(local) else None


def has_room(sized: Sized) -> bool:
    """It fits, and not only by the upper end of the estimate."""
    return bool(sized.estimate.fits) and (sized.margin_gib or 0.0) >= 0


def runnable_table(models: list[Sized], words: Wording) -> Table:
    """Models that run, with format, memory, headroom and speed."""
    keys = ("col_model", "col_weights", "col_memory", "col_margin", "col_speed")
    rows = tuple(
        (
            str(one.figures["model"]),
            str(one.figures["weights"]),
            memory_cell(one, words),
            margin_cell(one, words),
            speed_cell(one, words),
        )
        for one in models[:MOST_ROWS]
    )
    return Table(
        caption=words.text("ui", "models_caption"), columns=tuple(words.text("ui", key) for key in keys), rows=rows
    )
