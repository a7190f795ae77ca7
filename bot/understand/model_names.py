"""The stretches of a message that name a model: by id, alias, version and size in any order, or family alone."""

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
)
from bot.understand.text import Spans, Text
from sizing.catalogue.names import find

_LONGEST_RUN = 12
_JOINT = re.compile(r"(?:[ \-_:/.@]{0,2}|\s?\(|\)\s?| - )$")

_UNIT_LETTERS = frozenset(
    ["k", "x", "gb", "g", "gib", "tb", "w", "s", "ms", "mal", "er", "h", "min", "a", "ctx", "gpu", "gpus"]
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


def mentions(text: Text, pieces: Sequence[Part], programs: Spans) -> Iterator[ModelMention]:
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


def _may_begin(text: Text, pieces: Sequence[Part], place: int, lexicon: ModelLexicon) -> bool:
    piece = pieces[place]
    if piece.kind == "word":
        if place and pieces[place - 1].kind == "word" and pieces[place - 1].end == piece.start:
            return False
        if _is_identifier(text, piece, lexicon):
            return False
        if piece.text in lexicon.heads or _abbreviated(text, pieces, place):
            return True
        return _written_for(piece.text) is not None and _numeral_follows(pieces, place)
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
    corrected = _written_for(first.text) if first.kind == "word" and first.text not in lexicon.heads else None
    corrected = _abbreviated(text, pieces, place) or corrected
    run = [replace(first, text=corrected) if corrected else first]
    for piece in pieces[place + 1 : place + _LONGEST_RUN]:
        if not _JOINT.match(text.folded[run[-1].end : piece.start]) or not _belongs(text, piece, lexicon):
            break
        run.append(piece)
    return run


_ABBREVIATED = {"q": "qwen", "l": "llama"}


def _abbreviated(text: Text, pieces: Sequence[Part], place: int) -> str | None:
    """ "q3-32b", "l3.3-70b": the first letter of a family, its version tight behind and a size of it after a dash."""
    family = _ABBREVIATED.get(pieces[place].text)
    if family is None or place + 2 >= len(pieces):
        return None
    version, size = pieces[place + 1], pieces[place + 2]
    if version.kind != "number" or version.start != pieces[place].end or size.kind != "size":
        return None
    gap = text.folded[version.end : size.start]
    if gap != "-" and not (gap == " " and "." in version.text):
        return None
    known = model_lexicon().ids
    active = pieces[place + 3].text if place + 3 < len(pieces) and pieces[place + 3].kind == "active" else None
    names = ([family, version.text, size.text, *([active] if active else [])], [family, version.text, size.text])
    return family if any(tuple(sorted(name)) in known for name in names) else None


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


_NAMED_WINDOW = re.compile(
    r"[ \-_]\d{1,3}k\b(?!\s?(?:ctx|context|kontext|tok|window|fenster|prompt|in\b(?! (?:b?fp?\d|int\d|q\d|awq|gptq|nf4|\d+[ -]?bit))|seq))"
)


_LONG_VARIANT = re.compile(r"-[12]\d\dk\b")


def _known(text: Text, run: Sequence[Part], length: int, ids: tuple[str, ...]) -> ModelMention:
    start, end = run[0].start, run[length - 1].end
    written = _spelt_out(text, run[0], " ".join(text.quote(start, end).split()))
    window = _NAMED_WINDOW.match(text.folded, end)
    named = window and find(written + window.group(), "model", False)
    if window and named and (named.via in ("key", "exact") or (named.id in ids and _named_by_window(str(named.id)))):
        end = window.end()  # "phi3 mini 4k": the window is part of the name
        written = _spelt_out(text, run[0], " ".join(text.quote(start, end).split()))
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


_WINDOW_IN_NAME = re.compile(r"-\d{1,4}k(?![a-z0-9])", re.IGNORECASE)


def _named_by_window(ident: str) -> bool:
    """Whether variants of a model differ by their window: beside "Phi-3-medium-4k" there is one with 128k."""
    return _WINDOW_IN_NAME.search(ident) is not None


def _spelt_out(text: Text, head: Part, written: str) -> str:
    """A name as the catalogue finds it, where its first word was mistyped, abbreviated or joined to another."""
    return written if text.folded[head.start : head.end] == head.text else head.text + written[head.end - head.start :]


def _matching_size(piece: Part, ids: tuple[str, ...], end: int) -> tuple[float | None, int]:
    """ "Command R+ (104B)", "R1 671b": a size that agrees with the model named belongs to it."""
    said = billions(piece.text)
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
    written = _spelt_out(text, run[0], text.quote(start, end))
    return ModelMention(
        _pretty(" ".join(written.split())), None, start, end, _size_of(run[:length]), _family(run[:length])
    ), length


def _pretty(written: str) -> str:
    return written if written != written.lower() else re.sub(r"\b[a-z]", lambda m: m.group().upper(), written, count=1)


def _family(run: Sequence[Part]) -> tuple[str, ...]:
    return tuple(p.text for p in run if p.kind in ("word", "number") and p.text not in VARIANTS)


def _size_of(run: Sequence[Part]) -> float | None:
    return next((billions(p.text) for p in run if p.kind == "size"), None)


def billions(size: str) -> float:
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
def _written_for(word: str) -> str | None:
    """The family that a word stands for: mistyped ("lama"), or the end of a fine-tune's name ("MedGemma", "BioMistral")."""
    if word in _PROGRAM_NAMES or word in model_lexicon().words or is_family(word):
        return None
    tail = next((word[n:] for n in range(2, len(word) - 4) if is_family(word[n:])), None)
    return tail or _typo(word)


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
