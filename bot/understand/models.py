"""Which models a message names: by id, alias, version and size in any order, family alone, or a bare size."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.understand.lexicon import (
    VARIANTS,
    ModelLexicon,
    Part,
    is_careful,
    is_family,
    model_key,
    model_lexicon,
    params_b,
    parts,
)
from bot.understand.text import Spans, Text, clause
from sizing.catalogue.names import find

_LONGEST_RUN = 12
_JOINT = re.compile(r"(?:[ \-_:/.@]{0,2}|\s?\(|\)\s?| - )$")
_PREFIX_GAP = re.compile(r"(?:-ai)?/|[ '\"\-:(]{1,3}")
_UNIT_LETTERS = frozenset(
    ["k", "x", "gb", "g", "gib", "tb", "w", "s", "ms", "mal", "er", "h", "min", "a", "ctx", "gpu", "gpus"]
)
_PROGRAM = re.compile(
    r"llama[ .\-_]?(?:cpp|factory|file|bench|server|index|swap|guard 0|board|c\+\+)\b|"
    r"faster[ -]whisper|whisper[ .\-]?(?:cpp|x|live\w*|kit)\b|"
    r"qwen[ -]?(?:agent|code cli)\b|mistral[ .-]?rs\b|mistral (?:ai|la plateforme)\b|"
    r"deepseek (?:api|app)\b|gemma\.cpp|chatglm\.cpp"
)
_NEGATED = re.compile(
    r"(?:\b(?:not|no|kein(?:e[nmr]?)?|nicht|statt|anstatt|anstelle(?: von)?|instead of|"
    r"rather than|without|ohne|except|ausser)\s(?:the |das |den |ein(?:e[nm]?)? |an? |unser |"
    r"our |really |wirklich )?)$"
)
_RETRACTED = re.compile(
    r"^[\s\w'\".-]{0,24}?(?:\.{2,}|,|;|-|:|\(|!)\s?(?:no|nee|ne|nein|noe|sorry|quatsch|aeh|"
    r"ach|wait|oops|scratch that|doch|actually|i mean|ich mein\w*|vielmehr|pardon)\b"
    r"(?!\s(?:nvlink|problem|gpu|matter|idea|ahnung|cloud|internet))"
)
_PRECEDENT = re.compile(
    r"^\s?(?:already\s|also\s|auch\s|just\s|schon\s|ja\s|zwar\s)?(?:ran|runs fine|runs ok|"
    r"runs well|worked|works fine|works well|works great|lief|laeuft (?:super|gut|prima|"
    r"problemlos|einwandfrei|ja|doch|schon)|"
    r"fit fine|was (?:fine|ok|too|great)|war (?:zu|ok|gut|super|langsam)|ging (?:gut|prima|"
    r"super|ja|locker))\b"
)
_YARDSTICK = re.compile(
    r"(?:(?<!something )(?<!sth )(?<!anything )(?<!models )(?<!\bwe )(?<!\bi )(?<!\bthey )(?<!would )"
    r"(?<!i'd )(?<!we'd )\b(?:like|as good as|better than|"
    r"besser als|so gut wie|vergleichbar mit|comparable to|similar to|wie bei|unlike|"
    r"anders als|gegenueber dem alten|used to run|previously|frueher|bisher(?: lief)?|"
    r"coming from|was running|had)\s(?:an? |the |das |dem |der |ein(?:em)? )?)$"
)
_SUCH_AS = re.compile(r"\bmodell?e?s?\b[^.;!?]{0,24}\blike\s$")
# "First we wanted X, then Y, now Z": what was planned once is no longer asked about.
_ONCE = re.compile(
    r"\b(?:(?:erst|zuerst|anfangs|urspruenglich|frueher|letztes jahr|first|initially|originally|at first|before)\b[^.!?;]{0,24}|"
    r"(?:wollten|wollte|dachten|dachte|planten|hatten|wanted|planned|thought|considered|looked at|had)\b[^.!?;]{0,16})$"
)
_AT_LAST = re.compile(
    r"\b(?:jetzt|nun|inzwischen|mittlerweile|aktuell|final\w*|endgueltig|am ende|now|finally|by now|decided|settled|entschieden|"
    r"geeinigt)\b[^.!?;]{0,28}$"
)
_SIZE_LIST = re.compile(
    r"(?<![\d.a-z])(\d+(?:\.\d+)?)\s?b?(?:\s?(?:/|,|\bund\b|\band\b|\bor\b|"
    r"\boder\b)\s?(\d+(?:\.\d+)?)\s?b?){1,3}(?<=b)(?![a-z0-9])"
)
_NO_MODEL_SIZE = re.compile(
    r"^\s?-?(?:ish|active|aktive?n?|activated|aktivierte?n?|are active|sind aktiv|experts?|" r"experten|tok|x\b|/s)"
)
_BARE_ARTICLE = re.compile(r"\b(?:the|das|den|dem|der|die|its|dessen)\s$")
_JOINED_SIZE = re.compile(
    r"(?:\+|/|\bor\b|\boder\b|\bund\b|\band\b|&|,|\bvs\.?|\bbis\b|\bto\b)\s?(?:the |das |die |" r"den )?$"
)


@dataclass(frozen=True, slots=True)
class ModelMention:
    """A model where the message names it. `name` is what stands in `models`; `why_not` says why it should not stand there."""

    name: str
    id: str | None
    start: int
    end: int
    size_b: float | None = None
    family: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class SizeMention:
    """A size without a name: "a 70B"."""

    params_b: float
    start: int
    end: int
    why_not: str = ""


def read_models(text: Text) -> tuple[list[ModelMention], list[SizeMention]]:
    """All models and bare sizes, in order, those withdrawn or only mentioned for comparison marked as such."""
    pieces = list(parts(text.folded))
    programs = Spans(found.span() for found in _PROGRAM.finditer(text.folded))
    mentions = [_judged(text, m) for m in _without_prefixes(text, list(_mentions(text, pieces, programs)))]
    mentions = _superseded(text, mentions)
    mentions += _versions(text, mentions)
    sizes = list(_sizes(text, pieces, mentions))
    return _carry_family(text, mentions, sizes)


def _superseded(text: Text, mentions: list[ModelMention]) -> list[ModelMention]:
    """Plans told in order: where the first was once meant and a later one stands now, those before it are withdrawn."""
    if len(mentions) < 2 or not _ONCE.search(clause(text.folded, mentions[0].start, mentions[0].end, 48)[0]):
        return mentions
    stands = (n for n, m in enumerate(mentions) if n and _AT_LAST.search(clause(text.folded, m.start, m.end, 40)[0]))
    last = next(stands, 0)
    return [replace(m, why_not=m.why_not or "withdrawn") for m in mentions[:last]] + mentions[last:]


def _mentions(text: Text, pieces: Sequence[Part], programs: Spans) -> Iterator[ModelMention]:
    lexicon = model_lexicon()
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        found = None
        if not programs.hold(piece.start) and _may_begin(text, pieces, place, lexicon):
            found = _mention_at(text, pieces, place, lexicon)
        if found is None:
            place += 1
            continue
        mention, used = found
        yield mention
        place += used


_BARE_VERSION = re.compile(
    r"\b(?:the|die|das|den|i mean|ich mein\w*|rather|lieber|doch|sondern|but|version|meant|"
    r"v)\s(?:the |die |das |version |v)?(?P<version>\d{1,2}\.\d)(?![\d.]|\s?(?:s\b|sec|sek|gb|"
    r"k\b|%|tok|x\b|b\b|€|mio|million))"
)


def _versions(text: Text, mentions: Sequence[ModelMention]) -> list[ModelMention]:
    """ "not Llama 3.1 70B, I mean the 3.3 one": a bare version takes family and size from the name before it."""
    out = []
    for found in _BARE_VERSION.finditer(text.folded) if mentions else ():
        before = [m for m in mentions if m.end <= found.start() and m.family]
        inside = any(m.start <= found.start("version") < m.end for m in mentions)
        if not before or inside or before[-1].size_b is None:
            continue
        words = [w for w in before[-1].family if w.isalpha() and w != "v"]
        ids = model_lexicon().ids.get(tuple(sorted([*words, found.group("version"), f"{before[-1].size_b:g}b"])))
        if ids:
            out.append(
                replace(
                    before[-1],
                    name=ids[0],
                    id=ids[0],
                    start=found.start("version"),
                    end=found.end("version"),
                    why_not="",
                    candidates=(),
                )
            )
    return out


def _without_prefixes(text: Text, mentions: list[ModelMention]) -> list[ModelMention]:
    """ "dolphin mixtral", "qwen 'Flash-Next'", "Qwen/Qwen3-32B": a bare family right before a name is part of that name."""
    out: list[ModelMention] = []
    for n, mention in enumerate(mentions):
        following = mentions[n + 1] if n + 1 < len(mentions) else None
        if following and mention.size_b is None and all(word.isalpha() for word in mention.family):
            gap = text.folded[mention.end : following.start]
            if len(gap) <= 4 and _PREFIX_GAP.fullmatch(gap):
                continue
        out.append(mention)
    return out


def _may_begin(text: Text, pieces: Sequence[Part], place: int, lexicon: ModelLexicon) -> bool:
    piece = pieces[place]
    if piece.kind == "word":
        if place and pieces[place - 1].kind == "word" and pieces[place - 1].end == piece.start:
            return False
        if _is_identifier(text, piece, lexicon):
            return False
        return piece.text in lexicon.heads or (_typo(piece.text) is not None and _numeral_follows(pieces, place))
    if piece.kind == "size" and place + 1 < len(pieces):
        following = pieces[place + 1]
        near = text.folded[piece.end : following.start] in (" ", "-", "er ", "")
        return piece.text in lexicon.heads or (near and following.kind == "word" and is_family(following.text))
    return piece.text in lexicon.heads or piece.kind == "moe"


_UNDERSCORED = re.compile(r"_+([a-z]+)")


def _is_identifier(text: Text, piece: Part, lexicon: ModelLexicon) -> bool:
    """ "llama_new_context", "ik_llama": a name inside an identifier is the program's, not a model's."""
    before, after = text.folded[max(0, piece.start - 2) : piece.start], _UNDERSCORED.match(text.folded, piece.end)
    if after and after.group(1) not in lexicon.words and after.group(1) not in VARIANTS:
        return True
    return before[-1:] == "_" and before[:1].isalpha()


def _numeral_follows(pieces: Sequence[Part], place: int) -> bool:
    """Whether a size or version stands right behind, a single letter such as the r of "r1" between allowed."""
    following = list(pieces[place + 1 : place + 3])
    if not following or following[0].start - pieces[place].end > 1:
        return False
    letter = following[0].kind == "word" and len(following[0].text) == 1 and len(following) == 2
    return following[0].kind != "word" or (
        letter and following[1].kind != "word" and following[1].start == following[0].end
    )


def _mention_at(
    text: Text, pieces: Sequence[Part], place: int, lexicon: ModelLexicon
) -> tuple[ModelMention, int] | None:
    run = _run(text, pieces, place, lexicon)
    for length in range(len(run), 0, -1):
        key = model_key(run[:length])
        ids = lexicon.ids.get(key)
        if ids and _believable(text, run[:length], key):
            return _known(text, run, length, ids), length
    if not is_family(run[0].text) and any(model_key(run[1:n]) in lexicon.ids for n in range(2, len(run) + 1)):
        return None  # "Embedding bge-m3": the name begins behind the word that says what it is for
    if is_family(run[0].text) or (len(run) > 1 and is_family(run[1].text)):
        return _family_only(text, run)
    return None


def _run(text: Text, pieces: Sequence[Part], place: int, lexicon: ModelLexicon) -> list[Part]:
    first = pieces[place]
    corrected = _typo(first.text) if first.kind == "word" and first.text not in lexicon.heads else None
    run = [replace(first, text=corrected) if corrected else first]
    for piece in pieces[place + 1 : place + _LONGEST_RUN]:
        if not _JOINT.match(text.folded[run[-1].end : piece.start]) or not _belongs(text, piece, lexicon):
            break
        run.append(piece)
    return run


def _belongs(text: Text, piece: Part, lexicon: ModelLexicon) -> bool:
    if piece.kind == "word":
        return piece.text in lexicon.words or piece.text in VARIANTS
    if piece.kind == "number":
        letters = re.match(r"[a-z]+", text.folded[piece.end : piece.end + 8])
        return not (letters and (letters.group() in _UNIT_LETTERS or letters.group() not in lexicon.words))
    return piece.kind != "plus" or text.folded[piece.start - 1 : piece.start].isalpha()


_REPOSITORY_TAIL = re.compile(r"-(?:instruct|base|chat|fp8|awq|gptq|int[48]|bf16|nvfp4|w[48]a\d+)\b")


def _believable(text: Text, run: Sequence[Part], key: tuple[str, ...]) -> bool:
    """Everyday words ("solar", "spark", "step 3") are models only with company or a capital letter."""
    head = run[0]
    if all(part.kind == "size" for part in run) and not _REPOSITORY_TAIL.match(text.folded, run[-1].end):
        return False  # "a 405B" is a size, whatever model made it known; "405B-FP8" is the tail of a repository's name
    if len(head.text) == 1 and len(run) > 1 and run[1].start - head.end > (text.folded[head.end : head.end + 1] == "-"):
        return False
    if not is_careful(head.text):
        return True
    if head.text == "e":
        return any(part.kind == "word" for part in run[1:])
    if len(key) == 1:
        return text.raw[text.starts[head.start]].isupper() and head.start > 0 and len(head.text) > 3
    others = [part for part in run[1:] if part.kind != "number"]
    return (
        bool(others) or len(head.text) <= 3 or head.text in ("falcon", "phi", "nemo", "olmo", "bert", "hermes", "solar")
    )


_NAMED_WINDOW = re.compile(r"[ \-_]\d{1,3}k\b(?!\s?(?:ctx|context|kontext|tok|window|fenster|prompt|in\b|seq))")


_LONG_VARIANT = re.compile(r"-[12]\d\dk\b")


def _known(text: Text, run: Sequence[Part], length: int, ids: tuple[str, ...]) -> ModelMention:
    start, end = run[0].start, run[length - 1].end
    written = " ".join(text.quote(start, end).split())
    window = _NAMED_WINDOW.match(text.folded, end)
    named = window and find(written + window.group(), "model", False)
    if window and named and named.via in ("key", "exact"):
        end = window.end()  # "phi3 mini 4k": the window is part of the name
        written = " ".join(text.quote(start, end).split())
    elif _LONG_VARIANT.match(text.folded, end):
        end += len("-128k")  # "Yi-34B-200K": a variant the catalogue lacks; its window is no wish
    match = find(written, "model", False)
    size = _size_of(run[:length])
    if length < len(run) and run[length].kind == "size" and size is None:
        size, end = _matching_size(run[length], ids, end)
    ident = ids[0] if match.id is None or (len(ids) == 1 and match.id not in ids and match.via != "exact") else match.id
    candidates = match.candidates if match.id == ident else ids if len(ids) > 1 else ()
    if candidates and match.via != "exact":
        return ModelMention(_pretty(written), ident, start, end, size, _family(run[:length]), candidates)
    return ModelMention(ident, ident, start, end, size, _family(run[:length]))


def _matching_size(piece: Part, ids: tuple[str, ...], end: int) -> tuple[float | None, int]:
    """ "Command R+ (104B)", "R1 671b": a size that agrees with the model named belongs to it."""
    said = _billions(piece.text)
    known = params_b(ids[0])
    if said and known and abs(said - known) <= 0.08 * known:
        return said, piece.end
    return None, end


def _family_only(text: Text, run: Sequence[Part]) -> tuple[ModelMention, int]:
    length = 1 if is_family(run[0].text) else 2
    while length < len(run) and (
        run[length].kind != "word"
        or run[length].text in VARIANTS
        or run[length].text in ("vl", "coder", "small", "large", "mini", "nano", "omni")
    ):
        length += 1
    start, end = run[0].start, run[length - 1].end
    written = text.quote(start, end)
    return ModelMention(
        _pretty(" ".join(written.split())), None, start, end, _size_of(run[:length]), _family(run[:length])
    ), length


def _pretty(written: str) -> str:
    return written if written != written.lower() else re.sub(r"\b[a-z]", lambda m: m.group().upper(), written, count=1)


def _family(run: Sequence[Part]) -> tuple[str, ...]:
    return tuple(p.text for p in run if p.kind in ("word", "number") and p.text not in VARIANTS)


def _size_of(run: Sequence[Part]) -> float | None:
    return next((_billions(p.text) for p in run if p.kind == "size"), None)


def _billions(size: str) -> float:
    factor = {"b": 1.0, "m": 1e-3, "t": 1e3}[size[-1]]
    return float(size[:-1]) * factor


@lru_cache(maxsize=1)
def _deletions() -> dict[str, str]:
    """Every family name with one letter missing, for names with one letter too few, too many or wrong."""
    found: dict[str, str] = {}
    for family in model_lexicon().heads:
        if is_family(family) and len(family) >= 5:
            for n in range(len(family)):
                found.setdefault(family[:n] + family[n + 1 :], family)
    return found


_PROGRAM_NAMES = frozenset(("ollama", "vllm", "exllama", "koboldcpp", "deepspeed"))


@lru_cache(maxsize=4096)
def _typo(word: str) -> str | None:
    if len(word) < 4 or len(word) > 14 or word in _PROGRAM_NAMES or is_family(word) or word in model_lexicon().words:
        return None
    table = _deletions()
    hit = table.get(word)
    for n in range(len(word)):
        shorter = word[:n] + word[n + 1 :]
        if hit is None and len(word) > 4:
            hit = shorter if is_family(shorter) else table.get(shorter)
    return hit


def _judged(text: Text, mention: ModelMention) -> ModelMention:
    left, right = clause(text.folded, mention.start, mention.end, 48)
    after = text.folded[mention.end : mention.end + 40]
    if _NEGATED.search(left):
        return replace(mention, why_not="negated")
    if _RETRACTED.match(after) and find_heads_ahead(text, mention.end):
        return replace(mention, why_not="withdrawn")
    if _PRECEDENT.match(right):
        return replace(mention, why_not="precedent")
    if _YARDSTICK.search(left) and not _SUCH_AS.search(left):
        return replace(mention, why_not="yardstick")
    return mention


# Who makes cards also names models; "70B, no NVIDIA" is about the card.
_MAKERS = frozenset({"nvidia", "amd", "intel", "apple"})


def find_heads_ahead(text: Text, start: int) -> bool:
    """Whether another model or size is named soon after, so that a "no, …" withdraws the one before."""
    heads = model_lexicon().heads
    ahead = list(parts(text.folded, start, min(len(text.folded), start + 70)))
    return any(
        p.kind == "size" or p.kind == "moe" or (p.kind == "word" and p.text in heads - _MAKERS and len(p.text) > 2)
        for p in ahead
    )


def _sizes(text: Text, pieces: Sequence[Part], mentions: Sequence[ModelMention]) -> Iterator[SizeMention]:
    spans = [(m.start, m.end) for m in mentions]
    index = 0
    for piece in pieces:
        while index < len(spans) and spans[index][1] <= piece.start:
            index += 1
        inside = index < len(spans) and spans[index][0] <= piece.start
        if (
            inside
            or piece.kind != "size"
            or piece.text[-1] not in "bt"
            or (piece.start and text.folded[piece.start - 1].isalnum())
        ):
            continue
        if piece.text[-1] == "t" and not re.match(r"\s?-?(?:modell?\b|param)", text.folded[piece.end : piece.end + 9]):
            continue
        left, right = clause(text.folded, piece.start, piece.end, 40)
        why = (
            "not a total" if _NO_MODEL_SIZE.match(right) or re.search(r"\b(?:active|aktiv|aktive)\s?:?$", left) else ""
        )
        why = why or ("negated" if _NEGATED.search(left) else "precedent" if _PRECEDENT.match(right) else "")
        if not why and _RETRACTED.match(text.folded[piece.end : piece.end + 40]) and find_heads_ahead(text, piece.end):
            why = "withdrawn"
        yield SizeMention(_billions(piece.text), piece.start, piece.end, why)


def _carry_family(
    text: Text, mentions: list[ModelMention], sizes: list[SizeMention]
) -> tuple[list[ModelMention], list[SizeMention]]:
    """ "Qwen2.5-VL 7B … the 3B" and "Llama 3.1 70B + 8B": a bare size beside a sized model is its sibling, if there is one."""
    out, left = list(mentions), []
    for size in sizes:
        sibling = None if size.why_not else _sibling(text, mentions, size)
        if sibling:
            out.append(sibling)
        else:
            left.append(size)
    return sorted(out, key=lambda m: m.start), left


def _sibling(text: Text, mentions: Sequence[ModelMention], size: SizeMention) -> ModelMention | None:
    before = [m for m in mentions if m.end <= size.start and m.family]
    if not before or before[-1].size_b == size.params_b:
        return None
    head = before[-1]
    left = text.folded[max(0, size.start - 24) : size.start]
    between = text.folded[head.end : size.start]
    close = _JOINED_SIZE.search(left) is not None and len(between) <= 14
    if not close and not _BARE_ARTICLE.search(left):
        return None
    key = tuple(sorted([*(w for w in head.family if w != "v"), f"{size.params_b:g}b"]))
    ids = model_lexicon().ids.get(key)
    if not ids or head.size_b is None:
        return None
    return ModelMention(ids[0], ids[0], size.start, size.end, size.params_b, head.family, why_not=size.why_not)


def renamed(name: str, folded: str) -> str | None:
    """ "and 3.3?", "with turbo instead": the model that the one of the thread becomes with a new version or variant."""
    base = list(
        model_key(
            [p for p in parts(name.split("/")[-1].lower()) if p.kind != "number" or "." in p.text or len(p.text) < 4]
        )
    )
    lexicon = model_lexicon()
    for piece in parts(folded):
        if piece.kind == "word" and (
            len(piece.text) < 3 or piece.text not in lexicon.words or piece.text in VARIANTS or piece.text in base
        ):
            continue
        if piece.kind == "number" and ("." not in piece.text or folded[piece.end : piece.end + 1].isalpha()):
            continue
        kept = [word for word in base if not (piece.kind == "number" and word.replace(".", "").isdigit())]
        ids = lexicon.ids.get(tuple(sorted([*kept, piece.text]))) if piece.kind in ("word", "number") else None
        if not ids and piece.kind == "number":  # "R1", then "V3.2": the letter of the series goes with its number
            ids = lexicon.ids.get(tuple(sorted([*(word for word in kept if len(word) > 1), piece.text])))
        if ids and ids[0] != name:
            return ids[0]
        swapped = _swapped(base, piece.text) if piece.kind == "word" and not _AS_SPEED.search(folded) else None
        if swapped and swapped != name:
            return swapped
    return None


_AS_SPEED = re.compile(r"\b(?:wie|so|zu|sehr|genug) schnell\b|\bschnell genug\b")


def _swapped(base: Sequence[str], word: str) -> str | None:
    """ "FLUX.1 dev", then "schnell?": one word of the name gives way to another that is a name as well."""
    for place in range(len(base)):
        if base[place].isalpha() and not is_family(base[place]):
            ids = model_lexicon().ids.get(tuple(sorted([*base[:place], *base[place + 1 :], word])))
            if ids:
                return ids[0]
    return None


def sibling_of(name: str, size_b: float) -> str | None:
    """The model of the same family and version with another size, if the catalogue has one."""
    pieces = [p for p in parts(name.split("/")[-1].lower()) if p.kind in ("word", "number")]
    key = tuple(sorted([*model_key(pieces), f"{size_b:g}b"]))
    ids = model_lexicon().ids.get(key)
    return ids[0] if ids else None
