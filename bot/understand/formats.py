"""Number formats: of the weights, and apart from them of the KV cache."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from bot.understand.text import Text, clause

Role = Literal["weights", "kv_cache", "other", "denied", "weighed"]

_EXACT = re.compile(
    r"(?<![a-z0-9])(?:"
    r"(?P<gguf>(?:ud[-_])?(?:i?q[1-8](?:[-_]?k(?:[-_ ]?(?:xxl|xl|s|m|l)\b)?|[-_]?[01]\b|"
    r"[-_]?(?:xxs|xs|nl|s|m|ks|kt|kl|kss|bn)\b)|tq[12]_0))"
    r"|(?P<bpw>(?:exl[23][- ]?)?(?P<rate>\d(?:[.,]\d{1,2})?)\s?-?bpw)"
    r"|(?P<pair>w(?P<w>4|8|16)a(?P<a>4|8|16)(?:kv(?P<kv>4|8|16))?)"
    r"|(?P<named>(?:compressed-tensors |bnb[-_ ]|bitsandbytes[-_ ])?nf4|(?:bnb|"
    r"bitsandbytes)(?:[-_ ](?:4|8)[-_ ]?bit)?|nvfp4|mxfp4|mxfp8|fp4|"
    r"awq(?:[-_ ]?(?:int)?4(?:[-_ ]?bit)?)?|gptq(?:[-_ ]?(?:int)?[2348](?:[-_ ]?bit)?)?|"
    r"autoround|hqq|"
    r"exl[23]|llm\.int8|load_in_[48]bit|smoothquant)"
    r"|(?P<plain>b?f(?:loat|p)?[- ]?16|fp ?8(?:[-_]?e[45]m[23])?|e4m3|e5m2|fp ?32|f32|"
    r"int ?[248]|bfloat16|half precision|halbe praezision|full precision|volle praezision|"
    r"native precision)"
    r"|(?P<generic>q\s?[2-8](?![a-z0-9_])|(?<![\d.,])(?:2|3|4|5|6|8|16)(?:[- ]?bits?|"
    r"bit(?:tig)?)\b)"
    r")(?![a-z0-9])"
)
_KV_BEFORE = re.compile(
    r"(?:\bkv(?:[-_ ]?cache)?(?:[-_ ]?(?:dtype|type|quant|cache-dtype))?|"
    r"\bcache(?:[-_ ](?:type|dtype|k|v))*|\bctk|\bctv|cache-type-[kv])(?:\s?(?:=|:|at|in|auf|"
    r"to|mit|with|is|ist|als|als|von|nur|on|-))*\s?\(?$"
)
_KV_AFTER = re.compile(
    r"\s?-?(?:quantized |quantisierter? |format )?(?:kv\b(?!\s?[=:]|[ -]?(?:cache )?(?:fp|q|"
    r"int|bf)\d)|k/v|(?:kv[- ]?)?cache\b|for (?:the )?(?:kv|cache)|fuer(?: den| die|"
    r" das)? (?:kv|cache)|beim? kv|for keys)"
)
_DENIED = re.compile(
    r"\b(?:no|not|kein(?:e[nms]?)?|nicht|without|ohne|doesn't (?:do|have|support)|kann kein|"
    r"statt|instead of|rather than|unlike|lacks?)\s(?:native |in |the )?$"
)
_TRAINING_16 = re.compile(r"\s?-?(?:mixed|training|compute|optimizer|adam|master|lora)")
_CORRECTS = re.compile(
    r"\b(?:nein|nee|ne|no|sorry|quatsch|doch|lieber|rather|actually|i mean|ich meine?|eher|"
    r"make it|dann (?:eben|halt|doch|lieber)|then (?:just|rather)(?: use)?)[\s,]{1,2}(?:doch |lieber |rather |eher |in |"
    r"mit |with |make it |nur )*$"
)
_OR_ELSE = re.compile(r"\s?(?:vs\.?|versus|or|oder|/|statt|instead of|rather than|gegen)\s?")
_LORA_BITS = re.compile(r"\s?-?(?:adam|optimizer|paged|adamw)")
_VECTORS = re.compile(r"\b(?:dims?|dimensions?|dimensionen|vektoren|vectors?|embeddings?)[\s,(]{1,2}(?:\w+\s)?$")
_WISH = re.compile(
    r"\b(?:would|wuerde|wuerd|hilft|helps?|bringt|does|should i|soll(?:te)? ich|maybe|"
    r"vielleicht|or maybe|oder doch|could|koennte|lohnt(?: sich)?|worth|why not|gegenueber|"
    r"what about|and with|und mit)\s(?:\w+\s){0,2}$"
)


@dataclass(frozen=True, slots=True)
class FormatMention:
    """A format where the message names it: `value` as it stands in the answer, `exact` unless it is only a number of bits."""

    value: str
    role: Role
    exact: bool
    start: int
    end: int
    wished: bool = False
    corrects: bool = False


# "By Q2", "Q4 2026": a quarter of the year.
_QUARTERS = frozenset(("q1", "q2", "q3", "q4"))
_QUARTER_BEFORE = re.compile(
    r"\b(?:by|until|till|bis|(?:end|start|middle) of|early|late|ende?|anfang|mitte|before|vor|since|seit|next|this|naechstes|dieses|"
    r"quarter|quartal)\s(?:the |zum )?$"
)
_YEAR_AFTER = re.compile(r"\s?[/\-]?\s?20[23]\d(?!\d|\s?(?:gb|k\b|b\b|x))|\s?['/\-]\s?2\d(?!\d|\s?(?:gb|k\b|b\b|x))")


# "q3-32b" is Qwen3 32B.
_VERSION_OF_FAMILY = re.compile(r"-\d+(?:\.\d+)?b(?![a-z0-9])")


def read_formats(text: Text) -> list[FormatMention]:
    """All formats in order. A pair such as w4a8kv4 gives one mention of either role."""
    return list(_mentions(text))


def _mentions(text: Text) -> Iterator[FormatMention]:
    cache_end = -1
    for found in _EXACT.finditer(text.folded):
        start, end = found.span()
        left, right = clause(text.folded, start, end, 40)
        if found.group("generic") and _VERSION_OF_FAMILY.match(right):
            continue
        if found.group() in _QUARTERS and (_QUARTER_BEFORE.search(left) or _YEAR_AFTER.match(right)):
            continue
        if found.group("pair") and found.group("kv"):
            yield FormatMention(f"int{found.group('w')}", "weights", True, start, end)
            yield FormatMention(f"int{found.group('kv')}", "kv_cache", True, start, end)
            continue
        value, exact = _value(found)
        if value:
            role = _role(found, left, right)
            if role == "weights" and 0 <= cache_end <= start and _OR_ELSE.fullmatch(text.folded[cache_end:start]):
                role = "kv_cache"  # "kv cache q8 vs fp16" weighs two formats of the cache
            cache_end = end if role == "kv_cache" else -1
            yield FormatMention(
                value,
                role,
                exact,
                start,
                end,
                bool(_WISH.search(left)),
                bool(_CORRECTS.search(left)),
            )


def _value(found: re.Match[str]) -> tuple[str, bool]:
    text = found.group().replace(" ", "-")
    if found.group("gguf"):
        return _gguf(text), True
    if found.group("bpw"):
        kind = "exl3" if text.startswith("exl3") else "exl2"
        return f"{kind}-{found.group('rate').replace(',', '.')}bpw", True
    if found.group("pair"):
        return f"w{found.group('w')}a{found.group('a')}", True
    if found.group("named"):
        return _named(text), True
    if found.group("generic"):
        return re.sub(r"\D", "", text) + "bit", False
    return _plain(text)


def _gguf(text: str) -> str:
    """q4km, q4-k-m and Q4_K_M are one."""
    joined = re.sub(r"^(ud)[-_]", r"\1-", text.replace("-", "_").replace("ud_", "ud-"))
    return re.sub(r"^((?:ud-)?i?q\d)_?(k)?_?([a-z01]+)?$", lambda m: "_".join(p for p in m.groups() if p), joined)


def _named(text: str) -> str:
    bits = re.search(r"[2348](?=-?_?bit|$)", text.replace("_", "-"))
    if text.startswith(("awq", "gptq")):
        return f"{text[:4].rstrip('-_ 0123456789i') if text.startswith('gptq') else 'awq'}-int{bits.group() if bits else 4}"
    if "nf4" in text:
        return "nf4"
    if text.startswith(("bnb", "bitsandbytes")):
        return f"bnb-{bits.group()}bit" if bits else "bnb-4bit"
    return {
        "load_in_4bit": "bnb-4bit",
        "load_in_8bit": "bnb-8bit",
        "llm.int8": "bnb-8bit",
        "autoround": "gptq-int4",
        "smoothquant": "int8",
    }.get(text, text)


def _plain(text: str) -> tuple[str, bool]:
    joined = text.replace("-", "").replace("_", "").replace("loat", "")
    if "half" in joined or "halbe" in joined:
        return "fp16", True
    if "full" in joined or "volle" in joined or "native" in joined:
        return "16bit", False
    if joined in ("e4m3", "e5m2") or joined.startswith("fp8"):
        return "fp8", True
    if joined.startswith(("bf", "bfp")):
        return "bf16", True
    if "32" in joined:
        return "fp32", True
    return ("fp16", True) if "16" in joined else (joined, True)


def _role(found: re.Match[str], left: str, right: str) -> Role:
    if _KV_BEFORE.search(left) or _KV_AFTER.match(right):
        return "kv_cache"
    if _DENIED.search(left):
        return "denied"
    if _LORA_BITS.match(right) or _VECTORS.search(left) or (_TRAINING_16.match(right) and not found.group("generic")):
        return "other"
    return "weights"


_OF_NAME = re.compile(r"[ \-:,(]{0,3}(?:(?:instruct|chat|it|model|modell|in|at|as|als|mit|with|auf|@)[ \-]{1,2}){0,3}$")
_TIGHT = 24


def attached(mentions: list[FormatMention], folded: str, names: Iterable[tuple[int, int]]) -> list[FormatMention]:
    """The formats with those of a named model first: "70B at 2 bit" of someone else waits behind "Qwen2.5-32B at Q4_K_M"."""
    spans = sorted(names)
    starts = [start for start, _ in spans]

    def is_close(mention: FormatMention) -> bool:
        before = bisect_right(starts, mention.start) - 1
        end = spans[before][1] if before >= 0 else 0
        tight = mention.start - end <= _TIGHT and _OF_NAME.match(folded, end, mention.start)
        return before >= 0 and (mention.start < end or bool(tight))

    weights = [m for m in mentions if m.role == "weights"]
    if len(weights) < 2 or is_close(weights[0]) or any(m.corrects for m in weights):
        return mentions
    close = {m for m in weights if is_close(m)}
    return [*(m for m in mentions if m in close), *(m for m in mentions if m not in close)]


def choose(mentions: list[FormatMention], role: Role) -> FormatMention | None:
    """The exact one beats the general one beside it; otherwise the first named."""
    mine = [m for m in mentions if m.role == role]
    if not mine:
        return None
    rate = next((m for m in mine if m.value.endswith("bpw")), None)
    if rate and mine[0].value in ("exl2", "exl3"):
        return FormatMention(f"{mine[0].value}-{rate.value.split('-')[-1]}", rate.role, True, rate.start, rate.end)
    first = next((m for m in reversed(mine) if m.corrects), mine[0])
    exact = next((m for m in mine if m.exact and not m.wished), None)
    if not first.exact and exact and _bits(exact.value) == _bits(first.value):
        return exact
    return first


def _bits(value: str) -> str:
    found = re.search(r"\d+", value.replace("exl2", "").replace("exl3", "").replace("w4a16", "4"))
    return found.group() if found else "4"
