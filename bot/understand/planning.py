"""Questions of planning and operation that need no sum, recognised by the words of `planning.toml`."""

from __future__ import annotations

import functools
import re
import tomllib
from importlib import resources
from typing import Final

CARD: Final = r"(?:gpus?|karten?|cards?|grafikkarten?|accelerators?)"
_FOLD: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def folded_text(text: str) -> str:
    """Lower case, umlauts written out."""
    return text.lower().translate(_FOLD)


def topic_of(text: str) -> tuple[str, str] | None:
    """(text key, note topic) of a question of planning or operation; None where it is none."""
    folded = folded_text(text)
    return next(((key, topic) for key, topic, pattern in _topics() if pattern.search(folded)), None)


@functools.cache
def _topics() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """(text, note, pattern) of every topic, in the order of the file."""
    found = tomllib.loads(resources.files("bot.understand").joinpath("planning.toml").read_text("utf-8"))["topic"]
    return tuple(
        (one["text"], one["note"], re.compile("|".join(one["words"]).replace("{named}", CARD))) for one in found
    )
