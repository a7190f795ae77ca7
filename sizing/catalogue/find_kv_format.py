"""Look-up of KV-cache formats: "fp8", "fp8_e4m3", "q8_0", "8bit"."""

import re

from sizing.catalogue.match import Match
from sizing.catalogue.suggest import suggestions
from sizing.catalogue.tables import table
from sizing.catalogue.text import plain
from sizing.catalogue.words import kv_key

__all__ = ["find_kv_format"]

_UNSAID = re.compile(r"auto|default|none|unknown")


def find_kv_format(name: str, suggest: bool) -> Match:
    text, key = plain(name), kv_key(name)
    names = table("kv_format")
    candidates = names.ambiguous.get(key, ())
    if text in names.exact and not candidates:
        return Match(name=name, kind="kv_format", id=names.exact[text], via="exact")
    if candidates:
        return Match(name=name, kind="kv_format", id=candidates[0], via="family", candidates=candidates)
    if key in names.keys:
        return Match(name=name, kind="kv_format", id=names.keys[key], via="key")
    if not key or _UNSAID.fullmatch(key):
        return Match(name=name, kind="kv_format", via="unknown")
    return Match(name=name, kind="kv_format", suggestions=suggestions(key, names.keys) if suggest else ())
