"""What is left on a rank, how far off that may be, and what settings that nobody asked for could still give."""

from __future__ import annotations

import math
from dataclasses import replace

from sizing.devices import is_unified
from sizing.memory.plan import DevicePlan, Slack
from sizing.memory.serving import constants as c
from sizing.memory.serving.activations import activations_of
from sizing.memory.serving.overhead import graphs_of
from sizing.memory.serving.work import Rank, Serving, host_bytes_per_machine, need_bytes, state_need_bytes
from sizing.units import GB, GIB

Margin = tuple[float, float, float]


def margin_of(serving: Serving, plans: tuple[DevicePlan, ...]) -> Margin | None:
    """(low, expected, high) in bytes on the tightest rank; None where a card's memory is unknown."""
    found = [
        _rank_margin(serving, rank, plan)
        for rank, plan in zip(serving.ranks, plans, strict=True)
        if rank.pool_bytes is not None
    ]
    if len(found) < len(plans) or not found:
        return None
    low, expected, high = (min(column) for column in zip(*(*found, *_ram_margin(serving)), strict=True))
    return low, expected, high


def _ram_margin(serving: Serving) -> tuple[Margin, ...]:
    """What is left of a machine's RAM where its size is known and something is kept there."""
    ram, kept = serving.resolved.spec.host.ram_gb, host_bytes_per_machine(serving)
    if not ram or not kept or any(is_unified(rank.device.accelerator) for rank in serving.ranks):
        return ()
    left = ram * GB - kept
    return ((left - c.SPREAD_OF_RAM * kept, left, left + c.SPREAD_OF_RAM * kept),)


def free_bytes(serving: Serving, rank: Rank, kv_bytes: float) -> float:
    """What is left of a rank's pool beside `kv_bytes`; with max_num_seqs said, every sequence must find its recurrent state."""
    pool = rank.pool_bytes or 0.0
    left = pool - max(kv_bytes, _virtual_engines_need(serving, rank, serving.resolved.context_tokens))
    left = min(left, loading_room_bytes(rank))
    if serving.resolved.spec.engine.max_num_seqs is None:
        return left
    return min(left, pool - state_need_bytes(serving, rank))


def loading_room_bytes(rank: Rank) -> float:
    """What the card has left while a wider checkpoint is loaded; no limit where nothing wider is."""
    if not rank.loading.peak_bytes or rank.device.visible_gib is None:
        return math.inf
    return (rank.device.visible_gib - rank.device.in_use_gib) * GIB - rank.loading.peak_bytes


def _rank_margin(serving: Serving, rank: Rank, plan: DevicePlan) -> Margin:
    expected = plan.free_bytes or 0.0
    spread = spread_bytes(serving, rank)
    states = (rank.pool_bytes or 0.0) - state_need_bytes(serving, rank)
    outside = rank.budget.outside_bytes - (1 + c.SPREAD_OUTSIDE) * outside_need_bytes(serving, rank)
    charged = spread + _charged_bytes(serving, rank)
    return min(expected - charged, outside, states - charged), expected, expected + spread


def _charged_bytes(serving: Serving, rank: Rank) -> float:
    """From 0.26 on, vLLM's look at graphs of models with recurrent layers charges what a step takes for a moment, too: a fifth of the
    pool at 8,192 tokens a step (vllm-project/vllm#50780), nothing to see at 2,048."""
    settings = serving.settings
    hybrid = rank.cache.state_blocks_per_sequence and settings.graphs and settings.release >= c.GRAPHS_CHARGE_STEP_FROM
    if not hybrid or serving.resolved.engine.name != "vllm" or serving.resolved.spec.engine.kv_cache_memory_gib:
        return 0.0
    share = max(
        0.0, (settings.step_tokens - c.BATCHED_TOKENS_SMALL) / (c.BATCHED_TOKENS_LARGE - c.BATCHED_TOKENS_SMALL)
    )
    return c.STEP_CHARGED_SHARE * min(1.0, share) * max(0.0, rank.pool_bytes or 0.0)


def _virtual_engines_need(serving: Serving, rank: Rank, context: int) -> float:
    """V0 deals the blocks of a pipeline to as many virtual engines as it has stages, and a sequence stays in one of them:
    QwQ-32B on two stages had room for 116,784 tokens and refused 60,000 (vllm-project/vllm#14452)."""
    stages = serving.layout.pipeline
    if serving.resolved.engine.name != "vllm" or serving.settings.v1 or stages == 1:
        return 0.0
    return stages * need_bytes(rank, context, math.ceil(serving.sequences_per_replica / stages))


def spread_bytes(serving: Serving, rank: Rank) -> float:
    """Half the 80 % range of a rank's pool, from the residuals of measured pools; none where the pool is fixed by the user."""
    if serving.resolved.spec.engine.kv_cache_memory_gib:
        return 0.0
    rest = rank.activations_bytes + rank.non_torch_bytes + rank.graphs.reserved_bytes
    spread = c.SPREAD_OF_WEIGHTS * rank.weights_bytes + c.SPREAD_OF_REST * rest + c.SPREAD_FLOOR_GIB * GIB
    return spread + (c.SPREAD_UNIFIED_GIB * GIB if is_unified(rank.device.accelerator) else 0.0)


def outside_need_bytes(serving: Serving, rank: Rank) -> float:
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


def slack_of(serving: Serving, found: Margin | None) -> Slack:
    """What would make a deployment fit that does not as its engine's defaults have it; nothing where it fits or no default is in play.

    Three defaults are the engine's and not the user's: its share of the card, which may rise to 95 % where that leaves enough beside
    the budget; the sequences a step may hold, whose sampler is profiled; and the model's longest context, of which a part may do.
    """
    if found is None or found[1] >= 0 or not serving.ranks or any(row[1] < 0 for row in _ram_margin(serving)):
        return Slack()
    share = _higher_share(serving)
    gained = min(_gain_bytes(serving, rank, share) for rank in serving.ranks)
    if found[2] + gained >= 0:
        return Slack(bytes=gained, utilization=share)
    fewer = _fewer_sequences(serving)
    saved = _saved_bytes(serving, fewer)
    sequences = fewer if saved else None
    gained += saved
    if found[2] + gained >= 0:
        return Slack(gained, share, sequences)
    context = _shorter_context(serving, gained) if _context_is_default(serving) else 0
    if not context:
        return Slack()
    need = max(
        need_bytes(rank, serving.resolved.context_tokens, serving.sequences_per_replica) for rank in serving.ranks
    )
    return Slack(gained + need, share if gained > saved else None, sequences, context)


def _fewer_sequences(serving: Serving) -> int | None:
    """Only where the profile of many sequences leaves no room for a cache at all: nobody would start a server like that."""
    if min(rank.pool_bytes or 0.0 for rank in serving.ranks) > 0:
        return None
    if serving.resolved.engine.name != "vllm" or serving.resolved.spec.engine.max_num_seqs:
        return None
    return max(c.FEWEST_USEFUL_SEQUENCES, serving.sequences_per_replica)


def _saved_bytes(serving: Serving, sequences: int | None) -> float:
    """What a smaller profile leaves to the pool of every rank."""
    if sequences is None or sequences >= serving.settings.sequences:
        return 0.0
    fewer, rank = replace(serving.settings, sequences=sequences), serving.ranks[0]
    peak = activations_of(serving.resolved, serving.layout, fewer).peak_bytes
    return (
        rank.activations_bytes - peak + rank.graphs.reserved_bytes - graphs_of(serving.resolved, fewer).reserved_bytes
    )


def _higher_share(serving: Serving) -> float | None:
    asked = serving.resolved.spec.engine
    if serving.resolved.engine.name != "vllm" or asked.gpu_memory_utilization or asked.kv_cache_memory_gib:
        return None
    return c.UTILIZATION_HIGHEST


def _gain_bytes(serving: Serving, rank: Rank, share: float | None) -> float:
    if share is None or rank.device.visible_gib is None:
        return 0.0
    more = (share - serving.settings.utilization) * rank.device.visible_gib * GIB
    return max(0.0, min(more, rank.budget.outside_bytes - outside_need_bytes(serving, rank)))


def _context_is_default(serving: Serving) -> bool:
    return any(
        entry.field == "context_tokens" and entry.code == "model_maximum" for entry in serving.resolved.assumptions
    )


def _shorter_context(serving: Serving, gained: float) -> int:
    """The longest context, in steps of 1,024 tokens, of which every rank holds the sequences asked for; 0 where none does."""
    low, high = 0, serving.resolved.context_tokens // c.SHORTEST_USEFUL_TOKENS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _holds(serving, middle * c.SHORTEST_USEFUL_TOKENS, gained) else (low, middle - 1)
    return low * c.SHORTEST_USEFUL_TOKENS


def _holds(serving: Serving, context: int, gained: float) -> bool:
    for rank in serving.ranks:
        need = max(
            need_bytes(rank, context, serving.sequences_per_replica), _virtual_engines_need(serving, rank, context)
        )
        if need > (rank.pool_bytes or 0.0) + gained + spread_bytes(serving, rank):
            return False
    return True
