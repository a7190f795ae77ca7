"""Money: what may be spent, and what something costs."""

import re
from dataclasses import dataclass, replace

from bot.understand.readings import Reading
from bot.understand.roles import Surroundings

_BUDGET_BEFORE = re.compile(
    r"\b(?:budget\w*|up to|max(?:\.|imum|imal)?|hoechstens|bis(?: zu)?|under|unter|below|"
    r"less than|weniger als|no more than|not more than|nicht mehr als|at most|limit\w*|"
    r"cap(?:ped|s)?|gedeckelt|begrenzt|limited|"
    r"have|got|habe?n?|spend\w*|ausgeben|verfuegung|zur hand|within|innerhalb|for under|"
    r"obergrenze|allowance|foerder\w*|invest\w*|spare|with(?: about)?|mit|genehmigt|grant of|"
    r"willing to pay|kostenrahmen|rahmen|approved|allocated|earmarked|signed off(?: on)?|bewilligt|freigegeben|zugesagt|eingeplant)"
    r"(?:\s?(?:of|von|is|ist|so|ca\.?|about|around|etwa|rund|:|=|~|sind|at|bei|only|nur|"
    r"maximal|max\.?|liegt|waere|waeren|hier|noch|ungefaehr|roughly|ein budget von|"
    r"a budget of|a|auf|us|me|uns|mich|wir|ich|i|we|to|have|the|und ein bisschen|insgesamt|hoechstens|zu|"
    r"circa|to spend|gut|a total of|on|about)){0,4}\s?(?:us)?[$€£]?\s?$"
)
_BUDGET_AFTER = re.compile(
    r"[\s,)]{0,3}(?:(?:(?:per|pro|/|im|a|je)\s?\w+\s)?(?:budget\w*|max\b|maximum|maximal|"
    r"hoechstens|limit|cap\b|tops\b|or less|oder weniger|to spend|zur verfuegung|ausgeben|"
    r"zum ausgeben|at most|ist (?:die )?(?:grenze|obergrenze|schluss)|netto max|brutto max|"
    r"available|verfuegbar|duerfen|darf es|(?:\w+\s){0,2}(?:freigegeben|bewilligt|genehmigt|eingeplant|zugesagt|bereitgestellt|"
    r"reserviert|approved|allocated|earmarked|set aside|signed off|granted)\b))"
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

# "Geht das auch für 15.000 €?", "can that be done for $15k?": what it may cost is asked of, not told.
_DOABLE = re.compile(
    r"\b(?:geht|ginge|klappt|machbar|moeglich|schafft man|kriegt man|bekommt man|doable|possible|done|work|manage)"
    r"(?:\s(?:das|es|man|that|it|this|was|etwas|something|auch|noch|even|also|ungefaehr|about)){0,3}\s(?:fuer|mit|for|with|on|unter|under)"
    r"(?:\s(?:etwa|rund|ca\.|about|around|only|nur|maximal|hoechstens)){0,2}\s?(?:us)?[$€£]?\s?$"
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
    doable = _DOABLE.search(place.left)
    price = _NOT_BUDGET.search(place.left) and not (doable or _BUDGET_AFTER.match(place.right))
    if (
        period in ("kwh", "user", "mtok", "gpu")
        or (price and not _SPENDING_LIMIT.search(place.left))
        or not (limits or doable)
    ):
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
