"""Chart → PNG: what each option needs on its fullest device, against what the engine may use there.

Drawn with Pillow: a plotting library lays such a picture out several times over, which costs more than the answer below it
(0.13 s of processor time against 0.02 s, and 30 MiB in each process that answers). Of Matplotlib only its font is used.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from bot.answer import Chart, ChartBar, Lang
from bot.reply.wording import Wording, wording

PARTS: Final = (
    ("weights_gib", "#2f6db5"), ("kv_cache_gib", "#e08a2e"), ("activations_gib", "#5aa469"), ("overhead_gib", "#8c8c8c"),
)  # fmt: skip
_LIMIT_COLOUR: Final = "#b3261e"
_FREE_COLOUR: Final = "#e3e5e8"
_INK: Final = "#1f2328"
_LABEL_WIDTH: Final = 28
_NAME_WIDTH: Final = 60
_MOST_TICKS: Final = 8
_NUMBERED: Final = re.compile(r"(?<=[A-Z]) (?=\d)")

# Pixels.
_WIDTH: Final = 1216
_MARGIN: Final = 16
_ROW: Final = 99
_BAR: Final = 54
_FONT: Final = 21
_LINE: Final = 26
_SWATCH: Final = 20
_GAP: Final = 12

Font = ImageFont.FreeTypeFont


def png(chart: Chart, lang: Lang, *, titled: bool = True) -> bytes:
    """The chart as a PNG of about 1200 pixels width; untitled where what shows it has the title already."""
    words, font = wording(lang), _font(_FONT)
    title = textwrap.wrap(chart.title, 80) if titled else []
    legend = _legend_rows(words, font)
    top = _MARGIN + len(title) * _LINE + (_GAP if title else 0)
    bottom = top + _ROW * len(chart.bars)
    height = bottom + _LINE + 2 * _GAP + len(legend) * (_LINE + _GAP // 2) + _MARGIN
    image = Image.new("RGB", (_WIDTH, height), "white")
    draw = ImageDraw.Draw(image)
    for n, line in enumerate(title):
        draw.text((_MARGIN, _MARGIN + n * _LINE), line, _INK, _font(_FONT + 2))
    plot = _plot(chart.bars, words, font, top, bottom)
    _draw_axis(draw, plot, words, font)
    for row, bar in enumerate(chart.bars):
        _draw_bar(draw, plot, top + row * _ROW + _ROW // 2, bar, words, font)
    _draw_legend(draw, legend, bottom + _LINE + 2 * _GAP, font)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()


@dataclass(frozen=True)
class _Plot:
    """Where the bars stand, and how many pixels a GiB takes."""

    left: int
    top: int
    bottom: int
    scale: float
    largest_gib: float

    def x(self, gib: float) -> int:
        return self.left + round(gib * self.scale)


def _plot(bars: Sequence[ChartBar], words: Wording, font: Font, top: int, bottom: int) -> _Plot:
    """The names beside the bars and the figures behind them have the room that they need; the bars have the rest."""
    names = max(font.getlength(line) for bar in bars for line in _name(bar))
    left = _MARGIN + math.ceil(names) + _GAP
    room = _WIDTH - left - _MARGIN - 2 * _GAP - math.ceil(max(font.getlength(_figures(bar, words)) for bar in bars))
    largest = max(max(_need(bar), bar.capacity_gib) for bar in bars) or 1.0
    return _Plot(left, top, bottom, max(1, room) / largest, largest)


def _name(bar: ChartBar) -> list[str]:
    """Lines of a name; a number stays with the capitals before it ("TP 2", "RTX 4090")."""
    return textwrap.wrap(_NUMBERED.sub("\u00a0", bar.label[:_NAME_WIDTH]), _LABEL_WIDTH) or ["–"]


def _need(bar: ChartBar) -> float:
    return sum(float(getattr(bar, name)) for name, _ in PARTS)


def _figures(bar: ChartBar, words: Wording) -> str:
    return f"{words.number(_need(bar))} / {words.gib(bar.capacity_gib)}"


def _draw_bar(draw: ImageDraw.ImageDraw, plot: _Plot, middle: int, bar: ChartBar, words: Wording, font: Font) -> None:
    lines = _name(bar)
    for n, line in enumerate(lines):
        y = middle + round((n - (len(lines) - 1) / 2) * _LINE)
        draw.text((plot.left - _GAP, y), line, _INK, font, anchor="rm")
    start, above, below = 0.0, middle - _BAR // 2, middle + _BAR // 2
    for name, colour in PARTS:
        end = start + float(getattr(bar, name))
        _fill(draw, plot, start, end, above, below, colour)
        start = end
    _fill(draw, plot, start, bar.capacity_gib, above, below, _FREE_COLOUR)
    limit = plot.x(bar.capacity_gib)
    draw.rectangle((limit - 2, middle - _ROW * 2 // 5, limit + 2, middle + _ROW * 2 // 5), _LIMIT_COLOUR)
    draw.text((plot.x(max(start, bar.capacity_gib)) + _GAP, middle), _figures(bar, words), _INK, font, anchor="lm")


def _fill(
    draw: ImageDraw.ImageDraw, plot: _Plot, start: float, end: float, above: int, below: int, colour: str
) -> None:  # fmt: skip
    """A part of a bar; one of less than a pixel is left to its neighbours."""
    if plot.x(end) > plot.x(start):
        draw.rectangle((plot.x(start), above, plot.x(end) - 1, below), colour)


def _draw_axis(draw: ImageDraw.ImageDraw, plot: _Plot, words: Wording, font: Font) -> None:
    draw.line((plot.left, plot.top, plot.left, plot.bottom), _INK, 1)
    draw.line((plot.left, plot.bottom, _WIDTH - _MARGIN, plot.bottom), _INK, 1)
    for tick in _ticks(plot.largest_gib):
        x = plot.x(tick)
        draw.line((x, plot.bottom, x, plot.bottom + 6), _INK, 1)
        draw.text((x, plot.bottom + 10), words.number(tick), _INK, font, anchor="mt")
    draw.text((_WIDTH - _MARGIN, plot.bottom + 10), "GiB", _INK, font, anchor="rt")


def _ticks(largest: float) -> list[float]:
    """Zero and round steps of 1, 2 or 5 up to the largest value."""
    power = 10.0 ** math.floor(math.log10(largest / _MOST_TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if largest / (power * factor) <= _MOST_TICKS)
    return [round(step * n, 10) for n in range(math.floor(largest / step) + 1)]


def _legend_rows(words: Wording, font: Font) -> list[list[tuple[str, str, int]]]:
    """Colour, name and width of each entry, in rows that fit."""
    entries = [(words.label("parts", name.removesuffix("_gib")), colour) for name, colour in PARTS]
    entries += [(words.label("parts", "free"), _FREE_COLOUR), (words.label("parts", "capacity"), _LIMIT_COLOUR)]
    rows: list[list[tuple[str, str, int]]] = [[]]
    for text, colour in entries:
        width = _SWATCH + 8 + math.ceil(font.getlength(text)) + 2 * _GAP
        if rows[-1] and sum(each[2] for each in rows[-1]) + width > _WIDTH - 2 * _MARGIN:
            rows.append([])
        rows[-1].append((colour, text, width))
    return rows


def _draw_legend(
    draw: ImageDraw.ImageDraw, rows: Sequence[Sequence[tuple[str, str, int]]], top: int, font: Font
) -> None:  # fmt: skip
    for n, row in enumerate(rows):
        x = (_WIDTH - sum(width for _, _, width in row)) // 2
        middle = top + n * (_LINE + _GAP // 2) + _LINE // 2
        for colour, text, width in row:
            inset = _SWATCH // 2 - 3 if colour == _LIMIT_COLOUR else 0
            box = (x + inset, middle - _SWATCH // 2, x + _SWATCH - inset, middle + _SWATCH // 2)
            draw.rectangle(box, colour)
            draw.text((x + _SWATCH + 8, middle), text, _INK, font, anchor="lm")
            x += width


@functools.cache
def _font(size: int) -> Font:
    """DejaVu Sans, which has every letter that names of models and cards are written in; found without loading Matplotlib."""
    spec = importlib.util.find_spec("matplotlib")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return ImageFont.truetype(Path(places[0]) / "mpl-data/fonts/ttf/DejaVuSans.ttf", size)
