"""Seconds of one decode step and of one prompt: bytes over bandwidth, FLOPs over compute, kernels, links.

A step reads the weights (experts: the share that its batch touches) and every sequence's KV cache, multiplies each token with the
active parameters, and pays a fixed price per block, per step and per sequence. Reading and multiplying overlap, so they count as
the root of the sum of squares: equal parts cost 1.41 of one, not 2 and not 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sizing.speed.drivers import Drivers, bytes_per_s
from sizing.speed.factors import Coefficients
from sizing.speed.reads import attention_flops

_LLAMA_UBATCH = 512
_BATCHED_TOKENS = 8192.0  # prompt tokens of one pass of a server where nobody says
_HOST_RATE = 0.6  # of the RAM's nominal bandwidth, as CPUs with k-quants reach it


@dataclass(frozen=True, slots=True)
class Step:
    """Parts of one decode step in seconds; `total` is what passes, `tokens` what each sequence gains by it."""

    weights: float
    kv: float
    compute: float
    kernels: float
    link: float
    host: float
    tokens: float
    total: float

    @property
    def bound_by(self) -> str:
        """The part that takes longest."""
        parts = {
            "bandwidth": self.weights, "kv_cache": self.kv, "compute": self.compute, "overhead": self.kernels, "link": self.link,
            "host_memory": self.host,
        }  # fmt: skip
        return max(parts, key=lambda name: parts[name])


def touched_share(experts: int, per_token: int, tokens: float, spread: float) -> float:
    """Share of the routed experts that a batch reads: 1 - (1 - k/E)^n with n = tokens^spread.

    `spread` 1 is independent routing; tokens of one batch route alike, which makes it less. One token touches k/E exactly.
    """
    if not experts:
        return 0.0
    return float(1 - (1 - per_token / experts) ** max(1.0, tokens**spread))


def decode_step(drivers: Drivers, coefficient: Coefficients, batch: float, context_tokens: float) -> Step:
    """One step of `batch` sequences on one replica at that mean context."""
    proposed, gained = drivers.drafts.proposed, drivers.drafts.gained
    split = drivers.pipeline if drivers.server else 1
    inner = max(1.0, batch / split)
    per_rank = max(1.0, inner / drivers.attention_ranks)
    weights_s = _weights_s(drivers, coefficient, inner * (1 + proposed)) + _extras_s(drivers, coefficient, inner)
    kv_s = _kv_s(drivers, coefficient, per_rank, context_tokens)
    compute_s = _decode_compute_s(drivers, coefficient, per_rank * (1 + proposed), context_tokens)
    kernels_s = _kernels_s(drivers, coefficient, inner)
    link_s = link_s_per_pass(drivers, coefficient, per_rank * (1 + proposed))
    host_s = _host_s(drivers, inner * (1 + proposed))
    total = math.hypot(weights_s, compute_s) + kv_s + kernels_s + link_s + host_s
    return Step(weights_s, kv_s, compute_s, kernels_s, link_s, host_s, gained, total)


def _weights_s(drivers: Drivers, coefficient: Coefficients, tokens: float) -> float:
    weights = drivers.weights
    share = touched_share(weights.experts, weights.experts_per_token, tokens, coefficient.routing_spread)
    read = weights.dense_bytes / drivers.tensor + weights.expert_bytes * share / drivers.experts_over
    on_device = 1 - drivers.host_share
    return read * on_device / (bytes_per_s(drivers.machine.bandwidth_gb_s) * coefficient.weight_rate)


def extras_bytes(drivers: Drivers, batch: float) -> float:
    """Bytes a step reads on one device beside the model: drafts once for each token proposed, adapters as far as a batch asks for them."""
    adapters, drafts = drivers.adapters, drivers.drafts
    read = min(float(adapters.count), batch) * adapters.bytes_each + drafts.proposed * drafts.bytes_each
    return read / drivers.tensor


def _extras_s(drivers: Drivers, coefficient: Coefficients, batch: float) -> float:
    return extras_bytes(drivers, batch) / (bytes_per_s(drivers.machine.bandwidth_gb_s) * coefficient.weight_rate)


def _kv_s(drivers: Drivers, coefficient: Coefficients, per_rank: float, context_tokens: float) -> float:
    shards = min(drivers.tensor, drivers.cache.kv_heads)
    rate = bytes_per_s(drivers.machine.bandwidth_gb_s) * coefficient.weight_rate * coefficient.kv_rate
    return per_rank * drivers.cache.read_bytes(context_tokens) / (shards * rate)


def _decode_compute_s(drivers: Drivers, coefficient: Coefficients, per_rank: float, context_tokens: float) -> float:
    flops = 2 * drivers.weights.active_params * per_rank / drivers.tensor
    attention = attention_flops(drivers.attention_shape, 1, context_tokens) * per_rank / drivers.tensor
    half = drivers.machine.peak_tflops["16bit"] * 1e12
    return flops / (drivers.flops_per_s * coefficient.decode_compute) + attention / (half * coefficient.decode_compute)


def _kernels_s(drivers: Drivers, coefficient: Coefficients, batch: float) -> float:
    hops = 60.0 * (drivers.pipeline - 1) * math.log2(drivers.pipeline) if drivers.layer_split else 0.0
    drafted = drivers.drafts.proposed * drivers.drafts.blocks_each
    blocks = (
        coefficient.block_us * (drivers.weights.blocks + drafted) + drivers.adapters.block_us * drivers.weights.blocks
    )
    return (blocks + coefficient.step_us + coefficient.sequence_us * (batch - 1) + hops) * 1e-6


def link_s_per_pass(drivers: Drivers, coefficient: Coefficients, tokens: float) -> float:
    """Two all-reduces per block over the real link: a latency each, and 2 (n-1)/n of the hidden state's bytes."""
    ranks = drivers.tensor
    if ranks <= 1:
        return 0.0
    calls = 2 * drivers.weights.blocks
    latency = calls * coefficient.collective_us * 1e-6 * (1 + 0.25 * math.log2(ranks / 2))
    moved = 2 * (ranks - 1) / ranks * tokens * drivers.weights.hidden * 2.0
    return latency + calls * moved / (bytes_per_s(drivers.machine.link.gb_s) * coefficient.link_rate)


def _host_s(drivers: Drivers, tokens: float) -> float:
    """What lies in RAM: read by the CPU where it computes there (llama.cpp and kin), else pulled over PCIe."""
    if drivers.host_share <= 0:
        return 0.0
    weights = drivers.weights
    share = touched_share(weights.experts, weights.experts_per_token, tokens, 0.8)
    read = weights.dense_bytes + weights.expert_bytes * share
    stored = weights.dense_bytes + weights.expert_bytes
    if weights.experts and drivers.host_share * stored <= weights.expert_bytes:
        read = share * stored  # only experts were moved out
    rate = 0.8 * drivers.machine.pcie_gb_s if drivers.server else _HOST_RATE * drivers.machine.host_gb_s
    return read * drivers.host_share / bytes_per_s(rate)


def prompt_s(drivers: Drivers, coefficient: Coefficients, new_tokens: float, prior_tokens: float) -> float:
    """Seconds from a prompt's arrival on an idle replica to its first token, without the engine's fixed price per prompt."""
    if new_tokens <= 0:
        return 0.0
    chunk = _chunk_tokens(drivers, new_tokens)
    compute = _prompt_compute_s(drivers, coefficient, new_tokens, prior_tokens, min(chunk, new_tokens))
    passes = math.ceil(new_tokens / chunk)
    read = passes * _weights_s(drivers, coefficient, chunk)
    fixed = passes * (coefficient.block_us * drivers.weights.blocks * 1e-6)
    spread = _pipeline_gain(drivers, passes)
    return (
        math.hypot(compute / spread, read)
        + fixed
        + _prompt_link_s(drivers, coefficient, new_tokens)
        + _host_s(drivers, chunk)
    )


def prompt_work_s(drivers: Drivers, coefficient: Coefficients, new_tokens: float, prior_tokens: float) -> float:
    """Seconds of a replica's time that a prompt costs when it shares the device with others."""
    if new_tokens <= 0:
        return 0.0
    compute = _prompt_compute_s(drivers, coefficient, new_tokens, prior_tokens, _BATCHED_TOKENS)
    shared = drivers.attention_ranks * (drivers.pipeline if drivers.server else 1)
    return (compute + _prompt_link_s(drivers, coefficient, new_tokens)) / shared


def _prompt_compute_s(
    drivers: Drivers, coefficient: Coefficients, new_tokens: float, prior_tokens: float, at_once: float
) -> float:
    linear = _linear_flops(drivers, coefficient, new_tokens, at_once) / (
        drivers.flops_per_s * coefficient.prefill_compute
    )
    pairs = attention_flops(drivers.attention_shape, new_tokens, prior_tokens)
    half = drivers.machine.peak_tflops["16bit"] * 1e12
    return (linear + pairs / (half * coefficient.attention_compute)) / drivers.tensor


def _linear_flops(drivers: Drivers, coefficient: Coefficients, new_tokens: float, at_once: float) -> float:
    """FLOPs of the linear layers, each at the price of the tokens that its matrices get at once.

    A matrix with few rows to multiply costs as much as one with `prefill_half_tokens` more. A dense layer gets the whole chunk, an
    expert its share of it: 512 tokens of a model with 8 of 128 experts are 32 for each.
    """
    weights, half = drivers.weights, coefficient.prefill_half_tokens
    head = weights.vocab * weights.hidden  # computed for the last token only
    dense = max(0.3 * weights.dense_params, weights.dense_params - head)
    routed = weights.active_params - weights.dense_params
    flops = dense * (1 + half / at_once)
    if routed:
        flops += routed * (1 + half / (at_once * weights.experts_per_token / weights.experts))
    return 2 * (flops * new_tokens + head)


def prompt_share(drivers: Drivers, coefficient: Coefficients, new_tokens: float) -> float:
    """Share of the peak that a full batch of prompts reaches, matrices with few rows included."""
    full = _linear_flops(drivers, coefficient, new_tokens, _BATCHED_TOKENS)
    return coefficient.prefill_compute * 2 * drivers.weights.active_params * new_tokens / full


def _prompt_link_s(drivers: Drivers, coefficient: Coefficients, new_tokens: float) -> float:
    return link_s_per_pass(drivers, coefficient, new_tokens)


def _chunk_tokens(drivers: Drivers, new_tokens: float) -> float:
    asked = drivers.resolved.spec.engine
    if drivers.server:
        return float(asked.max_num_batched_tokens or max(_BATCHED_TOKENS, new_tokens))
    return float(asked.ubatch_tokens or _LLAMA_UBATCH)


def _pipeline_gain(drivers: Drivers, passes: int) -> float:
    """Layer split overlaps the chunks of a long prompt: p chunks on n devices take (p + n - 1) instead of p x n turns."""
    if drivers.pipeline <= 1:
        return 1.0
    return 1 + 0.7 * (passes * drivers.pipeline / (passes + drivers.pipeline - 1) - 1)
