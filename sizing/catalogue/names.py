"""Names: from what people write to entries of the catalogue, and back."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from sizing.catalogue.find_accelerator import find_accelerator
from sizing.catalogue.find_format import find_format
from sizing.catalogue.find_kv_format import find_kv_format
from sizing.catalogue.find_model import find_model
from sizing.catalogue.load import catalogue
from sizing.catalogue.match import Match
from sizing.catalogue.tables import table
from sizing.catalogue.text import Kind

__all__ = ["Kind", "Match", "find", "known_names"]

_FINDERS: dict[Kind, Callable[[str, bool], Match]] = {
    "model": find_model,
    "accelerator": find_accelerator,
    "format": find_format,
    "kv_format": find_kv_format,
}

# the longest name of the catalogue has 86 characters; a message is not a name
_LONGEST_NAME = 300


@lru_cache(maxsize=8192)
def find(name: str, kind: Kind, suggest: bool = True) -> Match:
    """What `name` means among the entries of `kind`; never raises, `Match.id` is None where nothing fits.

    The rules, in order, the first that gives an id wins: as written; an ambiguous name or a family with a size
    (customary default and candidates); as a key, without organisation, remarks, punctuation and vendor words; with
    number formats, tool marks, memory and form peeled off and compared; variants of the same architecture (instruct,
    chat, dates); a fine-tune that holds a known name with its size. Rather no id and up to three suggestions than a
    neighbour: no laptop chip as the desktop card, no Ti, Super, distill or coder dropped, no version or size moved to
    the nearest known one. `suggest=False` spares the search for near names.
    """
    return _FINDERS[kind](name, suggest) if len(name) <= _LONGEST_NAME else Match(name=name, kind=kind)


def known_names(kind: Kind) -> Iterable[tuple[str, str]]:
    """Every name of the catalogue with the id it means: ids, names, aliases, and ambiguous names with their default."""
    return tuple(dict(_names(kind)).items())


def _names(kind: Kind) -> Iterator[tuple[str, str]]:
    for ident, aliases in _written_names(kind):
        yield from ((name, ident) for name in (ident, *aliases))
    for name, ids in table(kind).ambiguous.items():
        yield name, ids[0]


def _written_names(kind: Kind) -> Iterator[tuple[str, tuple[str, ...]]]:
    found = catalogue()
    if kind == "model":
        yield from ((ident, (model.name, *model.aliases)) for ident, model in found.models.items())
    elif kind == "accelerator":
        yield from ((ident, (device.name, *device.aliases)) for ident, device in found.accelerators.items())
    else:
        formats = found.formats if kind == "format" else found.kv_formats
        yield from ((ident, entry.aliases) for ident, entry in formats.items())
