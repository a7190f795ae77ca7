"""Look-up of models: "Qwen3 8B", "TheBloke/dolphin-2.7-mixtral-8x7b-AWQ", "llama 70b", "a 13B model"."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sizing.catalogue.find_format import find_format
from sizing.catalogue.match import Match, Via
from sizing.catalogue.peel import peel_format, peel_tool_mark
from sizing.catalogue.suggest import suggestions
from sizing.catalogue.tables import NameTable, table
from sizing.catalogue.text import name_key, plain, remarks_of, without_organisation, without_remarks, words
from sizing.catalogue.words import MAKERS, OTHER_MODEL_WORDS, VARIANT_WORDS

__all__ = ["find_model"]

_MOST_ROUNDS = 12
_LONGEST_FAMILY = 14
_SHORTEST_FAMILY = 3
# 0528 tells two models apart, other four-digit dates do not
_DATE_THAT_COUNTS = "0528"
_WEAK_FORMATS = ("bf16", "mixed")

_UNKNOWN = re.compile(r"(?:unknown|none|n/a)\b")
_FILE_ENDING = re.compile(r"\.(?:gguf|safetensors|bin)\b")
_TAG = re.compile(r":(?=\w)")
_DATE = re.compile(r"\d{4}")
_SIZE_ONLY = re.compile(r"(?:an? )?(\d+(?:\.\d+)?) b")
_BILLIONS = re.compile(r"(?<!\ba )\b(\d+(?:\.\d+)?) b\b")
_ANY_BILLIONS = re.compile(r"\b\d+(?:\.\d+)? b\b")
_ANY_SIZE = re.compile(r"\b\d+(?:\.\d+)? [bm]\b")
_FORMAT_IN_REMARK = re.compile(r"\b(\d)[- ]?bit\b|\b(bf16|fp16|fp8|int8|int4|nvfp4|q\d_\w+)\b")
_THREE_LETTERS = re.compile(r"[a-z]{3}")
_SHAPE = re.compile(r"\b(?:class|layers|heads)\b")
_FORMAT_INSIDE = re.compile(r"nvfp4|mxfp4|awq|gptq|fp8|w4a16|w8a8")
_FORMAT_WORDS = ("awq", "gptq", "fp8", "nvfp4", "mxfp4", "int4", "w4a16")


@dataclass(slots=True)
class _Written:
    """A model name while it is taken apart: `rest` shrinks, `format` and `assumed` collect what came off it."""

    name: str
    text: str
    names: NameTable
    remarks: tuple[str, ...] = ()
    rest: str = ""
    words: list[str] = field(default_factory=list)
    format: str | None = None
    assumed: list[str] = field(default_factory=list)

    def ids(self, name: str) -> tuple[str, ...]:
        """Entries whose key is that of `name`, the customary one first."""
        key = name_key(name, "model")
        ambiguous = self.names.ambiguous.get(key)
        if ambiguous:
            return ambiguous
        return (self.names.keys[key],) if key in self.names.keys else ()

    def match(self, ids: tuple[str, ...], via: Via, *also_assumed: str) -> Match:
        several = len(ids) > 1
        return Match(
            name=self.name,
            kind="model",
            id=ids[0],
            via="family" if several else via,
            candidates=ids if several else (),
            format=_format_id(self.format or _format_in(self.remarks)),
            assumed=(*self.assumed, *also_assumed),
        )


def find_model(name: str, suggest: bool) -> Match:
    text = plain(name)
    if not text or _UNKNOWN.match(text):
        return Match(name=name, kind="model", via="unknown")
    written = _Written(name, text, table("model"))
    if match := _as_written(written):
        return match
    _take_apart(written)
    for step in _STEPS:
        if match := step(written):
            return match
    return _no_entry(written, suggest)


def _as_written(written: _Written) -> Match | None:
    names = written.names
    for text in (written.text, without_organisation(written.text)):
        unambiguous = text in names.repositories or name_key(text, "model") not in names.ambiguous
        if text in names.exact and unambiguous:
            return Match(name=written.name, kind="model", id=names.exact[text], via="exact")
    return None


def _take_apart(written: _Written) -> None:
    written.remarks = tuple(remarks_of(written.text))
    written.assumed = [f"({remark})" for remark in written.remarks]
    rest, plus, extra = without_remarks(without_organisation(written.text)).partition(" + ")
    if plus:
        written.assumed.append(f"+ {extra.strip()}")
    written.rest = _TAG.sub(" ", _FILE_ENDING.sub("", rest.strip()).strip())


def _by_key(written: _Written) -> Match | None:
    """The key of the whole name, then of what remains as formats and tool marks come off its end."""
    for turn in range(_MOST_ROUNDS):
        if ids := written.ids(written.rest):
            return written.match(ids, "suffix" if turn else "key")
        if peeled := peel_format(written.rest):
            written.rest, found = peeled
            if written.format in (None, *_WEAK_FORMATS):
                written.format = found or written.format
        elif marked := peel_tool_mark(written.rest):
            written.rest, mark = marked
            written.assumed.append(mark)
        else:
            return None
    return None


def _variant(written: _Written) -> Match | None:
    every = words(written.rest, "model")
    written.words = [word for word in every if word not in VARIANT_WORDS and not _is_date(word)]
    if written.words == every or not (ids := written.ids(" ".join(written.words))):
        return None
    return written.match(ids, "variant", *(word for word in every if word not in written.words))


def _after_its_maker(written: _Written) -> Match | None:
    """ "Microsoft Phi-4", "Mistral AI Mistral Small 3.2": who made it stands before the name."""
    every = words(written.rest, "model")
    for length in (1, 2, 3):
        if " ".join(every[:length]) not in MAKERS:
            continue
        for rest in (every[length:], [word for word in every[length:] if word not in VARIANT_WORDS]):
            if ids := written.ids(" ".join(rest)):
                return written.match(ids, "variant", *every[:length])
    return None


def _is_date(word: str) -> bool:
    return bool(_DATE.fullmatch(word)) and word != _DATE_THAT_COUNTS


def _size_only(written: _Written) -> Match | None:
    """ "a 13B model", "32B AWQ": a size and no name."""
    size = _SIZE_ONLY.fullmatch(" ".join(written.words))
    if not size:
        return None
    said = _format_id(written.format)
    return Match(name=written.name, kind="model", via="size only", params_b=float(size.group(1)), format=said)


def _family_and_size(written: _Written) -> Match | None:
    """Family and size without a version ("llama 70b", "70b llama"): the newest entry of that size is the default."""
    size = _BILLIONS.search(" ".join(written.words))
    if not size:
        return None
    family = [word for word in written.words if word not in (size.group(1), "b")]
    if len(family) != 1 or not family[0].isalpha():
        return None
    key = f"{family[0]} {size.group(1)} b"
    ids = written.names.ambiguous.get(key) or written.names.families.get(key)
    return written.match(ids, "family") if ids else None


def _base_in_remark(written: _Written) -> Match | None:
    """ "Tifa-DeepsexV3-14b (Qwen3-14B)": the remark names the base model."""
    for remark in written.remarks:
        if not _THREE_LETTERS.search(remark) or _SHAPE.search(remark):
            continue
        if ids := written.ids(remark):
            written.assumed = ["base model in the remark"]
            return written.match(ids, "remark")
    return None


def _fine_tune(written: _Written) -> Match | None:
    """A longer name that holds a known one with its size, and no other size and no word of another model."""
    every = words(written.rest, "model")
    for length in range(min(len(every) - 1, _LONGEST_FAMILY), _SHORTEST_FAMILY - 1, -1):
        for start in range(len(every) - length + 1):
            part, others = every[start : start + length], every[:start] + every[start + length :]
            if (ident := _base_model(part, written.names)) and _keeps_the_model(others):
                written.format = written.format or _format_inside(written.text, others)
                return written.match((ident,), "contains", f"fine-tune: {' '.join(others)}")
    return None


def _base_model(part: list[str], names: NameTable) -> str | None:
    key = " ".join(part)
    ident = names.keys.get(key)
    return ident if ident and len(part[0]) >= _SHORTEST_FAMILY and _ANY_SIZE.search(key) else None


def _keeps_the_model(others: list[str]) -> bool:
    return not OTHER_MODEL_WORDS.intersection(others) and not _ANY_BILLIONS.search(" ".join(others))


def _format_inside(text: str, others: list[str]) -> str | None:
    said = next((word for word in others if word in _FORMAT_WORDS), None)
    found = _FORMAT_INSIDE.search(text)
    return said or (found.group(0) if found else None)


def _format_in(remarks: tuple[str, ...]) -> str | None:
    for remark in remarks:
        if found := _FORMAT_IN_REMARK.search(remark):
            return found.group(2) or f"{found.group(1)}bit"
    return None


def _format_id(name: str | None) -> str | None:
    """The id of a peeled format; the word itself where the catalogue lacks it, so that it is refused by name later."""
    return (find_format(name, suggest=False).id or name) if name else None


def _no_entry(written: _Written, suggest: bool) -> Match:
    near = suggestions(" ".join(written.words), written.names.keys, same_size=True) if suggest else ()
    said = find_format(written.format, suggest=False).id if written.format else None
    return replace(Match(name=written.name, kind="model"), suggestions=near, format=said)


_STEPS: tuple[Callable[[_Written], Match | None], ...] = (
    _by_key,
    _variant,
    _after_its_maker,
    _size_only,
    _family_and_size,
    _base_in_remark,
    _fine_tune,
)
