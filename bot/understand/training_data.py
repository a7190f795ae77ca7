"""How many tokens a training run works through: "10M tokens", "2 Mrd. Tokens", "500k tokens"."""

from __future__ import annotations

import re
from typing import Final

from bot.understand.text import Text

_TRAINS: Final = re.compile(r"\b(?:q?-?lora|qlora|fine-?tun\w*|finetun\w*|train\w*|epoch\w*|sft|dpo|grpo)\b")
_TOKENS: Final = re.compile(
    r"(?P<number>\d[\d.,]{0,14})\s?(?P<unit>k|thousand|tausend|m|mio\.?|million(?:en)?|b|bn|mrd\.?|milliarden?|billion)"
    r"[\s-]?(?:training[\s-]?|trainings-?)?tok(?:en)?s?\b(?!\s?(?:/|per\b|pro\b|a second))"
)
_SCALE: Final = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}
# A figure below this is a length, not a body of text to train on.
_LEAST: Final = 1e5


def dataset_tokens(text: Text) -> float | None:
    """Tokens of the data where a message trains on so many; None otherwise."""
    match = _TOKENS.search(text.folded) if _TRAINS.search(text.folded) else None
    if match is None:
        return None
    unit = match["unit"]
    scale = 1e9 if unit.startswith(("mrd", "milliard")) else _SCALE[unit[0]]
    found = _number(match["number"]) * scale
    return found if found >= _LEAST else None


def _number(written: str) -> float:
    """`1.5` and `1,5` are one and a half, `1,500` and `1.500` are fifteen hundred."""
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", written):
        return float(re.sub(r"[.,]", "", written))
    whole, _, rest = written.rstrip(".,").replace(",", ".").partition(".")
    return float(f"{whole}.{rest.replace('.', '') or 0}")
