"""Every figure of a message with the one field it fills, and the choice between several figures for a field."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from bot.understand.impossible import impossible_figures
from bot.understand.job_figures import countable
from bot.understand.lengths import LENGTH_RULES, POWERS, binary_k
from bot.understand.load import LOAD_RULES, ONE_IN_AFTER, SHARE_RULES, noun_reading, word_readings
from bot.understand.memory import memory_readings
from bot.understand.money import budget_without_currency, money_reading
from bot.understand.number_words import VAGUE_ONES
from bot.understand.numbers import Quantity, quantities
from bot.understand.readings import Reading
from bot.understand.roles import Surroundings, best, proposals, surroundings
from bot.understand.speeds import speed_readings
from bot.understand.text import Spans, Text

_RULES = (*LENGTH_RULES, *LOAD_RULES, *SHARE_RULES)
_RETRACTS = re.compile(
    r"(?:\b(?:nein|no|nee|noe|nope|sorry|quatsch|aeh|wait|actually|eher|lieber|rather|"
    r"korrektur|correction|vielmehr|oder doch|oder eher|doch (?:eher|lieber|nur)|also|i mean|"
    r"ich meine?|make (?:it|that)|besser|stattdessen|beziehungsweise|scratch that)[\s,:]{1,"
    r"3}(?:eher |lieber |doch |nur |rather |make it |sind's |es sind |it's |its |"
    r"wir sind )?){1,2}(?:so |ca\. |etwa |about |mit |with )?$"
)
# "40 concurrent 8k sessions": so long, not so many.
_COUNTED_ALREADY = re.compile(r"\b(?:concurrent|parallel\w*|simultaneous|gleichzeitig\w*|\d{1,4}x?)\s$")
_ALL_DAY = re.compile(r"24\s?/\s?$")
_SLOT = re.compile(r"\s?-?(?:slot|lanes?|riser|link|pcie|pci-e|gen ?\d|anbindung|elektrisch|electrical)")
_LABELS_BEFORE = frozenset(
    ("input before", "output before", "context before", "label input", "label output", "label context")
)
_LABEL_OF_NEXT = re.compile(r"[\s,]{1,2}[a-z]+\s?[:=]?\s?(?:~|ca\.? |about |max\.? )?\d")
_WHAT_AT = re.compile(
    r"\b(?:was passiert|was ist|wie sieht es(?: aus)?|what happens|what about|how about|and|und|aber|"
    r"but)\s(?:then |dann )?"
    r"(?:bei|mit|at|with|for|fuer)\s$"
)
# "10 users, 60 from summer on".
_LATER = re.compile(
    r"\b(?:spaeter|dann|ab \w+|bis (?:ende )?\w+|from \w+(?: on)?|by \w+|later|eventually|soon|bald|perspektivisch|"
    r"naechstes jahr|next year|mittelfristig|long[- ]term)\s(?:auf |etwa |ca\. |about |maybe |up to |bis zu |rund )?$"
)
_ENDS = re.compile(r"\s?(?:$|[?!.])")
_PCIE = re.compile(r"\b(?:pcie|pci-e|gen ?\d|lanes|slot|riser|\d\.0)\W*$")
# "What kind of a card": the card is what is asked for.
_ASKED_FOR = re.compile(r"\b(?:was fuer|what (?:kind|sort|type) of|which|welche[rnsm]?)\s$")
_OF_THEM = re.compile(r"^(?:of |davon)")
_FOR = re.compile(r"\b(?:fuer|for|with|mit)\s$")
# "Four cards, but I can only use two of them".
_NO_MORE_THAN = re.compile(
    r"\b(?:only|just|nur|lediglich|hoechstens|at most|maximal|max\.?|bis zu|up to)\s(?:\w+\s){0,3}$"
)
_PAID = re.compile(r"\b(?:pay\w*|paid|spend\w*|zahl\w*|kost\w*|costs?|bill|rechnung|budget)\b[^.!?;\d]{0,20}$")
_PAIR_NEXT = re.compile(
    r"\s?/\s?(?P<figure>\d++(?:[.,]\d+)?)(?P<k>k?)(?![\w.%€$]|\s?(?:b|gb|gib|g|tb|ms|s|w|v|tok|t)\b|/)"
)
_PAIR_BEFORE = re.compile(r"(?<![\w./,])(?P<figure>\d++(?:[.,]\d+)?)(?P<k>k?)\s?/\s?$")
_ONE_IN = re.compile(
    r"\b(?:one|1|einer?|eine[mn]?|jede[rnms]?)\s(?:in|out of|of|von|aus)\s(?:every |etwa |about |ca\. )?$"
)
_OF_MANY = re.compile(
    r"\s(?:in|out of|von|aus)\s(?:every |etwa |about |ca\. )?\d+(?![\d.,]*\s?(?:gb|k\b|min|s\b|h\b|sec|days|tagen))"
)
_BOUGHT = re.compile(
    r"\b(?:buy|buying|bought|kaufen?|gekauft|sells?|selling|sold|used|"
    r"gebraucht\w*)\b[^.!?;\d]{0,20}\b(?:for|fuer|um|at)\s?(?:~|ca\.?|about|etwa)?\s?$"
)
# "500k product descriptions" counts something; "50k works" and "20k for each" do not.
_OF_SOMETHING = re.compile(
    r"\s(?!(?:with|fuer|should|would|could|instead|statt\w*|please|bitte|works?|passt|reicht|geht|klappt|each|jeweils)\b)[a-z]{4,}"
)
_A_PERIOD = re.compile(r"\s?(?:/|a|per|pro|im|je)\s?(?:month|monat|year|jahr|hour|stunde|day|tag|mo\b|h\b)")
_MEMORY_NEXT = re.compile(r"\s?\d{1,3}\s?(?:gb?|gib)\b(?!\s?(?:ddr|ram\b|r?dimm|ecc|lpddr|riegel|sticks?))")
_BREAKS = re.compile(r"\s(?:dies|fails|is down|breaks|crashes|ausf|stirbt|kaputt|faellt|goes)")
_TERSE = re.compile(r"(?:\dk|ctx|context|kontext|q\d(?:_\w+)?|fp\d+|int\d|awq|gptq|\d+b|bf16|nf4)\s$")


@dataclass(frozen=True, slots=True)
class Figures:
    """Readings in order, those that lost, and for each field whether the message takes a value back."""

    readings: tuple[Reading, ...]
    lost: tuple[tuple[Reading, Reading], ...] = ()
    pairs: tuple[tuple[Quantity, Reading], ...] = ()
    retracted: frozenset[str] = frozenset()
    impossible: tuple[tuple[str, str], ...] = ()
    unread: tuple[tuple[int, int], ...] = field(default=())
    bare: tuple[Quantity, ...] = ()


_DEGREES = {"t": "tp", "p": "pp", "d": "dp", "e": "ep"}
_DEGREE_LEFT = re.compile(
    r"(?<![a-z0-9])(?P<name>[tpde]p|(?:tensor|pipeline|data|expert)[- ]?parallel(?:ism|itaet)?(?:[- ]size)?)\s?(?:of|von|=|:)?\s?$"
)


def read_figures(text: Text, lang: str, taken: Spans, slash: bool, training: bool) -> Figures:
    """Read all figures outside the names already found."""
    pairs: list[tuple[Quantity, Reading]] = []
    lost: list[tuple[Reading, Reading]] = []
    retracted: set[str] = set()
    unread: list[tuple[int, int]] = []
    bare: list[Quantity] = []
    judged: list[tuple[Quantity, Reading | None]] = []
    for quantity in quantities(text.folded, lang, taken):
        place = surroundings(text, quantity)
        quantity = place.quantity
        winner, losers = best(_candidates(place, text, slash, training))
        if winner and place.column:  # what is said beside a table speaks of it: "and with 64k instead?"
            winner = replace(winner, score=winner.score - _TABLE_YIELDS)
        winner = winner or _inherited(place, pairs)
        judged.append((quantity, winner))
        if winner is None:
            unread.append(quantity.span)
            if quantity.unit in ("", "percent") and not quantity.spelt and not quantity.glued:
                bare.append(quantity)
            continue
        winner = _final(winner, quantity, training, slash)
        judged[-1] = (quantity, winner)
        if _RETRACTS.search(place.left):
            retracted.add(winner.field)
        pairs.append((quantity, winner))
        lost += [(loser, winner) for loser in losers if loser.field != winner.field]
    words = word_readings(text, training)
    readings = tuple(sorted([r for q, r in pairs if not q.negative] + words, key=lambda r: r.start))
    return Figures(
        readings,
        tuple(lost),
        tuple(pairs),
        frozenset(retracted),
        tuple(impossible_figures(text, judged)),
        tuple(unread),
        tuple(bare),
    )


def _candidates(place: Surroundings, text: Text, slash: bool, training: bool) -> Iterable[Reading]:
    quantity = place.quantity
    if quantity.currency:
        money = money_reading(place)
        return [money] if money else []
    if (quantity.glued == "x" and quantity.unit not in ("requests", "people", "")) or (
        quantity.glued == "x" and (_PCIE.search(place.left) or _SLOT.match(place.right) or quantity.unit_word == "slot")
    ):
        return []
    bare_budget = budget_without_currency(place)
    if bare_budget:
        return [bare_budget]
    if (
        quantity.scale
        and not quantity.unit
        and (_BOUGHT.search(place.left) or (_PAID.search(place.left) and _A_PERIOD.match(place.right)))
    ):
        return [Reading("price_unnamed", quantity.value, *quantity.span, 6.0, "price without currency")]
    if quantity.scale == "k" and quantity.unit == "requests" and _COUNTED_ALREADY.search(place.left):
        return [Reading("context_tokens", quantity.value, *quantity.span, 5.0, "length of each")]
    if quantity.value == 7 and _ALL_DAY.search(place.left):
        return []
    length = _of_a_pair(place)
    if length:
        return [length]
    if quantity.value == 1 and _OF_MANY.match(place.right):
        return [Reading("part", 1.0, *quantity.span, 7.0, "one in")]
    if _ONE_IN.search(place.left) and quantity.value > 1 and ONE_IN_AFTER.match(place.right):
        return [Reading("active_share", 1 / quantity.value, *quantity.span, 7.0, "one in")]
    found = list(proposals(place, _RULES))
    if _LABEL_OF_NEXT.match(place.right) and any(r.rule in _LABELS_BEFORE for r in found):
        found = [r for r in found if not r.rule.endswith(" after")]
    if (quantity.scale != "k" or quantity.value / 1000 not in POWERS) and _OF_SOMETHING.match(place.right):
        found = [r for r in found if r.rule != "bare k"]
    if quantity.scale not in ("", "k"):
        found = [r for r in found if not r.rule.startswith("length in") and r.number <= _LONGEST.get(r.field, math.inf)]
    if quantity.scale and not quantity.unit:
        found = [r for r in found if r.field not in ("concurrency", "users", "batch_size")]
    if quantity.glued == "x" and not slash and not _TERSE.search(place.left):
        found = [r for r in found if r.field != "concurrency_x"]
    start, end = quantity.span
    if quantity.unit == "requests":
        noun = noun_reading(quantity.unit_word, place.right, quantity.value, start, end)
        found += [noun] if noun else []
    if quantity.unit == "devices" and not _BREAKS.match(place.right) and not _ASKED_FOR.search(place.left):
        found.append(Reading("devices", quantity.value, start, end, 2.5, "devices"))
    if quantity.unit == "devices" and _OF_THEM.search(quantity.unit_word):
        if _FOR.search(place.left):
            found.append(Reading("devices", quantity.value, start, end, 2.6, "for so many of them"))
        elif _NO_MORE_THAN.search(place.left):
            found.append(Reading("devices", quantity.value, start, end, 2.6, "no more than so many of them"))
    if quantity.unit == "times" and _MEMORY_NEXT.match(place.right):
        found.append(Reading("devices", quantity.value, start, end, 2.4, "times memory"))
    found += list(speed_readings(place, text.folded))
    found += list(memory_readings(place, text.folded))
    found += list(countable(quantity, place))
    if degree := quantity.glued if quantity.glued in _DEGREES.values() else _degree_before(place.left):
        found.append(Reading(f"parallel_{degree}", quantity.value, start, end, 5.0, "degree"))
    if not quantity.unit and _COPIES_NEXT.match(place.right) and not _OF_AN_INDEX.search(text.folded):
        found.append(Reading("parallel_dp", quantity.value, start, end, 5.0, "copies"))
    if (quantity.glued in ("r", "rank") or _RANK_LEFT.search(place.left)) and (training or "lora" in text.folded):
        found.append(Reading("lora_rank", quantity.value, start, end, 5.0, "rank"))
    if quantity.spelt and _vague_one(quantity, text):
        found = [r for r in found if r.field not in ("users",)]
    return found


_TABLE_YIELDS = 3.0
# "90 Mio. Input- und 12 Mio. Output-Tokens" is what a month brings; no prompt and no answer is so long.
_LONGEST = {"input_tokens": 2e6, "output_tokens": 1e6}
_RANK_LEFT = re.compile(r"(?<![a-z0-9])(?:lora[- ]?)?(?:rank|rang|r)\s?(?:=|:|of|von)?\s?$")

# "4 Replikas auf H100": so many copies of the model; those of a vector index are another matter.
_COPIES_NEXT = re.compile(r"\s?(?:x\s)?(?:\w+e[nrs]?\s)?(?:replikas?|replikate?n?|replicas?|kopien|copies)\b")
_OF_AN_INDEX = re.compile(r"\bindex|vektor|vector|qdrant|milvus|elasticsearch|opensearch")


def _degree_before(left: str) -> str | None:
    """The kind of parallelism that a figure is the degree of: "TP 3", "tp=4", "tensor parallel size 2"."""
    found = _DEGREE_LEFT.search(left)
    return _DEGREES[found["name"].replace("-", " ").split()[0][0]] if found else None


def _of_a_pair(place: Surroundings) -> Reading | None:
    """ "2k/200" is prompt and answer: two bare lengths with a stroke between them, the second not the longer."""
    quantity = place.quantity
    if quantity.unit not in ("", "tokens") or quantity.glued not in ("", "x"):
        return None
    after, before = _PAIR_NEXT.match(place.right), _PAIR_BEFORE.search(place.left)
    if (
        after
        and quantity.glued == ""
        and not quantity.unit
        and quantity.value >= max(256.0, _pair_value(after))
        and _pair_value(after) >= 16
    ):
        return Reading("input_tokens", quantity.value, *quantity.span, 6.3, "in of a pair")
    if before and 16 <= quantity.value <= _pair_value(before) and _pair_value(before) >= 256:
        return Reading("output_tokens", quantity.value, *quantity.span, 6.3, "out of a pair")
    return None


def _pair_value(found: re.Match[str]) -> float:
    return float(found.group("figure").replace(",", ".")) * (1000 if found.group("k") else 1)


def _vague_one(quantity: Quantity, text: Text) -> bool:
    """ "eine Person", "ein Nutzer" count; "one team" and "ein Kollege" do not say how many there are."""
    return text.folded[quantity.start : quantity.end] in VAGUE_ONES and not re.match(
        r"(?:nutzer|user|person|benutzer)", quantity.unit_word
    )


_HEADS = frozenset(("users", "concurrency"))


_MEASURED = {"observed_tok_s": "tokens_s_per_user", "observed_ttft_s": "ttft_s"}
# "Only 9 tok/s each; the goal is at least twenty".
_TARGET = re.compile(
    r"\b(?:ziel\w*|targets?|goal|aim\w*|need\w*|wants?|brauch\w*|wollen|haetten gern|should be|sollten?|wuensch\w*)\b[^.!?;\d]{0,30}$"
)


_CLAIMED = {"claimed_tok_s": "observed_tok_s", "claimed_ttft_s": "observed_ttft_s"}
# "They claim 2,300 tok/s. I'm at 1,450".
_WE_ARE_AT = re.compile(
    r"\b(?:(?:i'?m|we'?re|i am|we are) (?:only |just |stuck )?at|(?:ich komme|wir kommen|komme|kommen) (?:nur |gerade mal )?auf|"
    r"(?:ich|wir) (?:bin|sind|liege|liegen) (?:nur )?bei|(?:i|we) (?:only |just )?(?:get|see|reach|measure))\s(?:about |"
    r"around |ca\. |etwa )?$"
)


def _inherited(place: Surroundings, before: Sequence[tuple[Quantity, Reading]]) -> Reading | None:
    """ "16k Kontext, nein 4k" and "10 Nutzer, also 100": a bare correction speaks of the figure before it."""
    if not before or place.quantity.unit:
        return None
    start, end = place.quantity.span
    if before[-1][1].field in _HEADS and _WHAT_AT.search(place.left) and _ENDS.match(place.right):
        return Reading(
            before[-1][1].field, place.quantity.value, start, end, before[-1][1].score + 1.5, "asked of another"
        )
    if before[-1][1].field in _HEADS and _LATER.search(place.left):
        return Reading(before[-1][1].field, place.quantity.value, start, end, before[-1][1].score, "later")
    rate = next((r.field for _, r in reversed(before) if r.field in _MEASURED), None)
    if rate and _TARGET.search(place.left) and not place.quantity.scale:
        return Reading(_MEASURED[rate], place.quantity.value, start, end, 5.5, "target of what was measured")
    claim = next((r.field for _, r in reversed(before) if r.field in _CLAIMED), None)
    if claim and _WE_ARE_AT.search(place.left) and not place.quantity.scale:
        return Reading(_CLAIMED[claim], place.quantity.value, start, end, 5.5, "measured against a claim")
    if not _RETRACTS.search(place.left):
        return None
    return Reading(before[-1][1].field, place.quantity.value, start, end, before[-1][1].score, "correction")


def _final(reading: Reading, quantity: Quantity, training: bool, slash: bool) -> Reading:
    if reading.field == "concurrency_x":
        return replace(reading, field="concurrency", score=5.0 if slash else 3.0)
    if training and reading.rule in ("in flight by nature", "requests"):
        return replace(reading, field="samples")  # "52k conversations" to train on
    if reading.field == "batch_size" and not training:
        return replace(reading, field="concurrency")
    if reading.field == "context_tokens" and quantity.scale == "k" and isinstance(reading.value, float):
        return replace(reading, value=binary_k(reading.value, quantity.scale))
    return reading


def pick(figures: Figures, name: str) -> tuple[Reading | None, list[Reading]]:
    """The reading that fills a field and all that were as good: the later after a correction, else the larger."""
    mine = [r for r in figures.readings if r.field == name]
    if not mine:
        return None, []
    top = max(r.score for r in mine)
    rivals = [r for r in mine if r.score >= top - _NEARLY.get(name, 0.45)]
    if name in figures.retracted:
        return rivals[-1], rivals
    return max(rivals, key=lambda r: float(r.value) if isinstance(r.value, (int, float)) else 0.0), rivals


_NEARLY = {"users": 1.0, "context_tokens": 0.7}
