"""Times and rates: which of them is a target, an observation or a claim, and of what."""

import re
from collections.abc import Iterator

from bot.understand.readings import Reading
from bot.understand.roles import Surroundings
from bot.understand.stance import asks_why, stance
from bot.understand.units import Unit

_TTFT_BEFORE = re.compile(
    r"\b(?:ttft|time[- ]to[- ]first[- ]tok\w*|first[- ]tok\w*|erste[nsmr]? (?:token|wort|"
    r"antwort|zeichen)|first (?:word|response|answer|byte)|antwortzeit(?!en? gesamt)|"
    r"reaktionszeit|latenz(?:en)?|latency|response time|wartezeit|prefill|prefill time|"
    r"waiting time|wait|warten|start of (?:the )?answer|bis was kommt|sofort|"
    r"antwort(?:en)? (?:in|innerhalb|nach|soll\w*|muss)|(?:respond|answer|react|"
    r"start)\w* (?:in|within|after)|losgehen|beginnen)\b[^.!?;]{0,28}$"
)
_TTFT_AFTER = re.compile(
    r"\s?(?:[\w]+\s){0,3}?(?:ttft|time[- ]to[- ]first|(?:to|until|till|bis|for|fuer)\s(?:the |"
    r"zum |zur |das |der |den |die )?(?:first|erste[nmrs]?)\b|first[- ]tok\w*|bis (?:was|"
    r"etwas|es|die antwort|zum erst\w*|zur erst\w*)|(?:beginn\w*|starts?|started|losgeh\w*|"
    r"los\b|anfang\w*|da sein|reagier\w*)|latency|latenz|antwortzeit|before (?:it|"
    r"the) (?:starts|first)|reaktionszeit|wartezeit|response time)"
)
# A rate of reading: "prompt speed drops from 1045 to 379 T/s", "380 t/s prompt eval"; a prompt's length beside a rate names none.
_OF_READING_BEFORE = re.compile(
    r"\b(?:prefill\w*|pp\d*|prompt[- ]?(?:speed|process\w*|eval\w*|ingest\w*|throughput|rate|tempo|verarbeitung\w*|geschwindigkeit|"
    r"durchsatz)|(?:lese|einlese)(?:tempo|geschwindigkeit))\b(?![^.!?;]*\b(?:tg\d*|gen\w*|decod\w*|writ\w*|output|ausgabe|schreib\w*)\b)"
    r"[^.!?;]{0,40}$"
)
_OF_READING_AFTER = re.compile(
    r"\s?(?:(?:of|for|in|on|beim|bei|im) )?(?:the |der )?(?:prefill\w*|pp\d*\b|prompt[- ]?(?:process\w*|eval\w*|speed|verarbeitung))"
)
_OF_WRITING_AFTER = re.compile(
    r"\s?(?:(?:of|for|in|on|beim|bei|im) )?(?:the |der )?(?:tg\d*\b|gen\w*|decod\w*|output|ausgabe|schreib\w*)"
)
_END_TO_END = re.compile(
    r"\b(?:end[- ]to[- ]end|e2e|gesamt(?:zeit|dauer|antwort)|whole (?:answer|response)|"
    r"complete (?:answer|response)|komplette antwort|fertig\w*|total time|pro (?:seite|bild|"
    r"dokument|page|anfrage)|per (?:page|image|document|request))\b"
)
_TPOT = re.compile(
    r"\b(?:latency per token|latenz (?:pro|je) token|tpot|itl|inter[- ]token(?:[- ]latency)?|"
    r"time per (?:output )?token|zeit (?:pro|"
    r"je) token|per[- ]token latency|ms/tok\w*|token latency)\b"
)
_TPOT_AFTER = re.compile(r"\s?(?:/|per |pro |je )\s?(?:output[- ]?)?tok|\s?(?:tpot|itl|inter[- ]token)")
_TOTAL = re.compile(
    r"\b(?:aggregat\w*|total\w*|overall|insgesamt|gesamt\w*|zusammen|combined|in summe|summe|"
    r"summiert|system[- ]?(?:durchsatz|throughput)|cluster|throughput (?:of|target)|"
    r"durchsatz (?:von|ziel)|across all|ueber alle|output throughput|server[- ]?durchsatz|"
    r"batch throughput|alle zusammen|for all users)\b"
)
_PER_USER = re.compile(
    r"\b(?:per user|pro nutzer|je nutzer|each|pro kopf|pro (?:user|stream|chat|person|"
    r"anwender|anfrage|request)|per (?:stream|chat|request|person)|pro mann|jede[rnms]?|"
    r"single[- ]stream|je (?:user|stream|chat))\b"
)

_PER_SECOND: dict[Unit, float] = {"milliseconds": 1000, "seconds": 1, "minutes": 1 / 60}


def speed_readings(place: Surroundings, text: str) -> Iterator[Reading]:
    """Times and rates as targets, observations or claims."""
    quantity = place.quantity
    start, end = quantity.span
    if quantity.unit in _PER_SECOND:
        yield from _time(place, text, start, end)
    elif quantity.unit == "token_rate":
        kind = stance(place, text)
        around = place.left[-40:] + " | " + place.right[:40]
        total = _TOTAL.search(around) and not _PER_USER.search(place.right[:24])
        if kind == "wish" or (kind == "open" and not asks_why(text)):
            yield Reading(
                "tokens_s_total" if total else "tokens_s_per_user", quantity.value, start, end, 6.0, "rate wished"
            )
        else:
            measured = "prefill_tok_s" if _is_of_reading(place) else "tok_s"
            yield Reading(
                f"observed_{measured}" if kind != "claimed" else f"claimed_{measured}",
                quantity.value,
                start,
                end,
                6.0,
                "rate " + kind,
            )


def _is_of_reading(place: Surroundings) -> bool:
    if _OF_WRITING_AFTER.match(place.right):
        return False
    return bool(_OF_READING_AFTER.match(place.right) or _OF_READING_BEFORE.search(place.left))


def _time(place: Surroundings, text: str, start: int, end: int) -> Iterator[Reading]:
    quantity = place.quantity
    seconds = quantity.value / _PER_SECOND[quantity.unit]
    kind = stance(place, text)
    if _TPOT.search(place.left[-30:]) or _TPOT_AFTER.match(place.right):
        if kind in ("wish", "open") and seconds > 0:
            yield Reading("tokens_s_per_user", 1.0 / seconds, start, end, 6.4, "time per token")
        return
    if _END_TO_END.search(place.left[-40:] + "|" + place.right[:30]):
        yield Reading("e2e_s", seconds, start, end, 6.2, "end to end")
        return
    if (
        _TTFT_BEFORE.search(place.left)
        or _TTFT_AFTER.match(place.right)
        or (kind == "wish" and quantity.unit != "minutes" and "ttft" in text)
    ):
        wished = kind == "wish" or (kind == "open" and not asks_why(text))
        field = "ttft_s" if wished else "observed_ttft_s" if kind != "claimed" else "claimed_ttft_s"
        yield Reading(field, seconds, start, end, 6.0, "first token " + kind)
        return
    if kind == "observed":
        yield Reading("observed_s", seconds, start, end, 3.0, "time observed")
    elif kind == "claimed":
        yield Reading("claimed_s", seconds, start, end, 3.0, "time claimed")
