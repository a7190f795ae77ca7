"""The figures of a message: digits or words with scale, unit, sign and range."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bot.understand.digits import plain_value
from bot.understand.number_words import NUMBER_WORDS, VAGUE_ONES
from bot.understand.text import Spans, word_set
from bot.understand.units import Unit, unit_after, unit_factor

SCALES = {
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
    r"(?<![a-z0-9])(?:" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r"|a(?= million\b))(?![a-z0-9])"
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
    found = [*_figures(folded, lang), *_spelt(folded, lang)]
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
    if place and word != "x" and folded[place - 1].isdigit():
        return None  # "e1c9f2" is a mark of something, "c" no concurrency
    return word if word in _GLUED else None


def _quantity(folded: str, found: re.Match[str], glued: str, lang: str) -> Quantity:
    text, start, end = found.group().replace(" ", "'"), found.start(), found.end()
    scale, factor = "", 1.0
    scaled = _SCALE.match(folded, end)
    if scaled and not (scaled.group("tight") == "m" and not _scales_m(folded, scaled.end())):
        scale = next(group for group in scaled.groups() if group).rstrip(".")
        factor, end = SCALES[scale], scaled.end()
    plus = folded.startswith("+", end)
    unit, word, unit_end = unit_after(folded, end + plus)
    if not unit and scale:
        unit, word, unit_end = _scale_as_unit(scale, end)
        factor = 1.0 if unit == "params" else factor
    currency = _currency(folded, start, word, unit, lang)
    value, doubtful = plain_value(text, lang, unit, bool(scale), currency, bool(_PER_UNIT.match(folded, end)))
    factor *= unit_factor(unit, word)
    return Quantity(
        value=value * factor, low=None, start=start, end=end, unit=unit, unit_word=word, unit_end=unit_end, scale=scale,
        negative=sign_before(folded, start) > 0, plus=plus, currency=currency, glued=glued, doubtful=doubtful,
    )  # fmt: skip


_PER_UNIT = re.compile(r"\s?(?:/|per\b|pro\b|a\b|an\b)")


def _scales_m(folded: str, end: int) -> bool:
    """ "20M chunks" are millions; a lone "m" may be metres or a chip, so it needs something countable behind it."""
    return _A_LENGTH.match(folded, end) is not None or unit_after(folded, end)[0] in (
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


def _currency(folded: str, start: int, word: str, unit: Unit, lang: str) -> str:
    """The code of the currency written beside a figure; a cent is one of the currency that the language goes with."""
    before = _CURRENCY_BEFORE.search(folded, max(0, start - 6), start)
    text = (before.group() if before else "") + (word if unit == "money_suffix" else "")
    code = next((code for sign, code in _CURRENCIES if sign in text), "")
    return "EUR" if lang == "de" and "cent" in text else code


_CURRENCIES = (
    ("$", "USD"), ("usd", "USD"), ("dollar", "USD"), ("bucks", "USD"), ("€", "EUR"), ("eur", "EUR"), ("£", "GBP"),
    ("chf", "CHF"), ("frank", "CHF"), ("ct", "EUR"), ("cent", "USD"),
)  # fmt: skip


_MINUS = re.compile(r"\b(?:minus|negativ\w{0,2})\s$")


def sign_before(folded: str, start: int) -> int:
    """The length of a minus before a figure, as a sign or as a word; 0 where there is none."""
    if folded[start - 1 : start] == "-" and (start < 2 or folded[start - 2] in " (=:"):
        return 1
    found = _MINUS.search(folded, max(0, start - 12), start)
    return len(found.group()) if found else 0


_COUNTABLE_UNITS = frozenset(("people", "devices", "requests", "machines", "images", "documents"))
_TIMED_UNITS = frozenset(("epochs", "seconds", "hours", "days"))


_UNITS_OF_COLUMNS = frozenset(
    ("token_rate", "memory", "memory_rate", "power", "percent", "seconds", "milliseconds", "hours", "tokens")
)
_NAMED_CURRENCY = re.compile(r"(?:€|\$|£|eur(?:os?)?|usd|chf|dollars?)")
_WORD = re.compile(r"[a-z%$€£][^\s()\[\]]*")


def with_unit_of(quantity: Quantity, label: str) -> Quantity:
    """A bare figure with the unit or currency that the label of its column names: "VRAM (GB)", "tok/s", "Preis €"."""
    if quantity.unit or quantity.currency or quantity.glued:
        return quantity
    for found in _WORD.finditer(label):
        if currency := _NAMED_CURRENCY.fullmatch(found.group()):
            return replace(
                quantity, currency=next(code for sign, code in _CURRENCIES if currency.group().startswith(sign))
            )
        unit, word, _ = unit_after(label, found.start())
        if unit in _UNITS_OF_COLUMNS:
            return replace(
                quantity,
                value=quantity.value * unit_factor(unit, word),
                unit=unit,
                unit_word=word,
                unit_end=quantity.end,
            )
    return quantity


_ALL_OF_TWO = frozenset(("both", "beide", "beiden"))
_OF_BEFORE = re.compile(r"\b(?:of|von|vo[nm] den|der)\s$")


def _spelt(folded: str, lang: str) -> Iterator[Quantity]:
    for found in _WORD_FIGURE.finditer(folded):
        word, end = found.group(), found.end()
        if word in _ALL_OF_TWO and _OF_BEFORE.search(folded, max(0, found.start() - 8), found.start()):
            continue  # "which of both" asks for one of two and counts none
        value = float(NUMBER_WORDS.get(word, 1))
        scaled = re.match(
            r"\s(dutzend|dozen|hundred|hundert|tausend|thousand|million(?:en)?)\b", folded[end : end + 12]
        )
        if scaled:
            value, end = value * SCALES[scaled.group(1)], end + scaled.end()
        unit, unit_word, unit_end = unit_after(folded, end)
        if (
            word in VAGUE_ONES
            and not scaled
            and unit not in (_COUNTABLE_UNITS | _TIMED_UNITS if word == "one" else _COUNTABLE_UNITS)
        ):
            continue
        if word in ("hundert", "tausend", "hundred", "thousand") and re.search(
            r"\d\s?$", folded[max(0, found.start() - 3) : found.start()]
        ):
            continue
        currency = _currency(folded, found.start(), unit_word, unit, lang)
        factor = unit_factor(unit, unit_word) if currency else 1.0
        yield Quantity(
            value * factor, None, found.start(), end, unit, unit_word, unit_end, spelt=True, currency=currency,
            negative=sign_before(folded, found.start()) > 0,
        )  # fmt: skip


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
    factor = SCALES.get(after.scale, 1.0) * (
        unit_factor(after.unit, after.unit_word) if after.unit in ("money_suffix", "power") else 1.0
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
        1.0, SCALES.get(after.scale, 1.0)
    )
