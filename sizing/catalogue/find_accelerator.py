"""Look-up of devices: "2x RTX 4090 48GB", "A100 (SXM)", "Apple M4 Max 40-Core GPU 64GB", "A100/H100 80GB"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sizing.catalogue.load import catalogue
from sizing.catalogue.match import Match, Via
from sizing.catalogue.suggest import suggestions
from sizing.catalogue.tables import NameTable, table
from sizing.catalogue.text import DEVICE_BRANDS, MEMORY_GB, name_key, plain, remarks_of, without_remarks, words
from sizing.catalogue.words import BACKENDS, FORM_WORDS

__all__ = ["find_accelerator"]

# vendors and drivers print a little less than the nominal memory: 79.65 of 80, 44.5 of 48
_MEMORY_TOLERANCE = 0.075
_SHORTEST_NUMBER = 4

_PARTS = re.compile(r"\s\+\s")
_PEER = re.compile(r"\bpeer\b")
_UNKNOWN = re.compile(r"(?:unknown|none|n/a)\b")
_BACKEND = re.compile(rf"\b({'|'.join(BACKENDS)})\b")
_SOCKETS = re.compile(r"((?:cpu )?)(\d)s (?=\D)")
_COUNT = re.compile(r"(\d+) ?x (?=\D)")
_GPU_CORES = re.compile(r"(\d+)-core gpu")
_UNNAMED = re.compile(r"unnamed|not named")
_CORES = re.compile(r"\s*\d+-core gpu|\b\d+p\+\d+e\b|\b\d+c\b")
_NUMBER_ONLY = re.compile(r"[\d. ]+")
_NO_PRODUCT = DEVICE_BRANDS | set(BACKENDS) | {"device", "unified", "memory", "or"}


@dataclass(frozen=True, slots=True)
class _Written:
    """A device name taken apart: `text` without count and sockets, `found` what it states beside the product."""

    text: str
    remarks: tuple[str, ...]
    found: Match
    names: NameTable

    @property
    def bare(self) -> str:
        return _CORES.sub(" ", without_remarks(self.text))

    @property
    def without_memory(self) -> str:
        return MEMORY_GB.sub(" ", self.bare)

    def match(self, ident: str, via: Via, memory_differs: bool = False, candidates: tuple[str, ...] = ()) -> Match:
        return replace(self.found, id=ident, via=via, memory_differs=memory_differs, candidates=candidates)


def find_accelerator(name: str, suggest: bool) -> Match:
    text = plain(name)
    parts = [part for part in _PARTS.split(text) if part]
    if len(parts) > 1:
        return _several(name, parts, suggest)
    if _UNKNOWN.match(text):
        return Match(name=name, kind="accelerator", via="unknown")
    written = _take_apart(name, text)
    if _UNNAMED.search(" ".join(written.remarks)):
        return replace(written.found, via="memory only" if written.found.memory_gb is not None else "unknown")
    return _as_written(written) or _stepwise(written) or _alternatives(written) or _no_entry(written, suggest)


def _several(name: str, parts: list[str], suggest: bool) -> Match:
    found = tuple(find_accelerator(part, suggest) for part in parts if not _PEER.search(part))
    first = found[0].id if found and all(part.id for part in found) else None
    return Match(name=name, kind="accelerator", id=first, via="parts", parts=found)


def _take_apart(name: str, text: str) -> _Written:
    backends = _BACKEND.findall(text)
    sockets = _SOCKETS.match(text)
    if sockets:
        text = sockets.group(1) + text[sockets.end() :]
    count = _COUNT.match(text)
    if count:
        text = text[count.end() :]
    cores = _GPU_CORES.search(text)
    memory = MEMORY_GB.search(without_remarks(text))
    found = Match(
        name=name,
        kind="accelerator",
        backend=max(backends, key=BACKENDS.index) if backends else None,
        sockets=int(sockets.group(2)) if sockets else None,
        count=int(count.group(1)) if count else None,
        gpu_cores=int(cores.group(1)) if cores else None,
        memory_gb=float(memory.group(1)) if memory else None,
    )
    return _Written(text, tuple(remarks_of(text)), found, table("accelerator"))


def _as_written(written: _Written) -> Match | None:
    names, key = written.names, name_key(written.text, "accelerator")
    if key in names.ambiguous:
        return None
    if written.text in names.exact:
        return written.match(names.exact[written.text], "exact")
    return written.match(names.keys[key], "key") if key in names.keys else None


def _stepwise(written: _Written) -> Match | None:
    """Without cores, then without memory, then without form; last what stands in a remark."""
    for text, via in _shortened(written):
        key = name_key(text, "accelerator")
        if not key or (_NUMBER_ONLY.fullmatch(key) and len(key) < _SHORTEST_NUMBER):
            continue
        if match := _by_key(written, key, via):
            return match
    return None


def _shortened(written: _Written) -> Iterator[tuple[str, Via]]:
    yield written.bare, "key"
    yield written.without_memory, "suffix"
    yield " ".join(word for word in written.without_memory.split() if word not in FORM_WORDS), "suffix"
    for remark in written.remarks:
        if remark not in BACKENDS:
            yield remark, "remark"


def _by_key(written: _Written, key: str, via: Via) -> Match | None:
    names, memory_gb = written.names, written.found.memory_gb
    if via == "key" and memory_gb and key in names.keys and key not in names.ambiguous:
        return written.match(names.keys[key], via)
    return _ambiguous(written, key, via) or _shared_name(written, key, via) or _plain_name(written, key, via)


def _ambiguous(written: _Written, key: str, via: Via) -> Match | None:
    """The stated cores and memory choose among the entries of an ambiguous name."""
    ids, cores, memory_gb = written.names.ambiguous.get(key, ()), written.found.gpu_cores, written.found.memory_gb
    if cores:
        ids = tuple(ident for ident in ids if ident.endswith(f"-{cores}c")) or ids
    if memory_gb:
        ids = tuple(ident for ident in ids if _has_memory(ident, memory_gb))
    if not ids:
        return None
    return written.match(ids[0], "family", candidates=ids) if len(ids) > 1 else written.match(ids[0], via)


def _shared_name(written: _Written, key: str, via: Via) -> Match | None:
    """Entries that share a name but for the memory: the stated one chooses; none stated, the one called plainly so."""
    devices, memory_gb = written.names.devices.get(key, ()), written.found.memory_gb
    if not devices:
        return None
    plainly = tuple(dict.fromkeys(ident for ident, memory in devices if memory is None))
    if memory_gb is None:
        ids = plainly or tuple(dict.fromkeys(ident for ident, _ in devices))
        return written.match(ids[0], via, candidates=ids if len(ids) > 1 else ())
    fitting = (ident for ident, memory in devices if memory == memory_gb or _has_memory(ident, memory_gb))
    ids = tuple(dict.fromkeys(fitting))
    if not ids:
        return written.match((plainly or (devices[0][0],))[0], via, memory_differs=True)
    return written.match(ids[0], via, candidates=ids if len(ids) > 1 else ())


def _plain_name(written: _Written, key: str, via: Via) -> Match | None:
    ident, memory_gb = written.names.keys.get(key), written.found.memory_gb
    if ident is None:
        return None
    return written.match(ident, via, memory_differs=bool(memory_gb) and not _has_memory(ident, memory_gb or 0.0))


def _has_memory(ident: str, memory_gb: float) -> bool:
    entry = catalogue().accelerators[ident]
    if entry.kind == "cpu":
        return True
    versions = (*entry.memory_options_gb, entry.memory_gb)
    return any(size and abs(memory_gb - size) <= _MEMORY_TOLERANCE * size for size in versions)


def _alternatives(written: _Written) -> Match | None:
    """ "A100/H100 80GB": one of several, all of which must be known."""
    if "/" not in written.without_memory:
        return None
    products = written.without_memory.split("/")
    memory_gb = written.found.memory_gb
    memory = f" {memory_gb:g}GB" if memory_gb else " "
    ids = [find_accelerator(product + memory, suggest=False).id for product in products]
    known = tuple(ident for ident in ids if ident)
    return written.match(known[0], "alternatives", candidates=known) if len(known) == len(ids) else None


def _no_entry(written: _Written, suggest: bool) -> Match:
    product = set(words(written.without_memory, "accelerator")) - _NO_PRODUCT
    if not any(word.isalpha() for word in product):
        return replace(written.found, via="memory only" if written.found.memory_gb is not None else "generic")
    key = name_key(written.without_memory, "accelerator")
    return replace(written.found, suggestions=suggestions(key, written.names.keys) if suggest else ())
