"""What a message says of how something is started and run that cannot be: it is asked about, not dropped in silence.

Figures of the workload itself (users, tokens, memory) are judged where they are read, in `bot.understand.figures`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from bot.understand.text import Text
from sizing.catalogue.names import find

_FIGURE: Final = r"-?\d{1,12}(?:[.,]\d{1,6})?"


def _flag(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{names})(?:\s+|=)(?P<n>{_FIGURE})(?!\S)")


def _no_degree(value: float) -> bool:
    return value < 1 or value != int(value)


def _no_share(value: float) -> bool:
    return not 0 < value <= 1


def _negative(value: float) -> bool:
    return value < 0


# "-1" is how engines write "as many as there are" or "what the model has".
_FLAGS: Final[tuple[tuple[str, re.Pattern[str], Callable[[float], bool]], ...]] = (
    ("engine.gpu_memory_utilization", _flag("--gpu-memory-utilization|--mem-fraction-static"), _no_share),
    ("parallel.tensor", _flag("--tensor-parallel-size|-tp|--tp|--tp-size"), _no_degree),
    ("parallel.pipeline", _flag("--pipeline-parallel-size|-pp|--pp-size"), _no_degree),
    ("parallel.data", _flag("--data-parallel-size|-dp|--dp|--dp-size"), _no_degree),
    ("engine.gpu_layers", _flag("-ngl|--n-gpu-layers|--gpu-layers"), lambda value: value < -1),
    ("context_tokens", _flag("--max-model-len|--context-length|-c|--ctx-size"), lambda value: value < -1),
    ("concurrency", _flag("--max-num-seqs|--max-running-requests|-np|--parallel"), lambda value: value < -1),
    ("engine.cpu_offload_gib", _flag("--cpu-offload-gb"), _negative),
    ("engine.kv_offload_gib", _flag("--kv-offloading-size"), _negative),
    ("engine.redundant_experts", _flag("--ep-num-redundant-experts"), _negative),
)
_DAY, _WEEK = r"(?:arbeits|werk|working |business )?(?:tag|day)\b", r"(?:week|woche)\b"
_PER = r"\s?(?:/|am|an|a|pro|je|per|each|every|die|in der)\s?"
_USE: Final[tuple[tuple[str, re.Pattern[str], Callable[[float], bool]], ...]] = (
    (
        "targets.budget",
        re.compile(rf"\bbudget\s?(?:von|of|is|ist|:|=)?\s?(?P<n>{_FIGURE})\s?(?:[€$k]|eur|usd)"),
        _negative,
    ),
    (
        "targets.ttft_s",
        re.compile(rf"\bttft\s?(?:von|of|unter|under|below|<|:|=)?\s?(?P<n>{_FIGURE})\s?(?:ms|s)\b"),
        _negative,
    ),
    (
        "usage.hours_per_day",
        re.compile(rf"(?<![\w.,-])(?P<n>{_FIGURE})\s?(?:h|std\.?|stunden?|hours?|hrs?){_PER}{_DAY}"),
        lambda value: not 0 < value <= 24,
    ),
    (
        "usage.days_per_week",
        re.compile(rf"(?<![\w.,-])(?P<n>{_FIGURE})\s?(?:days?|tagen?){_PER}{_WEEK}"),
        lambda value: not 0 < value <= 7,
    ),
    (
        "usage.utilisation",
        re.compile(rf"(?<![\w.,-])(?P<n>{_FIGURE})\s?%\s?(?:auslastung|ausgelastet|utili[sz]ation|utili[sz]ed)"),
        lambda value: not 0 <= value <= 100,
    ),
    (
        "usage.pue",
        re.compile(rf"\bpue\b\s?(?:von|of|is|ist|=|:|at|bei)?\s?(?P<n>{_FIGURE})(?![\w%])"),
        lambda value: not 1 <= value <= 5,
    ),
    (
        "host.power_limit_w",
        re.compile(
            rf"(?:power[- ]?(?:limit|cap)|leistungsgrenze|leistungslimit)\s?(?:von|of|auf|to|at|bei|=|:)?\s?(?P<n>{_FIGURE})\s?w(?:att)?\b|"
            rf"(?<![\w.,-])(?P<before>{_FIGURE})\s?w(?:att)?\s?(?:power[- ]?(?:limit|cap)|leistungsgrenze|leistungslimit)"
        ),
        lambda value: value <= 0,
    ),
)
# Hours of recordings, of cards and of people add up to more than a day has.
_OTHER_HOURS = re.compile(
    r"audio|transk|transcri|whisper|speech|sprach|record|aufnahm|aufzeichn|video|podcast|meeting|gespraech|anruf|call|gpu-?\s?(?:h\b|hour|stund)|personen"
)
_FORMAT = re.compile(r"(?<![\w.-])(?:fp\d{1,2}|i?q\d{1,2}_\w{1,8})(?![\w-])")
_FOR_SCIENCE = "fp64"


def refused(text: Text) -> Iterator[tuple[str, str]]:
    """(field, words of the message) of every such value, in the order of the fields."""
    for field, pattern, is_wrong in (*_FLAGS, *_USE):
        if field == "usage.hours_per_day" and _OTHER_HOURS.search(text.folded):
            continue
        for match in pattern.finditer(text.folded):
            figure = next(value for value in match.groupdict().values() if value is not None)
            if is_wrong(float(figure.replace(",", "."))):
                yield field, text.quote(*match.span())
    for match in _FORMAT.finditer(text.folded):
        if match.group() != _FOR_SCIENCE and find(match.group(), "format").id is None:
            yield "weights", text.quote(*match.span())
