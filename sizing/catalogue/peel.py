"""Number formats at the end of a model's name: "Llama-3.1-8B-Instruct-AWQ-INT4", "qwen3-8b-q4_k_m.gguf"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sizing.catalogue.words import TOOL_WORDS

__all__ = ["peel_format", "peel_tool_mark"]

_INT_METHOD = re.compile(r"awq|gptq|autoround")
_TOOL_MARK = re.compile(r"[-_ .]([a-z0-9]+)$")
_EDGE = " -_."


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a family of formats is written at the end of a name, and the format it stands for (None: says nothing)."""

    pattern: re.Pattern[str]
    format_of: Callable[[re.Match[str]], str | None]


def _rule(pattern: str, format_of: Callable[[re.Match[str]], str | None]) -> _Rule:
    return _Rule(re.compile(rf"(?:^|[-_. /]){pattern}$", re.I), format_of)


def _as_written(found: re.Match[str]) -> str:
    return found.group(1)


def _gguf_type(found: re.Match[str]) -> str:
    return found.group(0).replace("-", "_").replace("ud_", "ud-")


def _int_bits(method: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{method}-int{found.group(1) or 4}"


def _int_then_method(found: re.Match[str]) -> str:
    method = _INT_METHOD.search(found.group(0))
    name = method.group(0).replace("autoround", "gptq") if method else "gptq"
    return f"{name}-int{found.group(1)}"


def _bit_rate(found: re.Match[str]) -> str:
    return f"exl{found.group(1)}-{found.group(2)}bpw" if found.group(2) else f"exl{found.group(1)}"


@cache
def _rules() -> tuple[_Rule, ...]:
    """The rules, longer spellings first: the first that fits takes its part off the name.

    Compiled on first use, because most names need none of them and they would cost a tenth of the start.
    """
    return (
        _rule(r"(?:ud[-_.])?(i?q\d(?:_[0-9a-z]+)*)", _gguf_type),
        _rule(r"(mxfp4[-_]moe)", lambda _: "mxfp4_moe"),
        _rule(r"(?:unsloth[-_ ])?bnb[-_ ](4|8)bit", lambda found: f"bnb-{found.group(1)}bit"),
        _rule(r"auto-?round(?:[-_ ](?:gptq|awq))?(?:[-_ ]?(?:int)?(\d)(?:-?bit)?)?", _int_bits("gptq")),
        _rule(r"int(\d)[-_ ](?:awq|gptq|autoround)", _int_then_method),
        _rule(r"gptq(?:[-_ ]?(?:int)?(\d)(?:-?bit)?)?(?:[-_ ](?:sym|g\d+|marlin|mixed|bf16))*", _int_bits("gptq")),
        _rule(r"awq(?:[-_ ]?(?:int)?(\d)(?:-?bit)?)?(?:[-_ ]g\d+)?", _int_bits("awq")),
        _rule(r"quantized[._-](w4a16|w8a8|w8a16)", _as_written),
        _rule(r"(w4a16|w8a16|w4a8|w8a8)(?:[-_ ](?:int8|fp8|g128|mtp))?", _as_written),
        _rule(r"exl([23])(?:[-_ ]?(\d+(?:\.\d+)?)(?:[-_ ]?bpw)?)?", _bit_rate),
        _rule(
            r"fp8(?:[-_ ](?:dynamic|block|static|kv|e4m3))*",
            lambda found: "fp8-block128" if "block" in found.group(0) else "fp8",
        ),
        _rule(r"(nvfp4|mxfp4|mxfp8|fp4|nf4|hqq)", _as_written),
        _rule(r"(bf16|fp16|f16|fp32|16bit)", _as_written),
        _rule(r"(?:mlx[-_ ])(\d)bit", lambda found: f"mlx-{found.group(1)}bit"),
        _rule(r"int([48])", lambda found: f"int{found.group(1)}"),
        _rule(r"(\d)[- ]?bits?", lambda found: f"{found.group(1)}bit"),
        _rule(r"qat", lambda _: None),
    )


def peel_format(text: str) -> tuple[str, str | None] | None:
    """The name without the format at its end, and that format; None where it ends in none."""
    for rule in _rules():
        found = rule.pattern.search(text)
        if found and found.start() > 0:
            return text[: found.start()].strip(_EDGE), rule.format_of(found)
    return None


def peel_tool_mark(text: str) -> tuple[str, str] | None:
    """The name without a mark of tools at its end ("GGUF", "unsloth", "MTP"), and that mark; None where it has none."""
    found = _TOOL_MARK.search(text)
    if not found or found.group(1) not in TOOL_WORDS:
        return None
    return text[: found.start()].strip(_EDGE), found.group(1)
