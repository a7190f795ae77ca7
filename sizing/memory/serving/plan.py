"""Memory of serving engines: what each rank holds, what its engine's budget leaves for the cache, and how many sequences that serves."""

from __future__ import annotations

import math

from sizing.compatibility import blockers, cautions
from sizing.devices import is_unified
from sizing.memory.plan import DevicePlan, HostPlan, MemoryPlan
from sizing.memory.serving import constants as c
from sizing.memory.serving.explain import derivation, warnings
from sizing.memory.serving.work import Rank, Serving, need_bytes, sequences_in, state_need_bytes, work_out
from sizing.resolve import Resolved
from sizing.units import GIB


def plan_serving(resolved: Resolved) -> MemoryPlan:
    """The memory plan of a server."""
    serving = work_out(resolved)
    context, sequences = resolved.context_tokens, serving.sequences_per_replica
    plans = tuple(_device_plan(serving, rank, context, sequences) for rank in serving.ranks)
    concurrency = _concurrency(serving)
    return MemoryPlan(
        devices=plans,
        host=HostPlan(weights_bytes=sum(rank.host_bytes for rank in serving.ranks)),
        margin_bytes=_margin(serving, plans),
        kv_bytes_per_token=_token_bytes(serving),
        kv_bytes_per_sequence=_sequence_state_bytes(serving),
        kv_capacity_tokens=None if concurrency is None else concurrency * context,
        max_concurrency_at_context=concurrency,
        blockers=blockers(resolved),
        warnings=cautions(resolved) + warnings(serving),
        derivation=lambda: derivation(serving),
    )


def _device_plan(serving: Serving, rank: Rank, context: int, sequences: int) -> DevicePlan:
    kv_bytes = need_bytes(rank, context, sequences)
    return DevicePlan(
        device=rank.device,
        weights_bytes=rank.weights_bytes,
        kv_bytes=kv_bytes,
        activations_bytes=rank.activations_bytes,
        overhead_bytes=rank.non_torch_bytes,
        graphs_bytes=rank.graphs.taken_bytes,
        beside_bytes=rank.beside_bytes,
        usable_bytes=rank.budget.usable_bytes,
        pool_bytes=None if rank.pool_bytes is None else max(0.0, rank.pool_bytes),
        free_bytes=None if rank.pool_bytes is None else _free_bytes(serving, rank, kv_bytes),
    )


def _free_bytes(serving: Serving, rank: Rank, kv_bytes: float) -> float:
    """What the pool has left. Graphs captured outside the budget cost the pool nothing, so it is more than usable less total."""
    pool = rank.pool_bytes or 0.0
    if serving.resolved.spec.engine.max_num_seqs is None:
        return pool - kv_bytes
    return min(pool - kv_bytes, pool - state_need_bytes(serving, rank))


def _concurrency(serving: Serving) -> float | None:
    if any(rank.pool_bytes is None for rank in serving.ranks) or not serving.ranks:
        return None
    found = min(sequences_in(rank, serving.resolved.context_tokens) for rank in serving.ranks)
    return None if math.isinf(found) else found


def _token_bytes(serving: Serving) -> float:
    replica = serving.ranks[: serving.layout.ranks_per_replica]
    return sum(rank.cache.mean_token_bytes(serving.resolved.context_tokens) for rank in replica)


def _sequence_state_bytes(serving: Serving) -> float:
    replica = serving.ranks[: serving.layout.ranks_per_replica]
    return sum(rank.cache.sequence_bytes() for rank in replica)


def _margin(serving: Serving, plans: tuple[DevicePlan, ...]) -> tuple[float, float, float] | None:
    found = [
        _rank_margin(serving, rank, plan)
        for rank, plan in zip(serving.ranks, plans, strict=True)
        if rank.pool_bytes is not None
    ]
    if len(found) < len(plans) or not found:
        return None
    low, expected, high = (min(column) for column in zip(*found, strict=True))
    return low, expected, high


def _rank_margin(serving: Serving, rank: Rank, plan: DevicePlan) -> tuple[float, float, float]:
    states = (rank.pool_bytes or 0.0) - state_need_bytes(serving, rank)
    expected = plan.free_bytes or 0.0
    spread = spread_bytes(serving, rank)
    outside = rank.budget.outside_bytes - (1 + c.SPREAD_OUTSIDE) * _outside_need(serving, rank)
    return min(expected - spread, outside, states), expected, expected + spread


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
    return graphs + warm_up + _outside_context_gib(serving) * GIB


def _outside_context_gib(serving: Serving) -> float:
    """Every communicator keeps buffers of its own: one across the ranks of a replica, one more across replicas that share experts."""
    layout = serving.layout
    groups = (layout.ranks_per_replica > 1) + (layout.expert_degree > layout.tensor)
    return c.OUTSIDE_CONTEXT_PARALLEL_GIB * groups if groups else c.OUTSIDE_CONTEXT_GIB
