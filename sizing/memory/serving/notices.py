"""What the user must know about a serving plan beside its figures, each with a code that the bot words."""

from __future__ import annotations

from collections.abc import Iterator

from sizing.devices import is_unified
from sizing.estimate import Warning_
from sizing.memory.plan import Slack
from sizing.memory.serving import constants as c
from sizing.memory.serving.work import Rank, Serving, blocks_in, host_bytes_per_machine, state_need_bytes
from sizing.units import GB, GIB, gib


def warnings(serving: Serving) -> tuple[Warning_, ...]:
    """What the user must know about this plan."""
    if not serving.ranks:
        return ()
    return tuple(_warnings(serving, serving.tightest))


def _warnings(serving: Serving, rank: Rank) -> Iterator[Warning_]:
    settings, resolved = serving.settings, serving.resolved
    if state_need_bytes(serving, rank) > max(0.0, rank.pool_bytes or 0.0):
        blocks = blocks_in(rank)
        yield _warning(
            "fewer_state_blocks",
            f"the cache has {blocks} blocks for recurrent state, fewer than max_num_seqs {settings.sequences}: "
            f"the engine refuses to start; set max_num_seqs to {max(1, blocks)} or less",
            state_blocks=blocks,
            max_num_seqs=settings.sequences,
        )
    if (
        resolved.engine.name == "vllm"
        and not rank.graphs.inside
        and rank.graphs.taken_bytes > 0.5 * rank.budget.outside_bytes
    ):
        yield _warning(
            "graphs_outside_budget",
            f"CUDA graphs ({gib(rank.graphs.taken_bytes):.1f} GiB) come on top of the budget; "
            f"{gib(rank.budget.outside_bytes):.1f} GiB are left beside it",
            graphs_gib=round(gib(rank.graphs.taken_bytes), 2),
            left_gib=round(gib(rank.budget.outside_bytes), 2),
        )
    if rank.loading.peak_bytes > 1.1 * rank.weights_bytes:
        yield _warning(
            "loading_peak",
            f"while the wider checkpoint is quantised, loading takes {gib(rank.loading.peak_bytes):.1f} GiB of the card",
            peak_gib=round(gib(rank.loading.peak_bytes), 2),
        )
    kept = resolved.spec.engine.kv_offload_gib
    if kept and rank.cache.token_bytes:
        holders = serving.layout.ranks_per_replica // serving.layout.attention_replicas
        tokens = int(kept * GIB / (rank.cache.token_bytes * holders))
        yield _warning(
            "kv_kept_in_ram",
            f"{kept:g} GiB of RAM keep about {tokens} tokens of requests that left the card, and are copied back when met again",
            kv_offload_gib=kept,
            tokens=tokens,
        )
    ram = resolved.spec.host.ram_gb
    if ram and host_bytes_per_machine(serving) > ram * GB and not is_unified(rank.device.accelerator):
        held = gib(host_bytes_per_machine(serving))
        yield _warning(
            "ram_overfull",
            f"{held:.1f} GiB are to be kept in RAM, the machine has {gib(ram * GB):.1f} GiB",
            host_gib=round(held, 1),
            ram_gib=round(gib(ram * GB), 1),
        )
    if is_unified(rank.device.accelerator):
        yield _warning(
            "unified_memory_varies",
            "GPU and system share this memory: page cache and other programs move the result by gigabytes",
            spread_gib=c.SPREAD_UNIFIED_GIB,
        )
    if rank.device.in_use_gib:
        yield _warning(
            "memory_in_use",
            f"{rank.device.in_use_gib:g} GiB of the card are in use by others",
            in_use_gib=rank.device.in_use_gib,
        )
    shared = resolved.spec.load.shared_prefix_tokens or 0
    if shared and serving.sequences_per_replica > 1 and rank.cache.token_bytes:
        saved = gib(min(shared, resolved.context_tokens) * rank.cache.token_bytes * (serving.sequences_per_replica - 1))
        yield _warning(
            "prefix_shared",
            f"prefix caching can store the shared prefix once and save up to {saved:.1f} GiB a card; the need is stated without it",
            saved_gib=round(saved, 2),
            shared_prefix_tokens=shared,
        )
    if not resolved.architecture.has_kv_figures:
        yield _warning(
            "kv_figures_assumed", "no cache figures are known for this model: keys and values of every head are assumed"
        )
    if resolved.engine.name not in _MEASURED_ENGINES:
        name = resolved.engine.name
        yield _warning("formula_only", f"there are few or no public measurements of {name}: formula only", engine=name)


def slack_warnings(slack: Slack) -> tuple[Warning_, ...]:
    """Which settings make it fit where the engine's defaults do not."""
    found = []
    if slack.utilization is not None and slack.bytes:
        message = f"fits only with a higher share of the card than the engine takes by itself: set it to {slack.utilization:g}"
        found.append(_warning("raise_utilization", message, utilization=slack.utilization))
    if slack.max_num_seqs is not None:
        message = f"the engine's profile of many sequences takes too much; set max_num_seqs to {slack.max_num_seqs}"
        found.append(_warning("lower_max_num_seqs", message, max_num_seqs=slack.max_num_seqs))
    if slack.context_tokens is not None:
        message = f"the model's whole context does not fit; about {slack.context_tokens} tokens do"
        found.append(_warning("shorten_context", message, context_tokens=slack.context_tokens))
    return tuple(found)


# Engines with at least ten carried measurements; `sizing/data/measured_memory.json` has five of all others together.
_MEASURED_ENGINES = frozenset({"vllm"})


def _warning(code: str, message: str, **params: object) -> Warning_:
    return Warning_(code=code, params=dict(params), message=message)
