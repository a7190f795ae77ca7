"""How much of a device an engine hands to the cache: every engine has its own rule."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.devices import Device
from sizing.memory.serving import constants as c
from sizing.memory.serving.layout import Layout
from sizing.memory.serving.settings import Settings
from sizing.memory.serving.sglang import start_gib, static_fraction
from sizing.resolve import Resolved
from sizing.units import GIB


@dataclass(frozen=True, slots=True)
class Budget:
    """`usable_bytes` is the engine's budget (None: unknown card), `outside_bytes` what is left of the card beside it.

    `of_free` engines take a share of what is free once the model is loaded; the others a share of the card.
    """

    usable_bytes: float | None
    outside_bytes: float
    of_free: float | None = None
    fixed_pool_bytes: float | None = None
    weights_only: bool = False

    def pool_bytes(
        self, weights: float, activations: float, non_torch: float, graphs: float, beside: float
    ) -> float | None:
        """What remains for the cache; negative where the rest alone is too much."""
        if self.usable_bytes is None:
            return None
        if self.fixed_pool_bytes is not None:
            free = self.usable_bytes - weights - activations - non_torch - graphs - beside
            return self.fixed_pool_bytes if free >= self.fixed_pool_bytes else free
        if self.weights_only:  # SGLang: the fraction holds weights and cache, the rest of the card everything else
            return self.usable_bytes - weights - beside
        free = self.usable_bytes - weights - activations - non_torch - graphs - beside
        return free if self.of_free is None or free < 0 else free * self.of_free


# TGI kept a tenth of what was free after its warm-up, and since 3.0 (December 2024) keeps a tenth of the card (`get_cuda_free_memory` in
# https://github.com/huggingface/text-generation-inference/blob/main/server/text_generation_server/utils/import_utils.py).
_TGI_OF_THE_CARD_FROM = "2024-12"
_NOW = "9999"


def _tgi_share(resolved: Resolved) -> float:
    return c.TGI_SHARE * (resolved.spec.engine.gpu_memory_utilization or 1.0)


def budget_of(resolved: Resolved, device: Device, layout: Layout, settings: Settings) -> Budget:
    """The budget on one device."""
    if device.visible_gib is None:
        return Budget(None, 0.0)
    total = device.visible_gib * GIB
    free = total - device.in_use_gib * GIB
    fixed = resolved.spec.engine.kv_cache_memory_gib
    if fixed:
        return Budget(free, 0.0, fixed_pool_bytes=fixed * GIB)
    name = resolved.engine.name
    if name == "sglang":
        share = resolved.spec.engine.gpu_memory_utilization or static_fraction(resolved, device, layout, settings)
        before_loading = free - start_gib(device, layout) * GIB
        usable = share * before_loading
        return Budget(usable, before_loading - usable, weights_only=True)
    if name == "tensorrt-llm":
        return Budget(free, 0.0, of_free=resolved.spec.engine.gpu_memory_utilization or c.TENSORRT_FREE_SHARE)
    if name == "lmdeploy":
        return Budget(free, 0.0, of_free=resolved.spec.engine.gpu_memory_utilization or c.LMDEPLOY_FREE_SHARE)
    if name == "tgi":
        usable = _tgi_share(resolved) * total - device.in_use_gib * GIB
        if (resolved.engine.as_of or _NOW) < _TGI_OF_THE_CARD_FROM:
            withheld = (1 - (resolved.spec.engine.gpu_memory_utilization or 1.0)) * total
            return Budget(max(0.0, free - withheld), withheld, of_free=c.TGI_SHARE)
        return Budget(max(0.0, usable), total - max(0.0, usable))
    usable = min(settings.utilization * total, free)
    return Budget(usable, free - usable)
