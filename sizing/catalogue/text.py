"""How written names become comparable: plain text, words and keys."""

import re
import unicodedata
from typing import Literal

__all__ = [
    "MEMORY_GB",
    "Kind",
    "format_key",
    "name_key",
    "plain",
    "remarks_of",
    "without_organisation",
    "without_remarks",
    "words",
]

Kind = Literal["model", "accelerator", "format", "kv_format"]

MODEL_BRANDS = frozenset({"meta", "nvidia", "the", "model", "models"})
DEVICE_BRANDS = frozenset(
    [
        "nvidia",
        "geforce",
        "tesla",
        "amd",
        "radeon",
        "instinct",
        "intel",
        "arc",
        "apple",
        "google",
        "aws",
        "cpu",
        "gpu",
        "gpus",
        "igpu",
        "card",
        "graphics",
        "generation",
        "edition",
        "blackwell",
        "jetson",
        "huawei",
        "class",
        "accelerator",
        "hgx",
        "instance",
        "processor",
        "metal",
        "cuda",
        "the",
        "chip",
    ]
)
_BRANDS: dict[Kind, frozenset[str]] = {"model": MODEL_BRANDS, "accelerator": DEVICE_BRANDS}

# a "10g" that a letter touches is a product ("A10G"), never a memory
MEMORY_GB = re.compile(r"(?<![\d.])(?!(?<=[a-z])\d+g\b)(\d+(?:\.\d+)?)\s*-?\s*(?:gb|gib|g)\b", re.I)
_TRADE_MARK = re.compile(r"\((?:r|tm|c)\)", re.I)
_REMARK = re.compile(r"\(([^)]*)\)")
_REPOSITORY = re.compile(r"^[\w.-]+/[\w.-]")
_WORD = re.compile(r"\d+(?:\.\d+)+|\d+|[a-z]+")
_MAX_Q = re.compile(r"\bmax-?q\b")
_LAPTOP = re.compile(r"\b(?:mobile|notebook|max-p)\b")
_DIGIT_UNDERSCORE = re.compile(r"(?<=\d)_(?=\d)")
_PLUS = re.compile(r"(?<=[a-z])\+")
_POINT_ZERO_B = re.compile(r"(?<=\d)\.0(?=b\b)")
_FORMAT_REMARK = re.compile(r"\((?!g\d+\))[^)]*\)")
_FORMAT_SEPARATOR = re.compile(r"[\s_/]+")
_POINT_ZERO_BPW = re.compile(r"(\d)\.0(?=bpw)")
_HYPHENS = re.compile(r"-{2,}")


def plain(name: str) -> str:
    """Lower case without accents and trade marks, single spaces."""
    if not name.isascii():
        name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return " ".join(_TRADE_MARK.sub(" ", name).lower().split())


def remarks_of(text: str) -> list[str]:
    """What stands in brackets: "A100 (SXM)" gives ["SXM"]."""
    return _REMARK.findall(text)


def without_remarks(text: str) -> str:
    """The text with everything in brackets left out."""
    return _REMARK.sub(" ", text)


def without_organisation(text: str) -> str:
    """ "Qwen/Qwen3-8B" gives "Qwen3-8B"; a slash between spaces is not an organisation."""
    return text.rpartition("/")[2] if _REPOSITORY.match(text) else text


def words(name: str, kind: Kind) -> list[str]:
    """Words and numbers of a name without remarks and vendor words; every change of letter and digit separates.

    "NVIDIA GeForce RTX4090 (FE)" gives ["rtx", "4090"], "Qwen/Qwen3-0.6B" gives ["qwen", "3", "0.6", "b"].
    """
    text = without_remarks(plain(name))
    if kind == "model":
        text = _DIGIT_UNDERSCORE.sub(".", without_organisation(text))
        text = _POINT_ZERO_B.sub("", _PLUS.sub(" plus ", text))
    elif kind == "accelerator":
        text = _LAPTOP.sub("laptop", _MAX_Q.sub("maxq", text))
    found = _WORD.findall(text.replace("'", ""))
    brands = _BRANDS.get(kind, frozenset())
    return [word for word in found if word not in brands] or found


def name_key(name: str, kind: Kind) -> str:
    """The form in which names of models and accelerators are compared: their words, one space between."""
    return " ".join(words(name, kind))


def format_key(name: str) -> str:
    """The form in which formats are compared: one separator, no remark but a group size, "4.0bpw" = "4bpw"."""
    text = _FORMAT_REMARK.sub("", plain(name)).replace("(", "-").replace(")", "")
    text = _FORMAT_SEPARATOR.sub("-", text.strip()).strip("-")
    return _POINT_ZERO_BPW.sub(r"\1", _HYPHENS.sub("-", text))
