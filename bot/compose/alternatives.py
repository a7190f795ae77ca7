"""Options before they are held against each other: as many cards as the load needs where nobody said how many, and for engines the format
that fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.compose.own_hardware import narrower
from bot.heard import Heard
from bot.sized import Sized, plain_spec, size, size_parsed
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.enough import enough_of, most_sold
from sizing.errors import UserError
from sizing.resolve import resolve_format
from sizing.search.candidates import setups
from sizing.search.lacks import speed_lacks
from sizing.sensitivity import best_format, usual_formats
from sizing.spec import WorkloadSpec

_LOSSLESS_BITS: Final = 7.9
_LEAST_LOSS_BITS: Final = 8.5  # Q8_0; nobody loses anything to what is wider
_SAME_WIDTH_BITS: Final = 1.2  # Q4_K_M has 4.8 bits a weight, AWQ 4.2: the same class of loss


def sized_alternatives(specs: Sequence[Spec], heard: Heard, defaults: Defaults) -> list[Sized]:
    """Each spec sized; counts that are open and formats that were not said are filled so that every option can do the work."""
    if heard.request.get("other", {}).get("engines_compared"):
        return _in_one_width([_in_its_format(size(spec, defaults), defaults) for spec in specs], specs, defaults)
    if heard.request.get("other", {}).get("layouts"):
        return _in_one_format([size(spec, defaults) for spec in specs], defaults)
    return _equally_wide([_counted(size(spec, defaults), defaults) for spec in specs], specs, defaults)


def _in_one_format(found: list[Sized], defaults: Defaults) -> list[Sized]:
    """Layouts of one machine are held against each other as they are, in the widest format in which all of them fit."""
    first = found[0].parsed
    if first is None or first.weights or all(one.estimate.fits for one in found):
        return found
    for name in usual_formats(first, defaults):
        tried = [size({**one.spec, "weights": name}, defaults) for one in found]
        if all(one.estimate.fits for one in tried):
            return tried
    return found


def _equally_wide(found: list[Sized], specs: Sequence[Spec], defaults: Defaults) -> list[Sized]:
    """Where nobody named a format and machines differ in what is customary on them (a file of 4 bits here, 8 bits there), the narrower
    is widened as far as it fits: else the one only looks faster, or smaller."""
    same = len({str(spec.get("model")) for spec in specs}) == 1 and not any(spec.get("weights") for spec in specs)
    fitting = [one for one in found if one.verdict == "fits"]
    if not same or len(fitting) < 2:
        return found
    widest = min(_LEAST_LOSS_BITS, max(map(_bits, fitting)))
    return [
        _widened(one, widest, defaults) if one in fitting and _bits(one) < widest - _SAME_WIDTH_BITS else one
        for one in found
    ]


def _widened(one: Sized, bits: float, defaults: Defaults) -> Sized:
    """In a format of about that width where it then still fits with its reserve; as it is where it does not."""
    wider = _nearest_width(one, bits, defaults)
    return wider if wider.verdict == "fits" else one


def _in_one_width(found: list[Sized], specs: Sequence[Spec], defaults: Defaults) -> list[Sized]:
    """Engines are held against each other at the width that all of them manage: a wider format reads more for every token."""
    widths = [_bits(one) for one in found if one.estimate.fits]
    if len(widths) < 2 or max(widths) - min(widths) <= _SAME_WIDTH_BITS or any(spec.get("weights") for spec in specs):
        return found
    return [
        _nearest_width(one, min(widths), defaults)
        if one.estimate.fits and _bits(one) > min(widths) + _SAME_WIDTH_BITS
        else one
        for one in found
    ]


def _nearest_width(one: Sized, bits: float, defaults: Defaults) -> Sized:
    """In the format of its engine on its device that comes nearest to a width and is no narrower by much."""
    resolved, parsed = one.resolved, one.parsed
    device = resolved.devices[0].accelerator if resolved and resolved.devices else None
    if resolved is None or parsed is None or device is None:
        return one
    engine = parsed.engine.model_copy(update={"name": resolved.engine.name})
    free = parsed.model_copy(update={"weights": None, "engine": engine})
    known = {
        setup.weights: setup.bits
        for setup in setups(device, free, resolved.architecture, defaults.min_bits, resolved.concurrency)
    }
    near = sorted((abs(width - bits), name) for name, width in known.items() if width > bits - _SAME_WIDTH_BITS)
    tried = (size({**one.spec, "weights": name}, defaults) for _, name in near)
    return next((other for other in tried if other.estimate.fits), one)


def _bits(one: Sized) -> float:
    return (one.resolved.weights.bits_per_weight if one.resolved else None) or 0.0


def is_counted(spec: Spec) -> bool:
    """Whether the number of cards was said."""
    return all(entry.get("count") is not None for entry in spec.get("hardware") or ())


def _counted(sized: Sized, defaults: Defaults) -> Sized:
    """As many cards as it takes; where the count was said, in a format that fits there; as it is where that does, or nothing would."""
    parsed = sized.parsed
    if parsed is None:
        return sized
    if is_counted(sized.spec):
        return _without_loss(sized, defaults) if sized.estimate.fits is False and not parsed.weights else sized
    enough = sized.verdict == "fits" and not any(True for _ in speed_lacks(parsed, sized.estimate.speed, defaults))
    return sized if enough else _found(sized, defaults) or _at_most(sized, parsed, defaults)


def _at_most(sized: Sized, parsed: WorkloadSpec, defaults: Defaults) -> Sized:
    """On as many cards as one machine takes, where even those are too few: what is missing is then told of them and not of one."""
    try:
        count = most_sold(parsed, defaults)
    except UserError:
        return sized
    if count is None or sized.estimate.fits is not False:
        return sized
    spec = {**sized.spec, "hardware": [{**sized.spec["hardware"][0], "count": count}]}
    widths = {name: resolve_format(name).bits_per_weight or 0.0 for name in usual_formats(parsed, defaults)}
    lossless = [name for name, bits in widths.items() if bits >= _LOSSLESS_BITS]
    if lossless and not parsed.weights:
        spec["weights"] = lossless[-1]  # the narrowest of them: the other options are held to 8 bits too
    most = size(spec, defaults)
    return most if most.estimate.ok else sized


def _without_loss(sized: Sized, defaults: Defaults) -> Sized:
    """In a narrower format than the usual one that costs next to nothing; one that would is for the asker to choose."""
    found = _found(sized, defaults)
    before, after = sized.resolved, found.resolved if found else None
    if found is None or before is None or after is None or before.weights.id == after.weights.id:
        return sized
    return found if (after.weights.bits_per_weight or 0.0) >= _LOSSLESS_BITS else sized


def _in_its_format(sized: Sized, defaults: Defaults) -> Sized:
    """In the format one would run there where none was said: 8 bit where it fits, else the widest that does, else the one that comes
    closest."""
    parsed = sized.parsed
    if parsed is None or parsed.weights or parsed.task != "inference" or not sized.estimate.ok:
        return sized
    found = _found(sized, defaults)
    if found is not None:
        return found
    best = best_format(parsed, defaults)
    if best is not None:
        return size({**sized.spec, "weights": best[0]}, defaults)
    tried = [size(spec, defaults) for spec in narrower(sized, defaults)]
    return next((one for one in tried if one.estimate.fits), tried[-1] if tried else sized)


def _found(sized: Sized, defaults: Defaults) -> Sized | None:
    """What the search finds on the devices named."""
    if sized.parsed is None or sized.parsed.task != "inference" or not sized.estimate.ok:
        return None
    try:
        found = enough_of(sized.parsed, defaults)
    except UserError:
        return None
    return None if found is None else size_parsed(found[0], defaults, plain_spec(found[0]), found[1])
