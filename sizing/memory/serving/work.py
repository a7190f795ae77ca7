"""All sums of a deployment, rank by rank: what `plan_serving` puts into a MemoryPlan and the derivation explains."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizing.catalogue.entries import Format
from sizing.catalogue.load import catalogue
from sizing.degrees import in_one_machine
from sizing.devices import Device
from sizing.memory.serving import constants as c
from sizing.memory.serving.activations import activations_of
from sizing.memory.serving.besides import beside_bytes, draft_bytes, draft_token_bytes
from sizing.memory.serving.budget import Budget, budget_of
from sizing.memory.serving.layout import Layout, layout_of, stages_of
from sizing.memory.serving.loading import Loading, loading_of
from sizing.memory.serving.overhead import Graphs, graphs_of, is_rocm, non_torch_bytes, weights_extra_bytes
from sizing.memory.serving.pages import Cache, PagedCache, PageRules, rank_cache
from sizing.memory.serving.settings import Settings, settings_of
from sizing.memory.serving.sharding import RankWeights, rank_weights
from sizing.resolve import Resolved
from sizing.units import GIB


@dataclass(frozen=True)
class Rank:
    """One device's sums before they become a DevicePlan, in bytes."""

    device: Device
    stage: int
    weights_bytes: float
    activations_bytes: float
    non_torch_bytes: float
    graphs: Graphs
    beside_bytes: float
    budget: Budget
    cache: Cache
    pool_bytes: float | None
    host_bytes: float
    loading: Loading


@dataclass(frozen=True)
class Serving:
    """Everything `plan_serving` worked out, for the derivation and for warnings. A replica is here what keeps a cache of its own."""

    resolved: Resolved
    layout: Layout
    settings: Settings
    ranks: tuple[Rank, ...]
    sequences_per_replica: int

    @property
    def tightest(self) -> Rank:
        """The rank whose pool holds the fewest sequences."""
        return min(self.ranks, key=lambda rank: sequences_in(rank, self.resolved.context_tokens))


def work_out(resolved: Resolved) -> Serving:
    """All sums of a deployment."""
    layout, settings = layout_of(resolved), settings_of(resolved)
    chosen = loaded_format(resolved)
    without_vision = resolved.spec.images_per_request == 0
    weights = rank_weights(resolved.architecture, chosen, layout, without_vision=without_vision, rocm=is_rocm(resolved))
    caches = _caches(resolved, layout, settings)
    peak = activations_of(resolved, layout, settings).peak_bytes
    alike: dict[tuple[object, ...], Rank] = {}  # thousands of devices are a few kinds in a few stages
    ranks = []
    for n, device in enumerate(resolved.devices):
        stage = _stage_at(n, layout)
        kind = (device.group, device.name, device.memory_gib, stage)
        if kind not in alike:
            alike[kind] = _rank(resolved, device, stage, layout, settings, weights, caches, peak)
        ranks.append(replace(alike[kind], device=device))
    return Serving(resolved, layout, settings, tuple(ranks), math.ceil(resolved.concurrency / layout.caches))


def loaded_format(resolved: Resolved) -> Format:
    """The format as servers load it: bitsandbytes checkpoints come with double quantisation."""
    if resolved.weights.id == "bnb-nf4":
        return catalogue().formats["bnb-nf4-dq"]
    return resolved.weights


def _stage_at(index: int, layout: Layout) -> int:
    return index // layout.tensor % layout.pipeline


def _caches(resolved: Resolved, layout: Layout, settings: Settings) -> tuple[Cache, ...]:
    rules = page_rules(resolved, layout, settings)
    stages = stages_of(resolved.architecture.layers, layout.pipeline)
    return tuple(rank_cache(resolved.architecture, layers, rules) for layers in stages)


# Tokens of a block where nothing is said; TGI's are FlashInfer's, TensorRT-LLM's those of its PyTorch backend.
_BLOCK_TOKENS = {"vllm": 16, "sglang": 1, "tgi": 1, "tensorrt-llm": 32, "lmdeploy": 64}


def page_rules(resolved: Resolved, layout: Layout, settings: Settings) -> PageRules:
    """How this engine pages its cache."""
    model, vllm = resolved.architecture, resolved.engine.name == "vllm"
    vendor = (
        resolved.devices[0].accelerator.vendor if resolved.devices and resolved.devices[0].accelerator else "nvidia"
    )
    align = 64 if model.mla is not None or vendor == "intel" else 16
    own_layers = {"mtp": max(1, model.mtp_layers), "eagle": 1, "eagle3": 1, "dflash": c.DFLASH_LAYERS}
    state_blocks = 1 + settings.draft_tokens * (settings.draft != "none")
    if vllm and settings.release >= (0, 27, 0):
        state_blocks += 1  # prefix caching of recurrent layers keeps one state more
    return PageRules(
        k=resolved.kv_k,
        v=resolved.kv_v,
        tensor=layout.attention_tensor,
        context_ranks=layout.context,
        block_tokens=_BLOCK_TOKENS.get(resolved.engine.name, 64),
        alignment_tokens=align,
        step_tokens=settings.step_tokens,
        speculative_tokens=settings.draft_tokens if settings.draft != "ngram" else 0,
        draft_layers=own_layers.get(settings.draft, 0),
        has_draft_model=settings.draft in ("draft", "dspark", "dflash"),
        grouped=not vllm or (settings.v1 and settings.release >= (0, 9, 0)),
        state_blocks=state_blocks,
        latent=not vllm or settings.release >= (0, 7, 0),
        cross_as_full=vllm and not settings.v1,
    )


def _rank(
    resolved: Resolved,
    device: Device,
    stage: int,
    layout: Layout,
    settings: Settings,
    weights: tuple[RankWeights, ...],
    caches: tuple[Cache, ...],
    peak: float,
) -> Rank:
    loading = loading_of(resolved, layout, settings, stage, weights[stage])
    loaded = weights[stage].total_bytes - loading.offloaded_bytes
    loaded += weights_extra_bytes(resolved) + draft_bytes(resolved, layout, settings)
    graphs = graphs_of(resolved, settings)
    outside = non_torch_bytes(resolved, device, layout, settings)
    others = beside_bytes(resolved)
    budget = budget_of(resolved, device, layout, settings)
    pool = budget.pool_bytes(loaded, peak, outside, graphs.reserved_bytes, others)
    cache = (
        caches[stage]
        if not draft_token_bytes(resolved, layout)
        else with_draft(caches[stage], draft_token_bytes(resolved, layout))
    )
    host = weights[stage].host_bytes + loading.offloaded_bytes
    return Rank(device, stage, loaded, peak, outside, graphs, others, budget, cache, pool, host, loading)


def with_draft(cache: Cache, token_bytes: float) -> Cache:
    """The cache with a draft model's tokens in the same pool: 163,840 + 57,344 B a token for Llama 70B and 3B at TP 2."""
    if not isinstance(cache, PagedCache):
        return cache
    block = cache.block_bytes + token_bytes * cache.block_tokens
    return replace(cache, block_bytes=block, token_bytes=cache.token_bytes + token_bytes)


def sequences_in(rank: Rank, context: int) -> float:
    """Sequences of that length that the pool of a rank holds."""
    if rank.pool_bytes is None or rank.cache.block_bytes <= 0 or not rank.cache.blocks(context):
        return math.inf
    return blocks_in(rank) / rank.cache.blocks(context)


def blocks_in(rank: Rank) -> int:
    """Blocks that the pool of a rank holds; 0 for models that cache nothing."""
    if rank.pool_bytes is None or rank.cache.block_bytes <= 0:
        return 0
    return max(0, math.floor(rank.pool_bytes / rank.cache.block_bytes))


def need_bytes(rank: Rank, context: int, sequences: int) -> float:
    """What the cache of a rank takes for that many sequences of that length."""
    return rank.cache.blocks(context) * rank.cache.block_bytes * sequences


def state_need_bytes(serving: Serving, rank: Rank) -> float:
    """vLLM refuses to start where max_num_seqs exceeds the blocks that recurrent layers can have."""
    settings = serving.settings
    if (
        not rank.cache.state_blocks_per_sequence
        or serving.resolved.engine.name != "vllm"
        or settings.release < (0, 20, 0)
    ):
        return 0.0
    return settings.sequences * rank.cache.block_bytes


def host_bytes_per_machine(serving: Serving) -> float:
    """What weights and cache take of the RAM of one machine."""
    if not serving.ranks:
        return 0.0
    each = in_one_machine(serving.resolved.devices)
    kept = sum(rank.host_bytes for rank in serving.ranks) + host_cache_bytes(serving)
    return kept / max(1, math.ceil(len(serving.ranks) / each))


def host_cache_bytes(serving: Serving) -> float:
    """RAM for cache blocks that left the devices: what was asked for, of every replica, and the space V0 pins for swapping."""
    asked = (serving.resolved.spec.engine.kv_offload_gib or 0.0) * GIB * serving.layout.caches
    v0 = serving.resolved.engine.name == "vllm" and not serving.settings.v1
    return asked + (c.SWAP_SPACE_V0_GIB * GIB * len(serving.ranks) if v0 else 0.0)
