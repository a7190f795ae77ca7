"""What a figure counts: the unit behind it, words between the two allowed."""

import re
from typing import Literal

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
    r"(?!lists|exists|consists|assists|persists|insists|resists|checklists|playlists|whitelists|shortlists)[a-z]{3,}(?:ists|ologists?)|"
    r"(?!listen|leisten|kisten|fristen|meisten|pisten|kosten|lasten|checklisten|preislisten|beginnen|gewinnen|drinnen|spinnen)[a-z]{3,}(?:ologen|isten|therapeuten|innen)|"
    r"[a-z]{3,}(?:leute|leuten|kraefte|kraeften|haendler|referenten|disponenten|buchhalter)|underwriters?|"
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
        r"(?:k|t|tsd\.?|mio\.?)?\s?(?:€|\$|£)|(?:k|t|tsd\.? |mio )?(?:eur(?:os?)?|usd|dollars?|"
        r"bucks|chf|franken)\b|ct\b|cents?\b",
    ),
    ("power", r"(?:k|m)?wh\b|(?:kw|kva|watts?|w)\b(?!/)"),
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


def unit_after(folded: str, end: int) -> tuple[Unit, str, int]:
    gap = _GAP.match(folded, end)
    place = gap.end() if gap else end
    for begin in (place, *_after_filler(folded, place)):
        found = _UNIT.match(folded, begin)
        if found and found.lastgroup and not folded.startswith("=", found.end()):
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


def unit_factor(unit: Unit, word: str) -> float:
    if unit == "money_suffix":
        if word.startswith(("k", "t€", "t ", "tsd", "teur")) or word[:2] in ("t€", "t$"):
            return 1e3
        return 1e6 if word.startswith("mio") else 0.01 if word.startswith(("ct", "cent")) else 1.0
    if unit == "power":
        return 1e3 if word.startswith("k") else 1.0
    return 1.0
