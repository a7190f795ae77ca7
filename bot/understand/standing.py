"""Of the devices a message names, those it asks about: no yardsticks, other people's machines, corrections or repetitions."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from bot.understand.asides import dismissed, kept_for_else, past_passages
from bot.understand.device_details import DeviceMention
from bot.understand.text import Text, clause
from sizing.catalogue.names import find

_REFERENCE_BEFORE = re.compile(
    r"\b(?:wants?|needs?|requires?|recommends?|empfiehlt|verlangt|guide|readme|the docs?|"
    r"laut \w+|minimum(?: of)?|claims?|reference|referenz|benchmark\w*(?: on| auf)?|"
    r"reviews? of|as much as|so viel wie|costs? (?:as much as )?|kostet|unlike|anders als|"
    r"price of|preis (?:einer|von)|beats|like (?:an?|the)|wie (?:eine?r?|bei)|than (?:an?|my|"
    r"on|the|one)|als (?:eine|auf|meine|mein)|colleague\w*|kollege hat|friend\w*|someone|"
    r"(?:sag\w*|behaupte\w*|antworte\w*|erzaehl\w*),? dass|(?:say|claim|tell (?:them|me|us|everyone)|answer|reply) that|"
    r"had|hatten|hatte|used to (?:have|run)|jemand|others?|otherwise|sonst|ansonsten|statt|"
    r"instead of|rather than|not|kein\w*|no|"
    r"nicht|speed as|schnell wie|vs\.? ~?[\d.,]+ ?s on)\s(?:\w+\s){0,2}$"
)
# "Someone on reddit runs it on 2x 3090": whoever that is, it is not the asker's machine.
_OTHERS = re.compile(
    r"^\W*(?:\w+ ){0,2}?(?:someone|somebody|jemand|an? (?:\w+ )?(?:guy|friend|colleague|dude|user)|ein (?:\w+ )?(?:kollege|freund|"
    r"bekannter|typ|user))\b.*\b(?:runs?|ran|gets?|got|uses?|used|has|claims?|laesst|faehrt|nutzt|hat|betreibt|schafft|"
    r"bekommt|behauptet)\b"
)
_CLAIMED_BY_OTHERS = re.compile(
    r"\b(?:they|the (?:blog|post|article|paper|vendor|author|docs?)|(?:der|das|die) (?:blog\w*|artikel|beitrag|anbieter|"
    r"hersteller|autor))\s"
    r"(?:claims?|claimed|says?|said|reports?|reported|gets?|got|show\w*|state[ds]?|behaupte\w*|schreib\w*|nenn\w*|komm\w* auf)\b"
)
_MINE = re.compile(r"\b(?:my|our|mein\w*|unser\w*|we|wir|i|ich)\b")
_EXCHANGED_BEFORE = re.compile(
    r"\b(?:swap(?:ping)?|trad(?:e|ing)|exchang\w*|tausch\w*|replac\w*|ersetz\w*)\s(?:\w+\s){0,2}$"
)
_ASKS_GAIN = re.compile(
    r"\b(?:gains?|worth|lohnt|bringt|better|besser|faster|schneller|difference|unterschied|improve\w*|upgrade)\b"
)
_REFERENCE_AFTER = re.compile(
    r"\s?(?:\d+ ?gb? )?(?:peaked|maxed|topped|spiked|brauchte|hatte|they say|angeblich|"
    r"in the (?:paper|readme|guide|blog)|laut|beats|schlaegt|minimum\b|is too expensive|"
    r"ist zu teuer|zu teuer|too expensive|bleib\w*|stays? (?:in|where)|stay in|kommt nicht|"
    r"are gone|(?:is|are|ist|sind) (?:already |schon |bereits )?(?:taken|busy|in use|occupied|belegt|"
    r"vergeben|ausgebucht)|(?:in|im) (?:the |dem |der )?(?:old|alten?) (?:box|server|machine|rechner|kiste|maschine)|"
    r"verkauf\w*|sold\b|does it (?:fine|easily)|of (?:a|my) (?:friend|colleague)|(?:vo[nm] |"
    r"(?:ein|mein|unser)e[srm] |einem |meinem |des ){1,2}"
    r"(?:kolleg\w*|freund\w*|bekannten|nachbarn))"
)


# Counts of one card that a message may weigh; a list longer than this is no question.
_MOST_VERSIONS = 24


def standing_devices(text: Text, mentions: Sequence[DeviceMention]) -> list[DeviceMention]:
    """Without yardsticks, other people's machines and repetitions, unless nothing else is named."""
    judged = [m for m in mentions if not _is_reference(text, m)] or list(mentions)
    out: list[DeviceMention] = []
    kin: dict[str, list[int]] = {}
    for mention in _numbered(text, _uncorrected(text, judged)):
        known = kin.setdefault("cpu" if mention.kind == "cpu" else product_of(mention), [])
        twin = next((n for n in known if _same(out[n], mention)), None)
        if twin is None and len(known) < _MOST_VERSIONS:
            known.append(len(out))
            out.append(mention)
        elif twin is None:
            continue
        elif out[twin].count is None and not out[twin].asked:
            out[twin] = replace(out[twin], count=mention.count, memory_gb=out[twin].memory_gb or mention.memory_gb)
    return out


_CORRECTION = re.compile(
    r"[\s,;:.\-]*(?:\(?(?:ah|oh|ach|aeh|oops|ups)\b[\s,]*)?(?:(?:no|nein|nee|noe|nope)\b(?=\s?[,:\-]|\s(?:wait|sorry|it|"
    r"its|make|actually|eher|doch|lieber|halt|wir|i|ich|\d|the|an?|eine?)\b)|sorry|quatsch|wait|scratch that|correction|"
    r"korrektur|i mean|ich meine?|make (?:that|it)|besser gesagt|actually|vielmehr|halt)\b(?:(?!\b(?:and|und|or|oder)\b)"
    r"[^.!?;]){0,24}$"
)


def _uncorrected(text: Text, mentions: Sequence[DeviceMention]) -> list[DeviceMention]:
    """ "1 H100, no wait, 2 H100": of two devices with a correction between them the later."""
    out: list[DeviceMention] = []
    for mention in mentions:
        last = out[-1] if out else None
        gap = text.folded[max(last.end, last.span_end) : mention.start] if last else ""
        if last and last.kind == mention.kind and len(gap) <= 48 and _CORRECTION.match(gap):
            out.pop()
        out.append(mention)
    return out


_NUMBERED = re.compile(r"\b(?:gpu|cuda|device|card|karte|slot)[ :#]?(?P<place>\d{1,2})\W{0,3}(?:\w+ ){0,2}$")


def _numbered(text: Text, mentions: Sequence[DeviceMention]) -> list[DeviceMention]:
    """ "GPU 0: L40S, GPU 1: L40S" is two cards."""
    out: list[DeviceMention] = []
    places: list[str | None] = []
    for mention in mentions:
        found = _NUMBERED.search(text.folded, max(0, mention.start - 28), mention.start)
        place = found.group("place") if found else None
        if place and out and places[-1] and place != places[-1] and product_of(out[-1]) == product_of(mention):
            out[-1] = replace(out[-1], count=(out[-1].count or 1) + 1, span_end=mention.end)
            places[-1] = place
            continue
        out.append(mention)
        places.append(place)
    return out


def _is_reference(text: Text, mention: DeviceMention) -> bool:
    left, right = clause(text.folded, mention.start, max(mention.end, mention.span_end), 48)
    if past_passages(text.folded).hold(mention.start) or dismissed(left, right) or kept_for_else(right):
        return True
    if _CLAIMED_BY_OTHERS.search(clause(text.folded, mention.start, mention.end, 90)[0]):
        return True
    if _OTHERS.search(clause(text.folded, mention.start, mention.end, 90)[0]) and not _MINE.search(left):
        return True
    exchanged = _EXCHANGED_BEFORE.search(left) and not _ASKS_GAIN.search(text.folded)
    return bool(exchanged or _REFERENCE_BEFORE.search(left) or _REFERENCE_AFTER.match(right))


def _same(one: DeviceMention, other: DeviceMention) -> bool:
    """Of two mentions of a product: the same machine, as no two counts or memories of it are stated."""
    if one.kind == "cpu" and other.kind == "cpu":
        return True
    counts = one.count is None or other.count is None or one.count == other.count
    memories = one.memory_gb is None or other.memory_gb is None or one.memory_gb == other.memory_gb
    return counts and memories


def product_of(mention: DeviceMention) -> str:
    return mention.id or _named_product(mention.name)


@lru_cache(maxsize=1024)
def _named_product(name: str) -> str:
    name = re.sub(r" (?:SXM\d?|PCIe|OAM)$", "", name)
    return find(name, "accelerator", False).id or name.lower()
