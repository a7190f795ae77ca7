"""What stands beside a device's name: how many, with how much memory, in which form."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from bot.understand.number_words import NUMBER_WORDS
from bot.understand.text import Spans, Text, clause
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find

DeviceKind = Literal["gpu", "unified", "cpu", "mac", "card"]

_FORM = re.compile(
    r"[\s,\-]{0,2}\(?(sxm\d?\b|(?:pcie|pci-e|nvl|oam)\b(?!\s?(?:gen\s?)?\d|\s?x\d|-?lanes|\s(?:lanes|slot|gen)))"
)
_SPACED_FORM = re.compile(r"^[^.!?;\n]{0,26}?\((?:[^()]{0,20}[ ,])?(sxm\d?|pcie|nvl)\b(?!\s?(?:gen\s?)?\d|\s?x\d)")
MEMORY_AFTER = re.compile(
    r"[\s,\-]{0,2}(?:\(\s?|with |mit |w/ ?|a |@ ?|= ?|and |in der |je |jeweils |the |"
    r"version with |vram |\w+ mit )?(?:je |a |ca\.? |about )?(?P<gb>\d{1,"
    r"4}(?:[.,]\d)?)\s?-?(?:gb|gib|gig|g|tb)(?:yte)?s?\b(?P<tail>/s|\s?(?:of )?(?:unified |"
    r"shared |system[- ]?)?(?:ram|dram|ddr\d?|arbeitsspeicher|system|vram|unified|memory|"
    r"speicher|hbm\w*|mem)?)"
)
_BARE_MEMORY_AFTER = re.compile(
    r"(?:-|\s?\(|\s)(?P<gb>\d{1,3})(?P<close>\)?)(?![\w%]|[.,]\d|\s?(?:x|\*|gb|k\b|tok|user|nutzer|"
    r"leute|parallel|conc|watt|gpu|core|kern))"
)
MEMORY_BEFORE = re.compile(
    r"(?P<gb>\d{1,4})\s?-?(?:gb|gib|g)(?:[ \-](?:vram|ram|unified|hbm\w*|version|variante|"
    r"of))?[ \-]{1,2}(?:mac ?studio |mac ?mini |mac ?book (?:pro |air )?|mac |nvidia |"
    r"geforce |rtx |\(){0,2}$"
)
_ADJECTIVE = (
    r"(?:used|gebraucht\w*|alte[nrs]?|aeltere[nr]?|neue[nrs]?|old|older|new|more|weitere[nr]?|"
    r"additional|zusaetzliche\w*|of the|of those|of|von den|von|der|"
    r"refurbished|second-hand|cheap|billige|guenstige|karten|cards?|gpus?|nvidia|geforce|amd|"
    r"tesla|radeon|intel|apple|brand new|consumer|stueck|stk\.?|x|identical|gleiche\w*|"
    r"server-|our|unserer|meiner|my|single|einzelne[nr]?|fabrikneue\w*|spare|normale\w*|"
    r"instinct|of our|pcs|mac ?(?:minis?|studios?|pros?|books?(?: ?(?:pros?|air))?)|grafikkarten|times|"
    r"mal|the|nodes?|boxes)[ \-]"
)
_COUNT_WORDS = "|".join(sorted((w for w in NUMBER_WORDS if NUMBER_WORDS[w] <= 50), key=len, reverse=True))
_GOT_AFTER = re.compile(
    r"[\s,:(]{1,3}(?:i |we |ich |wir )?(?:bought|got|have|own|ordered|habe?n?|hab|gekauft|davon|"
    r"insgesamt)\s(?:ich |wir )?"
    rf"(?P<n>\d{{1,3}}|{_COUNT_WORDS})(?=\s(?:off|of|from|on|von|bei|used|gebraucht|davon|stueck)\b|\s?[.,;)!?]|$)"
)
_COUNT_BEFORE = re.compile(
    rf"(?:(?<![\d.a-z\-$€])|(?<=\n-))(?:(?P<n>\d{{1,9}})\s?(?:x|\*)\s?|(?<!,)(?P<bare>[1-9]\d{{0,2}}(?:[.,]\d{{3}}){{1,3}}|\d{{1,9}})[^\S\n]|"
    rf"(?P<word>{_COUNT_WORDS})(?:mal)?[ \-](?:x\s)?)(?:{_ADJECTIVE}){{0,3}}(?:\d{{1,3}}\s?-?gb?\s)?\(?$"
)
_COUNT_AFTER = re.compile(
    r"(?:\s?\*\s?(?P<star>\d{1,3})|(?:\s?\(|)x\s?(?P<tight>\d{1,2})\)?|\sx\s?(?P<loose>\d{1,"
    r"2})|[\s,:(]{1,3}(?P<pieces>\d{1,3})\s?(?:stueck|stk|pcs|pieces|units|"
    r"x\b)\)?)(?![\da-z]|\.\d|\s?pcie)"
)
_GROUP_AFTER = re.compile(r"[\s,:]{0,2}\(?\s?(?P<n>\d{1,3})\s?x\s?(?P<gb>\d{1,3})\s?-?(?:gb|gib|g)\b")
_ARTICLE = re.compile(r"\b(?:an?|one|eine[rnm]?|einzelne\w*)\s(?:(?!mit\b|with\b)\w+\s)?$")
_EACH_OF = re.compile(
    r"\b(?:each|jede[rsnm]?|every one) (?:of |der |unserer |meiner )?(?:our |the |my |these |those )?$"
)
_PER_MACHINE = re.compile(
    r"\s?(?:per|pro|je|in each|in jedem|in every)\s(?:server|node|knoten|box|machine|rechner|host|maschine)\b"
)
_EACH_SITE = re.compile(r"\b(?:je|jeweils|each|jede[rs]?)\s(?:has |hat |mit |with |gets |bekommt )?$")
_RANGE_COUNT = re.compile(
    r"(?<![a-z0-9.,])(?P<low>\d{1,2}|one|eine?r?|zwei|two|drei)\s?(?:-|or|oder|bis|to)\s?(?P<high>\d{1,2}|"
    r"two|zwei|three|"
    r"drei|vier|four)\s?x?\s?(?:\w+\s)?$"
)
_HOW_MANY = re.compile(
    r"\b(?:how many|wie ?viele?|number of|anzahl(?: der)?|how much|which number of|" r"ab wie vielen)\s(?:\w+\s){0,2}$"
)
_ONE_OR_TWO = re.compile(
    r"\s?(?:\(|,|:|-)?\s?(?:one or two|eine oder zwei|1 or 2|1 oder 2|number of|brauche ich mehrere|"
    r"(?:how many|wie ?viele)\b(?=\s(?:davon|karten|gpus|cards|of|do|would|brauch|braucht|muss|sind)|\s?(?:\?|$)))"
)
_NODES = re.compile(
    r"\b(?P<n>\d{1,3}|"
    + _COUNT_WORDS
    + r")[\s\-]?(?:x\s)?(?:(?:old|alt|aelter|used|gebraucht|new|neu|identical|gleich|klein|gross|small|big|dell|supermicro|"
    r"gpu)[a-z]{0,3}[\s\-]){0,2}(?:nodes?|knoten|servern?|machines?|maschinen|rechnern?|boxes|hosts?|"
    r"(?:dgx|hgx)(?:[ -][a-z]?\d{1,3})?s?|systeme?|sites?|standorten?|locations?|replikas?|replikate?n?|replicas?|kopien|copies|"
    r"racks?|data ?cent(?:er|re)s?|rechenzentren)\b"
)
_PLURAL = re.compile(r"s(?![a-z0-9])")
_EACH = re.compile(
    r"\b(?:each|je|jeweils|per node|pro knoten|per server|pro server|with|mit|a|of|x|per box|" r"pro maschine)\b"
)
# "Two replicas of a model on 2 cards" share the cards; "two replicas on 2 cards each" have four.
_COPIES = re.compile(r"repli|kopien|copies")
_EACH_COPY = re.compile(r"\b(?:each|je|jeweils)\b")


@dataclass(frozen=True, slots=True)
class DeviceMention:
    """A device where the message names it. `count` None = not said; `asked` = how many is the question."""

    name: str
    id: str | None
    kind: DeviceKind
    start: int
    end: int
    count: int | None = None
    memory_gb: float | None = None
    asked: bool = False
    core_start: int = 0
    core_end: int = 0
    span_end: int = 0
    why_not: str = ""
    open_count: bool = False


def completed(text: Text, mention: DeviceMention, taken: Spans, slash: bool) -> DeviceMention:
    """Adds form, memory and count from the words around a device's name."""
    mention = _with_form(text, _with_memory(text, mention))
    return _with_count(text, mention, taken, slash)


_FROM_TO = re.compile(
    r"\b(?:from|von|vo[nm])\s(?P<low>\d{1,3})\s?(?:x\s)?(?P<to>to|auf|->|zu)\s(?P<high>\d{1,3})\s?(?:x\s)?$"
)


def before_and_after(text: Text, mention: DeviceMention) -> tuple[DeviceMention, ...]:
    """ "An upgrade from 1 to 2 4090": the machine as it is and as it would be; any other mention stays alone."""
    left = text.folded[max(0, mention.core_start - 28) : mention.core_start]
    found = _FROM_TO.search(re.sub(r"(?:rtx|gtx|nvidia|geforce) $", "", left))
    if not found or mention.asked or int(found.group("low")) == int(found.group("high")):
        return (mention,)
    start = mention.core_start - len(left)
    low = replace(
        mention, count=int(found.group("low")), start=start + found.start("low"), end=start + found.end("low"),
        span_end=start + found.end("low"), open_count=False,
    )  # fmt: skip
    high = replace(mention, count=int(found.group("high")), start=start + found.start("high"), open_count=False)
    return low, high


def _with_form(text: Text, mention: DeviceMention) -> DeviceMention:
    found = _FORM.match(text.folded, max(mention.end, mention.span_end)) or _SPACED_FORM.match(
        text.folded[mention.end : mention.end + 60]
    )
    if not found or mention.kind != "gpu":
        return mention
    form = {"sx": "SXM", "pc": "PCIe", "nv": "NVL", "oa": "OAM"}[found.group(1)[:2]]
    name = f"{mention.name} {form}"
    if not find(name, "accelerator", False).id or form in mention.name:
        return mention
    tight = found.re is _FORM
    return replace(mention, name=name, span_end=found.end() if tight else mention.span_end)


def _with_memory(text: Text, mention: DeviceMention) -> DeviceMention:
    if mention.kind == "cpu":
        return mention
    group = _GROUP_AFTER.match(text.folded, mention.end)
    if group and _memory_fits(mention, float(group.group("gb"))):
        return replace(mention, memory_gb=float(group.group("gb")), span_end=group.end())
    if part := _part_of_card(text, mention):
        return part
    before = MEMORY_BEFORE.search(text.folded, max(0, mention.start - 36), mention.start)
    after = MEMORY_AFTER.match(text.folded, mention.end)
    if (
        after
        and mention.kind == "gpu"
        and _is_host_memory(after.group("tail"), text.folded[after.end() : after.end() + 12])
    ):
        after = None
    if after and after.group("tail") != "/s" and _memory_fits(mention, float(after.group("gb").replace(",", "."))):
        return replace(mention, memory_gb=float(after.group("gb").replace(",", ".")), span_end=after.end())
    if before and _memory_fits(mention, float(before.group("gb"))):
        return replace(mention, memory_gb=float(before.group("gb")), start=before.start(), span_end=mention.end)
    bare = _BARE_MEMORY_AFTER.match(text.folded, mention.end)
    if bare and _is_an_option(mention, float(bare.group("gb"))):
        return replace(mention, memory_gb=float(bare.group("gb")), span_end=bare.end())
    return mention


# "H100 3g.40gb", "H100 MIG 1g.10gb" name a slice by its memory; "half an H100" is one with half of it.
_SLICE_AFTER = re.compile(r"[\s,\-]{0,2}\(?(?:mig[\s\-]{1,2})?(?:slice |profil\w* )?\dg\.(?P<gb>\d{1,3})gb\b")
_HALF_BEFORE = re.compile(
    r"(?<![a-z])(?:halbe[nrms]?\s|half\s(?:of\s)?(?:an?\s|one\s)?|(?:die\s)?haelfte\s(?:einer|von einer)\s)$"
)


def _part_of_card(text: Text, mention: DeviceMention) -> DeviceMention | None:
    """A share of one card, known by its memory; None where the whole card is meant."""
    found = _SLICE_AFTER.match(text.folded, mention.end)
    if found:
        return replace(mention, memory_gb=float(found.group("gb")), span_end=found.end())
    half = _HALF_BEFORE.search(text.folded, max(0, mention.start - 24), mention.start)
    whole = catalogue().accelerators[mention.id].memory_gb if half and mention.id else None
    if half is None or whole is None or mention.kind != "gpu":
        return None
    return replace(mention, memory_gb=whole / 2, start=half.start())


def _is_host_memory(tail: str, further: str) -> bool:
    return any(
        word in tail for word in ("ddr", " ram", "dram", "arbeitsspeicher", "system")
    ) or further.lstrip().startswith(("ddr", "ram", "arbeitsspeicher"))


def _memory_fits(mention: DeviceMention, gb: float) -> bool:
    """A figure beside a card is the card's when a card of that kind could have it; unknown cards may have anything."""
    if mention.id is None or mention.kind == "unified":
        return 1 <= gb <= 2048
    known = _options(mention)
    return (
        not known
        or any(abs(gb - option) <= 0.1 * option for option in known)
        or (gb in (22, 48, 12, 16, 20, 24, 32, 40, 64, 80, 94, 96, 141) and gb <= 4 * max(known))
    )


def _is_an_option(mention: DeviceMention, gb: float) -> bool:
    return any(abs(gb - option) <= 0.05 * option for option in _options(mention))


def _options(mention: DeviceMention) -> tuple[float, ...]:
    if mention.id is None:
        return ()
    match = find(mention.name, "accelerator", False)
    found: list[float] = []
    for ident in match.candidates or (mention.id,):
        entry = catalogue().accelerators[ident]
        found += [float(gb) for gb in (entry.memory_gb, *(entry.memory_options_gb or ())) if gb]
    return tuple(found)


def _with_count(text: Text, mention: DeviceMention, taken: Spans, slash: bool) -> DeviceMention:
    left = text.folded[max(0, mention.start - 48) : mention.start]
    if _HOW_MANY.search(left) or _ONE_OR_TWO.match(text.folded, max(mention.end, mention.span_end)):
        return replace(mention, count=None, asked=True)
    if _is_range(left):
        return replace(mention, count=None, open_count=True)
    count, start = _count_before(text, mention, left, taken)
    if count is None:
        count, end = _count_after(text, mention, slash)
        mention = replace(mention, span_end=max(end, mention.span_end, mention.end))
    else:
        mention = replace(mention, start=start, span_end=max(mention.span_end, mention.end))
    plural = count is None and _PLURAL.match(text.folded, mention.end - 1) and not mention.name.endswith(("S", "s"))
    mention = replace(mention, open_count=bool(plural))
    nodes = _nodes(text, mention) if not slash and (count or _ARTICLE.search(left)) else 1
    if count is None and nodes > 1:
        return replace(mention, count=nodes)
    return replace(mention, count=None if count is None else count * nodes)


def _is_range(left: str) -> bool:
    """ "2 or 3 H100" leaves the count open; in "M4 Max 64 or 2 Sparks" the first figure belongs to another device."""
    found = _RANGE_COUNT.search(left)
    if found is None:
        return False
    low, high = (float(word) if word.isdigit() else NUMBER_WORDS[word] for word in found.group("low", "high"))
    return low < high


def _count_before(text: Text, mention: DeviceMention, left: str, taken: Spans) -> tuple[int | None, int]:
    found = _COUNT_BEFORE.search(left)
    if not found:
        return None, mention.start
    if found.group().endswith("(") and re.match(
        r"[^()]{0,30}(?:\+|,|\bund\b|\band\b)", text.folded[mention.end : mention.end + 40]
    ):
        return None, mention.start
    start = mention.start - len(left) + found.start()
    digits = found.group("n") or found.group("bare")
    ahead = left[: found.start()]
    if taken.hold(start) or (found.group("bare") and _LABEL_AHEAD.search(ahead)):
        return None, mention.start
    outer = _GROUPS_OF.search(ahead)
    groups = int(outer.group("n")) if outer else 1
    start -= len(ahead) - outer.start() if outer else 0
    if digits is None:
        return groups * int(NUMBER_WORDS[found.group("word")]), start
    count = int(re.sub(r"[.,]", "", digits))
    if found.group("bare") and not text.folded[mention.start].isalpha() and _is_no_count(digits, count):
        return None, mention.start
    return groups * count, start


def _is_no_count(digits: str, count: int) -> bool:
    """ "budget 5000 4090" and "3090 4090": a figure before a bare number is not so many of it, and a card no count of another."""
    return count > _MOST_BARE or find(digits, "accelerator", False).id is not None


_MOST_BARE = 4096
MOST_DEVICES = 100_000
# "2x (4x H100)", "2 mal 4 L40S": groups of cards.
_GROUPS_OF = re.compile(r"(?<![\w.,])(?P<n>\d{1,3})\s?(?:x|\*|mal|times)\s?\(?\s?$")
# In "bs 2 a100" the figure belongs to the setting before it.
_LABEL_AHEAD = re.compile(
    r"(?<![a-z])(?:bsz?|mbs|gbs|batch(?:[ -]?size)?|ctx|context|kontext|seq(?:[ -]?len)?|len|rank|alpha|np|conc|"
    r"concurrency|epochs?|epochen|isl|osl|tp|pp|dp|ep|gen|pcie|stage|zero|gpu|cuda)\s?[=:]?\s?$"
)


def _count_after(text: Text, mention: DeviceMention, slash: bool) -> tuple[int | None, int]:
    place = max(mention.end, mention.span_end)
    group = _GROUP_AFTER.match(text.folded, mention.end)
    if group:
        return int(group.group("n")), group.end()
    got = _GOT_AFTER.match(text.folded, place)
    if got:
        digits = got.group("n")
        return int(digits) if digits.isdigit() else int(NUMBER_WORDS[digits]), got.end("n")
    found = _COUNT_AFTER.match(text.folded, place)
    if not found or (slash and found.group("loose")):
        return None, mention.end
    digits = next(
        g for g in (found.group("star"), found.group("tight"), found.group("loose"), found.group("pieces")) if g
    )
    return int(digits), found.end()


def _nodes(text: Text, mention: DeviceMention) -> int:
    return machines_around(text, mention.start, max(mention.end, mention.span_end))


def machines_around(text: Text, start: int, end: int) -> int:
    """How many machines the words around a count of cards speak of: "two nodes, 4 GPUs each"."""
    left, right = clause(text.folded, start, end, 40)
    found = next(reversed(list(_NODES.finditer(left))), None)
    each = _EACH_COPY if found and _COPIES.search(found.group()) else _EACH
    if found and each.search(left[found.end() :] + " " + right[:24]) and len(left) - found.end() < 24:
        return _number(found.group("n"))
    if found and _EACH_OF.search(left[: found.start()]):
        return _number(found.group("n"))
    if not found and _PER_MACHINE.match(right):
        return _machines_beside(left + " | " + right)
    if not found and _EACH_SITE.search(left):
        return _sites_before(text.folded[max(0, start - 110) : start - len(left)])
    return 1


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBER_WORDS[word]


def _machines_beside(sentence: str) -> int:
    """ "Four L40S per server, two servers": the machines counted elsewhere in the sentence."""
    found = _NODES.search(sentence)
    return _number(found.group("n")) if found else 1


def _sites_before(earlier: str) -> int:
    """ "Two sites, … Each 2x L40S": machines counted in the sentence before."""
    found = next(reversed(list(_NODES.finditer(earlier))), None)
    return _number(found.group("n")) if found else 1
