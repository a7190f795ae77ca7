"""Gigabytes: RAM of the machine, the memory of an unnamed card, a file, or a figure observed or claimed."""

import re
from collections.abc import Iterator

from bot.understand.readings import Reading
from bot.understand.roles import Surroundings
from bot.understand.stance import stance

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


_USE_COLUMN = re.compile(r"\b(?:used?|usage|belegt\w*|verbrauch\w*|in use|measured|gemessen|peak)\b")
_RAM_COLUMN = re.compile(r"\b(?:ram|dram|system memory|arbeitsspeicher|hauptspeicher|host)\b")


def memory_readings(place: Surroundings, text: str) -> Iterator[Reading]:
    """RAM of the machine, an unnamed card, or a figure observed or claimed."""
    quantity = place.quantity
    if quantity.unit != "memory":
        return
    start, end = quantity.span
    gb = quantity.value * (
        1024 if quantity.unit_word.startswith("t") else 1e-3 if quantity.unit_word.startswith("m") else 1.0
    )
    if place.column and not _USE_COLUMN.search(place.column):
        ram = _RAM_COLUMN.search(place.column)
        yield Reading("ram_gb" if ram else "memory_gb", gb, start, end, 5.5 if ram else 1.0, "memory in a column")
        return
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


def bandwidth(place: Surroundings) -> Reading:
    """GB/s of the machine's RAM where the words say so, else of a card or link, which the catalogue knows better."""
    quantity = place.quantity
    host = _RAM.match(place.right) or _RAM_BEFORE.search(place.left)
    name = "host_bandwidth_gb_s" if host else "bandwidth_gb_s"
    return Reading(name, quantity.value * _RATE_SCALE[quantity.unit_word[0]], *quantity.span, 2.0, "bandwidth")
