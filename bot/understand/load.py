"""How many people and how many requests at once."""

import re

from bot.understand.number_words import NUMBER_WORDS
from bot.understand.readings import Reading
from bot.understand.roles import FILL, Rule, rule
from bot.understand.text import Text

_AT_ONCE = (
    r"(?:at once|(?:at|in|within) the same (?:time|moment|second|minute|instant)|at a time|"
    r"at one time|at any (?:given |one |single )?(?:time|moment|point)|zu jedem zeitpunkt|"
    r"in der ?selben (?:sekunde|minute)|zum selben zeitpunkt|gleichzeitig(?!keit)\w*|"
    r"parallel\w*(?!\s?[:=]?\s?\d{1,4}\s?(?:$|[,;.!?\n)]))|simultan\w*|concurrent\w*|zeitgleich|in parallel|auf einmal|in flight|"
    r"zur selben zeit|"
    r"zur gleichen zeit|simultaneous\w*|to be served together|side by side|"
    r"nebeneinander|together(?!\s?(?:api|ai\b|\.ai|with)))"
)
_AFTER = (
    r"[\s()\-]{0,3}(?:(?!und\b|and\b|or\b|oder\b|vs\b|versus\b|with\b|mit\b|bei\b|for\b|fuer\b|auf\b|"
    r"on\b|models?\b|modellen?\b|gpus?\b|karten?\b|cards?\b|servern?\b|servers\b|services\b|diensten?\b)[a-z']+\s){0,4}?"
) + _AT_ONCE
_SETTING = (
    r"(?<![a-z])(?<!\d\s)(?<!tensor[ _-])(?<!pipeline[ _-])(?<!data[ _-])(?<!expert[ _-])(?<!sequence[ _-])"
    r"(?:concurrency|"
    r"parallelitaet|(?:ollama_)?num[-_ ]?parallel|max[-_ ]?num[-_ ]?seqs|"
    r"max[-_ ]?running[-_ ]?(?:requests|seqs)|max[-_ ]?concurren\w*|"
    r"max[-_ ]?batch(?:[-_ ]size)?|"
    r"max[-_ ]?seqs|-np|--parallel|parallel(?:e|en)?(?: (?:anfragen|requests|sessions|"
    r"nutzer))?|gleichzeitig(?!keit)\w*(?: (?:nutzer|anfragen))?|concurrent(?:ly)?(?: (?:users|"
    r"requests|sessions))?|simultan\w*|"
    r"simultaneous\w*|slots|streams|conc|num[-_]?requests[-_]?in[-_]?flight|in flight)"
)
_BATCH = (
    r"(?<![a-z])(?:(?:micro[- ]?|per[- ]?device[- ]?(?:train[- ]?)?|train[- ]?|effective |"
    r"global )?batch(?:[-_ ]?(?:size|groesse|sizes))?|bs|bsz|mbs|gbs|microbatch)"
)
_NUMBERS_IN_WORDS = "|".join(word for word, number in NUMBER_WORDS.items() if number > 1)
_NOUNS = "requests"
_ANY = "- people requests documents images"

LOAD_RULES: tuple[Rule, ...] = (
    rule("at once", "concurrency", 6.2, _ANY + " devices", right=_AFTER),
    rule(
        "at once later",
        "concurrency",
        4.4,
        "people",
        right=r"(?:(?!\b(?:nutzer|users?|leute|people|requests?|anfragen|chats?|viertel|drittel|haelfte|"
        r"half|third|quarter|fifth|tenth|zehntel|fuenftel)\b|(?<![a-z\d])\d+ (?:\w+ )?(?:at once|"
        r"at the same|gleichzeitig(?!keit)|"
        r"simultan|zugleich|parallel)|\b(?:"
        + _NUMBERS_IN_WORDS
        + r")\s(?:[a-z]+ )?(?:at once|gleichzeitig(?!keit)|simultan|zugleich|"
        r"parallel)|\b(?:never|nie|niemals|at most|hoechstens|max\w*|up to|bis zu|only|"
        r"nur)\b)[^.!?;:%]){0,70}?\b(?:at once|"
        r"at the same (?:time|moment)|gleichzeitig(?!keit)\w*|simultaneously|"
        r"zugleich)\b(?! (?:einen|ein|"
        r"eine|a|an|the|das|die)\b)",
    ),
    rule(
        "share of",
        "users",
        6.6,
        "people",
        left=r"(?:%|prozent|percent|zehnte[rln]?|zehntel|viertel|drittel|haelfte|fuenftel|half|third|"
        r"quarter|fifth|tenth)\s(?:of |der |von |unserer |unsere |meiner |davon |our |the |"
        r"unseren |den |etwa |about |ca\.? |all )*",
    ),
    rule(
        "at once, a verb, so many",
        "concurrency",
        5.3,
        "- people",
        left=r"\b(?:gleichzeitig|parallel|zeitgleich|simultan|zur selben zeit|auf einmal|at once|at the same time|"
        r"concurrently|simultaneously)\s(?:(?!und\b|and\b|mit\b|with\b|auf\b|on\b)[a-z]+\s){1,4}?"
        r"(?:hoechstens|maximal|max\.?|etwa|ca\.?|rund|vielleicht|about|at most|maybe|up to|bis zu|only|nur|so|around|roughly)\s",
        scaled=False,
    ),
    rule("hitting", "concurrency", 5.0, _ANY, right=r"[\s()\-]{0,3}(?:[a-z']+\s){0,2}?hitting\b"),
    rule("setting", "concurrency", 5.8, "- people requests", left=_SETTING + FILL),
    rule("flag", "concurrency", 6.4, "- requests", left=r"(?<![a-z0-9])(?:-np|--?parallel|--num-?slots?)[ =]"),
    rule(
        "setting after a figure",
        "concurrency",
        3.0,
        "-",
        left=r"(?<![a-z])(?:conc|concurrency)\s?[:=]?\s?",
        scaled=False,
    ),
    rule("glued setting", "concurrency", 6.0, "- requests", glued="conc c np par"),
    rule("sequences", "concurrency", 5.9, "-", right=r"\s?(?:seqs|sequences|sequenzen)\b", scaled=False),
    rule("batch", "batch_size", 5.6, "- documents requests samples images", left=_BATCH + FILL),
    rule("glued batch", "batch_size", 6.0, "-", glued="bs batch bsz"),
    rule("x N", "concurrency_x", 3.0, "- requests people", glued="x"),
    rule(
        "scale to",
        "concurrency",
        3.2,
        "-",
        left=r"\b(?:go|scale|handle|get|increase|hoch|rauf|bump) (?:it )?(?:up )?(?:to|auf|bis)\s",
    ),
    rule(
        "observed at once",
        "observed_concurrency",
        7.0,
        _ANY,
        left=r"\b(?:only|nur|just|lediglich)\s(?:about |etwa |~|ca\. )?~?\s?",
        right=r"\s?(?:requests |anfragen |of them )?(?:run|laufen|are running|get|werden)\b",
    ),
    rule(
        "default at once",
        "observed_concurrency",
        7.0,
        _ANY,
        left=r"\b(?:default\w*|standard\w*|voreinstellung\w*)\s(?:is|are|of|ist|sind|von|to|auf)?\s?",
    ),
    rule(
        "interpreted",
        "interpreted",
        7.2,
        _ANY,
        left=r"\b(?:means?|meaning|heisst das|das heisst|bedeutet (?:das|es))\s(?:that |also |i can (?:only )?serve )?"
        r"(?:only |just |nur |about |etwa )?",
    ),
    rule("people", "users", 4.0, "people"),
    rule(
        "people before",
        "users",
        4.6,
        "- people",
        left=r"(?<![a-z])(?:users?|nutzer(?:zahl)?|team(?: of| von| mit| aus)|headcount|anwender|seats|"
        r"for a team of|mitarbeiterzahl|belegschaft)\s?(?:=|:|of|von|size)?\s?(?:about |ca\. |"
        r"etwa |rund |erst |zunaechst |anfangs |initially |first |now |jetzt |heute |today |currently |aktuell )?",
    ),
    rule(
        "we are",
        "users",
        3.9,
        "-",
        left=r"\b(?:wir sind|we are|we're|sind wir|there are|are)\s(?:so |etwa |about |ca\.? |zu |"
        r"only |nur |rund |roughly )?",
    ),
    rule("glued users", "users", 5.0, "-", glued="users user u"),
)

# Nouns that are in flight by nature; the others ("500 requests") may be a total and rank lower.
_FLYING = re.compile(
    r"(?:streams?|slots?|sessions?|sitzung\w*|chats?|conversations?|gespraech\w*|clients?|"
    r"agents?|agenten|calls?|mics?|mikrofon\w*|meetings?|dialog\w*|verbindungen|connections?|"
    r"kanaele|callers?|anrufer\w*|telefonate\w*|interviews?|seqs?|sequen\w*)$"
)
_NOT_NOW = re.compile(r"\s?(?:a\b|/)|[\s,]{0,2}(?:per|pro|am|je|every|each|taeglich|daily)\b")
_AT_ONCE_WORD = re.compile(r"(?:parallel|simultan|simult|gleichzeitig|conc)")


def noun_reading(word: str, right: str, value: float, start: int, end: int) -> Reading | None:
    """ "20 chats", "10 concurrent …": a request noun alone; a rate or a total is neither."""
    if _NOT_NOW.match(right):
        return None
    if _AT_ONCE_WORD.match(word):
        return Reading("concurrency", value, start, end, 6.0, "at once word")
    if _FLYING.match(word):
        return Reading("concurrency", value, start, end, 3.6, "in flight by nature")
    if word.startswith(("request", "req", "anfrag", "quer", "prompt")):
        return Reading("concurrency", value, start, end, 2.0, "requests")
    return None


_SINGLE = re.compile(
    r"\b(?:(?:single|one|1|ein|einzelner?)[ \-]?(?:user|nutzer|stream|session|request|anfrage|"
    r"benutzer|person|sequence|client)\b(?!\s(?:per|pro|je|every|a|each|jede\w*|am|alle)\b)|einzelnutzer|"
    r"einzelplatz|einzelner nutzer|(?:only|"
    r"just|nur) (?:for )?(?:me|myself|ich|fuer mich)\b|"
    r"ich (?:ganz )?allein\w*|fuer mich (?:allein|selbst)\w*|(?:it's |its |ist )?(?:only|just|"
    r"nur) me\b|for myself\b|by myself\b|solo (?:use|user|dev|entwickler|nutzung)|"
    r"alone\b(?= ?(?:$|[.,?!]))|batch(?:[- ]?size)?[ =:]{0,3}(?:1|one|eins)\b(?![\d.]))"
)
_BY_NUMBER = ("zweit", "dritt", "viert", "fuenft", "sechst", "siebt", "acht", "neunt", "zehnt", "elft", "zwoelft")
_OF_US = re.compile(r"\bzu (?P<word>" + "|".join(_BY_NUMBER) + r")\b(?P<once>[^.!?;]{0,24}?(?:" + _AT_ONCE + r"))?")
_WHOLE_SHARE = re.compile(
    r"\b(?:alle|everyone|everybody|all(?: of them| users| people)?)\s(?:\w+\s){0,"
    r"3}?(?:gleichzeitig|at once|at the same time|parallel|simultaneously|zugleich|auf einmal)"
)
_FRACTIONS = {
    "viertel": 0.25,
    "quarter": 0.25,
    "drittel": 1 / 3,
    "third": 1 / 3,
    "haelfte": 0.5,
    "half": 0.5,
    "fuenftel": 0.2,
    "fifth": 0.2,
    "zehntel": 0.1,
    "tenth": 0.1,
    "zehnte": 0.1,
    "zwanzigste": 0.05,
    "fuenfte": 0.2,
    "dritte": 1 / 3,
    "vierte": 0.25,
    "achtel": 0.125,
}
_FRACTION = re.compile(
    r"\b(?:ein|eine|a|one|jede[r]?|every|die|the|hoechstens|at most|up to|bis zu)?\s?(?P<word>"
    + "|".join(_FRACTIONS)
    + r")\b(?=[^.!?;]{0,50}?(?:gleichzeitig|aktiv|active|at once|concurren|simultan|parallel|"
    r"online|at the same time))"
)
_FRACTION_AFTER = re.compile(
    r"\b(?:peak\w*|at once|at the same time|gleichzeitig(?!keit)\w*|concurrent\w*|simultan\w*|parallel\w*|"
    r"active|aktiv\w*|"
    r"spitze\w*|stosszeit\w*)\b[^.!?;\d]{0,26}?\b(?P<word>"
    + "|".join(_FRACTIONS)
    + r")\b(?=\s?(?:of (?:them|those|the|us|all)|davon|von|der|unserer|$|[.,?!]))"
)
_SHARE_AFTER = (
    r"\s?(?:of (?:them|users|those|staff|people)|davon|der \w+|von denen|sind|are|"
    r"is)?[\s,(]{0,2}(?:[\w\-]+\s){0,4}?(?:gleichzeitig(?!keit)\w*|concurren\w*|at once|active|busy|"
    r"aktiv\w*|peak|simultan\w*|parallel\w*|at the same time|online|at a time|zeitgleich|"
    r"in the peak|zur spitze)"
)
_SHARE_BEFORE = (
    r"(?<![a-z])(?:active(?: share)?|aktiv\w*|peak\w*|gleichzeitig\w*|concurren\w*|davon|"
    r"of (?:them|whom)|gleichzeitigkeit\w*|simultan\w*|spitze\w*|maximum)\W{0,3}(?:sinds |are |sind |es |"
    r"erfahrungsgemaess |typischerweise |typically |usually |meist |ungefaehr |roughly |around |"
    r"ist |is |maybe |vielleicht |about |ca\. |etwa |max\.? |hoechstens |at |von |of |nur |"
    r"only )*"
)

ONE_IN_AFTER = re.compile(
    r"(?:[^.!?;]{0,40}?)\b(?:gleichzeitig(?!keit)\w*|concurren\w*|at once|active|aktiv\w*|simultan\w*|parallel\w*|"
    r"at the same time|online|at a time|zeitgleich)\b"
)
SHARE_RULES: tuple[Rule, ...] = (
    rule("share after", "active_share", 6.0, "percent", right=_SHARE_AFTER),
    rule("share before", "active_share", 5.5, "percent", left=_SHARE_BEFORE),
    rule(
        "utilisation",
        "utilization",
        5.8,
        "percent",
        right=r"\s?(?:gpu )?(?:auslastung|utili[sz]ation|load\b|last\b|ausgelastet|utili[sz]ed|duty)",
    ),
    rule(
        "share of a word before",
        "active_share",
        5.4,
        "percent",
        left=r"\b(?:gleichzeitigkeit\w*|concurrency|parallelitaet|active share|aktive?r? anteil|"
        r"peak load|spitzenlast\w*)\b[^.!?;%\d]{0,28}",
    ),
    rule("utilisation", "utilization", 5.7, "percent", left=r"\b(?:auslastung|utili[sz]ation|load|ausgelastet)" + FILL),
)


def word_readings(text: Text, training: bool) -> list[Reading]:
    """Load said without a figure: "only me", "a quarter of them at once", "all at once"."""
    out = [
        Reading("concurrency", 1.0, m.start(), m.end(), 4.2, "single")
        for m in list(_SINGLE.finditer(text.folded))[:1]
        if not (training and m.group().startswith("batch"))
    ]
    out += [
        Reading("active_share", _FRACTIONS[m.group("word")], m.start("word"), m.end(), 5.0, "fraction")
        for m in [*list(_FRACTION.finditer(text.folded))[:1], *list(_FRACTION_AFTER.finditer(text.folded))[:1]][:1]
    ]
    for m in list(_OF_US.finditer(text.folded))[:1]:
        people = float(_BY_NUMBER.index(m.group("word")) + 2)
        out.append(
            Reading("concurrency" if m.group("once") else "users", people, m.start(), m.end("word"), 4.6, "of us")
        )
    out += [
        Reading("active_share", 1.0, m.start(), m.end(), 5.2, "all at once")
        for m in list(_WHOLE_SHARE.finditer(text.folded))[:1]
    ]
    return out
