"""What loading takes on a device for a while, and which weights stay in RAM."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.catalogue.entries import Format
from sizing.memory.serving.layout import Layout
from sizing.memory.serving.settings import Settings
from sizing.memory.serving.sharding import RankWeights, rank_weights
from sizing.memory.weights import bits_per_weight, class_bits
from sizing.resolve import Resolved, native_format
from sizing.units import GIB

# vLLM quantised a checkpoint once all of it was on the device; 0.13 and 0.14 held both, and from 0.15 on weights come to the device
# one by one (vllm-project/vllm#32773, #31914).
_BOTH_FROM = (0, 13, 0)
_STREAMED_FROM = (0, 15, 0)


@dataclass(frozen=True, slots=True)
class Loading:
    """Bytes of one rank: the most that loading takes at once (0: no more than what stays), and what is kept in pinned RAM."""

    peak_bytes: float = 0.0
    offloaded_bytes: float = 0.0


def loading_of(resolved: Resolved, layout: Layout, settings: Settings, stage: int, kept: RankWeights) -> Loading:
    """How a rank gets its weights."""
    asked = resolved.spec.engine
    offloaded = min((asked.cpu_offload_gib or 0.0) * GIB, kept.sharded_bytes + kept.replicated_bytes)
    wide = native_format(resolved.architecture)
    if not asked.quantize_on_load or bits_per_weight(wide) <= bits_per_weight(resolved.weights):
        return Loading(0.0, offloaded)
    return Loading(_peak_bytes(resolved, layout, settings, stage, kept, wide), offloaded)


def _peak_bytes(
    resolved: Resolved, layout: Layout, settings: Settings, stage: int, kept: RankWeights, wide: Format
) -> float:
    one_by_one = resolved.weights.id.startswith("bnb") or settings.release >= _STREAMED_FROM
    if one_by_one or resolved.engine.name != "vllm":
        return kept.total_bytes + _widest_layer_bytes(resolved, layout, wide)
    whole = rank_weights(resolved.architecture, wide, layout)[stage].total_bytes
    return whole + (kept.total_bytes if settings.release >= _BOTH_FROM else 0.0)


def _widest_layer_bytes(resolved: Resolved, layout: Layout, wide: Format) -> float:
    model = resolved.architecture
    layers = (
        sum(count * class_bits(model, wide, name) / 8 for name, count in layer.params.items()) for layer in model.layers
    )
    return max(layers, default=0.0) / layout.tensor
