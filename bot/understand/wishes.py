"""Where the machine may stand, what shape it may have, and what one card may draw: wishes that narrow a proposal."""

import re
from typing import Any

# Folded text: lower case, umlauts spelt out. A place counts only beside a word that asks for it.
_PLACE = re.compile(
    r"\b(?:in|im|aus|nur|only|within|inside|hosted|innerhalb|standort|region|location)\s(?:der\s|the\s|dem\s|einem\s)?"
    r"(?P<after>eu|ewr|europa|europe|european union|deutschland|germany|oesterreich|austria|schweiz|switzerland|france|frankreich|"
    r"finland|finnland|niederlande\w*|netherlands|schweden|sweden|uk|usa|united states)\b"
    r"|\b(?P<before>eu|europe|germany|deutschland)[- ](?:only|hosting|cloud|region|data ?cent\w+|rechenzentrum|server\w*|provider|anbieter)"
)
_LAW = re.compile(r"\b(?:dsgvo|gdpr)\b")
_NAMES = {"oesterreich": "österreich", "european union": "eu", "ewr": "eu", "united states": "usa"}
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("1u", re.compile(r"\b1 ?(?:u|he)\b")),
    ("single slot", re.compile(r"\b(?:single|one|1|ein)[- ]?slot\b")),
    ("short card", re.compile(r"\b(?:sff|low[- ]profile|mini[- ]?itx|short cards?|kurze karten?)\b")),
    ("laptop", re.compile(r"\b(?:laptop|notebook)s?\b")),
    ("rack", re.compile(r"\b(?:rack(?:[- ]?server)?|[24] ?(?:u|he))\b")),
    ("desktop", re.compile(r"\b(?:desktop|tower|unter (?:dem|den) (?:schreib)?tisch|under (?:the|my|a) desk)\b")),
)
_CARD_WATTS = re.compile(
    r"\b(?:max(?:\.|imal|imum)?|at most|hoechstens|up to|bis(?: zu)?|under|unter|<=?|no more than|nicht mehr als)\s?"
    r"(?P<watts>\d{2,4})\s?w(?:att)?s?\s(?:per|each|a|je|pro)\s?(?:gpu|card|karte|grafikkarte)?\b"
    r"|\b(?:cards?|gpus?|karten?)\s(?:up to|bis|under|unter|max\.?|with at most|mit hoechstens)\s(?P<each>\d{2,4})\s?w(?:att)?s?\b"
)


def read_wishes(folded: str) -> dict[str, Any]:
    """`location`, `form` and `card_power_w` as far as the message asks for them."""
    out: dict[str, Any] = {}
    place = _PLACE.search(folded)
    if place:
        written = place["after"] or place["before"]
        out["location"] = _NAMES.get(written, written)
    elif _LAW.search(folded):
        out["location"] = "eu"
    form = next((name for name, pattern in _FORMS if pattern.search(folded)), None)
    if form:
        out["form"] = form
    watts = _CARD_WATTS.search(folded)
    if watts:
        out["card_power_w"] = float(watts["watts"] or watts["each"])
    return out
