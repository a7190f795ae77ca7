"""How questions arrive as a message says it: so many a day, of everybody together or of each of its people; or a rate."""

import re
from collections.abc import Iterator

from bot.understand.numbers import SCALES, sign_before
from bot.understand.text import Text

_GROUPED = r"[1-9]\d{0,2}(?:[.,]\d{3})+"
_NUMBER = (
    rf"(?<![\w.,^])(?P<amount>{_GROUPED}|\d{{1,12}}(?:[.,]\d{{1,6}})?)(?:e\+?(?P<zeros>\d{{1,2}})|\^(?P<power>\d{{1,2}}))?"
    r"(?:\s?(?P<scale>k|m|tsd|tausend|thousand|mio|millionen|millions?|mrd|milliarden|bn|billion)\b\.?)?"
)
_ASKS = r"(?:fragen|anfragen|prompts?|questions?|requests?|queries|chats?|messages?|nachrichten|calls|aufrufe)"
_DAILY = re.compile(
    rf"{_NUMBER}\s?(?:[a-z]+\s)?{_ASKS}(?P<each>\s(?:je|pro|per|each|a)\s(?:nutzer|kopf|person|user|head|mitarbeiter|mann|employee)|\s(?:each|jeweils|apiece))?"
    r"\s?(?:/|am|pro|je|per|a|an|each|every|im)?\s?(?:arbeits|working )?(?:tag|day|daily|taeglich)\b"
    r"(?P<later>\s(?:je|pro|per|each|and|und)\s(?:nutzer|kopf|person|user|head|mitarbeiter|mann|employee)|\seach\b|\sjeder\b)?"
)
_PER_HEAD = re.compile(
    r"\b(?:jeder?|each|every (?:user|employee|person)|je (?:nutzer|kopf|person)|pro (?:nutzer|kopf|person))\b"
)
_RATE = re.compile(
    rf"{_NUMBER}\s?(?:[a-z]+\s)?"
    rf"(?:(?:{_ASKS[3:-1]}|reqs?\.?)\s?(?:/|pro|je|per|a|an|each|every|in der|die)\s?"
    r"(?P<period>s|sek|sekunde|sec|second|min|minute|h|std|stunde|hour)\b|"
    r"(?P<short>rps|qps|rpm|req/s)\b)"
)
_PERIODS = {"s": "s", "se": "s", "mi": "m", "h": "h", "st": "h", "ho": "h"}
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
# What is measured, promised or refused is no load: "does 40 requests per second", "at most 3 requests per minute".
_NO_LOAD = re.compile(
    r"\b(?:schafft|erreicht|manages?|delivers?|achieves?|gemessen|measured|nur|only|get|bekomme)\s(?:\w+\s){0,2}$"
)
# Nobody asks more than that in a day: a smaller number beside people is taken to be each one's.
_MOST_EACH = 150.0
_MOST_PER_DAY, _MOST_RPS = 1e12, 1e9


def requests_per_day(folded: str, users: float | None) -> float | None:
    """Requests of everybody in a day; None where none are said."""
    found = _DAILY.search(folded)
    if found is None:
        return None
    amount = _amount(found)
    if _cannot_be(folded, found, amount, _MOST_PER_DAY):
        return None
    each = found["each"] or found["later"] or _PER_HEAD.search(folded[: found.start()][-20:])
    return amount * users if users and users > 1 and (each or amount <= _MOST_EACH) else amount


def rate_rps(folded: str) -> float | None:
    """Requests per second that arrive; None where no rate is said. "120 requests per minute" is 2."""
    found = _RATE.search(folded)
    if found is None or _NO_LOAD.search(folded[: found.start()]):
        return None
    rate = _per_second(found)
    return None if _cannot_be(folded, found, rate, _MOST_RPS) else rate


def impossible_rates(text: Text) -> Iterator[tuple[str, str]]:
    """(field, words) of arrivals of nothing, of less than nothing, of more than there are people to ask."""
    daily, rate = _DAILY.search(text.folded), _RATE.search(text.folded)
    if daily and _cannot_be(text.folded, daily, _amount(daily), _MOST_PER_DAY):
        yield "load.requests_per_day", _quoted(text, daily)
    is_load = rate is not None and not _NO_LOAD.search(text.folded[: rate.start()])
    if rate and is_load and _cannot_be(text.folded, rate, _per_second(rate), _MOST_RPS):
        yield "load.rate_rps", _quoted(text, rate)


def _cannot_be(folded: str, found: re.Match[str], value: float, most: float) -> bool:
    return value == 0 or value > most or sign_before(folded, found.start()) > 0


def _quoted(text: Text, found: re.Match[str]) -> str:
    return text.quote(found.start() - sign_before(text.folded, found.start()), found.end())


def _per_second(found: re.Match[str]) -> float:
    short = found["short"] or ""
    period = "m" if short == "rpm" else "s" if short else _PERIODS[found["period"][:2]]
    return _amount(found) / _SECONDS[period]


def _amount(found: re.Match[str]) -> float:
    """The figure of a match: "1.200", "1e6", "10^6", "2 million", "10k"."""
    written = found["amount"]
    base = float(re.sub(r"[.,]", "", written) if re.fullmatch(_GROUPED, written) else written.replace(",", "."))
    try:
        base = base ** int(found["power"]) if found["power"] else base * 10.0 ** int(found["zeros"] or 0)
    except OverflowError:
        return float("inf")
    return base * SCALES.get(found["scale"] or "", 1.0)
