"""Which accelerators and processors a message names, how many of each and with how much memory."""

import re
from collections.abc import Iterator
from functools import lru_cache

from bot.understand.device_details import (
    MEMORY_AFTER,
    MEMORY_BEFORE,
    DeviceKind,
    DeviceMention,
    before_and_after,
    completed,
)
from bot.understand.text import Spans, Text
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find, known_names

_PIECE = re.compile(r"(?<=\d)x(?=[a-z])|\d+|[a-z]+")
_BRANDS = frozenset(
    [
        "nvidia",
        "geforce",
        "tesla",
        "amd",
        "radeon",
        "instinct",
        "intel",
        "apple",
        "google",
        "aws",
        "gpu",
        "hgx",
        "dgx",
        "the",
        "quadro",
    ]
) - {"quadro"}
_NAME_MEMORY = re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s*-?\s*(?:gb|gib|g)\b|\([^)]*\)", re.IGNORECASE)
_GEFORCE = re.compile(r"(?:10[3-8]0|16[56]0|20[5-8]0|30[5-9]0|40[5-9]0|50[5-9]0)$")
_RADEON = re.compile(r"(?:6[6-9]\d0|7[6-9]00|90[67]0)$")
_NEEDS_MORE = frozenset(
    ["v4", "spark", "thor", "rubin", "digits", "max", "a2", "m40", "atlas", "core", "ultra", "ponte", "cs"]
)
_NOT_A_CARD = re.compile(
    r"\s?-?(?:tok(?:en)?s?\b|watts?\b|w\b|€|\$(?!\d)|eur|usd|gb\b|gib\b|k\b|users?\b|nutzer|"
    r"leute|people|requests?\b|mb\b|ms\b|mhz|chunks|docs|dok|"
    r"stunden|hours|samples|dollars?|%|mio|million|tps|t/s|beispiele|seiten|pages|ctx|context|"
    r"kontext|words|zeichen|[.,]\d{3})"
)
_BEFORE_NO_CARD = re.compile(
    r"(?:[$€.,\d]|\b(?:ctx|context|kontext|len|length|tokens?|seq|cutoff|year|jahr|since|seit|"
    r"in|budget|port)[ =:]{1,2})\Z"
)
_NEXT_WORD = re.compile(r"[ \-]?(ti|super|xt|xtx|gre|laptop|mobile|max-?q|d)\b")


@lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[tuple[str, ...], tuple[str, str]], frozenset[tuple[str, ...]]]:
    """Device names as word tuples, with id and spelling, and all their beginnings."""
    names: dict[tuple[str, ...], tuple[str, str]] = {}
    for alias, ident in sorted(known_names("accelerator"), key=lambda pair: bool(_NAME_MEMORY.search(pair[0].lower()))):
        spelling = " ".join(_NAME_MEMORY.sub(" ", alias.lower()).split())
        pieces = tuple(p for p in _PIECE.findall(spelling) if p not in _BRANDS)
        if (
            alias == ident
            or not pieces
            or (len(pieces) == 1 and pieces[0].isalpha() and len(pieces[0]) < 3)
            or pieces in names
        ):
            continue
        written = " ".join(_NAME_MEMORY.sub(" ", alias).split()) or alias
        names[pieces] = (find(written, "accelerator", False).id or ident, written)
    for extra, alias in _MORE_NAMES.items():
        names[tuple(_PIECE.findall(extra))] = (str(find(alias, "accelerator").id), alias)
    for key in [k for k in names if k in _NO_DEVICE or (k[:-1] in names and k[-1] in _MEMORY_SIZES)]:
        del names[key]
    starts = frozenset(key[:n] for key in names for n in range(1, len(key) + 1))
    return names, starts


_NO_DEVICE = frozenset(
    {
        ("cpu",),
        ("mac", "studio"),
        ("mac", "mini"),
        ("am", "4"),
        ("am", "5"),
        ("ddr", "4", "3200"),
        ("ddr", "5", "5600"),
        ("ddr", "5", "6000"),
        ("ddr", "5", "6400"),
        ("ddr", "4", "desktop"),
        ("ddr", "5", "desktop"),
        ("v", "4"),
        ("dgx",),
    }
)
_MEMORY_SIZES = frozenset(
    [
        "8",
        "12",
        "16",
        "18",
        "20",
        "22",
        "24",
        "32",
        "36",
        "40",
        "48",
        "64",
        "80",
        "94",
        "96",
        "128",
        "141",
        "192",
        "256",
        "512",
    ]
)
_MORE_NAMES = {
    "m1u": "M1 Ultra",
    "m2u": "M2 Ultra",
    "m3u": "M3 Ultra",
    "m5u": "M5 Ultra",
    "strix halo": "Strix Halo",
    "dgx spark": "DGX Spark",
    "rtx6000 ada": "RTX 6000 Ada",
    "rtxpro 6000": "RTX PRO 6000",
    "rtxa 6000": "RTX A6000",
    "rtx 6000": "RTX 6000 Ada",
    "6000 pro": "RTX PRO 6000",
    "6000 blackwell": "RTX PRO 6000",
    "mi300": "MI300X",
    "rtx a6000": "RTX A6000",
    "a6000 ada": "RTX 6000 Ada",
    "rtx 6000 blackwell": "RTX PRO 6000",
    "blackwell 6000": "RTX PRO 6000",
    "rtx6000 pro": "RTX PRO 6000",
    "orin": "Jetson Orin",
    "rpi 4": "Raspberry Pi 4",
    "rpi 5": "Raspberry Pi 5",
    "rtx 4000 ada sff": "RTX 4000 SFF Ada",
    "4000 ada sff": "RTX 4000 SFF Ada",
    "ai max": "Ryzen AI Max+ 395",
    "max 395": "Ryzen AI Max+ 395",
    "ai 395": "Ryzen AI Max+ 395",
    "gaudi": "Gaudi 3",
}
_SHAPES = re.compile(
    r"\b(?:(?:rtx|gtx|gt|quadro|arc|titan|tesla|radeon(?: pro)?|rx|ascend|mi|instinct|"
    r"geforce)[ \-]?[a-z]{0,2}\d{2,4}[a-z]?(?:[ \-]?(?:ti|super|xtx?|ada|gre))?"
    r"|tesla[ \-]?[a-z]\d{1,3}|(?:16[56]0|10[3-8]0|20[5-8]0)[ \-]?(?:ti|super)|titan (?:x|xp|v|rtx)|"
    r"jetson(?: \w+){1,2}|hailo[- ]?\w*|mac pro)\b"
)
_CPUS = re.compile(
    r"\b(?:(?:dual |2x )?(?:amd )?epyc(?:[ \-]\d{4}[a-z]{0,2})?|"
    r"(?:intel )?xeon(?:[ \-](?:gold|silver|platinum|e\d|w|6)(?:[ \-]?v?\d{1,4}\w{0,"
    r"3})?(?: v\d)?|[ \-]\d{4}\w{0,2})?|"
    r"threadripper(?: pro)?(?: \d{4}\w{0,2})?|ryzen(?! ai max)(?: \d)?(?:[ \-]\d{4}\w{0,3})?|"
    r"(?:core )?i[3579][ \-]?\d{4,5}\w{0,3}|core ultra(?: \d)?(?: \d{3}\w?)?|core i[3579]|"
    r"i[3579] cpu|n100\b)"
)
_SOCKETS = re.compile(r"^(?:dual |2x )")  # two sockets are one machine: its memory is what was named for both
_MACS = re.compile(r"\b(?:mac ?books?(?: ?(?:pro|air))?|mac ?studios?|mac ?minis?|imacs?|macs?)(?=\b|\d)")


def read_devices(text: Text, taken: list[tuple[int, int]], slash: bool) -> list[DeviceMention]:
    """Named devices in order. `taken` are spans of model names, which win over devices inside them."""
    models = Spans(taken)
    found = [m for m in _named(text) if not models.hold(m.start)]
    named = Spans((m.start, m.end) for m in found)
    found += [m for m in _shaped(text) if not models.hold(m.start) and not named.meet(m.start, m.end)]
    found = _with_cpus(text, sorted(found, key=lambda m: m.start))
    out = [m for mention in found for m in before_and_after(text, completed(text, mention, models, slash))]
    return out + list(_macs(text, out))


def _named(text: Text) -> Iterator[DeviceMention]:
    names, starts = _lexicon()
    pieces = [(m.group(), m.start(), m.end()) for m in _PIECE.finditer(text.folded)]
    place = 0
    while place < len(pieces):
        begin = place
        while (
            begin < len(pieces) - 1
            and pieces[begin][0] in _BRANDS
            and begin - place < 3
            and _close(text, pieces[begin][2], pieces[begin + 1][1], "x")
        ):
            begin += 1
        length = _longest(text, pieces, begin, names, starts)
        if length and _plausible(text, pieces, begin, length):
            start, end = pieces[place][1], pieces[begin + length - 1][2]
            yield _device(text, _key(pieces[begin : begin + length], names), pieces[begin][1], start, end)
            place = begin + length
        else:
            place = max(place + 1, begin)


def _longest(
    text: Text,
    pieces: list[tuple[str, int, int]],
    begin: int,
    names: dict[tuple[str, ...], tuple[str, str]],
    starts: frozenset[tuple[str, ...]],
) -> int:
    best, last = 0, pieces[begin][2]
    key: tuple[str, ...] = ()
    for n in range(begin, min(begin + 8, len(pieces))):
        word, start, end = pieces[n]
        if n > begin and not _close(text, last, start, pieces[n - 1][0]):
            break
        if n > begin and word in _BRANDS:
            last = end
            continue
        if (*key, word) not in starts and word[-1:] == "s" and (*key, word[:-1]) in names:
            word = word[:-1]
        key = (*key, word)
        if key not in starts:
            break
        if key in names:
            best = n - begin + 1
        last = end
    return best


def _key(pieces: list[tuple[str, int, int]], names: dict[tuple[str, ...], tuple[str, str]]) -> tuple[str, ...]:
    words = tuple(word for n, (word, _, _) in enumerate(pieces) if n == 0 or word not in _BRANDS)
    return words if words in names else (*words[:-1], words[-1].rstrip("s"))


def _close(text: Text, end: int, start: int, word: str) -> bool:
    gap = text.folded[end:start]
    if len(word) == 1 and word.isalpha() and gap not in ("", "-"):
        return False
    return gap in ("", " ", "-", "_", "+ ", " -", "- ", "  ", "+", "+-")


def _plausible(text: Text, pieces: list[tuple[str, int, int]], begin: int, length: int) -> bool:
    first, start, end = pieces[begin][0], pieces[begin][1], pieces[begin + length - 1][2]
    if start and text.folded[start - 1].isalpha() and pieces[begin - 1][0] not in ("x", "rtx", "gtx", "rx"):
        return False
    if start and text.folded[start - 1] == "." and text.folded[start - 2 : start - 1].isalnum():
        return False
    following = text.folded[end : end + 14]
    if (following[:1].isalpha() and not re.match(r"(?:s|er|ern|x\d)\b", following)) or following[:1].isdigit():
        return False
    if length == 1 and first.isdigit():
        return _bare_number(text, first, start, end)
    joined = "".join(p[0] for p in pieces[begin : begin + length])
    if joined in _NEEDS_MORE:
        return (
            joined in ("spark", "thor", "a2", "m40")
            and text.raw[text.starts[start]].isupper()
            and "apache" not in text.folded[max(0, start - 8) : start]
        )
    if len(first) == 1 and length == 2:
        return not re.match(r"[ \-]?(?:ssd|nvme|slot|papier|paper)|\.\d", following) and not (
            following[:1] == "," and following[1:2].isdigit()
        )
    return True


def _bare_number(text: Text, number: str, start: int, end: int) -> bool:
    after, before = text.folded[end : end + 16], text.folded[max(0, start - 12) : start]
    if _GEFORCE.match(number):
        return not _NOT_A_CARD.match(after) and not _BEFORE_NO_CARD.search(before)
    return False


def _device(text: Text, key: tuple[str, ...], core: int, start: int, end: int) -> DeviceMention:
    ident, spelling = _lexicon()[0][key]
    entry = catalogue().accelerators[ident]
    kind: DeviceKind = "cpu" if entry.kind == "cpu" else "unified" if entry.kind in ("soc", "apu") else "gpu"
    if text.folded[end : end + 1] == "s" and not text.folded[end + 1 : end + 2].isalnum():
        end += 1
    odd = _NEXT_WORD.match(text.folded, end)
    if odd and kind == "gpu" and not find(text.folded[core : odd.end()], "accelerator", False).id:
        return DeviceMention(
            _with_series(text.quote(core, odd.end())), None, kind, start, odd.end(), core_start=core, core_end=odd.end()
        )
    name = (
        text.quote(core, end)
        if kind == "cpu" and ident not in ("raspberry-pi-5", "raspberry-pi-4")
        else _display(ident, spelling)
    )
    if ident.startswith("raspberry"):
        kind = "unified"
    return DeviceMention(name, ident, kind, start, end, core_start=core, core_end=end)


_NAME_NOISE = re.compile(
    r"\b(?:nvidia|geforce|amd|apple|intel|tesla|instinct|generation)\b\s?|\([^)]*\)|,.*$|" r"\b\d+\s?gb\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def _display(ident: str, spelling: str) -> str:
    """A short customary name that the catalogue resolves to the same entry, or to the same choice of entries."""
    entry = catalogue().accelerators[ident]
    match = find(spelling, "accelerator", False)
    if len(match.candidates) > 1:
        return (
            f"RTX {spelling}"
            if spelling[0].isdigit() and find(f"RTX {spelling}", "accelerator", False).id == match.id
            else spelling
        )
    short = " ".join(_NAME_NOISE.sub(" ", entry.name).split())
    meant = find(short, "accelerator", False)
    return short if ident in (meant.id, *meant.candidates) else entry.name


_GTX = re.compile(r"1[06]\d0")


def _with_series(name: str) -> str:
    """ "4090 laptop" and "1660 Super" without their series."""
    if not _GEFORCE.match(name[:4]):
        return name
    return f"{'GTX' if _GTX.match(name) else 'RTX'} {name}"


def _shaped(text: Text) -> Iterator[DeviceMention]:
    """Cards the catalogue lacks, by the shape of their names."""
    for found in _SHAPES.finditer(text.folded):
        name = _with_series(text.quote(found.start(), found.end()))
        match = find(name, "accelerator", False)
        yield DeviceMention(
            name, match.id, "gpu", found.start(), found.end(), core_start=found.start(), core_end=found.end()
        )


def _with_cpus(text: Text, found: list[DeviceMention]) -> list[DeviceMention]:
    """Processors beside the devices found, in order; the longer of two that share words stands, a card before any."""
    out: list[DeviceMention] = []
    place = 0
    for cpu in _CPUS.finditer(text.folded):
        while place < len(found) and found[place].end <= cpu.start():
            out.append(found[place])
            place += 1
        last = place
        while last < len(found) and found[last].start < cpu.end():
            last += 1
        shared = found[place:last]
        if any(m.kind != "cpu" or m.end - m.start >= cpu.end() - cpu.start() for m in shared):
            continue
        place = last
        name = text.quote(cpu.end() - len(_SOCKETS.sub("", cpu.group(), count=1)), cpu.end())
        ident = find(name, "accelerator", False).id
        out.append(
            DeviceMention(
                name, ident, "cpu", cpu.start(), cpu.end(), core_start=cpu.start(), core_end=cpu.end()
            )
        )  # fmt: skip
    return out + found[place:]


_MAC_MEMORY = re.compile(r"[^\d?;\n]{0,28}\b(?P<gb>\d{2,3})\s?gb\b")


ASKS_FOR_MAC = re.compile(
    r"\b(?:which|what|welche[rnsm]?|was fuer (?:ei)?ne?n?)\s(?:apple )?macs?\b|"
    r"\bmacs?\b[^.!?;\d]{0,12}\W\s?(?:aber |nur |but )?(?:welche[rnsm]?|which(?: one)?)\b"
)


def _macs(text: Text, found: list[DeviceMention]) -> Iterator[DeviceMention]:
    """A Mac without its chip. Where a chip is named anywhere, the word "Mac" adds nothing; nor where one is asked for."""
    if any(m.name[:1] == "M" and m.kind == "unified" for m in found) or ASKS_FOR_MAC.search(text.folded):
        return
    for mac in _MACS.finditer(text.folded):
        glued = re.compile(r"[ \-]?(\d{2,3})(?:gb?)?\b").match(text.folded, mac.end())
        memory = MEMORY_AFTER.match(text.folded, mac.end()) or _MAC_MEMORY.match(text.folded, mac.end())
        before = MEMORY_BEFORE.search(text.folded, max(0, mac.start() - 20), mac.start())
        gb = (
            float(memory.group("gb"))
            if memory
            else float(glued.group(1))
            if glued
            else float(before.group("gb"))
            if before
            else None
        )
        end = memory.end("gb") if memory else glued.end() if glued else mac.end()
        yield DeviceMention(
            "Mac", None, "mac", mac.start(), end, 1, gb, core_start=mac.start(), core_end=mac.end(), span_end=end
        )
        return
