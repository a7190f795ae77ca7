"""One grammar for figures: scale, unit, range, and whether a point or a comma divides thousands or decimals."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bot.understand.text import Spans, word_set

Unit = Literal[
    "", "token_rate", "token_flow", "request_rate", "tokens", "bits", "money_suffix", "power", "memory", "memory_rate",
    "percent", "milliseconds", "seconds", "minutes", "hours", "days", "weeks", "months", "years", "volts", "amperes",
    "network", "inches", "cores", "processors", "channels", "documents", "samples", "epochs", "images", "shifts", "people",
    "requests", "devices", "machines", "params", "times", "dims", "words",
]  # fmt: skip

_TOK = r"(?:tok(?:en)?s?|t)"
_PER = r"\s?(?:/|-?per-?|\bpro\b|\bje\b|\bp\.|\ba\b|\beach\b|\bevery\b)\s?"
_SECOND = r"(?:s|secs?|sek|seconds?|sekunden?)\b"
_PERIOD = (
    r"(?:sek(?:unde)?|s|secs?|seconds?|min(?:ute)?s?|minuten?|hours?|hrs?|h|stunden?|std|"
    r"days?|d|tage?|weeks?|wochen?|months?|monate?)\b"
)
_PEOPLE = (
    r"leuten?|nutzer(?:n|innen)?|users?|be?nutzer(?:n|innen)?|mitarbeit\w*|personen|people|"
    r"ppl|persons?|kolleg\w*|"
    r"ma\b|anwender(?:n|innen)?|studis?|azubis?|praktikant\w*|trainees?|interns?|pupils?|dozent\w*|entwickler(?:n|innen)?|devs?|developers?|studen\w*|studierende\w*|"
    r"schueler\w*|lehrer\w*|lehrkraefte\w*|"
    r"koepfen?|kunden|customers?|seats?|employees?|staff|colleagues?|engineers?|analysts?|"
    r"testern?|teammates|heads?|coders?|"
    r"angestellte\w*|beschaeftigte\w*|arbeitsplaetzen?|researchers?|forscher\w*|lawyers?|"
    r"anwaelt\w*|aerzt\w*|doctors?|agents? in|"
    r"members?|participants?|teilnehmer\w*|accounts?|patients?|sachbearbeiter\w*|"
    r"designers?|authors?|autor(?:en|innen)|editors?|writers?|nurses?|pfleg(?:er|kraefte)\w*|clerks?|"
    r"officers?|managers?|"
    r"scientists?|wissenschaftler\w*|journalist\w*|artists?|kuenstler\w*|accountants?|admins?|"
    r"administrator\w*|operators?|"
    r"notare?n?|richter\w*|beamt\w*|ingenieur\w*|techniker\w*|technicians?|gestalter\w*|grafiker\w*|vertriebler\w*|"
    r"architect\w*|architekt\w*|translators?|uebersetzer\w*|testers?|attorneys?|paralegals?|interns?|praktikant\w*|"
    r"programmierer\w*|pupils?|mann\b|workers?|teachers?|"
    r"bediener\w*|consultants?|berater\w*|juristen|redakteur\w*|azubis?|folks|guys|humans?"
)
_REQUESTS = (
    r"requests?|reqs?|anfragen?|queries|query|fragen|questions?|chats?|conversations?|"
    r"sessions?|sitzungen?|gespraech\w*|streams?|calls?|slots?|"
    r"clients?|agents?|agenten|jobs?|mics?|mikrofon\w*|meetings?|dialog\w*|verbindungen|"
    r"connections?|threads?|kanaele|"
    r"transcriptions?|transkriptionen|conc(?:urrent)?\b|parallel\w*|simultan\w*|"
    r"gleichzeitig\w*|concurrency|"
    r"instances|instanzen|tasks?|callers?|anrufer?n?|telefonate\w*|completions?|messages?|"
    r"nachrichten|interviews?|mails?"
)
_DOCUMENTS = (
    r"dokument\w*|documents?|docs?|pdfs?|seiten|pages?|chunks?|absaetzen?|paragraphs?|"
    r"passagen|passages|vektoren|vectors?|files?|dateien|"
    r"embeddings?|artikeln?|articles?|tickets?|vertraegen?|contracts?|eintraegen?|emails?|"
    r"e-mails|rechnungen|invoices|akten|papers?|images? pages|"
    r"scans?|abschnitten?|snippets|records?|buecher\w*|books?|rows?|zeilen|cells?"
)

# The order decides: the first that matches names the unit.
_UNITS: tuple[tuple[Unit, str], ...] = (
    ("token_rate", rf"{_TOK}{_PER}{_SECOND}|tps\b|tokps\b|toks\b(?=\s?/)"),
    ("token_flow", rf"tok(?:en)?s?{_PER}{_PERIOD}|tok(?:en)?s?\s(?:taeglich|daily|am tag)"),
    (
        "request_rate",
        rf"(?:{_REQUESTS}|{_DOCUMENTS}|images?|bilder){_PER}(?:user{_PER})?(?:arbeits)?{_PERIOD}|"
        rf"rps\b|qps\b|rpm\b|req/s\b",
    ),
    ("request_rate", rf"(?:{_REQUESTS})\s(?:am tag|taeglich|stuendlich|daily|hourly|(?:a|per) day)"),
    ("tokens", r"tok(?:en)?s?\b|tks\b"),
    ("bits", r"bits?\b|bpw\b"),
    ("memory_rate", r"[gmt]i?b/s\b|[gmt]bps\b"),
    ("network", r"gbe\b|gbit\w*|gb?ps\b|mbit\w*"),
    (
        "money_suffix",
        r"(?:k|t|tsd\.?|mio\.?)?\s?(?:€|\$|£)|(?:k|tsd\.? |mio )?(?:eur(?:os?)?|usd|dollars?|"
        r"bucks|chf|franken)\b|ct\b|cents?\b",
    ),
    ("power", r"(?:k|m)?wh\b|(?:kw|kva|watts?|w)\b"),
    ("memory", r"(?:gib|gbs?|gigs?|gigabytes?|g|tib|tb|terabytes?|mib|mb)\b"),
    ("percent", r"%|prozent\w*|percent\b|pct\b"),
    ("milliseconds", r"ms\b|millisek\w*|msecs?\b"),
    ("seconds", r"(?:s|secs?|sek|seconds?|sekunden?)\b"),
    ("minutes", r"(?:min|mins|minutes?|minuten?)\b"),
    ("hours", r"(?:h|hrs?|hours?|std|stunden?)\b"),
    ("days", r"(?:days?|tagen?)\b"),
    ("weeks", r"(?:weeks?|wochen?)\b"),
    ("months", r"(?:months?|monate?n?)\b"),
    ("years", r"(?:years?|yrs?|jahren?)\b"),
    ("volts", r"(?:v|volt)\b"),
    ("amperes", r"(?:a|amp|amps|ampere)\b"),
    ("inches", r"(?:inch(?:es)?|zoll|\")"),
    ("cores", r"(?:cpu[- ]?)?(?:cores?|kernen?|core\b|vcpus?|threads\b)|gpu[- ]?(?:cores?|kernen?)"),
    ("processors", r"(?:sockets?|cpus?|prozessoren)\b"),
    ("channels", r"(?:memory )?(?:channels?|kanaele|kanaelen)\b"),
    (
        "devices",
        r"(?:stueck|stk\.?|karten?|cards?|gpus?|grafikkarten?|accelerators?|beschleuniger)\b|"
        r"(?:of (?:them|those|these)(?: cards)?|davon(?! (?:gleichzeitig|parallel|aktiv\w*|sind|arbeite\w*)))\b",
    ),
    ("machines", r"(?:nodes?|knoten|servern?|machines?|maschinen|rechnern?|boxes|hosts?|laptops?|instances)\b"),
    ("dims", r"(?:dims?|dimensions?|dimensionen)\b|-?d\b(?= vect| vekt)"),
    (
        "samples",
        r"(?:samples?|beispielen?|examples?|datensaetzen?|entries|eintraegen|pairs?|paaren?|"
        r"conversations for|datapoints|daten)\b",
    ),
    ("epochs", r"(?:epochs?|epochen?|ep)\b"),
    ("images", r"(?:images?|bildern?|pictures?|fotos?|frames?)\b"),
    ("shifts", r"(?:schichten|shifts)\b(?! *(?:auf|in|on))"),
    (
        "params",
        r"(?:b|bn?\s?param\w*|mrd\.?\s?param\w*|milliarden(?:\s?param\w*)?|"
        r"billion(?:\s?-?param\w*)|milliarden)(?![a-z])",
    ),
    ("people", rf"(?:{_PEOPLE})\b"),
    ("requests", rf"(?:{_REQUESTS})\b"),
    ("documents", rf"(?:{_DOCUMENTS})\b"),
    ("words", r"(?:words?|woertern?|worte|zeichen|characters|chars)\b"),
    ("times", r"x\b|mal\b|times\b"),
)
UNITS: dict[str, Unit] = {**{unit: unit for unit, _ in _UNITS}, "-": ""}
_UNIT = re.compile("|".join(f"(?P<u{n}>{pattern})" for n, (_, pattern) in enumerate(_UNITS)))
# A new line that opens with a label of its own ("20\nCard: …") does not go on with the figure before it.
_GAP = re.compile(r"(?:[ \t\-_]|\n(?![^\n:|]{1,40}[:|])){0,2}(?:\(s\))?")
_FILLER = re.compile(
    r"(?:running|laufend|offen|open|pending|queued|simultaneous|concurrent|parallel|gleichzeitig|"
    r"simultan|aktiv|active|live|voice|"
    r"whisper|internal|intern|daily|taeglich|"
    r"chat|max|peak|power|heavy|light|andere|other|extra|neue|new|lange?|kurze?|long|short|"
    r"full|typical|potentielle|potential|our|"
    r"unserer?|team|office|confluence|tiny|big|small|grosse|kleine|scanned|gescannte|more|"
    r"mehr|weitere|hungry|impatient|input|output|prompt|"
    r"remote|student|phd|training|trainings|text|german|deutsche|english|model|registrierte|"
    r"registered|angemeldete|named|total|"
    r"openwebui|api|user|coding|automatisierte)(?:e|en|er|es|s)?[\s-]{1,2}"
)
# "80 fest angestellte Mitarbeiter", "300 mostly idle users": whatever describes people stands between figure and noun; a word that begins
# another part of the sentence does not, nor does one that is counted itself.
_DESCRIPTION = re.compile(
    r"(?!(?:a|an|and|are|as|at|but|by|can|do|does|for|from|gets?|gives?|has|have|in|into|is|let|lets|like|my|needs?|no|not|of|on|or|"
    r"our|per|runs?|serves?|should|since|so|supports?|than|that|the|then|to|up|use[ds]?|via|want|wants|we|when|where|which|who|will|"
    r"with|without|you|your|aber|als|am|auf|aus|bei|bis|das|dem|den|der|des|die|ein|eine[mnrs]?|fuer|gegen|hat|haben|ich|ihre?[mnrs]?|"
    r"im|ist|je|jede[mnrs]?|kann|koennen|mein\w*|mit|muss|nicht|oder|ohne|pro|reicht|reichen|schafft|sein\w*|sind|sollen|soll|statt|"
    r"ueber|und|unser\w*|versorgt|vom|von|vs|war|wenn|werden|wie|wieviele?|will|wir|wird|zu|zum|zur)\b)"
    r"[a-z]{3,24}(?:-[a-z]{2,24}){0,2}\s"
)
_MOST_DESCRIBING = 3

NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "sixteen": 16, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "ein": 1, "eine": 1, "einer": 1, "einen": 1, "einem": 1, "eines": 1, "ne": 1, "nen": 1, "ner": 1, "nem": 1,
    "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fuenf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "elf": 11, "zwoelf": 12, "fuenfzehn": 15, "sechzehn": 16, "zwanzig": 20, "dreissig": 30, "vierzig": 40,
    "fuenfzig": 50, "sechzig": 60, "achtzig": 80, "hundert": 100, "tausend": 1000, "hundred": 100, "thousand": 1000,
    "dutzend": 12, "dozen": 12, "single": 1, "einzelne": 1, "einzelnen": 1, "einzige": 1, "dual": 2, "doppel": 2, "triple": 3,
    "quad": 4, "both": 2, "beide": 2, "beiden": 2, "paar": 2, "pair": 2, "couple": 2, "zweier": 2, "zweien": 2, "dreien": 3, "vieren": 4,
}  # fmt: skip
_TENS = {
    "zwanzig": 20,
    "dreissig": 30,
    "vierzig": 40,
    "fuenfzig": 50,
    "sechzig": 60,
    "siebzig": 70,
    "achtzig": 80,
    "neunzig": 90,
}
_ONES = {"ein": 1, "zwei": 2, "drei": 3, "vier": 4, "fuenf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9}
NUMBER_WORDS |= _TENS
NUMBER_WORDS |= {f"{one}und{ten}": n + m for one, n in _ONES.items() for ten, m in _TENS.items()}
NUMBER_WORDS |= {
    word + many: n * factor
    for word, n in (*_ONES.items(), ("zehn", 10), ("zwoelf", 12), ("fuenfzehn", 15), *_TENS.items())
    for many, factor in (("hundert", 100), ("tausend", 1000))
    if not (many == "hundert" and n > 9)
}
VAGUE_ONES = word_set("ein eine einer einen einem eines ne nen ner nem one")
_SCALES = {
    "k": 1e3, "tsd": 1e3, "tausend": 1e3, "thousand": 1e3, "t": 1e3, "hundred": 1e2, "hundert": 1e2, "dozen": 12.0, "dutzend": 12.0,
    "m": 1e6, "mio": 1e6, "mill": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6, "mrd": 1e9, "milliarden": 1e9, "bn": 1e9,
    "billion": 1e9,
}  # fmt: skip
_SCALE = re.compile(
    r"(?:(?P<tight>k|m)(?![a-z])|\s?(?P<word>tsd\.(?=\s)|mio\.(?=\s)|mrd\.(?=\s))|"
    r"\s?(?P<word2>tsd|tausend|thousand|hundred|hundert|dozen|dutzend|mio|millionen|millions?|"
    r"mrd|milliarden|bn|billion)\b"
    r"|\s(?P<loose>k|m)(?=\s?(?:tok|ctx|context|kontext|chunks|docs|dok|samples|param|eur|usd|"
    r"€|\$)))"
)
# "15 000 €": a blank divides thousands only before something counted, else two figures stand side by side.
_FIGURE = re.compile(
    r"(?<![a-z\d.,])\d{1,3}(?: \d{3})++(?=\s?(?:€|eur|usd|\$|tok|nutzer|users?\b|dok|docs?\b|documents|pdfs?\b|"
    r"seiten|pages|requests|anfragen))|"
    r"\d++(?:[.,'](?=\d)\d++)*+(?:e\+?\d{1,9}|(?:\^|\*\*)\d{1,9})?"
)
_WORD_FIGURE = re.compile(
    r"(?<![a-z0-9])(?:" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")(?![a-z0-9])"
)
_RANGE = re.compile(r"\s?(?:-|bis(?: zu)?|to|\.\.|~|or|oder|und|/)\s?(?:zu\s|ca\.?\s|maybe\s|vielleicht\s)?$")
_RANGE_STRICT = re.compile(r"\s?(?:-|bis(?: zu)?|to|\.\.)\s?$")
_GLUED = word_set(
    "x ctx seq bs batch conc tp dp pp ep kontext context in out isl osl users user r rank np par mac num "
    "len n c max seqlen prompt "
    "bsz tg np"
)
_CURRENCY_BEFORE = re.compile(r"(?<!\d)(?<!\d )(?:(?:us)?\$|€|£|\b(?:eur|usd|euro|chf))\s?$")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure of the message. `value` is the upper end of a range; `start` and `end` bound figure and scale, `unit_end` the unit."""

    value: float
    low: float | None
    start: int
    end: int
    unit: Unit = ""
    unit_word: str = ""
    unit_end: int = 0
    scale: str = ""
    negative: bool = False
    plus: bool = False
    spelt: bool = False
    currency: str = ""
    glued: str = ""
    doubtful: tuple[float, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        return self.start, max(self.end, self.unit_end)


def quantities(folded: str, lang: str, taken: Spans | None = None) -> list[Quantity]:
    """All figures outside the spans that are already taken by names, in order; ranges are joined."""
    found = [*_figures(folded, lang), *_spelt(folded)]
    if taken is not None:
        found = [q for q in found if not taken.meet(q.start, q.end)]
    found.sort(key=lambda q: q.start)
    return _join_ranges(folded, found)


def _figures(folded: str, lang: str) -> Iterator[Quantity]:
    for found in _FIGURE.finditer(folded):
        glued = _glued_before(folded, found.start())
        if glued is None:
            continue
        yield _quantity(folded, found, glued, lang)


def _glued_before(folded: str, start: int) -> str | None:
    """The letters written right before a figure: "" for none, a role such as "ctx", or None where they make a name of it."""
    place = start
    while place > 0 and start - place < 12 and folded[place - 1].isalpha() and folded[place - 1].isascii():
        place -= 1
    word = folded[place:start]
    if not word:
        return "" if start == 0 or folded[start - 1] not in "0123456789" else None
    return word if word in _GLUED else None


def _quantity(folded: str, found: re.Match[str], glued: str, lang: str) -> Quantity:
    text, start, end = found.group().replace(" ", "'"), found.start(), found.end()
    scale, factor = "", 1.0
    scaled = _SCALE.match(folded, end)
    if scaled and not (scaled.group("tight") == "m" and not _scales_m(folded, scaled.end())):
        scale = next(group for group in scaled.groups() if group).rstrip(".")
        factor, end = _SCALES[scale], scaled.end()
    plus = folded.startswith("+", end)
    unit, word, unit_end = _unit_after(folded, end + plus)
    if not unit and scale:
        unit, word, unit_end = _scale_as_unit(scale, end)
        factor = 1.0 if unit == "params" else factor
    currency = _currency(folded, start, word, unit)
    value, doubtful = _plain_value(text, lang, unit, bool(scale), currency, bool(_PER_UNIT.match(folded, end)))
    factor *= _unit_factor(unit, word)
    return Quantity(
        value=value * factor, low=None, start=start, end=end, unit=unit, unit_word=word, unit_end=unit_end, scale=scale,
        negative=_negative(folded, start), plus=plus, currency=currency, glued=glued, doubtful=doubtful,
    )  # fmt: skip


def _scales_m(folded: str, end: int) -> bool:
    """ "20M chunks" are millions; a lone "m" may be metres or a chip, so it needs something countable behind it."""
    return _A_LENGTH.match(folded, end) is not None or _unit_after(folded, end)[0] in (
        "tokens",
        "documents",
        "samples",
        "params",
        "requests",
        "images",
        "token_flow",
        "people",
        "words",
    )


_A_LENGTH = re.compile(r"\s?-?(?:ctx|context|kontext\w*|window|fenster)\b")


def _scale_as_unit(scale: str, end: int) -> tuple[Unit, str, int]:
    if scale in ("bn", "milliarden", "billion", "mrd"):
        return "params", scale, end
    return "", "", end


def _unit_after(folded: str, end: int) -> tuple[Unit, str, int]:
    gap = _GAP.match(folded, end)
    place = gap.end() if gap else end
    for begin in (place, *_after_filler(folded, place)):
        found = _UNIT.match(folded, begin)
        if found and found.lastgroup:
            unit = _UNITS[int(found.lastgroup[1:])][0]
            if begin != place and unit not in (
                "people",
                "requests",
                "tokens",
                "documents",
                "images",
                "samples",
                "token_rate",
            ):
                continue
            if (unit == "amperes" and place > end and found.group() == "a") or (
                unit == "volts" and place > end and found.group() == "v"
            ):
                continue
            return _headed(folded, unit, found)
    return _described_people(folded, place) or ("", "", end)


def _described_people(folded: str, place: int) -> tuple[Unit, str, int] | None:
    """People after words that describe them; None where another unit or another part of the sentence comes first."""
    for _ in range(_MOST_DESCRIBING):
        word = _DESCRIPTION.match(folded, place)
        if word is None:
            return None
        place = word.end()
        found = _UNIT.match(folded, place)
        if found and found.lastgroup:
            unit = _UNITS[int(found.lastgroup[1:])][0]
            return (unit, found.group(), found.end()) if unit == "people" else None
    return None


def _headed(folded: str, unit: Unit, found: re.Match[str]) -> tuple[Unit, str, int]:
    """ "1 million chat samples" counts samples: of two nouns the second is the head."""
    if unit == "requests" and not found.group().startswith(("parallel", "gleichz", "conc", "simult")):
        head = _UNIT.match(folded, found.end() + 1) if folded[found.end() : found.end() + 1] in (" ", "-") else None
        if (
            head
            and head.lastgroup
            and _UNITS[int(head.lastgroup[1:])][0] in ("samples", "documents", "images", "tokens", "people")
        ):
            if found.group().startswith(("completion", "message")) and head.group().startswith("tok"):
                return "tokens", head.group(), found.start()  # "2k completion tokens": the word says which length it is
            return _UNITS[int(head.lastgroup[1:])][0], head.group(), head.end()
    return unit, found.group(), found.end()


def _after_filler(folded: str, place: int) -> tuple[int, ...]:
    """Where what is counted may begin: after one and after two words that say what kind it is."""
    first = _FILLER.match(folded, place)
    second = _FILLER.match(folded, first.end()) if first else None
    return tuple(found.end() for found in (first, second) if found)


def _unit_factor(unit: Unit, word: str) -> float:
    if unit == "money_suffix":
        if word.startswith(("k", "t€", "t ", "tsd")) or word[:2] in ("t€", "t$"):
            return 1e3
        return 1e6 if word.startswith("mio") else 0.01 if word.startswith(("ct", "cent")) else 1.0
    if unit == "power":
        return 1e3 if word.startswith("k") else 1.0
    return 1.0


def _currency(folded: str, start: int, word: str, unit: Unit) -> str:
    before = _CURRENCY_BEFORE.search(folded, max(0, start - 6), start)
    text = (before.group() if before else "") + (word if unit == "money_suffix" else "")
    return next((code for sign, code in _CURRENCIES if sign in text), "")


_CURRENCIES = (
    ("$", "USD"), ("usd", "USD"), ("dollar", "USD"), ("bucks", "USD"), ("€", "EUR"), ("eur", "EUR"), ("£", "GBP"),
    ("chf", "CHF"), ("frank", "CHF"), ("ct", "EUR"), ("cent", "USD"),
)  # fmt: skip


def _negative(folded: str, start: int) -> bool:
    return folded[start - 1 : start] in ("-",) and (start < 2 or folded[start - 2] in " (=:")


def _plain_value(
    text: str, lang: str, unit: Unit, scaled: bool, currency: str, per_unit: bool
) -> tuple[float, tuple[float, ...]]:
    """Read the digits. A lone group of three after a separator is a thousand or a fraction; language, unit and sign decide."""
    power = _POWER.search(text)
    if power:
        value, _ = _plain_value(text[: power.start()], lang, unit, True, currency, per_unit)
        tens = power.group("sign") == "e"
        return _raised(10.0 if tens else value, int(power.group("exponent")), value if tens else 1.0), ()
    marks = [c for c in text if c in ".,'"]
    if not marks:
        return float(text), ()
    groups = re.split(r"[.,']", text)
    thousands = all(len(g) == 3 for g in groups[1:]) and 1 <= len(groups[0]) <= 3 and groups[0] != "0" and not scaled
    if len(marks) > 1:
        if len(set(marks)) == 1 and thousands:
            return float("".join(groups)), ()
        return float("".join(groups[:-1]) + "." + groups[-1]), ()
    joined, fraction = float("".join(groups)), float(".".join(groups))
    if not thousands or (marks[0] == "'" and not thousands):
        return fraction, ()
    if _divides_thousands(marks[0], lang, unit, currency, float(groups[0]), per_unit):
        return joined, (fraction,)
    return fraction, (joined,)


_WHOLE = frozenset(
    (
        "tokens",
        "token_rate",
        "token_flow",
        "documents",
        "people",
        "requests",
        "samples",
        "images",
        "request_rate",
        "devices",
        "words",
    )
)


_PER_UNIT = re.compile(r"\s?(?:/|per\b|pro\b|a\b|an\b)")
# Above five units of a currency nobody writes a price to the tenth of a cent: "$10.000" is ten thousand.
_DEAR = 5.0


_POWER = re.compile(r"(?P<sign>e|\^|\*\*)\+?(?P<exponent>\d+)$")
_LARGEST = 1e300


def _raised(base: float, exponent: int, times: float) -> float:
    """ "10^30", "1e6"; what no float holds is held at 1e300, which nobody can mean either."""
    if base > 1 and exponent * math.log10(base) + math.log10(max(times, 1.0)) > 300:
        return _LARGEST
    return times * base**exponent


def _divides_thousands(mark: str, lang: str, unit: Unit, currency: str, whole: float, per_unit: bool) -> bool:
    if mark == "'" or unit in _WHOLE:
        return True
    if mark == ",":
        return lang != "de" or unit in _WHOLE
    if currency == "EUR":
        return True
    if currency and lang != "de":
        return not per_unit and whole >= _DEAR
    return lang == "de" or unit == ""


_COUNTABLE_UNITS = frozenset(("people", "devices", "requests", "machines", "images", "documents"))
_TIMED_UNITS = frozenset(("epochs", "seconds", "hours", "days"))


def _spelt(folded: str) -> Iterator[Quantity]:
    for found in _WORD_FIGURE.finditer(folded):
        word, end = found.group(), found.end()
        value = float(NUMBER_WORDS[word])
        scaled = re.match(
            r"\s(dutzend|dozen|hundred|hundert|tausend|thousand|million(?:en)?)\b", folded[end : end + 12]
        )
        if scaled:
            value, end = value * _SCALES[scaled.group(1)], end + scaled.end()
        unit, unit_word, unit_end = _unit_after(folded, end)
        if word in VAGUE_ONES and unit not in (_COUNTABLE_UNITS | _TIMED_UNITS if word == "one" else _COUNTABLE_UNITS):
            continue
        if word in ("hundert", "tausend", "hundred", "thousand") and re.search(
            r"\d\s?$", folded[max(0, found.start() - 3) : found.start()]
        ):
            continue
        currency = _currency(folded, found.start(), unit_word, unit)
        factor = _unit_factor(unit, unit_word) if currency else 1.0
        yield Quantity(
            value * factor, None, found.start(), end, unit, unit_word, unit_end, spelt=True, currency=currency
        )


def _join_ranges(folded: str, found: list[Quantity]) -> list[Quantity]:
    joined: list[Quantity] = []
    for quantity in found:
        before = joined[-1] if joined else None
        if before is not None and quantity.start < before.end:
            continue
        if before is not None and _is_range(folded, before, quantity):
            factor = _shared_scale(before, quantity)
            joined[-1] = Quantity(
                value=max(quantity.value, before.value * factor), low=before.value * factor if before.low is None else before.low,
                start=before.start, end=quantity.end, unit=quantity.unit, unit_word=quantity.unit_word, unit_end=quantity.unit_end,
                scale=quantity.scale, plus=quantity.plus, currency=quantity.currency or before.currency, glued=before.glued,
            )  # fmt: skip
        else:
            joined.append(quantity)
    return joined


def _shared_scale(before: Quantity, after: Quantity) -> float:
    """ "5-6 hundred" and "40-60 T€" scale both ends."""
    if before.unit or before.scale:
        return 1.0
    factor = _SCALES.get(after.scale, 1.0) * (
        _unit_factor(after.unit, after.unit_word) if after.unit in ("money_suffix", "power") else 1.0
    )
    return factor if before.value < after.value else 1.0


def _is_range(folded: str, before: Quantity, after: Quantity) -> bool:
    gap = folded[max(before.end, before.unit_end if before.unit == after.unit and before.unit else 0) : after.start]
    if len(gap) > 12 or before.low is not None or before.spelt != after.spelt:
        return False
    if before.unit and before.unit != after.unit:
        return False
    if before.currency and not after.currency and after.unit not in ("", "money_suffix"):
        return False
    if after.negative and not gap.strip():
        return after.value > before.value
    return bool(_RANGE_STRICT.match(gap.replace("$", "").replace("€", ""))) and before.value < after.value * max(
        1.0, _SCALES.get(after.scale, 1.0)
    )
