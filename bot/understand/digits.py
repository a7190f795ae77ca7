"""The value of written digits: whether a point or a comma divides thousands or decimals, and powers."""

import math
import re

from bot.understand.units import Unit


def plain_value(
    text: str, lang: str, unit: Unit, scaled: bool, currency: str, per_unit: bool
) -> tuple[float, tuple[float, ...]]:
    """Read the digits. A lone group of three after a separator is a thousand or a fraction; language, unit and sign decide."""
    power = _POWER.search(text)
    if power:
        value, _ = plain_value(text[: power.start()], lang, unit, True, currency, per_unit)
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
