"""Figures that describe the job or the machine without being lengths, load, memory or money."""

import re
from collections.abc import Iterator

from bot.understand.memory import bandwidth
from bot.understand.numbers import Quantity
from bot.understand.readings import Reading
from bot.understand.roles import Surroundings
from bot.understand.units import Unit

# "At most 200 W for the cards": what all of them together may draw.
_AT_MOST = re.compile(
    r"\b(?:max(?:\.|imal|imum)?|at most|hoechstens|up to|bis(?: zu)?|under|unter|no more than|nicht mehr als|nur|only|just|<=?)"
    r"\s?(?:etwa |about |ca\. )?$"
)
_FOR_CARDS = re.compile(
    r"\s(?:insgesamt |in total |zusammen )?(?:fuer|for)\s(?:(?:die|alle|all|the|our|unsere)\s){0,2}(?:gpus?|cards?|karten?|grafikkarten?)\b"
)


def countable(quantity: Quantity, place: Surroundings) -> Iterator[Reading]:
    """Figures that describe the job without being lengths or load."""
    start, end = quantity.span
    simple: dict[Unit, str] = {
        "documents": "documents",
        "samples": "samples",
        "epochs": "epochs",
        "images": "images",
        "cores": "cpu_cores",
        "shifts": "shifts",
        "volts": "line_v",
        "amperes": "line_a",
        "years": "horizon_years",
        "dims": "dims",
        "hours": "hours",
        "token_flow": "token_flow",
        "request_rate": "request_rate",
        "network": "network_gbit",
    }
    if quantity.unit == "memory_rate":
        yield bandwidth(place)
    if quantity.unit in simple:
        yield Reading(simple[quantity.unit], quantity.value, start, end, 1.5, quantity.unit)
    if quantity.unit == "power":
        limit = re.search(
            r"\b(?:limit\w*|begrenz\w*|cap(?:ped)?|gedrosselt|power[- ]?target|auf|je|to|each)\W{0," r"3}(?:\w+\s)?$",
            place.left,
        ) or re.match(r"\s?(?:limit|begrenzt|each|je|power limit|cap)", place.right)
        limit = limit or (_AT_MOST.search(place.left) and _FOR_CARDS.match(place.right))
        supply = re.match(r"\s?-?(?:psu|netzteil|power supply|supply|nt\b)", place.right) or re.search(
            r"\b(?:psu|netzteil|power supply)\W{0,3}(?:\w+\s)?$", place.left
        )
        yield Reading(
            "psu_w" if supply else "power_limit_w" if limit else "watts", quantity.value, start, end, 2.0, "power"
        )
