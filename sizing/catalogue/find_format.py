"""Look-up of weight formats: "GPTQ-Int4", "Q4_K_M.gguf", "exl2-4.65bpw", "4bit"."""

import re

from sizing.catalogue.load import catalogue
from sizing.catalogue.match import Match, Via
from sizing.catalogue.suggest import suggestions
from sizing.catalogue.tables import NameTable, table
from sizing.catalogue.text import format_key

__all__ = ["find_format"]

_BIT_RATE = re.compile(r"(exl[23])-?(\d+(?:\.\d+)?)(?:-?bpw)?")
_GGUF = re.compile(r"^gguf-|[-.]gguf$")
_REPACKED = re.compile(r"-r\d+(?:-\d+)?$")
_NAMED = re.compile(r"\b(bf16|fp16|fp8|nf4|mxfp4|int8|int4)\b")


def find_format(name: str, suggest: bool) -> Match:
    key = format_key(name)
    names = table("format")
    return (
        _known(name, key, names)
        or _any_bit_rate(name, key)
        or _named_inside(name, key, names)
        or Match(name=name, kind="format", suggestions=suggestions(key, names.keys) if suggest else ())
    )


def _known(name: str, key: str, names: NameTable) -> Match | None:
    repacked = _REPACKED.sub("", key)
    spellings = (key, key.replace("-", "_"), key.replace("-", " "), _GGUF.sub("", key), repacked)
    # "_R4" of ik_llama.cpp is the same size as the plain type, also of an Unsloth mix
    for spelling in (*spellings, _REPACKED.sub("", key.replace("ud-", ""))):
        ident = names.exact.get(spelling) or names.keys.get(format_key(spelling))
        if ident:
            via: Via = "exact" if spelling == key else "key"
            return Match(name=name, kind="format", id=ident, via=via, candidates=names.ambiguous.get(key, ()))
    return None


def _any_bit_rate(name: str, key: str) -> Match | None:
    """EXL2 and EXL3 take any rate: the nearest entry, with the rate as asked."""
    asked = _BIT_RATE.fullmatch(key)
    if not asked:
        return None
    family, rate = asked.group(1), float(asked.group(2))
    rates = {
        entry.id: entry.bits_per_weight
        for entry in catalogue().formats.values()
        if entry.id.startswith(f"{family}-") and entry.bits_per_weight is not None
    }
    nearest = min(rates, key=lambda ident: abs(rates[ident] - rate))
    return Match(name=name, kind="format", id=nearest, via="bit rate", bits_per_weight=rate)


def _named_inside(name: str, key: str, names: NameTable) -> Match | None:
    """ "fp32 master, bf16 compute", "bf16 (dequantized MXFP4)": the first format word that stands in it."""
    word = _NAMED.search(key)
    if not word:
        return None
    ident = names.exact.get(word.group(1))
    return Match(name=name, kind="format", id=ident, via="contains", assumed=(f"read as {word.group(1)}",))
