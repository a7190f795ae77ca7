"""llama.cpp and the tools built on it: where every byte of weights, cache, state and buffers lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from sizing.devices import Device, is_cpu
from sizing.errors import UserError
from sizing.memory.gguf import ByIdentity, GgufFile
from sizing.memory.local.compute import Role, compute_bytes, dense_widths, host_buffer_bytes
from sizing.memory.local.layers import (
    CacheShape,
    CacheTable,
    WeightTable,
    cache_table,
    file_of,
    override_texts,
    weight_table,
    window_cells,
)
from sizing.memory.local.overhead import context_bytes
from sizing.memory.local.placement import HOST, Placement, computing, place
from sizing.memory.local.settings import LlamaSettings, llama_settings
from sizing.resolve import Resolved

# Engines that keep four copies of the inputs where several cards hold all layers. ik_llama.cpp is built with one (its
# GGML_SCHED_MAX_COPIES; 35 of 42 logs in its own discussions print n_copies=1), Ollama splits a batch over cards without.
_PIPELINING = frozenset({"llama.cpp", "lm-studio"})


@dataclass(frozen=True, slots=True)
class Bytes:
    """What one place (a device, or RAM) holds."""

    weights: float = 0.0
    kv: float = 0.0
    state: float = 0.0
    compute: float = 0.0
    overhead: float = 0.0

    @property
    def total(self) -> float:
        """Their sum."""
        return self.weights + self.kv + self.state + self.compute + self.overhead


@dataclass(frozen=True)
class Layout:
    """One deployment of a GGUF model: `devices[i]` holds `on_device[i]`, RAM holds `on_host`."""

    resolved: Resolved
    settings: LlamaSettings
    file: GgufFile
    caches: CacheTable
    weights: WeightTable
    devices: tuple[Device, ...]
    placement: Placement
    on_device: tuple[Bytes, ...]
    on_host: Bytes

    @property
    def is_cpu_only(self) -> bool:
        """Whether processors compute; their RAM is then the device."""
        return all(is_cpu(device.accelerator) for device in self.devices)

    @property
    def layers(self) -> int:
        """Layers as `-ngl` counts them: the repeating ones and the output layer."""
        return self.caches.layers + 1

    @property
    def kv_bytes(self) -> float:
        """Cache of all layers and slots, wherever it lies."""
        return sum(part.kv for part in self.on_device) + self.on_host.kv

    @property
    def state_per_sequence(self) -> float:
        """Recurrent state of one sequence with the snapshots that drafting keeps."""
        return self.caches.state_bytes * (1 + self.settings.drafts)


def cache_bytes(resolved: Resolved, settings: LlamaSettings, cache: CacheShape) -> float:
    """Cache of one layer over all slots, keys and values each in their own format."""
    if not cache.keys and not cache.values:
        return 0.0
    cells = settings.cells if cache.window_tokens is None else window_cells(settings, cache.window_tokens)
    local = window_cells(settings, cache.local_window_tokens) * cache.local_keys if cache.local_keys else 0
    keys = cells * cache.keys + local
    return keys * resolved.kv_k.bytes_per_element + cells * cache.values * resolved.kv_v.bytes_per_element


def lay_out(
    resolved: Resolved,
    devices: Sequence[Device],
    *,
    gpu_layers: int | None = None,
    cpu_moe_layers: int | None = None,
    split: Sequence[float] | None = None,
) -> Layout:
    """The layout on these devices; `gpu_layers` and `cpu_moe_layers` override what the spec says.

    `split` gives each card's part of the layers (`-ts`); without it cards take layers in proportion to their memory.
    """
    settings, asked = llama_settings(resolved), resolved.spec.engine
    file = file_of(resolved)
    caches = cache_table(resolved.architecture, settings.latent)
    moe_layers = asked.cpu_moe_layers if cpu_moe_layers is None else cpu_moe_layers
    weights = weight_table(file, moe_layers or 0, override_texts(asked.tensor_overrides))
    cards = computing(devices)
    wanted = asked.gpu_layers if gpu_layers is None else gpu_layers
    on_cpu = all(is_cpu(device.accelerator) for device in cards)
    parts = split or _stated_split(asked.tensor_split, cards) or [_free_gib(device) for device in cards]
    by_layer = asked.split_mode in (None, "layer")
    owned = parts if by_layer else [1.0, *[0.0] * (len(cards) - 1)]  # of the other modes the first card owns all layers
    placement = place(caches.layers, None if on_cpu else wanted, owned, output_first=settings.output_counts_first)
    places = _places(resolved, settings, file, caches, weights, cards, placement)
    if asked.split_mode == "row":
        places = _by_rows(places, parts)
    if asked.split_mode == "tensor":
        places = _by_tensors(places, parts, resolved.architecture.kv_heads)
    return Layout(resolved, settings, file, caches, weights, cards, placement, places[:-1], places[-1])


def layer_sizes(layout: Layout) -> list[float]:
    """Bytes of weights, cache and state of every layer that lies on a device, in order, and of the output layer where it does."""
    caches, sequences = layout.caches, layout.settings.slots * (1 + layout.settings.drafts)
    each = [
        cache_bytes(layout.resolved, layout.settings, shape) + shape.state_bytes * sequences for shape in caches.shapes
    ]
    sizes = [
        layout.weights.sum(n, n + 1) + sum(caches.count(index, n, n + 1) * size for index, size in enumerate(each))
        for owner, start, stop in layout.placement.runs if owner != HOST for n in range(start, stop)
    ]  # fmt: skip
    return [*sizes, layout.file.output_on_device_bytes] if layout.placement.output != HOST else sizes


def _free_gib(device: Device) -> float:
    """What llama.cpp splits by where nothing is said: free memory, so that a card with another model on it gets fewer layers."""
    return max(0.01, (device.visible_gib or 1.0) - device.in_use_gib)


def _stated_split(parts: Sequence[float] | None, cards: Sequence[Device]) -> Sequence[float] | None:
    """The parts of `-ts`, one for each card.

    Raises:
        UserError: there are more or fewer parts than cards, or all are 0.
    """
    if parts is None:
        return None
    if len(parts) != len(cards) or not any(parts):
        text = f"tensor_split needs one part for each of the {len(cards)} cards, such as {','.join(['1'] * len(cards))}"
        raise UserError("engine.tensor_split", list(parts), text)
    return parts


def _by_rows(places: Sequence[Bytes], parts: Sequence[float]) -> tuple[Bytes, ...]:
    """Matrices cut by rows over all cards; cache, state and buffers stay on the first one: `-sm row` on two T4 prints one
    compute buffer, of 633.5 MiB."""
    cards, host = places[:-1], places[-1]
    weights = sum(card.weights for card in cards)
    shared = (replace(card, weights=weights * part / sum(parts)) for card, part in zip(cards, parts, strict=True))
    return (*shared, host)


def _by_tensors(places: Sequence[Bytes], parts: Sequence[float], kv_heads: int) -> tuple[Bytes, ...]:
    """Every layer cut over all cards (`-sm tensor`, ggml-org/llama.cpp#19378): weights in proportion, cache and state by whole heads
    with the bounds rounded down; each card computes the whole graph and keeps a buffer for it."""
    cards, host = places[:-1], places[-1]
    whole, heads = cards[0], max(1, kv_heads)
    bounds = [int(heads * reached / sum(parts) + 1e-9) for reached in accumulate(parts, initial=0.0)]
    shares = [(stop - start) / heads for start, stop in pairwise(bounds)]
    shared = (
        replace(
            card,
            weights=sum(each.weights for each in cards) * part / sum(parts),
            kv=whole.kv * share,
            state=whole.state * share,
            compute=whole.compute,
        )
        for card, part, share in zip(cards, parts, shares, strict=True)
    )
    return (*shared, host)


def _places(
    resolved: Resolved,
    settings: LlamaSettings,
    file: GgufFile,
    caches: CacheTable,
    weights: WeightTable,
    cards: Sequence[Device],
    placement: Placement,
) -> tuple[Bytes, ...]:
    count, sequences = len(cards), settings.slots * (1 + settings.drafts)
    kv, state, held = [0.0] * (count + 1), [0.0] * (count + 1), [0.0] * (count + 1)
    per_layer = [cache_bytes(resolved, settings, shape) for shape in caches.shapes]
    for owner, start, stop in placement.runs:
        held[owner] += weights.sum(start, stop)
        for index, shape in enumerate(caches.shapes):
            layers = caches.count(index, start, stop)
            kv[owner] += layers * per_layer[index]
            state[owner] += layers * shape.state_bytes * sequences
    held[HOST] += weights.on_host_bytes
    for target, size in weights.pinned:
        held[min(target, count - 1)] += size
    cpu_only = all(is_cpu(card.accelerator) for card in cards)
    _place_outside(file, placement, held, 0 if cpu_only else HOST)
    if settings.drafts:
        kv[placement.output] += max(per_layer, default=0.0)
    masks = mask_cells(settings, caches)
    compute = _compute(resolved, settings, file, weights, placement, count, masks)
    compute.append(0.0 if cpu_only else _host_compute(resolved, settings, placement, masks))
    overhead = [context_bytes(settings.backend, card) for card in cards] + [0.0]
    return tuple(Bytes(*row) for row in zip(held, kv, state, compute, overhead, strict=True))


def _place_outside(file: GgufFile, placement: Placement, sums: list[float], lookup: int) -> None:
    """Embeddings are looked up in RAM; a tied output needs a copy of its own where it is computed on a card."""
    sums[lookup] += file.token_embedding_bytes + file.per_layer_embedding_bytes
    sums[placement.output] += file.other_bytes
    if not file.tied or placement.output != lookup:
        sums[placement.output] += file.output_on_device_bytes


def _compute(
    resolved: Resolved,
    settings: LlamaSettings,
    file: GgufFile,
    weights: WeightTable,
    placement: Placement,
    count: int,
    masks: int,
) -> list[float]:
    experts_in_ram = weights.on_host_bytes > 0 or (resolved.architecture.is_moe and placement.layers_on(HOST) > 0)
    several = sum(placement.layers_on(index) > 0 for index in range(count)) > 1
    pipelined = several and placement.all_on_devices and not weights.on_host_bytes and settings.engine in _PIPELINING
    uploads_output = placement.output == HOST and settings.engine != "ollama"
    widths = dense_widths(ByIdentity(resolved.architecture))
    rows = []
    for index in range(count):
        there = [width for owner, start, stop in placement.runs if owner == index for width in widths[start:stop]]
        role = Role(
            has_layers=placement.layers_on(index) > 0,
            dense_width=max(there, default=0.0),
            has_output=placement.output == index,
            is_first=index == 0,
            uploads_output_bytes=file.output_on_device_bytes if uploads_output and index == 0 else 0.0,
            uploads_expert_bytes=file.largest_expert_bytes if experts_in_ram else 0.0,
            pipelined=pipelined,
        )
        rows.append(compute_bytes(resolved.architecture, settings, role, masks))
    return rows


def _host_compute(resolved: Resolved, settings: LlamaSettings, placement: Placement, masks: int) -> float:
    """Pinned inputs, and what the processor holds while it computes layers or the output: Qwen3-235B without a layer on the card
    304.75 + 65 MiB in RAM, Llama 2 7B with 8 of 33 layers there 167 MiB."""
    model = resolved.architecture
    widths = dense_widths(ByIdentity(model))
    there = [width for owner, start, stop in placement.runs if owner == HOST for width in widths[start:stop]]
    role = Role(
        has_layers=bool(there),
        dense_width=max(there, default=0.0),
        has_output=placement.output == HOST,
        is_first=False,
        uploads_output_bytes=0.0,
        uploads_expert_bytes=0.0,
        pipelined=False,
    )
    return host_buffer_bytes(model, settings, masks) + compute_bytes(model, settings, role, masks)


def mask_cells(settings: LlamaSettings, caches: CacheTable) -> int:
    """Cells of the attention masks: one for full layers, one for windowed layers that keep fewer."""
    windows = {cache.window_tokens for cache in caches.shapes if cache.window_tokens is not None and cache.keys}
    windows |= {cache.local_window_tokens for cache in caches.shapes if cache.local_keys}
    trimmed = max((window_cells(settings, window) for window in windows), default=0)
    return settings.cells + (trimmed if trimmed < settings.cells else 0)
