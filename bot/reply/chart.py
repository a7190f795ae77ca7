"""Chart → PNG: what each option needs on its fullest device, against what the engine may use there."""

from __future__ import annotations

import io
import textwrap
from typing import Final

from bot.answer import Chart, ChartBar, Lang
from bot.reply.wording import wording

PARTS: Final = (
    ("weights_gib", "#2f6db5"), ("kv_cache_gib", "#e08a2e"), ("activations_gib", "#5aa469"), ("overhead_gib", "#8c8c8c"),
)  # fmt: skip
_LIMIT_COLOUR: Final = "#b3261e"
_LABEL_WIDTH: Final = 26


def png(chart: Chart, lang: Lang) -> bytes:
    """The chart as a PNG of about 1200 pixels width.

    Uses Matplotlib's object interface, which keeps no global state: safe in several threads at once.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 1.5 + 0.62 * len(chart.bars)), dpi=150, layout="constrained")
    _draw(figure.add_subplot(), chart, lang)
    buffer = io.BytesIO()
    figure.set_canvas(FigureCanvasAgg(figure))
    figure.savefig(buffer, format="png")
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
            fontsize=8,
        )
    axes.set_yticks(list(rows), [textwrap.fill(bar.label, _LABEL_WIDTH) for bar in chart.bars], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.22 * max(_extent(bar) for bar in chart.bars))
    axes.set_title(chart.title, loc="left", fontsize=10)
    axes.set_xlabel("GiB", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.45, -0.22 - 0.05 / len(chart.bars)), ncols=5, fontsize=8, frameon=False
    )


def _once(row: int, label: str) -> str:
    return label if row == 0 else f"_{label}"


def _extent(bar: ChartBar) -> float:
    return max(bar.weights_gib + bar.kv_cache_gib + bar.activations_gib + bar.overhead_gib, bar.capacity_gib)
