"""Passages beside the question: what there was before, what is out of the running, what a card is kept for."""

import re
from functools import lru_cache

from bot.understand.text import SENTENCE_END, Spans

_PAST = re.compile(
    r"\b(?:before (?:that|this|then)|previously|formerly|back then|until (?:now|recently)|in the past|"
    r"last (?:year|month|quarter|summer|winter|spring|fall)|(?:a|one|two|three|some|several|few) (?:years?|months?|weeks?) ago|"
    r"our (?:old|first|previous) (?:setup|poc|pilot|box|server|machine)|davor|zuvor|vorher|frueher|damals|bisher|bislang|"
    r"letzte[nrs]? (?:jahr|monat|quartal|sommer|winter|herbst|fruehjahr)|vor \w{2,10} (?:jahren?|monaten?|wochen?)|"
    r"unser\w{0,2} (?:alte[rs]?|erste[rs]?|vorige[rs]?) (?:poc|pilot|versuch|server|aufbau|setup|rechner))\b"
)
_WAS = re.compile(
    r"\b(?:had|ran|was|were|used|tried|tested|hosted|started|played|poc|hatten?|liefe?n?|waren?|nutzten|testeten|probiert\w*|"
    r"getestet|genutzt|benutzt|ausprobiert|gefahren|im einsatz|in betrieb)\b"
)
_NOW = re.compile(
    r"\b(?:now|today|currently|new plan|next|instead|jetzt|nun|inzwischen|mittlerweile|heute|aktuell|kuenftig|stattdessen|"
    r"want|wants|plan|planning|wollen|will|moechten?|reicht|reichen)\b|,\s(?:but|aber)\b"
)
_REACH = 200


@lru_cache(maxsize=4)
def past_passages(folded: str) -> Spans:
    """Where a message tells what there was: "before that we had a pilot on a T4"; it ends where it comes to what is."""
    found = []
    for cue in _PAST.finditer(folded):
        stop = SENTENCE_END.search(folded, cue.end(), min(len(folded), cue.end() + _REACH))
        end = stop.start() if stop else min(len(folded), cue.end() + _REACH)
        turn = _NOW.search(folded, cue.end(), end)
        end = turn.start() if turn else end
        if _WAS.search(folded, cue.end(), end):
            found.append((cue.start(), end))
    return Spans(found)


_UP_TO_NEXT = r"(?:(?!\b(?:and|und|or|oder|plus)\b)[^.!?;,\n]){0,40}?"
_DISMISSED_AFTER = re.compile(
    rf"{_UP_TO_NEXT}\b(?:koennen wir (?:uns )?(?:sparen|vergessen|streichen)|kannst du (?:vergessen|streichen)|"
    rf"faellt (?:weg|aus|raus|flach)|"
    r"scheide[nt]+ aus|(?:ist|sind) (?:raus|vom tisch|gestorben|gestrichen|abgehakt)|kommt nicht (?:in frage|infrage)|"
    r"(?:is|are) (?:out|off the table|dead|dropped|ruled out|out of the question)|(?:we|i) (?:can (?:skip|forget)|dropped|ruled out))\b"
)
_DISMISSED_BEFORE = re.compile(
    r"\b(?:forget(?: about)?|vergiss|vergessen wir|skip|dropped|ruled out|ausgeschlossen|abgesehen von|leaving aside)\s"
    r"(?:the |das |den |die |dem )?$"
)
_KEPT_FOR = re.compile(
    rf"{_UP_TO_NEXT}\b(?:for|fuer|zum|beim)\s(?:my |the |mein\w* |die |das |den )?(?:gaming|games?|zocken|spielen|"
    rf"video editing|videoschnitt|"
    r"kids?|kinder|displays?|desktop|monitore?n?|plex|mining|cad\b|blender|rendering|rendern)"
)


def dismissed(left: str, right: str) -> bool:
    """Whether what stands between these words is out of the running: "the 405B is off the table"."""
    return bool(_DISMISSED_AFTER.match(right) or _DISMISSED_BEFORE.search(left))


def kept_for_else(right: str) -> bool:
    """Whether a device is there for something else: "a 3080 that I use for gaming"."""
    return bool(_KEPT_FOR.match(right))
