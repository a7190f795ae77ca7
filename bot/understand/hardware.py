"""From the devices a message names to the machine, or the machines, that it asks about."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.understand.device_details import DeviceMention, machines_around
from bot.understand.numbers import Quantity
from bot.understand.readings import Reading
from bot.understand.request import Device, Layout
from bot.understand.standing import product_of, standing_devices
from bot.understand.tables import in_rows_of_their_own, row_of
from bot.understand.text import Text, clause

_TOGETHER = re.compile(
    r"[\s,]*(?:\(?[\w.\- ]{0,12}\)?)?\s*(?:\+|&|\bund\b|\band\b|\bplus\b|\balongside\b|"
    r"\bneben\b|\bzusammen mit\b|\btogether with\b|,\s?gpu\s?\d|,\s?(?=\d{1,2}x))\s*(?:noch\s|"
    r"also\s)?(?:eine?[rn]?\s|an?\s|one\s)?(?:gpu\s?\d:?\s?)?$"
)
_APART = re.compile(
    r"(?:\bvs\.?\b|\bversus\b|\bor\b|\boder\b|\bgegen(?:ueber)?\b|\bstatt\b|\binstead\b|"
    r"\brather than\b|\bthan\b|\bals\b|\bagainst\b|\blohnt\b|->|\||\bbesser\b|\bbetter\b|"
    r"\bupgrade\w*|\bthinking\b|\bbzw\b|/|\breplace\w*|\bersetz\w*|\bcompared\b|"
    r"\bim vergleich\b|\bbeat\b|\boutperform\b|\bwaere\b|\bwould\b|\balternative (?:to|zu[mr]?)\b)"
)
_BECOMES = re.compile(r"\s?(?:to|auf|zu)\s")
# "Two machines, one with a 4090, one with a 3090" are two, each with its own card.
_ONE_WITH = re.compile(
    r"\b(?:einer|eine|eines|eins|one|(?:der|die|das|the) (?:eine|andere|anderen|other|second|zweite)|another)\s"
    r"(?:mit|with|has|hat|having)\s(?:(?:eine?[rnm]?|an?|der|the)\s)?$"
)
# "a) …, b) …", "1. … 2. …", bullets: what is listed is to be chosen from.
_LISTED = re.compile(r"[\n,;:.)]\s*(?:or |oder |und |and )?(?:\(?[a-h][.)]|\(?\d[.)]|[-*•]|option \w|variante \w)[\s:]")
_SLASH_COMPARE = re.compile(r"\s*/(?:cmp|compare|vergleich|vs)\b(?!.*\+)")
_MIX = re.compile(
    r"\b(?:misch\w*|mix\w*|pair(?:ed|ing)?\b|along with|next to|combine\w*|kombinier\w*|zusammen\b|"
    r"together\b|both in|gpu ?0|"
    r"unequal|ungleich\w*|pool\w*|in one (?:machine|box|server)|in einem (?:rechner|server)|"
    r"merge\w*)"
)
_MUST_IT_BE = re.compile(
    r"\b(?:or|oder)\b\s(?:do (?:i|we) need|does it (?:need|have)|must|muss|muessen|doch|"
    r"rather|gleich|eher|brauch\w*|should|shud|sollte\w*|is it|really|wirklich|need|better|besser|"
    r"lieber|go for|sogar|schon|even|ist)\b"
)
_SUFFICES = re.compile(
    r"\b(?:reich\w*|genueg\w*|langt|enough|suffic\w*|does (?:an?|one|it|my)|do \d|fits?|passt|"
    r"passen|laeuft|laufen|geht|klappt|will (?:an?|one)|can (?:an?|one|i|do|run|handle|hold|take)|kann|schafft|packt|"
    r"is (?:an?|one))\b"
)
_COMPARING = re.compile(
    r"(?:\bvs\.?\b|\bversus\b|\bvergleich|\bcompar|\bbesser\b|\bbetter\b|\blieber\b|\bwhich\b|"
    r"\bwelche|\bgegen(?:ueber)?\b|\bdeciding\b|\bentscheid|\bchoos|\bupgrade\b|\blohnt\b|"
    r"\bthinking\b|\bor just\b|\bbeat\b|\bwas (?:bringt|braechte)\b|\bswap\w*|\btausch\w*|\bgains?\b|"
    r"\badd a\b|\btorn\b|\bschwank|\balternative|\bzur (?:auswahl|wahl|debatte|diskussion)\b|\boptions?\b|\boptionen\b|"
    r"\bvarianten\b|\bkandidaten\b|\bcandidates\b|\bshortlist|\bentweder\b|\beither\b)"
)
_OWNED = re.compile(
    r"\b(?:have|has|got|habe?n?|hat|own|besitz\w*|vorhanden|already|schon|single|on (?:an?|"
    r"one|my|the|our|\d)|auf (?:einer|meiner|unserer|der|\d)|with|mit|runs|bought|"
    r"gekauft)\b[^.?!;]{0,18}$|\b(?:my|mein(?:e[nrms]?)?|our|unser(?:e[nrms]?)?)\b[^.?!;]{0,"
    r"8}$"
)
# "We already have 2x 3090": what stands there costs nothing more.
_IN_HOUSE = re.compile(
    r"\b(?:(?:already|schon|bereits)\s(?:\w+\s){0,2}(?:have|has|got|own|bought|habe?n?|hat|besitz\w*|gekauft|da|vorhanden|here|hier)|"
    r"(?:have|has|got|own|bought|habe?n?|hat|besitz\w*|steh\w*|liegen|liegt)\s(?:\w+\s){0,3}?(?:already|schon|bereits|lying around|"
    r"rumliegen|herumliegen|sitting|spare|left over|uebrig)|(?:we|i|wir|ich) (?:own|besitzen?)|"
    r"(?:steh|lieg)(?:en|t) (?:\w+ ){0,2}(?:noch|schon|bereits))\b[^.!?;]{0,24}$"
)
_NO_GPU = re.compile(
    r"\b(?:no|without(?: an?| any)?|kein\w*|ohne|zero|0)[ \-](?:dedicated |discrete |"
    r"dedizierte |eigene |extra |nvidia )?(?:gpus?|graphics|grafikkarte\w*|karten?|cards?)\b|"
    r"\bgpu-?(?:less|los)|\b(?:cpu|ram)[ \-](?:only|inference|inferenz|box|server|based|"
    r"betrieb|rechner|instan[cz]e?)\b|\b(?:only|nur|just|purely?|rein)\s(?:on |auf |the |der |"
    r"mit |per |ueber |via )*(?:cpus?|prozessor)\b|\b(?:on|auf)\s(?:the |der |a |einer |my |"
    r"reiner |pure |plain )?cpu\b(?![- ]?(?:offload|and|und|\+|kern|core))|\breine cpu|"
    r"\bcpu ok\b"
)
_BARE_MACHINE = re.compile(
    r"\b(?:\d+ ?gb|\d+ ?tb|cores?|kern\w*|ram|cpus?|ollama|llama\.cpp|vps|threads?|xeon|epyc|"
    r"laptop|notebook|prozessor)\b"
)
_HOST_ONLY = re.compile(r"\b(?:which|welche[rn]?|what)\s(?:cpu|processor|prozessor)\b")
_MY_DEVICE = re.compile(
    r"\b(?:my|mein\w*|our|unser\w*|on (?:a|the)|auf (?:einem|dem))\s(?:\w+\s)?(?:card|gpu|"
    r"karte|grafikkarte|laptop|notebook|pc|machine|rechner|computer|box|workstation|server)\b|"
    r"\b(?:laptop|notebook)\b"
)


@dataclass(frozen=True, slots=True)
class Machines:
    """What `hardware` and `alternatives` hold, with the span they were read from.

    `uncounted` names the cards set against others of which nobody said how many.
    """

    hardware: tuple[Device, ...] = ()
    alternatives: tuple[Device, ...] = ()
    layout: Layout = "machine"
    spans: tuple[tuple[int, int], ...] = ()
    cpu_only: bool = False
    processor: str | None = None
    ram_gb: float | None = None
    owned: tuple[Device, ...] = ()
    uncounted: tuple[str, ...] = ()


def machines(
    text: Text, mentions: Sequence[DeviceMention], figures: Sequence[tuple[Quantity, Reading]], slash: bool
) -> Machines:
    """Sort the devices named into one machine or several; an unnamed card or a bare processor where none is named."""
    processor = next((m.name for m in mentions if m.kind == "cpu"), None)
    standing = [_with_row(text, m) for m in standing_devices(text, mentions)]
    cards = [m for m in standing if m.kind != "cpu"]
    cpus = [m for m in standing if m.kind == "cpu"]
    if cards and cpus and not _processor_compared(text, standing):
        standing = cards
    elif cpus and not cards:
        standing = cpus[:1]
    if not standing or all(m.kind == "cpu" for m in standing):
        return _unnamed(text, standing, figures, processor)
    together, layout, rest = _arranged(text, standing, slash)
    if layout == "alternatives":
        together = _counted_each(text, _counted_ahead(text, figures, together))
    pieces = _loose_pieces(text, figures, together)
    return Machines(
        tuple(_as_device(m, pieces) for m in together), tuple(_as_device(m, None) for m in rest), layout,
        tuple((m.start, max(m.end, m.span_end)) for m in together), False, processor,
        owned=tuple(_as_device(m, pieces) for m in (*together, *rest) if _IN_HOUSE.search(clause(text.folded, m.start, m.end)[0])),
        uncounted=tuple(m.name for m in together if m.kind == "gpu" and m.count is None) if layout == "alternatives" else (),
    )  # fmt: skip


_COUNT_COLUMN = re.compile(
    r"(?:#|n|x|qty|quantity|count|number(?: of \w+)?|anzahl(?: \w+)?|menge|stueck(?:zahl)?|gpus|cards|karten)\W*$"
)
_COUNT_CELL = re.compile(r"(\d{1,4})\s?x?$")


_MEMORY_COLUMN = re.compile(
    r"(?:v-?ram|gpu[- ](?:memory|speicher)|grafikspeicher|memory|speicher)\b(?!.*(?:use|belegt|verbrauch))"
)
_MEMORY_CELL = re.compile(r"(\d{1,3})\s?(?:gb|gib|g)?$")


def _with_row(text: Text, mention: DeviceMention) -> DeviceMention:
    """ "| L40S | 4 | 48 |" below "| GPU | Anzahl | VRAM |": a table tells number and memory of a card in other cells of its row."""
    for cell in row_of(text.folded, mention.start):
        written = text.folded[cell.start : cell.end]
        if mention.count is None and not mention.asked and _COUNT_COLUMN.match(cell.label):
            found = _COUNT_CELL.match(written)
            mention = replace(mention, count=int(found.group(1))) if found else mention
        elif mention.memory_gb is None and _MEMORY_COLUMN.match(cell.label):
            found = _MEMORY_CELL.match(written)
            mention = replace(mention, memory_gb=float(found.group(1))) if found else mention
    return mention


def _as_device(mention: DeviceMention, pieces: int | None) -> Device:
    name = "unknown" if mention.kind == "mac" else mention.name
    return Device(accelerator=name, count=_count(mention, pieces), memory_gb=mention.memory_gb)


def _count(mention: DeviceMention, pieces: int | None) -> float | None:
    """One, where a device is named in the singular; open where it is asked for, a range or a bare plural."""
    if mention.asked or (mention.count is not None and not pieces):
        return mention.count
    return pieces or (None if mention.open_count else 1)


def _processor_compared(text: Text, standing: Sequence[DeviceMention]) -> bool:
    for before, after in itertools.pairwise(standing):
        if (before.kind == "cpu") != (after.kind == "cpu"):
            gap = text.folded[before.end : after.start]
            if re.search(r"\b(?:vs\.?|versus|or|oder|instead|statt)\b", gap) and len(gap) < 60 and "? " not in gap:
                return True
    return False


# "Compare A and B", "der Unterschied zwischen A und B": an "and" that sets apart, unless the cards are to work together.
_BETWEEN = re.compile(
    r"\b(?:vergleich\w*|compar(?:e|ing|ison)\b|(?:unterschied\w*|differen\w+|wahl|choice|choose|waehlen|entscheid\w*|decide)\s(?:zwischen|between))"
    r"[^.!?;]{0,40}$"
)
_AND = re.compile(r"[\s,]*(?:mal\s)?(?:und|and|mit|with)\s(?:eine?[rnm]?\s|an?\s|one\s)?$")


def _is_held_apart(text: Text, first: DeviceMention, gaps: Sequence[str]) -> bool:
    before = text.folded[max(0, first.start - 80) : first.start]
    return bool(_BETWEEN.search(before)) and all(_AND.match(gap) for gap in gaps) and not _MIX.search(text.folded)


def _arranged(
    text: Text, standing: list[DeviceMention], slash: bool
) -> tuple[list[DeviceMention], Layout, list[DeviceMention]]:
    if len(standing) == 1:
        return standing, "machine", []
    if in_rows_of_their_own(text.folded, [m.start for m in standing]):
        return standing, "alternatives", []
    gaps = [text.folded[max(a.end, a.span_end) : b.start] for a, b in itertools.pairwise(standing)]
    if (slash and _SLASH_COMPARE.match(text.folded)) or (
        slash and all("|" in gap or "vs" in gap or "," in gap or "/" in gap for gap in gaps)
    ):
        return standing, "alternatives", []
    if all(_LISTED.search(gap) for gap in gaps):
        return standing, "alternatives", []
    if _is_held_apart(text, standing[0], gaps):
        return standing, "alternatives", []
    joined = [bool(_TOGETHER.match(gap)) for gap in gaps]
    distinct = len({product_of(m) for m in standing}) > 1
    if distinct and (all(joined) or _MIX.search(text.folded)) and not any(_APART.search(gap) for gap in gaps):
        return standing, "machine", []
    if distinct and all(_ONE_WITH.search(text.folded[max(0, m.start - 28) : m.start]) for m in standing):
        return standing, "alternatives", []
    apart = [bool(_APART.search(gap) or _BECOMES.fullmatch(gap)) for gap in gaps]
    must = any(_MUST_IT_BE.search(gap) for gap in gaps)
    suffices = (
        not any("alternative" in gap for gap in gaps)
        and _SUFFICES.search(text.folded[: standing[1].start if must else standing[0].start + 1])
        and not _COMPARING.search(text.folded[: standing[0].start])
    )
    if (
        any(apart)
        and suffices
        and (must or any(re.search(r"\b(?:or|oder)\b", gap) for gap in gaps))
        and not re.search(r"\bvs\.?\b|\bversus\b", text.folded)
    ):
        return standing[:1], "machine", standing[1:]
    if any(apart) or _COMPARING.search(text.folded):
        if not distinct and not any(apart):
            return [_owned_first(text, standing)], "machine", []
        return standing, "alternatives", []
    if any(joined) and distinct:
        return standing, "machine", []
    if (
        distinct
        and all(m.count for m in standing)
        and not any(_OWNED.search(clause(text.folded, m.start, m.end, 40)[0]) for m in standing)
    ):
        return standing, "alternatives", []
    first = _owned_first(text, standing)
    return [first], "machine", [m for m in standing if product_of(m) != product_of(first)]


def _owned_first(text: Text, standing: Sequence[DeviceMention]) -> DeviceMention:
    owned = [m for m in standing if _OWNED.search(clause(text.folded, m.start, m.end, 40)[0])]
    counted = [m for m in standing if m.count]
    return (owned or counted or list(standing))[0]


def _loose_pieces(
    text: Text, figures: Sequence[tuple[Quantity, Reading]], together: Sequence[DeviceMention]
) -> int | None:
    """ "V100 32GB … 4 Stück pro Knoten", "H200 box … 8x 141GB": a count said apart from the only device named."""
    if len(together) != 1 or together[0].asked:
        return None
    if part := _part_of(figures, together[0]):
        return part
    if (together[0].count or 1) != 1:
        return None
    wanted = next((r.number for _, r in figures if r.rule == "for so many of them"), None)
    if wanted or together[0].count is not None:
        return int(wanted) if wanted else None
    counts = (r for name in ("devices", "parallel_tp", "parallel_dp") for _, r in figures if r.field == name)
    found = next((r for r in counts if r.number == int(min(r.number, 1e9)) and 1 < r.number <= 4096), None)
    return int(found.number) * machines_around(text, found.start, found.end) if found else None


def _part_of(figures: Sequence[tuple[Quantity, Reading]], device: DeviceMention) -> int | None:
    """ "A node with 4 A100, but only two of them are mine": fewer of the cards just named, with nothing else counted between."""
    between = [
        r for q, r in figures if r.start >= device.end and (r.field in ("users", "concurrency") or r.field == "devices")
    ]
    if not between or between[0].rule != "no more than so many of them":
        return None
    part = between[0].number
    return int(part) if part == int(part) and 1 <= part < (device.count or 0) else None


_COUNTS_THE_LIST = re.compile(r"\b(?:folgende[nr]?|diese[nr]?|die|den|these|following|the|between|zwischen|of|von)\s$")


def _counted_ahead(
    text: Text, figures: Sequence[tuple[Quantity, Reading]], together: Sequence[DeviceMention]
) -> list[DeviceMention]:
    """ "We buy 2 cards: A or B?": said once before uncounted alternatives it is that of each; "these 3 cards" are the list."""
    if any(m.count is not None or m.asked or m.open_count for m in together):
        return list(together)
    ahead = [r for _, r in figures if r.rule == "devices" and r.end <= together[0].start and 1 < r.number <= 4096]
    each = ahead and not _COUNTS_THE_LIST.search(text.folded, max(0, ahead[-1].start - 24), ahead[-1].start)
    return [replace(m, count=int(ahead[-1].number)) for m in together] if each else list(together)


_OF_EACH = re.compile(
    r"\b(?P<n>\d{1,4})\s?(?:x\s|pieces |cards |gpus |karten |stueck )?(?:of each|of both|von (?:jede[rm]|beiden))\b|"
    r"\b(?:je|jeweils)\s(?P<pieces>\d{1,4})\s?(?:x\b|stueck|stk|karten?|cards?|gpus?)"
)


def _counted_each(text: Text, together: Sequence[DeviceMention]) -> list[DeviceMention]:
    """ "MI300X vs H200, 8 of each", "je 4 Stück": a count said once for all alternatives."""
    found = _OF_EACH.search(text.folded)
    count = int(found["n"] or found["pieces"]) if found else 0
    if not count or any(m.count is not None or m.asked for m in together):
        return list(together)
    return [replace(m, count=count) for m in together]


_UNNAMED = re.compile(
    r"(?<![\w.,])(?P<count>\d{1,2})\s?(?:x|mal|times|\*)\s?(?P<gb>\d{1,3})\s?(?:gb|gib|g)\b(?!\s?(?:ddr|ram|dimm|riegel|sticks?|modul))"
)


def _unnamed_alternatives(text: Text) -> Machines | None:
    """ "2x 24 GB or 1x 48 GB": two machines of cards known by their memory."""
    found = list(itertools.islice(_UNNAMED.finditer(text.folded), 5))
    gaps = [text.folded[a.end() : b.start()] for a, b in itertools.pairwise(found)]
    if not gaps or not all(_APART.search(gap) and len(gap) <= 40 for gap in gaps):
        return None
    cards = (Device(accelerator="unknown", count=float(m["count"]), memory_gb=float(m["gb"])) for m in found)
    return Machines(tuple(cards), layout="alternatives", spans=tuple(m.span() for m in found))


def _unnamed(
    text: Text, standing: Sequence[DeviceMention], figures: Sequence[tuple[Quantity, Reading]], processor: str | None
) -> Machines:
    none = _NO_GPU.search(text.folded)
    cards = [(q, r) for q, r in figures if r.field in ("card_gb", "devices")]
    ram = next((r.number for _, r in cards if r.rule == "machine with memory"), None) if standing or none else None
    if ram:  # beside a processor, or without a card, the memory of the machine is RAM
        cards = [(q, r) for q, r in cards if r.rule != "machine with memory"]
    memory = next((r.number for _, r in cards if r.field == "card_gb"), None)
    count = next((r.number for _, r in cards if r.field == "devices"), None)
    spans = tuple((r.start, r.end) for _, r in cards)
    if none and not cards and (standing or _BARE_MACHINE.search(text.folded)):
        named = standing[0] if standing else None
        span = (named.start, named.end) if named else none.span()
        return Machines(
            (Device(accelerator=named.name if named else "CPU", count=1),),
            spans=(span,),
            cpu_only=True,
            processor=processor,
            ram_gb=ram,
        )
    several = _unnamed_alternatives(text)
    if several:
        return replace(several, processor=processor)
    if cards and (memory or count):
        return Machines(
            (Device(accelerator="unknown", count=count or 1, memory_gb=memory),), spans=spans, processor=processor
        )
    if standing and not _HOST_ONLY.search(text.folded):
        named = standing[0]
        return Machines(
            (Device(accelerator=named.name, count=named.count or 1),),
            spans=((named.start, named.end),),
            cpu_only=True,
            processor=processor,
            ram_gb=ram,
        )
    mine = _MY_DEVICE.search(text.folded)
    if mine:
        return Machines((Device(accelerator="unknown", count=1),), spans=(mine.span(),), processor=processor)
    return Machines(processor=processor)
