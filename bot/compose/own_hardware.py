"""What does not fit as asked, on the hardware that is there: in the widest format that fits, else with a narrower cache, a shorter context
or fewer requests. It is told before anything to buy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.compose.labels import option_label
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.sensitivity import Flip, FlipKind, flips, usual_formats
from sizing.spec import WorkloadSpec

MOST_WAYS: Final = 2
# A format that nobody asked for is changed before the work is cut; one that was asked for only after.
_FORMAT_OPEN: Final[tuple[FlipKind, ...]] = ("weights", "kv_cache", "attention", "context", "concurrency")
_FORMAT_SAID: Final[tuple[FlipKind, ...]] = ("kv_cache", "attention", "context", "concurrency", "weights")

# A window or a number of requests cut to less than this is other work than was asked for.
_LEAST_SHARE: Final = 0.25
_WIDE_CACHE_BITS: Final = 16
_NOTABLE_BITS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run it on the same hardware: what is changed, to what, and the deployment as it then is."""

    kind: FlipKind
    after: object
    sized: Sized

    def label(self, words: Wording) -> str:
        """As in tables: what is cut stands beside hardware and format."""
        told = option_label(self.sized, words)
        if self.kind in ("context", "concurrency"):
            told = f"{told}, {words.text('own', self.kind, value=self.after)}"
        return told


def ways_of(sized: Sized, found: Sequence[Flip], defaults: Defaults) -> list[Way]:
    """The ways that the flips of a spec name, the best first; where no single change does, narrower formats, then less work."""
    if sized.parsed is None or sized.parsed.task != "inference" or sized.estimate.fits is not False:
        return []
    order = _FORMAT_SAID if sized.parsed.weights else _FORMAT_OPEN
    ways = _with_second(_ways(sized.spec, found, order, defaults), sized.parsed, defaults)
    if ways:
        return ways
    tried = [size(spec, defaults) for spec in narrower(sized, defaults)]
    whole = [Way("weights", one.spec["weights"], one) for one in tried if one.estimate.fits]
    return whole[:1] or next((ways for one in reversed(tried) if (ways := _with_less_work(one, defaults))), [])


def _ways(spec: Spec, found: Sequence[Flip], order: Sequence[FlipKind], defaults: Defaults) -> list[Way]:
    usable = sorted((flip for flip in found if flip.kind in order), key=lambda flip: order.index(flip.kind))
    ways = [Way(flip.kind, flip.after, size(_changed(spec, flip), defaults)) for flip in usable if _leaves_enough(flip)]
    return [way for way in ways if way.sized.estimate.fits][:MOST_WAYS]


def _leaves_enough(flip: Flip) -> bool:
    if flip.kind not in ("context", "concurrency"):
        return True
    return float(str(flip.after)) >= _LEAST_SHARE * float(str(flip.before))


def _with_second(ways: list[Way], parsed: WorkloadSpec, defaults: Defaults) -> list[Way]:
    """Beside a format that barely fits the next one that does so with ease."""
    if not ways or ways[0].kind != "weights" or ways[0].sized.verdict == "fits":
        return ways
    formats = usual_formats(parsed, defaults)
    place = formats.index(str(ways[0].after)) + 1 if ways[0].after in formats else len(formats)
    for name in formats[place:]:
        easy = size({**ways[0].sized.spec, "weights": name}, defaults)
        if easy.verdict == "fits":
            return [ways[0], Way("weights", name, easy)]
    return ways


def narrower(sized: Sized, defaults: Defaults) -> Iterator[Spec]:
    """The spec in the narrowest usual format, and with a narrower cache too where that was not said."""
    if sized.parsed is None or sized.resolved is None:
        return
    narrow = {**sized.spec, "weights": usual_formats(sized.parsed, defaults)[-1]}
    yield narrow
    if sized.parsed.kv_cache is None and sized.resolved.kv_k.bits_per_element >= _WIDE_CACHE_BITS:
        yield {**narrow, "kv_cache": "q8_0" if sized.resolved.engine.kind != "server" else "fp8"}


def _with_less_work(sized: Sized, defaults: Defaults) -> list[Way]:
    if sized.parsed is None:
        return []
    return _ways(sized.spec, flips(sized.parsed, sized.estimate, defaults), ("context", "concurrency"), defaults)


def _changed(spec: Spec, flip: Flip) -> Spec:
    """The spec after a flip, in its own terms."""
    if flip.kind == "concurrency":
        rest = {key: value for key, value in spec.items() if key not in ("users", "active_share")}
        return {**rest, "concurrency": flip.after}
    if flip.kind == "context":
        length = int(str(flip.after))
        rest = {key: value for key, value in spec.items() if key != "input_tokens" or int(str(value)) < length}
        return {**rest, "context_tokens": length}
    if flip.kind == "attention":
        return {
            **spec,
            "parallel": {**(spec.get("parallel") or {}), "tensor": 1, "data": flip.after, "expert": flip.after},
            "engine": {**(spec.get("engine") or {}), "data_parallel_attention": True},
        }
    return {**spec, flip.kind: flip.after}


def headline(sized: Sized, ways: Sequence[Way], words: Wording) -> str | None:
    """Where the format was ours and another fits: not in that one, but in this one; None where the work itself must be cut."""
    if not ways or ways[0].kind != "weights" or sized.spec.get("weights") or sized.verdict != "no":
        return None
    each = words.text("own", "each") if len(sized.devices) > 1 else ""
    figures, other = sized.figures, ways[0].sized.figures
    params: dict[str, Any] = {"weights": figures["weights"], "missing_gib": figures["missing_gib"], "each": each}
    return words.text("own", "headline", **params, other=other["weights"], free_gib=other["free_gib"])


def row_labels(rows: Sequence[Sized], asked: Sized, ways: Sequence[Way], words: Wording) -> list[str]:
    """By hardware and format; what is cut, and lower precision than what fits on the hardware asked about, is said."""
    known = {id(way.sized): way.label(words) for way in ways}
    labels = []
    for one in rows:
        label = known.get(id(one)) or option_label(one, words)
        narrower = bool(asked.estimate.fits) and _is_narrower(one, asked)
        labels.append(words.text("own", "narrower", label=label) if narrower else label)
    return labels


def _is_narrower(option: Sized, own: Sized) -> bool:
    """Whether the weights of an option hold notably fewer bits than those of the hardware asked about."""
    if option.resolved is None or own.resolved is None:
        return False
    bits, own_bits = option.resolved.weights.bits_per_weight, own.resolved.weights.bits_per_weight
    return bool(bits and own_bits and bits < own_bits - _NOTABLE_BITS)
