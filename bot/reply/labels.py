"""Texts of the Slack surfaces that are no part of an answer: buttons, notes, errors, Home."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources

from bot.answer import Lang


@functools.cache
def labels(lang: Lang) -> Mapping[str, str]:
    """All texts of a language, by key."""
    texts = resources.files("bot.reply.texts")
    found: dict[str, str] = {}
    for part in ("slack", "surfaces"):
        found |= tomllib.loads(texts.joinpath(f"{part}.{lang}.toml").read_text("utf-8"))
    return found


def label(lang: Lang, key: str, **params: object) -> str:
    """One text with its fields filled."""
    return labels(lang)[key].format(**params)
