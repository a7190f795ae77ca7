"""How questions arrive as a message says it: so many a day, of everybody together or of each of its people; or a rate."""

import re

_NUMBER = r"(?<![\d.,])(?P<amount>\d{1,3}(?:[.,]\d{3})+|\d{1,9})"
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
    r"(?<![\d.,])(?P<amount>\d{1,3}(?:[.,]\d{3})+|\d{1,7}(?:[.,]\d{1,3})?)\s?(?:[a-z]+\s)?"
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


def requests_per_day(folded: str, users: float | None) -> float | None:
    """Requests of everybody in a day; None where none are said."""
    found = _DAILY.search(folded)
    if found is None:
        return None
    amount = float(re.sub(r"[.,]", "", found["amount"]))
    if not amount:
        return None
    each = found["each"] or found["later"] or _PER_HEAD.search(folded[: found.start()][-20:])
    return amount * users if users and users > 1 and (each or amount <= _MOST_EACH) else amount


def rate_rps(folded: str) -> float | None:
    """Requests per second that arrive; None where no rate is said. "120 requests per minute" is 2."""
    found = _RATE.search(folded)
    if found is None or _NO_LOAD.search(folded[: found.start()]):
        return None
    written = found["amount"]
    amount = float(
        re.sub(r"[.,]", "", written) if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", written) else written.replace(",", ".")
    )
    short = found["short"] or ""
    period = "m" if short == "rpm" else "s" if short else _PERIODS[found["period"][:2]]
    return amount / _SECONDS[period] if amount else None
