"""Chart → PNG: what each option needs on its fullest device, against what the engine may use there."""

from __future__ import annotations

import io
import textwrap
from typing import Any, Final

from bot.answer import Chart, ChartBar, Lang
from bot.reply.wording import wording

PARTS: Final = (
    ("weights_gib", "#2f6db5"), ("kv_cache_gib", "#e08a2e"), ("activations_gib", "#5aa469"), ("overhead_gib", "#8c8c8c"),
)  # fmt: skip
_LIMIT_COLOUR: Final = "#b3261e"
_FREE_COLOUR: Final = "#e3e5e8"
_LABEL_WIDTH: Final = 28
_FONT: Final = 9.5


def png(chart: Chart, lang: Lang, *, titled: bool = True) -> bytes:
    """The chart as a PNG of about 1200 pixels width; untitled where what shows it has the title already.

    Uses Matplotlib's object interface, which keeps no global state: safe in several threads at once.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 1.4 + 0.62 * len(chart.bars)), dpi=160, layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, chart, lang)
    if titled:
        axes.set_title(chart.title, loc="left", fontsize=_FONT + 1)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=_FONT, frameon=False)
    buffer = io.BytesIO()
    canvas: Any = FigureCanvasAgg(figure)
    # Not `savefig`, which lays everything out twice for the same picture.
    canvas.print_png(buffer)
    return buffer.getvalue()


def _draw(axes: object, chart: Chart, lang: Lang) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    words = wording(lang)
    rows = range(len(chart.bars))
    left = [0.0] * len(chart.bars)
    for name, colour in PARTS:
        sizes = [float(getattr(bar, name)) for bar in chart.bars]
        axes.barh(
            rows, sizes, left=left, height=0.55, color=colour, label=words.label("parts", name.removesuffix("_gib"))
        )
        left = [start + size for start, size in zip(left, sizes, strict=True)]
    free = [max(0.0, bar.capacity_gib - total) for bar, total in zip(chart.bars, left, strict=True)]
    axes.barh(rows, free, left=left, height=0.55, color=_FREE_COLOUR, label=words.label("parts", "free"))
    for row, (bar, total) in enumerate(zip(chart.bars, left, strict=True)):
        axes.plot(
            [bar.capacity_gib] * 2,
            [row - 0.4, row + 0.4],
            color=_LIMIT_COLOUR,
            linewidth=2.4,
            label=_once(row, words.label("parts", "capacity")),
        )
        axes.text(
            max(total, bar.capacity_gib),
            row,
            f"  {words.number(total)} / {words.gib(bar.capacity_gib)}",
            va="center",
            fontsize=_FONT,
        )
    axes.set_yticks(list(rows), [textwrap.fill(bar.label, _LABEL_WIDTH) for bar in chart.bars], fontsize=_FONT)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.32 * max(_extent(bar) for bar in chart.bars))
    axes.tick_params(axis="x", labelsize=_FONT)
    axes.spines[["top", "right"]].set_visible(False)


def _once(row: int, label: str) -> str:
    return label if row == 0 else f"_{label}"


def _extent(bar: ChartBar) -> float:
    return max(bar.weights_gib + bar.kv_cache_gib + bar.activations_gib + bar.overhead_gib, bar.capacity_gib)
