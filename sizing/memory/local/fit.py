"""How many layers, or layers of experts, must go to RAM so that the rest fits the cards."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from sizing.devices import Device, is_cpu
from sizing.memory.local.llama import Layout, lay_out, layer_sizes
from sizing.memory.local.uncertainty import CONTEXT_SPREAD_MIB
from sizing.resolve import Resolved
from sizing.units import GIB, MIB

_DEALS = 4
# What `--fit` and Ollama keep free on every card.
_KEPT_FREE_MIB = {"llama.cpp": 1024.0, "ik_llama.cpp": 512.0, "ollama": 457.0, "lm-studio": 512.0}


@dataclass(frozen=True, slots=True)
class LayerFit:
    """A placement that fits: `gpu_layers` as `-ngl` counts them; `cpu_moe_layers` None where layers move whole.

    `split` are the layers of each card (`-ts`), None where the engine's own split does.
    """

    gpu_layers: int
    total_layers: int
    cpu_moe_layers: int | None
    host_bytes: float
    split: tuple[int, ...] | None = None


def kept_free_bytes(engine: str) -> float:
    """Bytes that the engine's own fitting leaves free on every card."""
    return _KEPT_FREE_MIB.get(engine, 512.0) * MIB


def room(layout: Layout, index: int, keep_bytes: float) -> float:
    """Bytes left on a device of a layout after keeping some free; an unnamed card has no limit."""
    device = layout.devices[index]
    if device.visible_gib is None:
        return float("inf")
    return (device.visible_gib - device.in_use_gib) * GIB - keep_bytes - layout.on_device[index].total


def fits(layout: Layout, keep_bytes: float = 0.0) -> bool:
    """Whether every device holds its share."""
    return all(room(layout, index, keep_bytes) >= 0 for index in range(len(layout.devices)))


def _fits_together(layout: Layout, keep_bytes: float) -> bool:
    """Whether the devices together hold it: without that no split does."""
    return sum(room(layout, index, keep_bytes) for index in range(len(layout.devices))) >= 0


def fit_layers(resolved: Resolved, keep_bytes: float | None = None) -> LayerFit | None:
    """The placement with most layers on the cards that fits; experts move first where there are any.

    None where nothing needs to move, where no card is named, or where even the smallest share does not fit.
    """
    cards = [device for device in resolved.devices if not is_cpu(device.accelerator)]
    if not cards or any(device.visible_gib is None for device in cards):
        return None
    keep = kept_free_bytes(resolved.engine.name) if keep_bytes is None else keep_bytes
    layers = len(resolved.architecture.layers)
    if fits(lay_out(resolved, cards, gpu_layers=layers + 1), keep):
        return None
    if resolved.architecture.is_moe:
        moved = _smallest(lambda n: _spread_out(resolved, cards, layers + 1, n, keep), layers, keep)
        if moved is not None:
            count, layout = moved
            own = fits(lay_out(resolved, cards, gpu_layers=layers + 1, cpu_moe_layers=count), keep)
            return LayerFit(
                layers + 1, layers + 1, count, layout.on_host.total, None if own else layers_per_device(layout)
            )
    found = _smallest(lambda n: _spread_out(resolved, cards, layers + 1 - n, None, keep), layers, keep)
    if found is None:
        return None
    count, layout = found
    own = fits(lay_out(resolved, cards, gpu_layers=layers + 1 - count), keep)
    return LayerFit(
        layers + 1 - count, layers + 1, None, layout.on_host.total, None if own else layers_per_device(layout)
    )


def layers_per_device(layout: Layout) -> tuple[int, ...]:
    """Layers on each device as `-ts` takes them: the output layer counts as one, as in `-ngl`."""
    placement = layout.placement
    return tuple(placement.layers_on(n) + (n == placement.output) for n in range(len(layout.devices)))


def _spread_out(
    resolved: Resolved, cards: Sequence[Device], gpu_layers: int, cpu_moe_layers: int | None, keep: float
) -> Layout:
    """The engine's own split, else one that deals the layers by their bytes: with the experts of the first layers in RAM
    the first card would stay nearly empty."""
    layout = lay_out(resolved, cards, gpu_layers=gpu_layers, cpu_moe_layers=cpu_moe_layers)
    if len(layout.devices) < 2 or _is_stated(resolved):
        return layout
    for _ in range(_DEALS):
        if fits(layout, keep) or not _fits_together(layout, keep):
            break
        split = _dealt(layout, keep)
        layout = lay_out(resolved, cards, gpu_layers=gpu_layers, cpu_moe_layers=cpu_moe_layers, split=split)
    return layout


def _is_stated(resolved: Resolved) -> bool:
    asked = resolved.spec.engine
    return asked.tensor_split is not None or asked.split_mode not in (None, "layer")


def fit_whole_layers(resolved: Resolved) -> Layout | None:
    """Ollama's way: whole layers go to RAM until the rest fits; the layout that results."""
    layers = len(resolved.architecture.layers)
    keep = kept_free_bytes(resolved.engine.name)
    found = _smallest(lambda n: lay_out(resolved, resolved.devices, gpu_layers=layers + 1 - n), layers + 1, keep)
    return found[1] if found else None


def rebalanced(resolved: Resolved, layout: Layout) -> Layout | None:
    """The layout with layers dealt by what each card has left after its buffers (`-ts`); None where that does not
    fit or the split was stated. Buffers follow the layers, so that it is dealt anew a few times."""
    if _is_stated(resolved):
        return None
    if len(layout.devices) < 2 or any(device.visible_gib is None for device in layout.devices):
        return None
    for _ in range(_DEALS):
        if not _fits_together(layout, -CONTEXT_SPREAD_MIB * MIB):
            return None
        layout = lay_out(resolved, layout.devices, split=_dealt(layout))
        if fits(layout, -CONTEXT_SPREAD_MIB * MIB):  # what is short by less is tight, not refused
            return layout
    return None


def _dealt(layout: Layout, keep_bytes: float = 0.0) -> list[float]:
    """Layers for each card (the output layer counts as one), so that their bytes are in proportion to what the card has for them."""
    rooms = [
        max(0.0, room(layout, index, keep_bytes) + part.weights + part.kv + part.state)
        for index, part in enumerate(layout.on_device)
    ]
    bounds = list(accumulate(each / (sum(rooms) or 1.0) for each in rooms))
    sizes = layer_sizes(layout)
    counts, reached, total = [0.0] * len(rooms), 0.0, sum(sizes) or 1.0
    for size in sizes:
        middle = (reached + size / 2) / total
        counts[min(bisect_right(bounds, middle), len(counts) - 1)] += 1
        reached += size
    return counts


def _smallest(layout_of: Callable[[int], Layout], most: int, keep: float) -> tuple[int, Layout] | None:
    """The smallest number of moved layers that fits, by bisection: moving more never needs more."""
    low, high, best = 1, most, None
    while low <= high:
        middle = (low + high) // 2
        layout = layout_of(middle)
        if fits(layout, keep):
            best, high = (middle, layout), middle - 1
        else:
            low = middle + 1
    return best
