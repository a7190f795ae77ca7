"""Whether a figure is wished for, measured or claimed."""

import re
from functools import lru_cache
from typing import Literal

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


def stance(place: Surroundings, text: str) -> Stance:
    """Whether a figure is wished for, measured or claimed; "open" where the words do not say."""
    left, right = place.left, place.right
    if place.column:  # a table shows what was measured, unless a column is one of targets
        return "wish" if _FIRM.search(place.column) else "observed"
    if place.quantity.plus:
        return "wish"
    if _CLAIMED.search(left[-48:]) or _CLAIMED_AFTER.match(right):
        return "claimed"
    if _WISH_AFTER.match(right):
        return "wish"
    observed, wished = _OBSERVED_BEFORE.search(left), _WISH_BEFORE.search(left)
    if wished and not _FIRM.search(wished.group()) and asks_why(text):
        wished = None
    if _RUNNING_AT.search(left) and not _WANTS.search(left) and not (wished and _FIRM.search(wished.group())):
        return "observed"
    if _SLOW.search(left):
        return "observed"
    if _RUNNING_HERE.search(left) and not wished:
        return "observed"
    if (observed and (not wished or asks_why(text))) or (_OBSERVED_AFTER.match(right) and not wished):
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
def asks_why(text: str) -> bool:
    """Asked of the whole message for each of its figures, so looked for once."""
    return _QUESTION_IS_WHY.search(text) is not None
