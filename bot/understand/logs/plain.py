"""Plain figures in a message: "GPU 60 %, VRAM 99 %, 12 tok/s", in German and English."""

from __future__ import annotations

import re
from typing import Final

from sizing.observation import Observation

_LABEL = (
    r"(?:[- ]?(?:auslastung|utili[sz]ation|usage|load|last|belegung|used))?\s*"
    r"(?:[:=]|\bis\b|\bist\b|\bat\b|\bbei\b|\bauf\b|\bliegt bei\b)?\s*(?:\bbei\b|\bat\b)?\s*(?:nur|only|about|etwa|ca\.?|~)?\s*"
)
_SHARE = r"(?P<share>\d{1,3}(?:[.,]\d+)?)\s?%"
_GPU: Final = re.compile(rf"\bgpu(?!s? ?(?:mem|speicher|ram)){_LABEL}{_SHARE}", re.IGNORECASE)
_VRAM: Final = re.compile(
    rf"\b(?:vram|gpu[- ]?(?:memory|mem|speicher|ram)|grafikspeicher|videospeicher){_LABEL}{_SHARE}", re.IGNORECASE
)
_CPU: Final = re.compile(rf"\b(?:cpu|prozessor){_LABEL}{_SHARE}", re.IGNORECASE)
_RATE: Final = re.compile(
    r"(?P<rate>\d{1,5}(?:[.,]\d+)?)\s?(?:tok(?:en)?s?(?:/s|/sec|/sek| per second| pro sekunde)|t/s|tps\b)",
    re.IGNORECASE,
)
_TTFT: Final = re.compile(
    r"(?:ttft|first token|erste[sn]? (?:token|wort))\D{0,24}(?P<n>\d+(?:[.,]\d+)?)\s?(?P<unit>ms|s\b|sec|sek|sekunden|seconds)",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"\bpcie?\s*(?:gen\s*)?(?P<gen>[1-6])(?:\.0)?\s*(?:x|×)\s*(?P<width>1|2|4|8|16)\b", re.IGNORECASE
)
_WAITING: Final = re.compile(
    r"\b(?P<n>\d{1,6})\s+(?:requests?\s+)?(?:waiting|queued|in (?:the )?queue|in der (?:warte)?schlange|warten)\b",
    re.IGNORECASE,
)


def read(text: str) -> Observation | None:
    """Percentages of GPU, memory and CPU, with a rate where one stands beside them; None without any percentage or queue."""
    gpu, vram, cpu = (_share(pattern, text) for pattern in (_GPU, _VRAM, _CPU))
    waiting, link = _WAITING.search(text), _LINK.search(text)
    if gpu is None and vram is None and cpu is None and waiting is None:
        return None
    rate, first = _RATE.search(text), _TTFT.search(text)
    return Observation(
        sources=("figures",),
        gpu_utilization=gpu,
        vram_share=vram,
        cpu_utilization=cpu,
        decode_tok_s=_number(rate["rate"]) if rate else None,
        ttft_ms=_ms(first) if first else None,
        link_gen=int(link["gen"]) if link else None,
        link_width=int(link["width"]) if link else None,
        waiting=int(waiting["n"]) if waiting else None,
    )


def _share(pattern: re.Pattern[str], text: str) -> float | None:
    match = pattern.search(text)
    found = None if match is None else _number(match["share"]) / 100
    return None if found is None or found > 1 else found


def _number(written: str) -> float:
    return float(written.replace(",", "."))


def _ms(match: re.Match[str]) -> float:
    return _number(match["n"]) * (1.0 if match["unit"].lower() == "ms" else 1000.0)
