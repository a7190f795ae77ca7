"""The one quantity that a message asks for: the longest context, the most users, adapters, a draft's cost, load time, disk, KV cache."""

from __future__ import annotations

import re
from typing import Final, Literal, cast

from bot.understand.planning import folded_text

Quantity = Literal["context", "requests", "adapters", "draft", "load_time", "disk", "ram", "format", "kv_cache"]

_MOST: Final = r"(?:maximum|max\.?|largest|greatest|hoechste|groesste|maximale?)"
_MANY: Final = rf"(?:how many|wie ?viele?n?|{_MOST} (?:number of|anzahl(?: an)?|zahl(?: der| an)?)?)"
_PEOPLE: Final = (
    r"(?:users?|people|persons?|employees|colleagues|seats|clients?|sessions?|streams|requests?|chats|developers|devs|"
    r"students?|pupils|teachers|studierende\w*|student\w*|schueler\w*|lehrkraefte\w*|"
    r"nutzer\w*|leuten?|benutzer\w*|user|personen|mitarbeiter\w*|kolleg\w*|anfragen|sitzungen|entwickler\w*|plaetze)"
)
_WHICH: Final = r"(?:what|which|how much|welche\w*|wie ?viel)"
_CONCURRENCY: Final = r"(?:concurrency|parallel\w*|nebenlaeufigkeit)"
_DRAFT: Final = r"(?:draft|entwurfs?)[- ]?modell?\w*"
_COSTS: Final = r"(?:cost|kost|extra|more|mehr|need|brauch|memory|speicher|vram|overhead)"
_DISK: Final = r"(?:\bdisks?\b|\bstorage\b|\bssd|\bnvme|festplatte|plattenplatz|plattenspeicher|\bplatte)"
_HOW_LONG: Final = (
    r"(?:max(?:imum|imale?\w*|\.)?|longest|largest|biggest|laengste\w*|groesste\w*|how (?:long|much|large|big|many tokens of)(?: a)?|"
    r"wie (?:lang\w*|viel|gross\w*)|welche\w* (?:maximale\w* )?)"
)
_CONTEXT: Final = r"(?:context|kontext\w*|ctx)\b"
_BETWEEN: Final = (
    r"(?:is|are|will|would|ist|sind|wird|the|its|a|der|den|dem|sein|ein|of|for|fuer|memory|vram|speicher|gb|gib)"
)
_SIZE_OF: Final = (
    r"(?:how (?:much|large|big|many)(?: (?:memory|vram) (?:does|do|will))?|what(?: is|'s)|"
    r"wie ?viele?(?: (?:speicher|vram|grafikspeicher) (?:frisst|braucht|belegt|kostet|nimmt|verschlingt))?|"
    r"wie gross|(?:size|groesse) (?:of|von|des))"
)
_PATTERNS: Final[tuple[tuple[Quantity, re.Pattern[str]], ...]] = tuple(
    (cast("Quantity", name), re.compile(pattern))
    for name, pattern in (
        ("adapters", rf"{_MANY} (?:\S+ ){{0,2}}?(?:lora\S* ?)?(?:adapters?|adaptern?|loras)\b"),
        ("draft", rf"{_DRAFT}.{{0,60}}?{_COSTS}|{_COSTS}.{{0,60}}?{_DRAFT}"),
        (
            "load_time",
            r"how long .{0,40}?\bload|wie lange .{0,60}?\b(?:laden|ladt|laedt|ladevorgang)|\bload(?:ing)? times?\b|\bladezeit"
            r"|\bcold start|kaltstart",
        ),
        ("disk", rf"(?:how (?:much|large|big)|what size|wie ?viel|wie gross|welche) .{{0,30}}?{_DISK}"),
        (
            "context",
            rf"{_HOW_LONG}[ -]?(?:\S+ ){{0,2}}?{_CONTEXT}"
            r"|(?:context|kontext|ctx)[- ]?(?:length|laenge)? .{0,20}?(?:can i|kann ich|is possible|ist moeglich)",
        ),
        (
            "requests",
            rf"{_MANY} (?:\S+ ){{0,3}}?{_PEOPLE}\b|{_MOST} ?{_CONCURRENCY}|{_WHICH} (?:\S+ )?{_CONCURRENCY}"
            rf"|{_CONCURRENCY}[- ]?(?:limit|grenze)",
        ),
        ("format", rf"(?:best\w*|{_MOST}|highest|{_WHICH}) (?:\S+ )?(?:quant\w*|quantisierung\w*)(?!\w)"),
        (
            "kv_cache",
            rf"^(?!.*\b(?:which|what|welche\w*) (?:gpus?|cards?|hardware|machine|(?:grafik)?karten?|rechner)\b)"
            rf"(?:.*?\b(?:{_SIZE_OF} (?:{_BETWEEN} ){{0,4}}kv[- ]?caches?\b|kv[- ]?cache[- ](?:size|groesse)\b))",
        ),
        ("ram", r"(?:how much|wie ?viel) (?:system ?|host ?|cpu ?)?(?:ram|arbeitsspeicher|dram)\b"),
    )
)
_RANK: Final = re.compile(r"\b(?:rank|rang|r) ?[=:]? ?(\d{1,4})\b")


def quantity_of(text: str) -> Quantity | None:
    """The quantity that a message asks for by name; None where it asks for something else."""
    folded = folded_text(text)
    return next((name for name, pattern in _PATTERNS if pattern.search(folded)), None)


def rank_in(text: str) -> int | None:
    """The rank of adapters that a message names."""
    match = _RANK.search(folded_text(text))
    return int(match[1]) if match else None
