"""Which models a message asks about, and bare sizes: without those denied, withdrawn or named for comparison."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.understand.asides import dismissed, past_passages
from bot.understand.lexicon import Part, model_lexicon, parts
from bot.understand.model_names import ModelMention, SizeMention, billions, mentions
from bot.understand.text import Spans, Text, clause

_PREFIX_GAP = re.compile(r"(?:-ai)?/|[ '\"\-:(]{1,3}")

_PROGRAM = re.compile(
    r"llama[ .\-_]?(?:cpp|factory|file|bench|server|index|swap|guard 0|board|c\+\+)\b|"
    r"faster[ -]whisper|whisper[ .\-]?(?:cpp|x|live\w*|kit)\b|"
    r"qwen[ -]?(?:agent|code cli)\b|mistral[ .-]?rs\b|mistral (?:ai|la plateforme)\b|"
    r"deepseek (?:api|app)\b|gemma\.cpp|chatglm\.cpp"
)
_NEGATED = re.compile(
    r"(?:(?<!\bwhy )(?<!\bwarum )(?<!\bwieso )\b(?:not|no|kein(?:e[nmr]?)?|nicht|statt|anstatt|anstelle(?: von)?|instead of|"
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


def read_models(text: Text) -> tuple[list[ModelMention], list[SizeMention]]:
    """All models and bare sizes, in order, those withdrawn or only mentioned for comparison marked as such."""
    pieces = list(parts(text.folded))
    programs = Spans(found.span() for found in _PROGRAM.finditer(text.folded))
    named = [_judged(text, m) for m in _without_prefixes(text, list(mentions(text, pieces, programs)))]
    named = _unrepeated(text, _present(text, _superseded(text, named)))
    named += _versions(text, named)
    sizes = list(_sizes(text, pieces, named))
    return _carry_family(text, named, sizes)


_WINNER = re.compile(
    r"\b(?:winner (?:is|was)|we (?:picked|chose|settled on|went with|decided (?:on|for))|die wahl fiel auf|gewonnen hat|"
    r"sieger (?:ist|war)|"
    r"entschieden (?:haben wir uns )?fuer|(?:haben|sind) (?:wir )?(?:uns )?(?:fuer|bei)|geworden ist es|es wurde|"
    r"it'?s going to be)\s(?:the |das |den )?$"
)


def _chosen_at(text: Text, mentions: Sequence[ModelMention]) -> int:
    """The place of the model that was picked from those named before it; 0 where none was."""
    picked = (n for n, m in enumerate(mentions) if n and _WINNER.search(clause(text.folded, m.start, m.end, 40)[0]))
    return next(picked, 0)


def _superseded(text: Text, mentions: list[ModelMention]) -> list[ModelMention]:
    """Plans told in order: where the first was once meant and a later one stands now, those before it are withdrawn."""
    if winner := _chosen_at(text, mentions):
        return [replace(m, why_not=m.why_not or "withdrawn") for m in mentions[:winner]] + mentions[winner:]
    if len(mentions) < 2 or not _ONCE.search(clause(text.folded, mentions[0].start, mentions[0].end, 48)[0]):
        return mentions
    stands = (n for n, m in enumerate(mentions) if n and _AT_LAST.search(clause(text.folded, m.start, m.end, 40)[0]))
    last = next(stands, 0)
    return [replace(m, why_not=m.why_not or "withdrawn") for m in mentions[:last]] + mentions[last:]


def _present(text: Text, named: list[ModelMention]) -> list[ModelMention]:
    """What ran before is not asked about, where something else is named."""
    past = past_passages(text.folded)
    told = [past.hold(mention.start) for mention in named]
    if all(told):
        return named
    return [replace(m, why_not=m.why_not or "past") if then else m for m, then in zip(named, told, strict=True)]


_CHOICE = re.compile(r"\b(?:or|oder|vs\.?|versus|statt|instead of|than|als)\b")
_MOST_NAMES = 24


def _unrepeated(text: Text, named: list[ModelMention]) -> list[ModelMention]:
    """ "Mistral-Large-2407 … why is Mistral Large slow?": the family alone takes up the name said before it."""
    out: list[ModelMention] = []
    known: list[tuple[frozenset[str], ModelMention]] = []
    for mention in named:
        words = frozenset(mention.family)
        before = next((m for other, m in known if words < other or (words == other and m.size_b)), None)
        if (
            mention.size_b is None
            and words
            and before
            and not _CHOICE.search(text.folded[before.end : mention.start][-24:])
        ):
            mention = replace(mention, why_not=mention.why_not or "repeated")
        elif not mention.why_not and len(known) < _MOST_NAMES:
            known.append((words, mention))
        out.append(mention)
    return out


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


def _judged(text: Text, mention: ModelMention) -> ModelMention:
    left, right = clause(text.folded, mention.start, mention.end, 48)
    after = text.folded[mention.end : mention.end + 40]
    if _NEGATED.search(left):
        return replace(mention, why_not="negated")
    if _RETRACTED.match(after) and find_heads_ahead(text, mention.end):
        return replace(mention, why_not="withdrawn")
    if _PRECEDENT.match(right):
        return replace(mention, why_not="precedent")
    if dismissed(left, right):
        return replace(mention, why_not="dismissed")
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
        why = why or ("dismissed" if dismissed(left, right) else "")
        if not why and _RETRACTED.match(text.folded[piece.end : piece.end + 40]) and find_heads_ahead(text, piece.end):
            why = "withdrawn"
        yield SizeMention(billions(piece.text), piece.start, piece.end, why)


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
