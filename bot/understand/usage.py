"""How something is run and paid for, as a message says it: hours, tariff, PUE, years, tokens a month, prices of the asker's own."""

import re
from collections.abc import Mapping
from typing import Any

_NUMBER = r"(?<![\d.,])\d{1,3}(?:[.,]\d{3})+(?![\d])|(?<![\d.,])\d{1,12}(?:[.,]\d{1,4})?"
_HOURS_A_DAY = re.compile(
    rf"(?P<hours>{_NUMBER})\s?(?:h|std\.?|stunden?|hours?|hrs?)\s?(?:lang\s)?(?:/|am|pro|je|per|a|an?|each|every|taeglich|daily)\s?"
    r"(?:(?:arbeits|werk|working |business )?(?:tag|day)\b)?|"
    rf"(?:taeglich|daily|jeden tag)\s(?P<after>{_NUMBER})\s?(?:h\b|std\b|stunden|hours)"
)
_DAILY = re.compile(
    r"(?:/|am|pro|je|per|an?|each|every)\s?(?:arbeits|werk|working |business )?(?:tag|day)\b|taeglich|daily"
)
_ALWAYS = re.compile(r"\b24\s?[/x]\s?7\b|\baround the clock\b|\brund um die uhr\b|\b24 ?h durchgehend\b")
_HOURS_BY_DAYS = re.compile(r"\b(?P<hours>\d{1,2})\s?[x/]\s?(?P<days>[5-7])\b(?!\s?(?:gpu|card|karte|gb|b\b|k\b))")
# Office hours are told with the answer as what they are taken for.
_OFFICE = re.compile(
    r"\b(?:office hours|business hours|buerozeit(?:en)?|geschaeftszeit(?:en)?|working hours|arbeitszeit(?:en)?)\b"
)
_OFFICE_HOURS, _OFFICE_DAYS = 10.0, 5.0
_WEEKDAYS = re.compile(
    r"\b(?:werktags|werktaeglich|wochentags|(?:on |an )?(?:weekdays|werktagen|arbeitstagen|working days|business days)|"
    r"(?:pro|je|per|am|a|each|every) (?:werktag|arbeitstag|working day|business day)|"
    r"mo(?:ntag)?\s?(?:-|–|bis)\s?fr(?:eitag)?|mon(?:day)?\s?(?:-|–|to|through)\s?fri(?:day)?)\b"
)
_DAYS_A_WEEK = re.compile(
    r"\b(?P<days>[1-7])\s?(?:days?|tagen?)\s?(?:/|a|per|each|die|pro|je|in der)\s?(?:week|woche)\b"
)
_PUE = re.compile(r"\bpue\b\s?(?:von|of|is|ist|=|:|at|bei)?\s?(?P<pue>[1-4](?:[.,]\d{1,2})?)(?![\d.,]*\d)")
_MONTHS = re.compile(
    r"\b(?:over|ueber|for|fuer|in|within|innerhalb(?: von)?|auf)\s(?P<months>\d{1,3})\s?(?:months?|monaten?|monate)\b"
)
_TARIFF = re.compile(
    rf"\b(?:strom(?:preis|tarif|kosten)?|electricity(?: price| rate| cost| tariff)?|power price|energy price)\s?(?:von|of|is|ist|liegt bei|"
    rf"at|bei|kostet|costs?|=|:|zu|fuer)?\s?(?:ca\.? |etwa |about )?(?P<sign>[$€])?\s?(?P<amount>{_NUMBER})\s?"
    r"(?P<unit>ct|cent|cents|¢|€|eur|euro|usd|\$)?"
)
_SCALES: Mapping[str, float] = {
    "": 1.0, "k": 1e3, "tsd": 1e3, "tausend": 1e3, "thousand": 1e3, "m": 1e6, "mio": 1e6, "million": 1e6, "millionen": 1e6, "millions": 1e6,
    "b": 1e9, "bn": 1e9, "mrd": 1e9, "milliarde": 1e9, "milliarden": 1e9, "billion": 1e9, "billions": 1e9,
}  # fmt: skip
_PER_PERIOD: Mapping[str, float] = {
    "mo": 1.0,
    "ta": 30.4,
    "da": 30.4,
    "we": 4.35,
    "wo": 4.35,
    "ye": 1 / 12,
    "ja": 1 / 12,
}
_TOKENS = re.compile(
    rf"(?P<amount>{_NUMBER})\s?(?P<scale>k|tsd|tausend|thousand|mio|million(?:en|s)?|mrd|milliarden?|billions?|bn|m|b)?\.?\s?"
    r"(?:output[- ]|input[- ]|ausgabe-?)?tok(?:en)?s?\s?(?:/|per|pro|je|am|im|in the|an?|each|every)?\s?"
    r"(?P<period>month|monat|day|tag|week|woche|year|jahr|monthly)"
)
_EACH = re.compile(
    r"^[\w\s]{0,14}?(?:/\s?(?:gpu|card|karte)|gpu[- ]?h|(?:je|pro|per)\s(?:gpu|card|karte|stueck|piece)|"
    r"each\b|apiece|das stueck|je\b(?! (?:h|std|stunde|tag|monat)))"
)
_SEVERAL = re.compile(
    r"\b(?:[2-9]|1\d)\s?x\s[^,.;?!]{0,40}$|\b(?:[2-9]|1\d)\s?x?\s?(?:h100|h200|a100|l40s|b200|gpus?|cards?|karten)[^,.;?!]{0,30}$"
)
_CURRENCIES = ("EUR", "USD")
_LEAST_QUOTE = 50.0
_MOST_TARIFF = 3.0


_RESERVED = re.compile(r"\b(?:reserved|reservier\w*|committed|commitment|jahresvertrag)\b")
_DOLLARS = re.compile(r"\$|\busd\b|\bdollars?\b")
_EUROS = re.compile(r"€|\beur\b|\beuros?\b|\bct\b")


def read_usage(folded: str, other: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of `sizing.usage.Usage` as far as the message says them; prices keep whether they are for one device (`each`)."""
    found: dict[str, Any] = _times(folded)
    if other.get("utilization") and 0 < other["utilization"] <= 1:
        found["utilisation"] = float(other["utilization"])
    years = _years(folded, other)
    if years:
        found["years"] = years
    pue = _PUE.search(folded)
    if pue:
        found["pue"] = _figure(pue["pue"])
    tokens = _TOKENS.search(folded)
    if tokens:
        per_month = _PER_PERIOD[tokens["period"][:2]]
        found["tokens_per_month"] = _figure(tokens["amount"]) * _SCALES[tokens["scale"] or ""] * per_month
    if _RESERVED.search(folded):
        found["reserved"] = True
    spoken = {str(price["currency"]) for price in other.get("prices") or ()}
    spoken |= {name for name, sign in (("USD", _DOLLARS), ("EUR", _EUROS)) if sign.search(folded)}
    if len(spoken) == 1 and spoken <= set(_CURRENCIES):
        found["currency"] = spoken.pop()
    if other.get("tax"):
        found["gross"] = other["tax"] == "gross"
    return found | _prices(folded, other)


def _times(folded: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    daily = next((one for one in _HOURS_A_DAY.finditer(folded) if one["after"] or _DAILY.search(one.group())), None)
    blocks = _HOURS_BY_DAYS.search(folded)
    if daily:
        out["hours_per_day"] = _figure(daily["hours"] or daily["after"])
    elif _ALWAYS.search(folded):
        return {"hours_per_day": 24.0}
    elif blocks and "h" in folded:
        out |= {"hours_per_day": float(blocks["hours"]), "days_per_week": float(blocks["days"])}
    elif _OFFICE.search(folded):
        out |= {"hours_per_day": _OFFICE_HOURS, "days_per_week": _OFFICE_DAYS}
    days = _DAYS_A_WEEK.search(folded)
    if days:
        out["days_per_week"] = float(days["days"])
    elif _WEEKDAYS.search(folded):
        out["days_per_week"] = 5.0
    return {name: value for name, value in out.items() if 0 < value <= (24 if name == "hours_per_day" else 7)}


def _years(folded: str, other: Mapping[str, Any]) -> float | None:
    months = _MONTHS.search(folded)
    years = other.get("horizon_years") or (float(months["months"]) / 12 if months else None)
    return float(years) if years and 0 < years <= 30 else None


def _prices(folded: str, other: Mapping[str, Any]) -> dict[str, Any]:
    """By what each is per: a kWh, an hour, a million tokens; a sum once is an offer to buy."""
    out: dict[str, Any] = {}
    names = {"kwh": "electricity", "hour": "rent_per_hour", "mtok": "api", "once": "quote", "gpu": "quote"}
    for price in other.get("prices") or ():
        name = names.get(str(price["per"]))
        if name is None or price["currency"] not in _CURRENCIES or price["amount"] <= 0 or name in out:
            continue
        if name == "quote" and price["amount"] < _LEAST_QUOTE:
            continue
        money = {"amount": round(float(price["amount"]), 6), "currency": price["currency"]}
        out[name] = {**money, "each": _is_each(folded, price)} if name in ("rent_per_hour", "quote") else money
    return out if "electricity" in out else out | _tariff(folded)


def _is_each(folded: str, price: Mapping[str, Any]) -> bool:
    """Whether a price is for one device: it says so, or what stands before it is not several of them."""
    of_one = str(price["per"]) == "gpu"
    place = folded.find(str(price["words"]).lower())
    if place < 0:
        return of_one
    end = place + len(str(price["words"]))
    if of_one or _EACH.search(folded[end : end + 40]):
        return True
    return str(price["per"]) == "hour" and not _SEVERAL.search(folded[max(0, place - 60) : place])


def _tariff(folded: str) -> dict[str, Any]:
    found = _TARIFF.search(folded)
    if not found or not (found["unit"] or found["sign"]):
        return {}
    unit = found["unit"] or found["sign"]
    amount = _figure(found["amount"]) / (100 if unit in ("ct", "cent", "cents", "¢") else 1)
    if not 0 < amount <= _MOST_TARIFF:
        return {}
    return {
        "electricity": {"amount": amount, "currency": "USD" if "$" in (unit, found["sign"]) or unit == "usd" else "EUR"}
    }


def _figure(written: str) -> float:
    """A number in either way of writing: three digits after a sign are thousands."""
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", written):
        return float(re.sub(r"[.,]", "", written))
    return float(written.replace(",", "."))
