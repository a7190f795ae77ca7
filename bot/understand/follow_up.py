"""Follow-ups: what a turn does to the spec of its thread besides naming values."""

import re
from dataclasses import dataclass
from typing import Literal

from bot.understand.number_words import NUMBER_WORDS
from bot.understand.text import Text

Kind = Literal["undo", "reset", "pick", "add", "replace", "scale", "drop", "move", "why", "keep"]

_UNDO = re.compile(
    r"\b(?:undo|rueckgaengig|take that back|nimm das zurueck|revert|go back(?! to)|"
    r"zurueck(?! zu[mr]? (?:erst|original|anfang|ursprung))\b(?=\s*[.!?]*$)|forget that|"
    r"vergiss das|ignore that|ignorier das|scratch that|never ?mind|doch nicht|war falsch|"
    r"wie vorher|as before|wie zuvor|letzte aenderung (?:weg|zurueck))\b"
)
_RESET = re.compile(
    r"^\s*(?:/)?(?:new\b|neu\b(?!er)|start over|reset|von vorn\w*|neue frage|new question|"
    r"fresh start|neuer fall|neues thema|anderes thema|different question|clear)\W*(?:$|:|-|,|"
    r"\.)?"
)
_PICK = re.compile(
    r"\b(?:back to|zurueck zu[mr]?|take|nimm|nehmen wir|nehme|we'll take|let's (?:go with|"
    r"take)|go with|ich nehme|bleiben wir bei[m]?|use|choose|waehle|what about|was ist mit|"
    r"and|und|wie ist es mit)?\s?(?:the|de[rmn]|die|das|option|variante|nr\.?|number)?\s?"
    r"(?P<n>first|second|third|fourth|last|original|erste[nrms]?|zweite[nrms]?|dritte[nrms]?|"
    r"vierte[nrms]?|letzte[nrms]?|urspruengliche\w*|option \d|variante \d|nr\.? ?\d|#\d|"
    r"cheaper|cheapest|guenstigste[nr]?)\s?(?:one|option|variante|version|again|nochmal|setup|"
    r"konfiguration|vorschlag|idee|frage|fall|machine|karte|spec)?\b"
)
_ORDINAL = {
    "first": 1,
    "original": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "last": -1,
    "erste": 1,
    "urspruengliche": 1,
    "zweite": 2,
    "dritte": 3,
    "vierte": 4,
    "letzte": -1,
}
_ADD = re.compile(
    r"\b(?:vergleich\w*|compare\w*|versus|vs\.?|against|gegenueber|im vergleich|gegen|"
    r"side by side|daneben(?=.*\d)|stell .* gegenueber)\b"
)
_ADD_CARD = re.compile(
    r"\b(?:add(?:ing|ed)?|dazu|zusaetzlich|noch eine?n?|another|plus|ergaenz\w*|hinzu\w*|"
    r"obendrauf|on top|additional|extra|einbau\w*|dazukauf\w*|dazustell\w*|also buy)\b"
)
_OR_WITH = re.compile(
    r"^\s*(?:or|oder|und|and|what about|was ist mit|wie (?:waere|ist) es (?:mit|auf)|"
    r"how about|what if|ok(?:ay)?|hmm+|and (?:on|with)|und (?:mit|auf)|with|mit|auf|on|"
    r"stattdessen|instead|switch to|wechsel\w* (?:auf|zu)|nimm|use|take|try|versuch\w*|"
    r"make it|mach\w*|lieber|rather|then|dann|same|dasselbe|das gleiche|gleiche\w*)\b"
)
_TIMES_WORD = "two|three|four|five|six|eight|ten|zwei|drei|vier|fuenf|sechs|acht|zehn"
_SCALE = re.compile(
    r"\b(?P<op>double|twice|verdopp\w*|doppelt\w*|halve|halb\w*|half(?! of (?:them|those|us))|"
    r"haelfte(?! (?:davon|von (?:ihnen|denen|uns)))|triple|verdreifach\w*|"
    r"dreifach\w*|quadruple|vervierfach\w*|vierfach\w*|(?P<times>\d+|" + _TIMES_WORD + r")[ -]?(?:times|mal|fach\w*|"
    r"x(?= ?(?:the|as|so|die|den|das|der|dem|mehr|more|context|kontext|users?|nutzer|leute|people|load|last|requests|"
    r"anfragen|$|[.,?!])))(?: (?:the|as many|so viele?|die|den|mehr|as much))?)\b"
)
_FACTORS = (
    ("double", 2.0),
    ("twice", 2.0),
    ("verdopp", 2.0),
    ("doppelt", 2.0),
    ("halb", 0.5),
    ("halv", 0.5),
    ("half", 0.5),
    ("haelfte", 0.5),
    ("triple", 3.0),
    ("verdreif", 3.0),
    ("dreifach", 3.0),
    ("quadrup", 4.0),
    ("vervierf", 4.0),
    ("vierfach", 4.0),
)
_TARGETS = (
    ("context_tokens", re.compile(r"\b(?:context|kontext\w*|ctx|window|fenster|sequenz\w*|seq\w*)\b")),
    (
        "load",
        re.compile(
            r"\b(?:users?|nutzer\w*|leute\w*|people|concurren\w*|parallel\w*|gleichzeitig\w*|anfragen|"
            r"requests|load|last|chats?|sessions?|streams?|team|kollegen|personen|belegschaft|traffic|"
            r"mitarbeiter\w*)\b"
        ),
    ),
    ("output_tokens", re.compile(r"\b(?:output|answers?|antwort\w*|ausgabe)\b")),
    ("input_tokens", re.compile(r"\b(?:input|prompts?|eingabe)\b")),
    ("hardware", re.compile(r"\b(?:gpus?|cards?|karten?|hardware|grafikkarten?|machines?|server)\b")),
    ("budget", re.compile(r"\b(?:budget|geld|money)\b")),
)
_DROP = re.compile(
    r"\b(?:without|ohne|drop|remove|lass\w*|weg\b|forget|vergiss|no longer|kein\w*)\s(?:the |"
    r"das |den |die |a |any )?(?P<what>budget|nvlink|context|kontext|quant\w*|engine|vllm|"
    r"ollama|kv[- ]?cache|targets?|ziel\w*|mtp|speculative|redundan\w*|"
    r"concurren\w*)\b(?! ?(?:to|auf|down|von|from|runter)\b)|\b(?:budget|geld|money) (?:is no|"
    r"spielt keine|no object|egal)\w*"
)
_NOT_AT_ONCE = re.compile(
    r"\b(?:not|nicht|aber nicht|but not|nicht alle|not all)\s(?:all |alle |wirklich |"
    r"really )?(?:at once|gleichzeitig|at the same time|parallel|concurrent\w*|simultan\w*)\b"
)
_WHY = re.compile(
    r"\b(?:why|warum|wieso|weshalb|how (?:did|do) you|wie kommst du|explain|erklaer\w*|"
    r"begruende|herleit\w*|how come|details?\b|genauer)\b"
)
_SAME = re.compile(
    r"\b(?:same|dasselbe|das gleiche|das selbe|gleiche\w*|ditto|genauso|ansonsten gleich|" r"rest (?:bleibt|stays))\b"
)
_CHEAPER = re.compile(r"\b(?:cheaper|guenstiger|billiger|less expensive|preiswerter|was spart|sparen)\b")
_BACK = re.compile(
    r"\b(?:back to|zurueck (?:zu[mr]?|auf)|wieder (?:auf|mit|zu[mr]?|die|den|das)|return to|again with|doch (?:wieder|die|den|das))\b"
)
_OF_THOSE = re.compile(
    r"\b(?P<n>\d{1,3}|"
    + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    + r")\s?(?:x\s)?(?:of (?:those|them|these)(?: cards)?|davon|von denen|von den karten|"
    r"solche\w*|such cards|stueck|of the same|cards?|karten?|gpus?|more of those)\b"
    r"|\b(?:keep|only|just|nur|behalt\w*|bleib\w* bei|doch|wieder|again|take|nimm|back to|zurueck auf|mit|"
    r"with|auf)\s(?:nur |just |only |den |the |doch )?(?P<kept>\d{1,2}|one|two|three|four|"
    r"eine[rn]?|zwei(?:en)?|drei(?:en)?|vier(?:en)?|acht|eight)(?=\s*(?:$|[.,!?]|then\b|please|bitte|instead|"
    r"stattdessen))"
    r"|^\s*(?:ok(?:ay)?|gut|dann|alright|fine|ja|yes)\W{1,3}(?:dann |then |nur |just )?(?P<agreed>one|two|"
    r"three|four|eight|"
    r"eine?|zwei|drei|vier|acht)(?=\s?(?:$|[.,!?;]))"
)
_MACHINES = re.compile(
    r"\b(?P<n>\d{1,2}|"
    + "|".join(sorted((w for w in NUMBER_WORDS if 2 <= NUMBER_WORDS[w] <= 12), key=len, reverse=True))
    + r")\s?(?:x\s)?(?:solche\w*\s|such\s|of (?:these|those)\s|gleiche\w*\s|identical\s|davon\s)?"
    r"(?:servern?|nodes?|knoten|boxe[ns]|box|rechnern?|machines?|maschinen)\b"
)


_NO_MORE = re.compile(r"\b(?:max(?:imal|imum)?|hoechstens|at most|no more than)\s\d")
_NTH_CARD = re.compile(
    r"\b(?:second|third|fourth|zweite[nrs]?|dritte[nrs]?|vierte[nrs]?)\s(?:\w+\s)?(?=(?:rtx |gtx |rx )?[a-z]{0,3}\d)"
)
_ONE_MORE = re.compile(
    r"\b(?:a|n?eine?[nr]?|nen?|ner)\s(?:second|third|fourth|zweite[nrs]?|dritte[nrs]?|vierte[nrs]?)\b(?! (?:option|"
    r"variante|idea|idee|"
    r"user|nutzer|model|modell))|"
    r"\b(?:add|noch|plus|another|one more|ein\w* weitere\w*|dazu)\b.{0,24}\b(?:second|third|"
    r"fourth|zweite[nrs]?|dritte[nrs]?|vierte[nrs]?|another|one more|eine[nr]?|one|"
    r"weitere[nrs]?)\b|\b(?:one more|noch eine|another one|another card|eine weitere)\b"
)


_CARD = r"(?:cards?|gpus?|karten?|grafikkarten?)\b"
_NTH = r"(?:second|other|third|fourth|last|extra|zweite[nr]?|andere[nr]?|dritte[nr]?|vierte[nr]?|letzte[nr]?)"
_ONE_LESS = re.compile(
    rf"\b(?:drop(?:ped)?|remov\w+|take out|pull(?:ed)?|sell|sold|without|ohne|entfern\w*|verzicht\w* auf|lass\w*|nehm\w*|verkauf\w*)\s"
    rf"(?:ich |wir |i |we )?(?:the |die |der |eine[rn]? |one(?: of the)? |a )(?:{_NTH} )?{_CARD}"
    rf"|\b(?:one|eine) {_CARD} (?:less|weniger|fewer)\b|\b(?:one|eine) (?:less|fewer|weniger)(?: {_CARD})?(?=\s?(?:$|[.,?!]))"
    rf"|\b(?:die|the) {_NTH} {_CARD} (?:weg\w*|raus\w*|out|away|verkauf\w*|ausbau\w*)"
)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """`kind` names the operation on the thread; `index`, `field` and `factor` say on what and by how much."""

    kind: Kind | None = None
    index: int | None = None
    field: str | None = None
    factor: float = 1.0
    adds_card: bool = False
    adds_alternative: bool = False
    not_at_once: bool = False
    pieces: int | None = None
    machines: int | None = None
    one_more: bool = False
    one_less: bool = False
    cheaper: bool = False
    goes_back: bool = False


def read_follow_up(text: Text, in_thread: bool) -> FollowUp:
    """What a turn does to its thread; outside a thread only a "why?" or "undo" on its own matters."""
    folded = text.folded
    if not in_thread:
        return FollowUp(kind="reset" if _RESET.match(folded) and len(folded) < 24 else None)
    compares = bool(_ADD.search(folded))
    kind, index, target, factor = _operation(folded)
    machines = _machines(folded)
    return FollowUp(
        kind=kind,
        index=index,
        field=target,
        factor=factor,
        adds_card=bool(_ADD_CARD.search(folded) or _NTH_CARD.search(folded)) and not compares,
        adds_alternative=compares,
        not_at_once=bool(_NOT_AT_ONCE.search(folded)),
        pieces=None if machines else _pieces(folded),
        machines=machines,
        one_more=bool(_ONE_MORE.search(folded)),
        one_less=bool(_ONE_LESS.search(folded)),
        cheaper=bool(_CHEAPER.search(folded)),
        goes_back=bool(_BACK.search(folded)),
    )


def _operation(folded: str) -> tuple[Kind | None, int | None, str | None, float]:
    """The operation with its index, field and factor, where it has them."""
    if _RESET.match(folded):
        return "reset", None, None, 1.0
    scaled = _SCALE.search(folded)
    target = next((name for name, pattern in _TARGETS if pattern.search(folded)), None) if scaled else None
    if scaled and target:
        return "scale", None, target, _factor(scaled)
    index = _picked(folded)
    if index is not None:
        return "pick", index, None, 1.0
    if _UNDO.search(folded) and len(folded) < _SHORT:
        return "undo", None, None, 1.0
    dropped = _DROP.search(folded)
    if dropped and len(folded) < _SHORT:
        return "drop", None, _drop_field(dropped.group("what") or "budget"), 1.0
    if _NOT_AT_ONCE.search(folded):
        return "move", None, None, 1.0
    if _WHY.search(folded):
        return "why", None, None, 1.0
    keeps = _SAME.search(folded) or _OR_WITH.match(folded) or len(folded.split()) <= 6
    return "keep" if keeps else None, None, None, 1.0


def _picked(folded: str) -> int | None:
    picked = _PICK.search(folded)
    if (
        picked is None
        or len(folded) >= _SHORT
        or _ADD_CARD.search(folded)
        or _NTH_CARD.search(folded)
        or _NO_PICK.search(folded)
        or _ONE_MORE.search(folded)
        or _ONE_LESS.search(folded)
    ):
        return None
    return _index(picked.group("n"))


_SHORT = 90
_NO_PICK = re.compile(
    r"\b(?:first|erste[nr]?) (?:token|wort|word|antwort)|\b(?:per|pro|a|each|every|in der|"
    r"letzte[nr]?) (?:second|sekunde)|"
    r"\b(?:last|letzte[nrms]?) (?:week|month|year|time|night|woche|monat|jahr|mal|zeit)|cheaper\W*$"
)


def _factor(scaled: re.Match[str]) -> float:
    times = scaled.group("times")
    if times:
        return float(times) if times.isdigit() else float(NUMBER_WORDS[times])
    return next(factor for start, factor in _FACTORS if scaled.group("op").startswith(start))


def _index(word: str) -> int | None:
    digits = re.search(r"\d", word)
    if digits:
        return int(digits.group())
    return next((n for start, n in _ORDINAL.items() if word.startswith(start)), None)


def _drop_field(word: str) -> str:
    table = (
        ("budget", "budget"),
        ("nvlink", "nvlink"),
        ("con", "context_tokens"),
        ("kon", "context_tokens"),
        ("quant", "weights"),
        ("engine", "engine"),
        ("vllm", "engine"),
        ("ollama", "engine"),
        ("kv", "kv_cache"),
        ("t", "targets"),
        ("z", "targets"),
        ("mtp", "speculative"),
        ("spec", "speculative"),
        ("redun", "redundancy"),
    )
    return (
        "concurrency" if word.startswith("concurr") else next(name for start, name in table if word.startswith(start))
    )


def _machines(folded: str) -> int | None:
    """ "And with 2 such servers?": so many of the machine that the thread holds."""
    found = None if _NO_MORE.search(folded) else _MACHINES.search(folded)
    if not found:
        return None
    digits = found.group("n")
    return int(digits) if digits.isdigit() else NUMBER_WORDS[digits]


def _pieces(folded: str) -> int | None:
    if _NO_MORE.search(folded):
        return None
    found = _OF_THOSE.search(folded)
    if not found:
        return None
    digits = found.group("n") or found.group("kept") or found.group("agreed")
    return int(digits) if digits.isdigit() else NUMBER_WORDS[digits]
