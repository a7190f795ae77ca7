"""Tables and the chart: options side by side."""

from __future__ import annotations

from collections.abc import Sequence

from bot.answer import Chart, ChartBar, Table
from bot.compose.labels import margin_cell, memory_cell, option_label, speed_cell, verdict_cell
from bot.compose.prices import common_way, price_cell
from bot.reply.wording import Wording
from bot.sized import Sized, capacity_gib, fullest
from sizing.cost import Way

MOST_ROWS = 4
MOST_BARS = 5


def options_table(
    options: Sequence[Sized], words: Wording, caption: str = "options_caption", labels: Sequence[str] = ()
) -> Table | None:
    """Ranked options with memory, reserve, speed and cost; called by `labels` where given, else as many as one looks at."""
    if not options:
        return None
    shown = labels or [option_label(option, words) for option in options[:MOST_ROWS]]
    columns = [words.text("ui", key) for key in ("col_option", "col_memory", "col_margin", "col_speed", "col_cost")]
    return Table(
        caption=words.text("ui", caption),
        columns=tuple(columns),
        rows=tuple((label, *_row(option, words)[1:]) for option, label in zip(options, shown, strict=False)),
    )


def compare_table(alternatives: Sequence[Sized], words: Wording, labels: Sequence[str] = ()) -> Table:
    """What was compared, in the order it was named; called by `labels` where given."""
    keys = ("col_option", "col_verdict", "col_memory", "col_margin", "col_speed", "col_cost")
    rows = []
    several = len({option.figures["model"] for option in alternatives}) > 1
    way = common_way(option.estimate.cost for option in alternatives)
    shown = labels or [option_label(option, words, with_model=several) for option in alternatives]
    for option, label in zip(alternatives, shown, strict=True):
        _, *rest = _row(option, words, way)
        rows.append((label, verdict_cell(option, words), *rest))
    return Table(
        caption=words.text("ui", "compare_caption"),
        columns=tuple(words.text("ui", key) for key in keys),
        rows=tuple(rows),
    )


def _row(option: Sized, words: Wording, way: Way | None = None) -> tuple[str, ...]:
    return (
        option_label(option, words),
        memory_cell(option, words),
        margin_cell(option, words),
        speed_cell(option, words),
        price_cell(option.estimate.cost or {}, words, way),
    )


def chart(options: Sequence[Sized], words: Wording, labels: Sequence[str] = ()) -> Chart | None:
    """A bar for each option whose hardware is known: what its fullest device holds."""
    shown = labels or [option_label(option, words) for option in options]
    pairs = zip(options[:MOST_BARS], shown, strict=False)
    bars = [bar for bar in (_bar(option, label) for option, label in pairs) if bar is not None]
    if not bars:
        return None
    said = [
        words.text("ui", "chart_alt", label=bar.label, total=_total(bar), capacity=bar.capacity_gib) for bar in bars
    ]
    return Chart(title=words.text("ui", "chart_title"), alt_text="; ".join(said) + ".", bars=tuple(bars))


def _bar(option: Sized, label: str) -> ChartBar | None:
    device = fullest(option)
    if device is None:
        return None
    kv_cache = (device.kv_cache_gib or 0.0) + (device.state_gib or 0.0)
    told = device.weights_gib + kv_cache + device.activations_gib
    return ChartBar(
        label=label,
        weights_gib=device.weights_gib,
        kv_cache_gib=kv_cache,
        activations_gib=device.activations_gib,
        overhead_gib=device.total_gib - told,
        capacity_gib=capacity_gib(device) or 0.0,
    )


def _total(bar: ChartBar) -> float:
    return bar.weights_gib + bar.kv_cache_gib + bar.activations_gib + bar.overhead_gib
