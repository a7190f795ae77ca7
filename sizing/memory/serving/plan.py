"""Memory of serving engines: what each rank holds, what its engine's budget leaves for the cache, and how many sequences that serves."""

from __future__ import annotations

import math

from sizing.compatibility import blockers, cautions
from sizing.memory.plan import DevicePlan, HostPlan, MemoryPlan
from sizing.memory.serving.explain import derivation
from sizing.memory.serving.margin import free_bytes, margin_of, slack_of
from sizing.memory.serving.notices import slack_warnings, warnings
from sizing.memory.serving.work import Rank, Serving, host_cache_bytes, need_bytes, sequences_in, work_out
from sizing.resolve import Resolved


def plan_serving(resolved: Resolved) -> MemoryPlan:
    """The memory plan of a server."""
    serving = work_out(resolved)
    context, sequences = resolved.context_tokens, serving.sequences_per_replica
    plans = tuple(_device_plan(serving, rank, context, sequences) for rank in serving.ranks)
    concurrency = _concurrency(serving)
    margin = margin_of(serving, plans)
    slack = slack_of(serving, margin)
    return MemoryPlan(
        devices=plans,
        host=HostPlan(weights_bytes=sum(rank.host_bytes for rank in serving.ranks), kv_bytes=host_cache_bytes(serving)),
        margin_bytes=margin,
        slack=slack,
        kv_bytes_per_token=_token_bytes(serving),
        kv_bytes_per_sequence=_sequence_state_bytes(serving),
        kv_capacity_tokens=None if concurrency is None else concurrency * context,
        max_concurrency_at_context=concurrency,
        blockers=blockers(resolved),
        warnings=cautions(resolved) + warnings(serving) + slack_warnings(slack),
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
        free_bytes=None if rank.pool_bytes is None else free_bytes(serving, rank, kv_bytes),
    )


def _concurrency(serving: Serving) -> float | None:
    if any(rank.pool_bytes is None for rank in serving.ranks) or not serving.ranks:
        return None
    found = min(sequences_in(rank, serving.resolved.context_tokens) for rank in serving.ranks)
    return None if math.isinf(found) else found


def _token_bytes(serving: Serving) -> float:
    replica = serving.ranks[: serving.layout.ranks_per_replica]
    held = sum(rank.cache.mean_token_bytes(serving.resolved.context_tokens) for rank in replica)
    return held / serving.layout.attention_replicas


def _sequence_state_bytes(serving: Serving) -> float:
    replica = serving.ranks[: serving.layout.ranks_per_replica]
    return sum(rank.cache.sequence_bytes() for rank in replica) / serving.layout.attention_replicas
