"""Values that no workload can have: they are asked about, not repaired and not dropped in silence.

How an engine is started is judged in `bot.understand.refused`; here stand the figures of the workload and the cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bot.understand.device_details import MOST_DEVICES, DeviceMention
from bot.understand.number_words import NUMBER_WORDS
from bot.understand.numbers import Quantity, sign_before
from bot.understand.readings import Reading
from bot.understand.text import Text
from bot.understand.units import Unit

_HEADS: Final = frozenset(("users", "concurrency", "devices"))
_LENGTHS: Final = frozenset(("context_tokens", "input_tokens", "output_tokens"))
# What has to be more than nothing.
_POSITIVE: Final = (
    _HEADS | _LENGTHS
    | {"card_gb", "ram_gb", "memory_gb", "batch_size", "documents", "samples", "epochs", "lora_rank"}
)  # fmt: skip
_MOST: Final = {
    **dict.fromkeys(_HEADS, 1e8), **dict.fromkeys(_LENGTHS, 1e9), "epochs": 1e4, "lora_rank": 1e4, "horizon_years": 50.0,
}  # fmt: skip
_NEVER_NEGATIVE: Final = _POSITIVE | {"hours", "horizon_years"}
# The field of a negative figure that no rule has read: "minus 7 tokens".
_BY_UNIT: Final[dict[Unit, str]] = {
    "tokens": "context_tokens", "people": "users", "requests": "concurrency", "memory": "memory_gb", "documents": "documents",
    "samples": "samples", "epochs": "epochs", "hours": "hours", "years": "horizon_years", "devices": "devices",
}  # fmt: skip


def impossible_figures(text: Text, pairs: Iterable[tuple[Quantity, Reading | None]]) -> Iterator[tuple[str, str]]:
    """(field, words) of figures below nothing, of nobody, of half a person, of more than was ever there."""
    for quantity, reading in pairs:
        field = reading.field if reading else _BY_UNIT.get(quantity.unit, "") if quantity.negative else ""
        value = reading.value if reading else quantity.value
        if isinstance(value, float) and _cannot_be(field, value, quantity.negative):
            sign = sign_before(text.folded, quantity.start) if quantity.negative else 0
            yield field, text.quote(quantity.start - sign, quantity.span[1])


def _cannot_be(field: str, value: float, negative: bool) -> bool:
    if negative and field in _NEVER_NEGATIVE:
        return True
    if value == 0:
        return field in _POSITIVE
    part = field in _HEADS and value < 1e15 and value != int(value)
    return part or value > _MOST.get(field, float("inf"))


# Words that stand before a count of cards, so that "1,5 4090" behind them is no version and no price.
_LEAD = r"(?:on|auf|mit|with|w/|using|via|have|has|got|habe?n?|hat|brauch\w*|need\w*|buy|kauf\w*|plus|und|and|or|oder|of|von|say)"
_SERIES = r"(?:(?:nvidia|geforce|amd|radeon|intel|tesla|rtx|gtx|rx|used|gebrauchte[nr]?|neue[nr]?|new)[ \-]){0,3}"
_COUNT = re.compile(
    rf"(?:^|(?<=[\s,;:(]))(?P<lead>{_LEAD}\s)?(?P<sign>(?<=[ ,;:(])-|minus |negativ\w{{0,2}} )?"
    rf"(?P<n>\d{{1,12}}(?:[.,]\d{{1,6}})?|{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})\s?(?:x|\*)?\s?{_SERIES}$"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}$")
_POWER = re.compile(r"\d{1,9}\^\Z")
_REACH = 48


def impossible_cards(text: Text, devices: Sequence[DeviceMention]) -> Iterator[tuple[str, str]]:
    """No card, a part of one, fewer than none, or more than any hall holds, be it as a power ("10^9 H100")."""
    for device in devices:
        start, end = device.start, max(device.end, device.span_end)
        if device.count is not None and not 1 <= device.count <= MOST_DEVICES:
            yield "devices", text.quote(start, end)
            continue
        power = _POWER.search(text.folded, max(0, start - 20), start)
        if power:
            yield "devices", text.quote(power.start(), end)
            continue
        begin = max(0, device.core_start - _REACH)
        found = _COUNT.search(text.folded[begin : device.core_start])
        if found and _no_count(found):
            yield "devices", text.quote(begin + found.start("sign" if found["sign"] else "n"), end)


def _no_count(found: re.Match[str]) -> bool:
    written = found["n"]
    if found["sign"]:
        return True
    if not found["lead"] or written in NUMBER_WORDS:
        return False
    if _THOUSANDS.match(written):
        return float(re.sub(r"[.,]", "", written)) > MOST_DEVICES
    value = float(written.replace(",", "."))
    return value != int(value) or value > MOST_DEVICES or value == 0
