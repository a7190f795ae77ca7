"""Questions a day as a message says them: of everybody together, or of each of its people."""

import re

_NUMBER = r"(?<![\d.,])(?P<amount>\d{1,3}(?:[.,]\d{3})+|\d{1,9})"
_ASKS = r"(?:fragen|anfragen|prompts?|questions?|requests?|queries|chats?|messages?|nachrichten|calls|aufrufe)"
_DAILY = re.compile(
    rf"{_NUMBER}\s?(?:[a-z]+\s)?{_ASKS}(?P<each>\s(?:je|pro|per|each|a)\s(?:nutzer|kopf|person|user|head|mitarbeiter|mann|employee))?"
    r"\s?(?:/|am|pro|je|per|a|an|each|every|im)?\s?(?:arbeits|working )?(?:tag|day|daily|taeglich)\b"
    r"(?P<later>\s(?:je|pro|per|each|and|und)\s(?:nutzer|kopf|person|user|head|mitarbeiter|mann|employee)|\seach\b|\sjeder\b)?"
)
_PER_HEAD = re.compile(
    r"\b(?:jeder?|each|every (?:user|employee|person)|je (?:nutzer|kopf|person)|pro (?:nutzer|kopf|person))\b"
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
