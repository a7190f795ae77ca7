"""The model of a thread turned into another of its kin: another version, variant or size."""

import re
from collections.abc import Sequence

from bot.understand.lexicon import VARIANTS, is_family, model_key, model_lexicon, parts


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
