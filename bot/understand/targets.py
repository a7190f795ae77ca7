"""Wishes, measurements, claims and money: which of them a speed, a time or a price is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from bot.understand.numbers import Quantity, Unit
from bot.understand.readings import Reading
from bot.understand.roles import Surroundings

Stance = Literal["wish", "observed", "claimed", "open"]

_WISH_BEFORE = re.compile(
    r"(?:<=?|>=?|\bunder|\bbelow|\bless than|\bat least|\bat most|\bmax(?:\.|imum|imal)?|"
    r"\bmin(?:\.|d\.|imum|destens)?|\bunter|\bhoechstens|\bwenigstens|\bwithin|"
    r"\binnerhalb(?: von)?|\bbinnen|\bminimum of|"
    r"\bmore than|\bmehr als|\bueber|\bnot (?:more|less) than|\bnicht (?:mehr|weniger) als|"
    r"\bup to|\bbis(?: zu)?|\bneed\w*|\bwants?|\bwanted|\bbrauch\w*|\bwill|\bwollen|"
    r"\bmoecht\w*|\bsoll(?:te|en)?|\bshould be|\bmust be|\bmuss|\btarget\w*|\bziel\w*|\bsla|"
    r"\bslo|\bgoal|"
    r"\bgives?|\bgoing for|\baim\w*|\bhaetten gern|\bhaette gern|\bfor(?: about)?|\bfuer|\bat|"
    r"\bbei|\bwith|\bmit|\bguarantee\w*|\bgarantier\w*|\bget (?:me|us|to)|\bauf|\bto|"
    r"\breach\w*|\bdeliver\w*|\bschafft?|\bliefer\w*|\blimit|\bbudget|\bkeep\w*|\bhalten|"
    r"\bp\d\d)"
    r"(?:\s?(?:~|ca\.?|about|around|etwa|rund|of|von|is|ist|be|a|like|=|:|the|an?|p\d\d|sein|"
    r"it|like|mindestens|at least|approx\.?|mind\.|min\.|<|>|<=|>=|so|ungefaehr|von)){0,4}\s?$"
)
_FIRM = re.compile(
    r"[<>]|under|below|less|least|most|max|min|unter|hoechst|wenigst|within|innerh|binnen|"
    r"more than|mehr als|need|want|brauch|moecht|soll|should|must|muss|target|ziel|sl[ao]|"
    r"goal|haett|guarant|garant|limit|keep|halten|hoped|aim"
)
_WISH_AFTER = re.compile(
    r"[\s,()]{0,3}(?:(?:is|are|waere?n?|ist|sind|would be|should|reich\w*|genuegen|langen|"
    r"pro nutzer|per user|each|je nutzer)\s?(?:voellig |totally |for me |mir |uns )?(?:ok\b|"
    r"okay|fine|enough|genug|ausreichend|reich\w*|good|plenty|acceptable|akzeptabel)|"
    r"reich\w*(?: mir| uns)?\b|genuegen|langen|ok fuer|is ok|or better|oder (?:besser|"
    r"schneller|mehr)|minimum|mindestens|max\b|p\d\d|would be|or (?:more|faster|less)|"
    r"(?:\w+\s){0,2}(?:max|maximum|maximal|hoechstens)\b|"
    r"(?:\w+\s){0,3}(?:waere?n? (?:schoen|gut|super|nett)|haben will|sein sollte|erreichen|"
    r"schaffen)|haben\b)"
)
_OBSERVED_BEFORE = re.compile(
    r"\b(?:i get|we get|get(?:ting|s)?|getting only|bekomm\w*|krieg\w*|see(?:ing)?|sehe[n]?|"
    r"mess\w*|measur\w*|prints?|shows?|zeigt|took|takes?|dauert|dauern|does|do|makes?|macht|"
    r"schafft nur|only|nur|"
    r"drops?(?: from)?|faellt|went from|sinkt|currently|derzeit|aktuell|momentan|right now|"
    r"at the moment|im moment|is|ist|are|was|war|liegt|lag|stuck|haengt|reports?|meldet|logs?|"
    r"log sagt|"
    r"running at|laeuft mit|laeuft|from|von|yields?|crawls?|gave|beats|erreicht|kommt auf|"
    r"kommen auf|komme auf|habe?n? (?:ich|wir)|now|jetzt|benchmark\w*|seeing|observed|"
    r"gemessen|hits?|peaks?|vs\.?|used to)"
    r"(?:\s(?:~|about|around|only|nur|just|gerade mal|mickrige|ca\.?|etwa|rund|like|so|at|bei|"
    r"barely|kaum|mal|maximal|max|mit|with|to|on|auf|average|avg|ungefaehr|eine?r?|a|an|ttft|"
    r"of|noch|einen durchsatz von|from|von|dort|hier|already|schon|knapp|it|me|single|the|"
    r"[\d.,]+(?: ?t(?:ok)?/s)?)){0,4}\s?~?\s?$"
)
_OBSERVED_AFTER = re.compile(
    r"[\s,]{0,2}(?:lol\b|\(measured|gemessen|measured|on (?:one|a single|my|our)|auf (?:einer|"
    r"meiner|unserer|der)|at the moment|momentan|aktuell|currently|right now|once|sobald|"
    r"with tp|mit tp|now|for one|ttft on our|und (?:das )?ist|and that|then)"
)
_CLAIMED = re.compile(
    r"\b(?:claims?|claimed|people say|they say|angeblich|laut|according to|vendor|hersteller|"
    r"haendler|advertis\w*|promis\w*|verspricht|versprochen|readme|brags?|paper|blog|reddit|"
    r"benchmarks? (?:say|show)|guide|docs? say|say it|"
    r"my formula|calculator|rechner|shows on|spec(?:s|ified)?|quoted|supposed to|"
    r"soll(?:en)? angeblich|title says|heard|gelesen|read that|saw|others (?:get|report)|"
    r"someone)\b"
)
_CLAIMED_AFTER = re.compile(
    r"[^.!?;]{0,34}?\b(?:they say|he says|she says|they claim|angeblich|laut|claimed|"
    r"according to|in the (?:readme|paper|docs|blog)|sagt (?:der|das|die|man)|is the claim|"
    r"heisst es)\b"
)
_QUESTION_IS_WHY = re.compile(
    r"\b(?:why|warum|wieso|weshalb|normal\b|how come|is that (?:right|expected|ok|slow|good|"
    r"bad)|supposed to be|(?:go|run|get|be|geht|laeuft) (?:any |es |das |noch |etwas )?(?:faster|"
    r"schneller)|what'?s wrong|woran|realistic\?|expected\?|defective|zu langsam|too slow|so slow|"
    r"so langsam|broken|bug\?|what should it be|what am i (?:doing|missing)|"
    r"was mache ich falsch|stimmt (?:da was|das|es)|is (?:that|this|it) (?:true|correct)|kann das (?:sein|stimmen)|"
    r"can that be|plausib\w*|believable|credible|glaubhaft|glaubwuerdig|too good to be true|langsamer als|"
    r"slower than|bottleneck|flaschenhals|killing (?:me|it|us|my)|hurting|slowing|bremst|"
    r"holding (?:me|it|us) back)"
)

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


def stance(place: Surroundings, text: str) -> Stance:
    """Whether a figure is wished for, measured or claimed; "open" where the words do not say."""
    left, right = place.left, place.right
    if place.quantity.plus:
        return "wish"
    if _CLAIMED.search(left[-48:]) or _CLAIMED_AFTER.match(right):
        return "claimed"
    if _WISH_AFTER.match(right):
        return "wish"
    observed, wished = _OBSERVED_BEFORE.search(left), _WISH_BEFORE.search(left)
    if wished and not _FIRM.search(wished.group()) and _asks_why(text):
        wished = None
    if _RUNNING_AT.search(left) and not _WANTS.search(left) and not (wished and _FIRM.search(wished.group())):
        return "observed"
    if _SLOW.search(left):
        return "observed"
    if _RUNNING_HERE.search(left) and not wished:
        return "observed"
    if (observed and (not wished or _asks_why(text))) or (_OBSERVED_AFTER.match(right) and not wished):
        return "observed"
    if wished:
        return "wish"
    return "open"


_WANTS = re.compile(
    r"\b(?:wants?|need\w*|would like|moecht\w*|will|wollen|soll\w*|should|must|muss|hoping)\b[^.?!;]{0,60}$"
)
_SLOW = re.compile(
    r"\b(?:crawl\w*|kriecht|stuck|duempelt|haengt fest|limps?|barely (?:get|reach|"
    r"hit)\w*)\s(?:along )?(?:at|with|mit|bei)?\s?"
    r"(?:about |ca\. |etwa |nur |only |~)?$"
)
_RUNNING_HERE = re.compile(
    r"\b(?:(?:i|we) (?:run|use|host)|(?:ich|wir) (?:betreibe\w*|nutze\w*|hoste\w*|fahre\w*)|running|"
    r"laeuft (?:hier|bei (?:uns|mir))|"
    r"derzeit|aktuell|currently)\b[^.?!;]{0,70}[,(:]\s?(?:about |ca\. |etwa |nur |only |roughly )?~?$"
)
_RUNNING_AT = re.compile(
    r"\b(?:runs?|running|laeuft|lief|ran|getting|get|goes|geht|went)\b[^.?!;]{0,70}\b(?:at|"
    r"mit|with|bei|from|von|to|auf)\s(?:about |around |~|ca\. |etwa |nur |only |roughly |"
    r"just )?~?$"
)


@lru_cache(maxsize=2)
def _asks_why(text: str) -> bool:
    """Asked of the whole message for each of its figures, so looked for once."""
    return _QUESTION_IS_WHY.search(text) is not None


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
        if kind == "wish" or (kind == "open" and not _asks_why(text)):
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
        wished = kind == "wish" or (kind == "open" and not _asks_why(text))
        field = "ttft_s" if wished else "observed_ttft_s" if kind != "claimed" else "claimed_ttft_s"
        yield Reading(field, seconds, start, end, 6.0, "first token " + kind)
        return
    if kind == "observed":
        yield Reading("observed_s", seconds, start, end, 3.0, "time observed")
    elif kind == "claimed":
        yield Reading("claimed_s", seconds, start, end, 3.0, "time claimed")


_BUDGET_BEFORE = re.compile(
    r"\b(?:budget\w*|up to|max(?:\.|imum|imal)?|hoechstens|bis(?: zu)?|under|unter|below|"
    r"less than|weniger als|no more than|not more than|nicht mehr als|at most|limit\w*|"
    r"cap(?:ped|s)?|gedeckelt|begrenzt|limited|"
    r"have|got|habe?n?|spend\w*|ausgeben|verfuegung|zur hand|within|innerhalb|for under|"
    r"obergrenze|allowance|foerder\w*|invest\w*|spare|with(?: about)?|mit|genehmigt|grant of|"
    r"willing to pay|kostenrahmen|rahmen)"
    r"(?:\s?(?:of|von|is|ist|so|ca\.?|about|around|etwa|rund|:|=|~|sind|at|bei|only|nur|"
    r"maximal|max\.?|liegt|waere|waeren|hier|noch|ungefaehr|roughly|ein budget von|"
    r"a budget of|a|auf|us|me|uns|mich|wir|ich|i|we|to|have|the|und ein bisschen|insgesamt|hoechstens|zu|"
    r"circa|to spend|gut|a total of|on|about)){0,4}\s?(?:us)?[$€£]?\s?$"
)
_BUDGET_AFTER = re.compile(
    r"[\s,)]{0,3}(?:(?:(?:per|pro|/|im|a|je)\s?\w+\s)?(?:budget\w*|max\b|maximum|maximal|"
    r"hoechstens|limit|cap\b|tops\b|or less|oder weniger|to spend|zur verfuegung|ausgeben|"
    r"zum ausgeben|at most|ist (?:die )?(?:grenze|obergrenze|schluss)|netto max|brutto max|"
    r"available|verfuegbar|duerfen|darf es))"
)
_ASKED_WHETHER = re.compile(
    r"(?:^|[,:]|\b(?:ob|dass|reich\w*|genueg\w*|is|are|whether|if|do|will|would))\s{0,2}(?:us)?[$€£]?\s?$"
)
_SUFFICES = re.compile(r"[^!?;]{0,70}?\b(?:reich\w*|genueg\w*|langen|enough|suffic\w*)")
_NOT_BUDGET = re.compile(
    r"\b(?:costs?|kostet|kosten|price|preis\w*|miete|rent(?:s|al)?|rent is|zahl\w*|"
    r"pay(?:ing)?|bill|rechnung|tarif\w*|per kwh|kaufpreis|for sale|listed|angebot\w*|quoted?|"
    r"sells?|bought|gekauft|hourly|stundensatz|charges?|runs at|offer\w*|"
    r"spend(?:ing)? (?:about |around )?(?=$)|assume|angenommen|gebraucht fuer|used for|"
    r"for(?= ?[$€]?\s?$))(?:\W+\w+){0,3}\W*$"
)
_PERIOD = re.compile(
    r"[\s,]{0,2}(?:netto |brutto |net |gross )?(?:/|per\b|pro\b|im\b|je\b|a\b|an\b|p\.\s?|"
    r"die\b|in der\b|every\b|each\b)?\s?-?(?:gpu[- ]?|card[- ]?|karte[- ]?|"
    r"instance[- ]?)?(?P<p>kwh|hours?|hrs?|h\b|stunden?|std\b|days?|tag\w*|months?|monat\w*|"
    r"mo\b|mtl\b|years?|jaehrlich|monatlich|jahr\w*|yr\b|annum|a\b|m\.|hourly|monthly|yearly|"
    r"user|nutzer|kopf|seat|gpu\b|mtok|million|mio|1m\b|1k\b)"
)
_PERIOD_BEFORE = re.compile(
    r"\b(?P<p>monthly|hourly|yearly|annual|monatlich\w*|jaehrlich\w*|stuendlich\w*|monats|"
    r"jahres|per month|pro monat|pro stunde|per hour)[- ]?(?:budget|limit)?\W{0,3}(?:of|von|"
    r"is|ist)?\s?[$€£]?\s?$"
)
_BY_START = {
    "kw": "kwh",
    "h": "hour",
    "st": "hour",
    "d": "day",
    "ta": "day",
    "mon": "month",
    "mo": "month",
    "mtl": "month",
    "y": "year",
    "j": "year",
    "an": "year",
    "a": "year",
    "us": "user",
    "nu": "user",
    "ko": "user",
    "se": "user",
    "gp": "gpu",
    "mt": "mtok",
    "mi": "mtok",
    "1": "mtok",
}


_SPENDING_LIMIT = re.compile(
    r"\b(?:budget|(?:max(?:imum|imal\w*|\.)?|most|highest|total) (?:\w+ )?(?:spend\w*|ausgaben)|spend(?:ing)? (?:limit|cap|max\w*)|"
    r"ausgaben(?:limit|grenze|obergrenze))\W{0,4}$"
)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in units of `currency`; `period` "once" where none is said."""

    amount: float
    currency: str
    period: str


def money_reading(place: Surroundings) -> Reading | None:
    """A limit on spending is a budget; any other amount is a price."""
    quantity = place.quantity
    if not quantity.currency:
        return None
    start, end = quantity.span
    period = _period(place)
    money = Money(quantity.value, quantity.currency, period or "once")
    limits = (
        _BUDGET_BEFORE.search(place.left)
        or _BUDGET_AFTER.match(place.right)
        or (_ASKED_WHETHER.search(place.left) and _SUFFICES.match(place.right))
        or re.search(r"\bbudget\w*\b[^.!?;]{0,30}$|[<≤]=?\s?(?:us)?[$€£]?\s?$", place.left)
    )
    price = _NOT_BUDGET.search(place.left) and not _BUDGET_AFTER.match(place.right)
    if period in ("kwh", "user", "mtok", "gpu") or (price and not _SPENDING_LIMIT.search(place.left)) or not limits:
        return Reading("price", money, start, end, 6.0, "price")
    return Reading("budget", money, start, end, 6.2, "budget")


# "Token budget", "context budget": no money.
_AS_BUDGET = re.compile(
    r"(?<!token )(?<!tokens )(?<!context )(?<!kontext )(?<!cache )(?<!thinking )(?<!reasoning )(?<!memory )(?<!power )(?<!latency )"
    r"(?<![a-z\-])(?:(?:hardware|gesamt|total)[- ]?)?budget\w*(?:\s?(?:=|:|~|\(|of|von|is|ist|liegt|bei|max\.?|maximal|ca\.?|"
    r"about|around|etwa|rund|up to|bis(?: zu)?|hoechstens|at most|at|auf|wir haben|we have|sind)){0,4}\s?$"
)
_SPENT = re.compile(
    r"\b(?:can|could|may|want to|willing to|able to|koennen|duerfen|wollen|moechten|kann|darf|will)\b[^.?!;\d]{0,24}"
    r"\b(?:spend|invest|pay)(?:\s(?:up to|about|around|max\.?|at most))?\s$"
)
_BUDGET_NEXT = re.compile(
    r"\s?-?(?:budget|kostenrahmen)\b(?! tokens?)(?!\s?[:=]?\s?(?:~|max\.?|of|von|bis|up to)?\s?[$€]?\d)|"
    r"\s(?:ausgeben|investieren|zum ausgeben|to spend)\b"
)
_LEAST_BUDGET = 300.0


def budget_without_currency(place: Surroundings) -> Reading | None:
    """ "Budget 15k": an amount whose currency is left to the language."""
    quantity = place.quantity
    if quantity.unit or quantity.currency or quantity.glued or quantity.value < _LEAST_BUDGET:
        return None
    if not (_AS_BUDGET.search(place.left) or _SPENT.search(place.left) or _BUDGET_NEXT.match(place.right)):
        return None
    named = _BUDGET_NEXT.match(place.right)
    behind = replace(place, right=place.right[named.end() :]) if named else place
    money = Money(quantity.value, "", _period(behind) or "once")
    return Reading("budget", money, *quantity.span, 6.1, "budget without currency")


def _period(place: Surroundings) -> str:
    found = _PERIOD.match(place.right)
    word = (
        found.group("p") if found and (found.group().strip() != found.group("p") or len(found.group("p")) > 2) else ""
    )
    if not word:
        before = _PERIOD_BEFORE.search(place.left)
        word = before.group("p").removeprefix("per ").removeprefix("pro ") if before else ""
    if word.startswith("jahr") and "fuer" in place.right[:6]:
        return ""
    return (
        next(
            (period for start, period in sorted(_BY_START.items(), key=lambda p: -len(p[0])) if word.startswith(start)),
            "",
        )
        if word
        else ""
    )


_RAM = re.compile(
    r"\s?(?:of )?-?(?:system |cpu |server |host |normal\w* |ecc |main |dual[- ]channel |"
    r"quad[- ]channel )?(?:ddr\d?\w*|ram\b|dram\b|arbeitsspeicher|hauptspeicher|"
    r"systemspeicher|memory\b|rdimm\w*|cpu mem\w*|mem\b|lpddr\w*|speicher ram)"
)
_RAM_BEFORE = re.compile(
    r"(?<![a-z])(?:ddr\d[\w\-]*|ram|dram|arbeitsspeicher|hauptspeicher|system memory|"
    r"systemspeicher|lpddr\w*)\s?(?:=|:|of|von|ist|is|sind|mit|[\w]*\s=|"
    r"\dg?x\d+\s?=)?\s?(?:ca\.? |about |nur |only |\w+x\w+ ?= ?)?$"
)
_VRAM = re.compile(
    r"\s?(?:of |an )?-?(?:v-?ram|gpu[- ]?(?:memory|ram|speicher)|hbm\w*|grafikspeicher|" r"videospeicher|video memory)"
)
_CARD = re.compile(
    r"\s?(?:of )?-?(?:v-?ram |nvidia |amd |gpu |vram)?[- ]?(?:card|gpu|karte|grafikkarte|gpus|"
    r"cards|karten|grafikkarten|one\b|version|variante|variant|edition|ausfuehrung|potato|graphics card|"
    r"device|vram)\b"
)


_FILE = re.compile(
    r"\s?-?(?:checkpoint\w*|file\w*|datei\w*|weights|gewichte|modell?(?:e[ns]?)?\b|model\b|"
    r"download\w*|gguf|disk|ssd|nvme|storage|speicherplatz|platte\w*|dataset|corpus|korpus|"
    r"index\w*)"
)


_IN_USE = re.compile(
    r"\s?(?:of )?(?:v?ram |speicher |memory |gpu |grafikspeicher )?(?:is |are |ist |sind |werden |wird |being |as |als )?"
    r"(?:angezeigt\w*|displayed|shown|used|in use|belegt\w*|verbraucht\w*|occupied|allocated|belegung|usage|in benutzung)\b"
)


_ENOUGH_BEFORE = re.compile(
    r"\b(?:reichen|reicht|langen|langt|genuegen|genuegt|suffice|enough)\s(?:mir |uns |denn |da |noch |meine |my |nur |just |only )*$"
)
_ENOUGH_AFTER = re.compile(
    r"\s?(?:of )?(?:v?ram|gpu[- ]?(?:memory|ram|speicher)|grafikspeicher|videospeicher|memory|speicher)?\s?"
    r"(?:be |denn |noch |auch |really |wirklich )*(?:enough|sufficient|genug|ausreichend|too little|zu wenig|suffice)\b"
)


# "does it really need 96 GB?" asks about a need that somebody named; nobody has those 96 GB.
_NEED_DOUBTED = re.compile(
    r"\b(?:(?:really|actually) (?:need|require|take)s?|(?:brauch|benoetig)\w*\b[^!?;]{0,60}\b(?:wirklich|tatsaechlich))\s"
    r"(?:at least |mindestens |about |etwa |all )?~?$"
)


def memory_readings(place: Surroundings, text: str) -> Iterator[Reading]:
    """RAM of the machine, an unnamed card, or a figure observed or claimed."""
    quantity = place.quantity
    if quantity.unit != "memory":
        return
    start, end = quantity.span
    gb = quantity.value * (
        1024 if quantity.unit_word.startswith("t") else 1e-3 if quantity.unit_word.startswith("m") else 1.0
    )
    if _NEED_DOUBTED.search(place.left):
        yield Reading("claimed_gb", gb, start, end, 6.0, "need doubted")
        return
    kind = stance(place, text)
    if kind == "claimed":
        yield Reading("claimed_gb", gb, start, end, 5.0, "memory claimed")
    if (_RAM.match(place.right) and not _VRAM.match(place.right)) or _RAM_BEFORE.search(place.left):
        yield Reading("ram_gb", gb, start, end, 5.5 if kind != "claimed" else 4.0, "ram")
    if _FILE.match(place.right):
        yield Reading("file_gb", gb, start, end, 4.7, "file")
    if _ENOUGH_AFTER.match(place.right) or _ENOUGH_BEFORE.search(place.left):
        yield Reading("card_gb", gb, start, end, 5.2, "memory asked about")
    if _CARD.match(place.right):
        yield Reading("card_gb", gb, start, end, 4.5, "card with memory")
    elif (
        re.search(
            r"\b(?:on|auf|in|single|a|one|eine[rnm]?|mit|with|my|meine[rnm]?)\s(?:a |one |my |single |"
            r"einer |einem |only |nur )?$",
            place.left,
        )
        and kind != "observed"
    ):
        yield Reading("card_gb", gb, start, end, 2.0, "machine with memory")
    if _IN_USE.match(place.right):
        yield Reading("observed_gb", gb, start, end, 5.6, "memory in use")
    elif kind == "observed":
        yield Reading("observed_gb", gb, start, end, 4.6, "memory observed")
    yield Reading("memory_gb", gb, start, end, 1.0, "memory")


_RATE_SCALE = {"t": 1000.0, "g": 1.0, "m": 1e-3}


def _bandwidth(place: Surroundings) -> Reading:
    """GB/s of the machine's RAM where the words say so, else of a card or link, which the catalogue knows better."""
    quantity = place.quantity
    host = _RAM.match(place.right) or _RAM_BEFORE.search(place.left)
    name = "host_bandwidth_gb_s" if host else "bandwidth_gb_s"
    return Reading(name, quantity.value * _RATE_SCALE[quantity.unit_word[0]], *quantity.span, 2.0, "bandwidth")


def countable(quantity: Quantity, place: Surroundings) -> Iterator[Reading]:
    """Figures that describe the job without being lengths or load."""
    start, end = quantity.span
    simple: dict[Unit, str] = {
        "documents": "documents",
        "samples": "samples",
        "epochs": "epochs",
        "images": "images",
        "cores": "cpu_cores",
        "shifts": "shifts",
        "volts": "line_v",
        "amperes": "line_a",
        "years": "horizon_years",
        "dims": "dims",
        "hours": "hours",
        "token_flow": "token_flow",
        "request_rate": "request_rate",
        "network": "network_gbit",
    }
    if quantity.unit == "memory_rate":
        yield _bandwidth(place)
    if quantity.unit in simple:
        yield Reading(simple[quantity.unit], quantity.value, start, end, 1.5, quantity.unit)
    if quantity.unit == "power":
        limit = re.search(
            r"\b(?:limit\w*|begrenz\w*|cap(?:ped)?|gedrosselt|power[- ]?target|auf|je|to|each)\W{0," r"3}(?:\w+\s)?$",
            place.left,
        ) or re.match(r"\s?(?:limit|begrenzt|each|je|power limit|cap)", place.right)
        supply = re.match(r"\s?-?(?:psu|netzteil|power supply|supply|nt\b)", place.right) or re.search(
            r"\b(?:psu|netzteil|power supply)\W{0,3}(?:\w+\s)?$", place.left
        )
        yield Reading(
            "psu_w" if supply else "power_limit_w" if limit else "watts", quantity.value, start, end, 2.0, "power"
        )
