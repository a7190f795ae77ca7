"""Memory of serving engines: what each rank holds, what its engine's budget leaves for the cache, and how many sequences that serves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sizing.catalogue.entries import Format
from sizing.catalogue.load import catalogue
from sizing.devices import Device, is_unified
from sizing.memory.plan import DevicePlan, MemoryPlan
from sizing.memory.serving import constants as c
from sizing.memory.serving.activations import activations_of
from sizing.memory.serving.besides import beside_bytes, draft_bytes, draft_token_bytes
from sizing.memory.serving.budget import Budget, budget_of
from sizing.memory.serving.layout import Layout, layout_of, stages_of
from sizing.memory.serving.overhead import Graphs, graphs_of, non_torch_bytes, weights_extra_bytes
from sizing.memory.serving.pages import Cache, PagedCache, PageRules, rank_cache
from sizing.memory.serving.settings import Settings, settings_of
from sizing.memory.serving.sharding import rank_weights
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


@dataclass(frozen=True)
class Serving:
    """Everything `plan_serving` worked out, for the derivation and for warnings."""

    resolved: Resolved
    layout: Layout
    settings: Settings
    ranks: tuple[Rank, ...]
    sequences_per_replica: int

    @property
    def tightest(self) -> Rank:
        """The rank whose pool holds the fewest sequences."""
        return min(self.ranks, key=lambda rank: math.inf if rank.pool_bytes is None else sequences_in(rank, self.resolved.context_tokens))


def plan_serving(resolved: Resolved) -> MemoryPlan:
    """The memory plan of a server."""
    from sizing.memory.serving.explain import derivation, warnings

    serving = work_out(resolved)
    context, sequences = resolved.context_tokens, serving.sequences_per_replica
    plans = tuple(_device_plan(rank, context, sequences) for rank in serving.ranks)
    concurrency = _concurrency(serving)
    return MemoryPlan(
        devices=plans,
        margin_bytes=_margin(serving, plans),
        kv_bytes_per_token=_token_bytes(serving),
        kv_bytes_per_sequence=_sequence_state_bytes(serving),
        kv_capacity_tokens=None if concurrency is None else concurrency * context,
        max_concurrency_at_context=concurrency,
        blockers=(),
        warnings=warnings(serving),
        derivation=lambda: derivation(serving),
    )


def work_out(resolved: Resolved) -> Serving:
    """All sums of a deployment."""
    layout, settings = layout_of(resolved), settings_of(resolved)
    chosen = loaded_format(resolved)
    without_vision = resolved.spec.images_per_request == 0
    weights = rank_weights(resolved.architecture, chosen, layout, without_vision=without_vision)
    caches = _caches(resolved, layout, settings)
    peak = activations_of(resolved, layout, settings).peak_bytes
    ranks = tuple(
        _rank(resolved, device, _stage_at(n, layout), layout, settings, weights, caches, peak)
        for n, device in enumerate(resolved.devices)
    )
    return Serving(resolved, layout, settings, ranks, math.ceil(resolved.concurrency / layout.data))


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


def page_rules(resolved: Resolved, layout: Layout, settings: Settings) -> PageRules:
    """How this engine pages its cache."""
    model, vllm = resolved.architecture, resolved.engine.name == "vllm"
    vendor = resolved.devices[0].accelerator.vendor if resolved.devices and resolved.devices[0].accelerator else "nvidia"
    align = 64 if model.mla is not None or vendor == "intel" else 16
    drafts = max(1, model.mtp_layers) if settings.draft == "mtp" else 0
    state_blocks = 1 + settings.draft_tokens * (settings.draft != "none")
    if vllm and settings.release >= (0, 27, 0):
        state_blocks += 1  # prefix caching of recurrent layers keeps one state more
    return PageRules(
        k=resolved.kv_k,
        v=resolved.kv_v,
        tensor=layout.attention_tensor,
        context_ranks=layout.context,
        block_tokens=16 if vllm else 1 if resolved.engine.name == "sglang" else 64,
        alignment_tokens=align,
        step_tokens=settings.step_tokens,
        speculative_tokens=settings.draft_tokens if settings.draft != "ngram" else 0,
        draft_layers=drafts,
        has_draft_model=settings.draft in ("draft", "dspark", "dflash"),
        grouped=not vllm or (settings.v1 and settings.release >= (0, 9, 0)),
        state_blocks=state_blocks,
        latent=not vllm or settings.release >= (0, 7, 0),
        cross_as_full=vllm and not settings.v1,
    )


def _rank(
    resolved: Resolved, device: Device, stage: int, layout: Layout, settings: Settings, weights: tuple, caches: tuple[Cache, ...], peak: float
) -> Rank:
    loaded = weights[stage].total_bytes + weights_extra_bytes(resolved, device) + draft_bytes(resolved, layout, settings)
    graphs = graphs_of(resolved, device, settings)
    outside = non_torch_bytes(resolved, device, layout, settings)
    others = beside_bytes(resolved)
    budget = budget_of(resolved, device, layout, settings)
    pool = budget.pool_bytes(loaded, peak, outside, graphs.reserved_bytes, others)
    cache = caches[stage] if not draft_token_bytes(resolved, layout) else with_draft(caches[stage], draft_token_bytes(resolved, layout))
    return Rank(device, stage, loaded, peak, outside, graphs, others, budget, cache, pool)


def with_draft(cache: Cache, token_bytes: float) -> Cache:
    """The cache with a draft model's tokens in the same pool: 163,840 + 57,344 B a token for Llama 70B and 3B at TP 2."""
    if not isinstance(cache, PagedCache):
        return cache
    return PagedCache(
        cache.parts, cache.block_bytes + token_bytes * cache.block_tokens, cache.block_tokens, cache.token_bytes + token_bytes,
        cache.step_tokens, cache.context_ranks, cache.padded_layers,
    )  # fmt: skip


def sequences_in(rank: Rank, context: int) -> float:
    """Sequences of that length that the pool of a rank holds."""
    if rank.pool_bytes is None or rank.cache.block_bytes <= 0:
        return math.inf
    blocks = max(0, math.floor(rank.pool_bytes / rank.cache.block_bytes))
    return blocks / max(1, rank.cache.blocks(context))


def need_bytes(rank: Rank, context: int, sequences: int) -> float:
    """What the cache of a rank takes for that many sequences of that length."""
    return rank.cache.blocks(context) * rank.cache.block_bytes * sequences


def _device_plan(rank: Rank, context: int, sequences: int) -> DevicePlan:
    return DevicePlan(
        device=rank.device,
        weights_bytes=rank.weights_bytes,
        kv_bytes=need_bytes(rank, context, sequences),
        activations_bytes=rank.activations_bytes,
        overhead_bytes=rank.non_torch_bytes,
        graphs_bytes=rank.graphs.taken_bytes,
        beside_bytes=rank.beside_bytes,
        usable_bytes=rank.budget.usable_bytes,
        pool_bytes=None if rank.pool_bytes is None else max(0.0, rank.pool_bytes),
    )


def _concurrency(serving: Serving) -> float | None:
    if any(rank.pool_bytes is None for rank in serving.ranks) or not serving.ranks:
        return None
    found = min(sequences_in(rank, serving.resolved.context_tokens) for rank in serving.ranks)
    return None if math.isinf(found) else found


def _token_bytes(serving: Serving) -> float:
    replica = serving.ranks[: serving.layout.ranks_per_replica]
    return sum(rank.cache.token_bytes for rank in replica)


def _sequence_state_bytes(serving: Serving) -> float:
    replica = serving.ranks[: serving.layout.ranks_per_replica]
    return sum(rank.cache.state_blocks_per_sequence * rank.cache.block_bytes for rank in replica)


def _margin(serving: Serving, plans: tuple[DevicePlan, ...]) -> tuple[float, float, float] | None:
    found = [_rank_margin(serving, rank, plan) for rank, plan in zip(serving.ranks, plans, strict=True) if rank.pool_bytes is not None]
    if len(found) < len(plans) or not found:
        return None
    low, expected, high = (min(column) for column in zip(*found, strict=True))
    return low, expected, high


def _rank_margin(serving: Serving, rank: Rank, plan: DevicePlan) -> tuple[float, float, float]:
    pool = rank.pool_bytes or 0.0
    expected = pool - max(plan.kv_bytes, _state_need(serving, rank))
    spread = spread_bytes(serving, rank)
    outside = rank.budget.outside_bytes - (1 + c.SPREAD_OUTSIDE) * _outside_need(serving, rank)
    return min(expected - spread, outside), expected, expected + spread


def spread_bytes(serving: Serving, rank: Rank) -> float:
    """Half the 80 % range of a rank's pool, from the residuals of measured pools; none where the pool is fixed by the user."""
    if serving.resolved.spec.engine.kv_cache_memory_gib:
        return 0.0
    rest = rank.activations_bytes + rank.non_torch_bytes + rank.graphs.reserved_bytes
    spread = c.SPREAD_OF_WEIGHTS * rank.weights_bytes + c.SPREAD_OF_REST * rest + c.SPREAD_FLOOR_GIB * GIB
    return spread + (c.SPREAD_UNIFIED_GIB * GIB if is_unified(rank.device.accelerator) else 0.0)


def _outside_need(serving: Serving, rank: Rank) -> float:
    """What comes after the pool: graphs where they are not reserved, the sampler's first run, the driver's context."""
    if serving.resolved.engine.name != "vllm":
        return 0.0
    graphs = 0.0 if rank.graphs.inside else rank.graphs.taken_bytes
    warm_up = 4.0 * serving.settings.sequences * serving.resolved.architecture.vocab_size
    context = c.OUTSIDE_CONTEXT_GIB if serving.layout.ranks_per_replica == 1 else c.OUTSIDE_CONTEXT_PARALLEL_GIB
    return graphs + warm_up + context * GIB


def _state_need(serving: Serving, rank: Rank) -> float:
    """vLLM refuses to start where max_num_seqs exceeds the blocks that recurrent layers can have."""
    settings = serving.settings
    if not rank.cache.state_blocks_per_sequence or serving.resolved.engine.name != "vllm" or settings.release < (0, 20, 0):
        return 0.0
    return settings.sequences * rank.cache.block_bytes
