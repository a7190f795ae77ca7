"""SGLang's own defaults: how much of a card it gives to weights and cache, and what it keeps back from that.

Before 0.4.7 (May 2025) the share depended on the tensor-parallel degree alone; since then it is what a reserve leaves, which grows with
the tokens of a prefill, the largest captured batch and the number of ranks (`handle_gpu_memory_settings` in
https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/arg_groups/memory_hook.py). Since 0.5.20 (September 2026) graphs of the
prefill are captured as well and have a term of their own, drafts have none, and cards of 24 and 32 GB capture more
(sgl-project/sglang#33352, #37898).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sizing.devices import Device, has_fabric
from sizing.memory.serving.layout import Layout
from sizing.resolve import Resolved

if TYPE_CHECKING:  # settings ask here for the tokens of a step
    from sizing.memory.serving.settings import Settings

_BY_RESERVE_FROM: Final = (0, 4, 7)
_BY_RESERVE_FROM_MONTH: Final = "2025-06"
_SHARE_BY_DEGREE: Final = {1: 0.88, 2: 0.87, 4: 0.85, 8: 0.81, 16: 0.79}
# (cards below so many MiB, tokens of a prefill chunk, largest captured batch below and from four tensor-parallel ranks on)
_CLASSES: Final = (
    (20 * 1024, 2048, 8, 8), (35 * 1024, 2048, 24, 80), (60 * 1024, 4096, 32, 160), (160 * 1024, 8192, 256, 512),
)  # fmt: skip
_LARGEST_CLASS: Final = (16384, 512, 512)
_MID_CLASS_FROM_0520: Final = (4096, 48, 160)
_SMALL_CARD_MIB: Final = 20 * 1024
_PREFILL_GRAPHS_FROM: Final = (0, 5, 20)
_PREFILL_GRAPHS_FROM_MONTH: Final = "2026-09"
_MIB_PER_PREFILL_GRAPH: Final = 8.0
_LATENT_PREFILL_GRAPHS_MIB: Final = 1.5 * 1024
# Sizes of captured prefills: (largest, step) of each run.
_PREFILL_STEPS: Final = ((32, 4), (256, 16), (512, 32), (1024, 64), (4096, 256))
_LAST_PREFILL_STEP: Final = 512
_LARGE_CARD_MIB: Final = 60 * 1024
_LARGE_CARD_RESERVE_MIB: Final = 10 * 1024
_META_MIB: Final = 512.0
_MIB_PER_PREFILL_TOKEN: Final = 1.5
_MIB_PER_CAPTURED_SEQUENCE: Final = 2.0
_MIB_PER_RANK: Final = 1024 / 8
_MIB_PER_SEQUENCE_AND_REPLICA: Final = 3.0
_OWN_DRAFT_MIB: Final = 6 * 1024
_HEAD_MIB: Final = 2 * 1024
_TOWER_FACTOR: Final = 0.95
_TOWER_PARAMS: Final = 12 * 24 * 1024**2  # ViT-L/14, to which SGLang compares
_START_GIB: Final = 0.45
_START_FABRIC_GIB: Final = 2.4  # 1.9 to 3.0 in three starts with four and eight ranks; 0.4 with four over PCIe
_SMI_GIB: Final = 0.45  # nvidia-smi's total lies this much above what an engine is told


def prefill_tokens(resolved: Resolved, device: Device) -> int:
    """Tokens of one prefill chunk where nothing is said."""
    return _class_of(resolved, device)[0]


def start_gib(device: Device, layout: Layout) -> float:
    """What is gone from a card before SGLang first looks how much is free: the driver's context, and buffers of the communicators."""
    parallel = layout.ranks_per_replica > 1 and has_fabric(device.accelerator)
    return _START_FABRIC_GIB if parallel else _START_GIB


def static_fraction(resolved: Resolved, device: Device, layout: Layout, settings: Settings) -> float:
    """mem-fraction-static where it is not set."""
    if _is_old(resolved):
        return _SHARE_BY_DEGREE[max(degree for degree in _SHARE_BY_DEGREE if degree <= layout.tensor)]
    total = _total_mib(device)
    share = max(0.0, (total - reserve_mib(resolved, device, layout, settings)) / total)
    tower = resolved.architecture.outside.get("vision", 0)
    return share * (_tower_factor(tower) if settings.images and tower else 1.0)


def _tower_factor(params: int) -> float:
    """What models with a vision tower get of that share, less the larger the tower: 0.91 for the 0.4B of Kimi K2.5."""
    return _TOWER_FACTOR * min(1.05, max(0.8, 1.0 - 0.1 * (params / _TOWER_PARAMS - 1.0)))


def reserve_mib(resolved: Resolved, device: Device, layout: Layout, settings: Settings) -> float:
    """MiB kept back for everything but weights and cache: 7,280 for one RTX 4090 (3,760 before 0.5.20), 13,904 (13,440) for one H100."""
    chunk, few, many = _class_of(resolved, device)
    captured, newest = few if layout.tensor < 4 else many, _captures_prefills(resolved)
    tokens = max(resolved.spec.engine.max_num_batched_tokens or chunk, 2048)
    reserve = _META_MIB + tokens * _MIB_PER_PREFILL_TOKEN + layout.ranks_per_replica * _MIB_PER_RANK
    if settings.graphs or not newest:
        reserve += captured * _MIB_PER_CAPTURED_SEQUENCE
    if settings.graphs and newest and not _is_amd(device):
        reserve += _prefill_graphs_mib(resolved, tokens)
    if layout.attention_replicas > 1:
        each = _MIB_PER_SEQUENCE_AND_REPLICA * (1.5 if captured > 300 else 1.0)
        reserve += captured * each * layout.attention_replicas
    if _total_mib(device) > _LARGE_CARD_MIB:
        reserve = max(reserve, _LARGE_CARD_RESERVE_MIB)
    if newest:
        return reserve
    if settings.draft == "draft":
        return reserve + _OWN_DRAFT_MIB
    return reserve + (_HEAD_MIB if settings.draft not in ("none", "ngram") else 0.0)


def _is_old(resolved: Resolved) -> bool:
    if resolved.engine.version:
        return resolved.engine.version < _BY_RESERVE_FROM
    return bool(resolved.engine.as_of) and (resolved.engine.as_of or "") < _BY_RESERVE_FROM_MONTH


def _captures_prefills(resolved: Resolved) -> bool:
    if resolved.engine.version:
        return resolved.engine.version >= _PREFILL_GRAPHS_FROM
    return not resolved.engine.as_of or resolved.engine.as_of >= _PREFILL_GRAPHS_FROM_MONTH


def _is_amd(device: Device) -> bool:
    return device.accelerator is not None and device.accelerator.vendor == "amd"


def _prefill_graphs_mib(resolved: Resolved, tokens: int) -> float:
    """58 sizes for chunks of 8,192 tokens; latent attention is known to take more."""
    if resolved.architecture.mla is not None:
        return _LATENT_PREFILL_GRAPHS_MIB
    count, before = 0, 0
    for last, step in (*_PREFILL_STEPS, (max(tokens, _PREFILL_STEPS[-1][0]), _LAST_PREFILL_STEP)):
        count += max(0, min(last, tokens) - before) // step
        before = last
    return count * _MIB_PER_PREFILL_GRAPH


def _class_of(resolved: Resolved, device: Device) -> tuple[int, int, int]:
    total = _total_mib(device)
    if _SMALL_CARD_MIB <= total < _CLASSES[1][0] and _captures_prefills(resolved):
        return _MID_CLASS_FROM_0520
    for below, chunk, few, many in _CLASSES:
        if total < below:
            return chunk, few, many
    return _LARGEST_CLASS


def _total_mib(device: Device) -> float:
    return ((device.visible_gib or 0.0) + _SMI_GIB) * 1024
