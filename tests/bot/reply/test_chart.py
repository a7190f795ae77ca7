"""The picture shows what the answer says: each part as wide as its share, the limit where it is, names and figures within the frame."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image, ImageColor

from bot.answer import Chart, ChartBar, Lang
from bot.reply.chart import PARTS, png

LIMIT, FREE, INK = "#b3261e", "#e3e5e8", "#1f2328"


def _bar(label: str = "RTX 4090", **sizes: float) -> ChartBar:
    parts = {
        "weights_gib": 40.0,
        "kv_cache_gib": 100.0,
        "activations_gib": 10.0,
        "overhead_gib": 5.0,
        "capacity_gib": 20.0,
    }
    return ChartBar(label=label, **(parts | sizes))


def _drawn(*bars: ChartBar, lang: Lang = "en", titled: bool = False) -> Any:
    chart = Chart(title="Memory per device", alt_text="said", bars=bars)
    return Image.open(io.BytesIO(png(chart, lang, titled=titled))).convert("RGB")


def _row_of(picture: Any, colour: str) -> int:
    """The row of the picture that holds most of a colour."""
    wanted = ImageColor.getrgb(colour)
    rows = range(picture.height)
    return max(rows, key=lambda y: sum(picture.getpixel((x, y)) == wanted for x in range(0, picture.width, 4)))


def _widths(picture: Any, y: int) -> dict[str, int]:
    colours = [colour for _, colour in PARTS] + [FREE, LIMIT]
    row = [picture.getpixel((x, y)) for x in range(picture.width)]
    return {colour: row.count(ImageColor.getrgb(colour)) for colour in colours}


@pytest.mark.parametrize("lang", ["de", "en"])
def test_parts_are_as_wide_as_their_shares(lang: Lang) -> None:
    # The limit lies in the free part, which it covers five pixels of.
    picture = _drawn(_bar(capacity_gib=200.0), lang=lang)
    widths = _widths(picture, _row_of(picture, "#e08a2e") + 3)
    pixels_a_gib = widths["#e08a2e"] / 100.0
    for colour, gib in (("#2f6db5", 40.0), ("#5aa469", 10.0), ("#8c8c8c", 5.0), (FREE, 45.0)):
        assert widths[colour] == pytest.approx(gib * pixels_a_gib, abs=4)
    assert widths[LIMIT] == 5


def test_the_limit_stands_where_it_is_exceeded() -> None:
    picture = _drawn(_bar(capacity_gib=20.0))
    y = _row_of(picture, "#e08a2e") + 3
    row = [picture.getpixel((x, y)) for x in range(picture.width)]
    weights, limit = ImageColor.getrgb("#2f6db5"), ImageColor.getrgb(LIMIT)
    start, end = row.index(weights), len(row) - row[::-1].index(weights)
    assert row.index(limit) + 2 == pytest.approx((start + end) / 2, abs=3), "20 GiB are half of the weights"
    assert _widths(picture, y)[FREE] == 0


@pytest.mark.parametrize(
    "bars",
    [
        (_bar("W" * 200), _bar("4 × RTX PRO 6000 Blackwell Max-Q Workstation, INT4 (AWQ), KV FP8, TP 4")),
        (_bar(weights_gib=123_456.7, capacity_gib=9.9), _bar(weights_gib=0.01, capacity_gib=0.0)),
        (
            _bar(
                **dict.fromkeys(("weights_gib", "kv_cache_gib", "activations_gib", "overhead_gib", "capacity_gib"), 0.0)
            ),
        ),
        tuple(_bar(f"option {n}") for n in range(12)),
        (_bar(""),),
    ],
    ids=["long names", "far apart", "nothing", "many", "no name"],
)
@pytest.mark.parametrize("lang", ["de", "en"])
def test_nothing_is_cut_off(bars: tuple[ChartBar, ...], lang: Lang) -> None:
    picture = _drawn(*bars, lang=lang, titled=True)
    assert picture.width == 1216
    edge = [picture.getpixel((x, y)) for x in (0, picture.width - 1) for y in range(picture.height)]
    edge += [picture.getpixel((x, y)) for x in range(picture.width) for y in (0, picture.height - 1)]
    assert set(edge) == {(255, 255, 255)}
