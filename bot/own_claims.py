"""Statements of documents that can be worked out anew: the memory of a card, what a model needs, and whether it runs somewhere.

A statement that leaves the format open is refuted only where no format would make it true: "runs" is tried with four bits,
"does not fit" with sixteen.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, Final

from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.sized import Sized, size
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults

_RUNS: Final = re.compile(
    r"\b(?:passt|passen|läuft|laufen|reicht|reichen|genügt|genügen|fits?|runs?|enough|suffices?)\b", re.IGNORECASE
)
_NOT: Final = re.compile(
    r"\b(?:nicht|kein\w*|nie|niemals|not|never|cannot|no|zu klein|too small)\b|n't\b", re.IGNORECASE
)
_CONDITION: Final = re.compile(
    r"\b(?:nur|falls|wenn|sofern|erst|ohne|offload\w*|darf|dürfen|soll\w*|freigegeben|"
    r"only|if|unless|without|may|must|should|approved)\b",
    re.IGNORECASE,
)
_NEEDS: Final = re.compile(
    r"\b(?:braucht|brauchen|benötigt|benötigen|belegt|needs?|requires?|takes?|occup\w+|uses?)\b", re.IGNORECASE
)
_HAS: Final = re.compile(
    r"\b(?:hat|haben|besitzt|bietet|bieten|verfügt|mit|has|have|offers?|comes?|with|provides?)\b", re.IGNORECASE
)
_VIDEO: Final = re.compile(r"\b(?:VRAM|Grafikspeicher|Videospeicher|GPU-Speicher|Speicher|memory)\b", re.IGNORECASE)
_OTHER_MEMORY: Final = re.compile(
    r"\b(?:RAM|DRAM|Arbeitsspeicher|SSD|NVMe|Platten?|disk|storage|cache|Modell\w*|models?)\b", re.IGNORECASE
)
_SIZE: Final = re.compile(r"(?<![\w.,])(\d{1,4}(?:[.,]\d+)?)\s?(GB|GiB)\b")
_WIDEST, _NARROWEST = "bf16", "q4_k_m"
# A guide may say "about 16 GB" for 14.96 GiB: below this share of the weights alone it is wrong whatever was rounded.
_ROUNDED: Final = 0.85
# A document that names no context speaks of no long one.
_SHORT_CONTEXT: Final = 4096
_MEMORY_SUFFIX: Final = re.compile(r"-\d+gb$")


@functools.lru_cache(maxsize=4096)
def named_in(text: str) -> frozenset[str]:
    """Catalogue ids of the devices and models that a text names, also those that it rules out or limits."""
    from bot.understand.devices import read_devices
    from bot.understand.models import read_models
    from bot.understand.text import fold

    folded = fold(text)
    models, _ = read_models(folded)
    devices = read_devices(folded, [(each.start, each.end) for each in models], slash=False)
    return frozenset(ident for ident in (*(each.id for each in models), *(each.id for each in devices)) if ident)


def bears_on(sentence: str, names: frozenset[str]) -> bool:
    """Whether a sentence names one of these, and where it names a card beside a model, none but these."""
    named = named_in(sentence)
    devices = {name for name in named if name in catalogue().accelerators}
    asked_devices = any(name in catalogue().accelerators for name in names)
    return bool(named & names) and (not asked_devices or not devices or bool(devices & names))


@functools.lru_cache(maxsize=4096)
def _specs(text: str) -> tuple[dict[str, Any], ...]:
    from bot.understand.read import read
    from bot.understand.specs import specs_of

    return tuple(dict(spec) for spec in specs_of(read(text)))


def refuted(sentence: str, title: str, draft: Draft) -> Iterator[str]:
    """What the engine or the catalogue says against a sentence, in words."""
    specs = _specs(sentence)
    if len(specs) != 1:
        return
    model, hardware = specs[0].get("model"), specs[0].get("hardware") or []
    if hardware and not model and len(hardware) == 1:
        yield from _memory(sentence, hardware[0], title, draft)
    if model and _NEEDS.search(sentence):
        yield from _weights(sentence, specs[0], title, draft)
    if model and hardware and _RUNS.search(sentence) and not _CONDITION.search(sentence):
        yield from _verdict(sentence, specs[0], title, draft)


def _memory(sentence: str, entry: dict[str, Any], title: str, draft: Draft) -> Iterator[str]:
    sizes, device = _SIZE.findall(sentence), entry.get("accelerator")
    known = _memories(str(device))
    of_the_card = _VIDEO.search(sentence) or not _OTHER_MEMORY.search(sentence)
    if len(sizes) != 1 or not known or not (_HAS.search(sentence) and of_the_card):
        return
    said = float(sizes[0][0].replace(",", "."))
    if all(abs(said - each) > 1 for each in known):
        draft.material.add_gb(said)
        draft.material.add_gb(known[0])
        draft.material.add_names([draft.words.device(str(device))])
        yield draft.words.text(
            "own_documents", "memory", title=title, said=said, device=draft.words.device(str(device)), value=known[0]
        )


def _memories(device: str) -> list[float]:
    """The sizes that a card comes in: its own first, then those of its namesakes ("RTX 3060" with 8 or 12 GB)."""
    entries = catalogue().accelerators
    if device not in entries:
        return []
    stem = _MEMORY_SUFFIX.sub("", device)
    namesakes = [entry for ident, entry in entries.items() if _MEMORY_SUFFIX.sub("", ident) == stem]
    found = [entries[device], *namesakes]
    return [float(each) for entry in found for each in (entry.memory_gb, *entry.memory_options_gb) if each]


def _weights(sentence: str, spec: dict[str, Any], title: str, draft: Draft) -> Iterator[str]:
    sizes = _SIZE.findall(sentence)
    if len(sizes) != 1 or spec.get("task") != "inference":
        return
    amount, unit = float(sizes[0][0].replace(",", ".")), sizes[0][1]
    if any(entry.get("memory_gb") == amount for entry in spec.get("hardware") or ()):
        return
    one = _sized(
        {**spec, "weights": spec.get("weights") or _NARROWEST, "hardware": [{"memory_gb": 1000, "count": 1}]}, draft
    )
    weights = one.figures.get("weights_gib") if one else None
    said_gib = amount * (1e9 / 2**30 if unit == "GB" else 1.0)
    if one and weights and said_gib < _ROUNDED * weights:
        draft.material.add_gb(amount)
        yield draft.words.text("own_documents", "weights", **{**one.figures, "title": title, "said": amount})


def _verdict(sentence: str, spec: dict[str, Any], title: str, draft: Draft) -> Iterator[str]:
    denied = bool(_NOT.search(sentence))
    one = _sized({**spec, "weights": spec.get("weights") or (_WIDEST if denied else _NARROWEST)}, draft)
    if one is None or one.verdict is None or one.margin_gib is None or "need_gib" not in one.figures:
        return
    wrong = "can" if denied and one.verdict == "fits" else "cannot" if not denied and one.verdict == "no" else ""
    if wrong:
        label = option_label(one, draft.words)
        yield draft.words.text("own_documents", wrong, **{**one.figures, "title": title, "label": label})


def _sized(spec: dict[str, Any], draft: Draft) -> Sized | None:
    """What the engine says of a document's own statement; the guard knows its figures from then on."""
    one = size({"context_tokens": _SHORT_CONTEXT, **spec}, Defaults())
    if not one.estimate.ok:
        return None
    draft.considered.append(one)
    return one
