"""Which part of the machine a message is about, by its words."""

from __future__ import annotations

import re
from typing import Final, Literal

Focus = Literal[
    "supply",
    "circuit",
    "heat",
    "energy",
    "limit",
    "ram",
    "cpu",
    "storage",
    "lanes",
    "network",
    "availability",
    "operation",
    "ecosystem",
    "profile",
]

_WORDS: Final[tuple[tuple[Focus, str], ...]] = (
    (
        "supply",
        r"\b(?:psus?|netzteil\w*|power suppl\w*|watt\w*|\d+\s?w\b|stecker|connector\w*|plugs?|12vhpwr|16-pin|how much power|strom\w*)",
    ),
    (
        "circuit",
        r"\b(?:sicherung\w*|breaker|circuit|stromkreis\w*|steckdose\w*|outlet|socket\b|\d+\s?a\b|ampere|amps?|\d{3}\s?v\b)",
    ),
    (
        "heat",
        r"(?:hei(?:ß|ss)|hot\b|heat|wärme|waerme|laut\b|lautst|loud|noise|noisy|quiet|leise|"
        r"lüfter|luefter|cooling|kühl|kuehl|büro|buero|office|klima|rack)",
    ),
    (
        "energy",
        r"(?:stromkosten|strompreis|stromverbrauch|electricity|kwh|power bill|"
        r"\bkost\w*.{0,60}\bstrom|\bcosts?\b.{0,30}\bpower|\bstrom\b.{0,20}\bkost)",
    ),
    (
        "limit",
        r"\b(?:power ?limit\w*|cap(?:ped|ping)?\b|leistungsgrenze|undervolt\w*|begrenz\w*|limit(?:ed|iert)? (?:to|auf))",
    ),
    ("ram", r"\b(?:ram\b|dram|arbeitsspeicher|system memory|ddr[345])"),
    (
        "cpu",
        r"\b(?:cpus?|prozessor\w*|processor|cores?|kerne?n?\b|threads?|memory channels?|speicherkan\w*|xeon|epyc|threadripper)",
    ),
    (
        "storage",
        r"\b(?:ssds?|nvme|disks?|festplatte\w*|platten?\b|storage|load(?:ing)? time|ladezeit|laden\b|"
        r"cold start|kaltstart|model swap|checkpoints?)",
    ),
    ("lanes", r"\b(?:pcie?|pci-e|lanes?|riser|mainboard|motherboard|slots?\b|steckpl\w*|nvlink|bridge)"),
    (
        "network",
        r"\b(?:netzwerk\w*|network\w*|\d+\s?(?:gbe|gbit\w*)|ethernet|infiniband|lan\b|wlan|wi-?fi|switch\b|vpn)",
    ),
    (
        "availability",
        r"(?:ausf(?:all|äll|aell)|failover|redundan|hochverf|verfügbar|verfuegbar|uptime|n\+1|\bdies\b|"
        r"99[.,]\d|two sites|zwei standorte|hot ?spare)",
    ),
    (
        "operation",
        r"\b(?:backup\w*|sicherung der|restore|monitoring|datenschutz|dsgvo|gdpr|updates?|versionen|access control|zugriff\w*)",
    ),
    ("ecosystem", r"\b(?:tpus?|npus?|inferentia|trainium|gaudi|ascend|asics?|neuron)\b"),
    (
        "profile",
        r"\b(?:unterbau|workstation|server oder|profil\w*|which (?:box|machine)|welche(?:r|n)? (?:rechner|server|maschine))",
    ),
)
_COMPILED: Final = tuple((focus, re.compile(pattern, re.IGNORECASE)) for focus, pattern in _WORDS)
_SUPPLY: Final = re.compile(r"psu|netzteil|power suppl|stecker|connector|plug|12vhpwr|16-pin", re.IGNORECASE)
_PCIE: Final = re.compile(r"\bpcie?[- ]?(?:gen\s?)?([1-7])(?:\.0)?(?:\s?x\s?(\d{1,2}))?", re.IGNORECASE)
_AVAILABILITY: Final = re.compile(r"\b(9\d(?:[.,]\d+)?)\s?%")
_THREADS: Final = re.compile(r"\b(\d{1,3})\s?threads?\b", re.IGNORECASE)


def focuses(text: str) -> tuple[Focus, ...]:
    """The parts a message names, in the order of the machine."""
    return tuple(focus for focus, pattern in _COMPILED if pattern.search(text))


def names_supply(text: str) -> bool:
    """Whether a supply or its plugs are named, not only a number of watts."""
    return bool(_SUPPLY.search(text))


def older_link(text: str) -> tuple[int, int | None] | None:
    """(generation, lanes) of the oldest PCIe link a message names: "PCIe 5.0 or an old PCIe 3.0 workstation" means 3."""
    found = [(int(match[1]), int(match[2]) if match[2] else None) for match in _PCIE.finditer(text)]
    return min(found, key=lambda link: link[0]) if found else None


def availability(text: str) -> float | None:
    """A target such as 99.9 % as a share."""
    match = _AVAILABILITY.search(text)
    return float(match[1].replace(",", ".")) / 100 if match else None


def threads(text: str) -> int | None:
    """Threads that a message says an engine runs with."""
    match = _THREADS.search(text)
    return int(match[1]) if match else None
