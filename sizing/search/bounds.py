"""Optimistic bounds that let most candidates go without an estimate.

Memory: weights and KV cache spread perfectly over all the memory the devices have, no overhead, no reserve of the engine. Decode: the
bytes every token must read, at the full bandwidth of the group that reads them together. First token: the multiplications of the
prompt at the highest dense peak. Each bound is loosened further by a slack, so that what is dropped cannot pass a full estimate
(a property test draws workloads and holds the two against each other).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Accelerator
from sizing.devices import visible_gib
from sizing.memory.weights import weights_bytes
from sizing.resolve import resolve_format
from sizing.search.candidates import Candidate, Setup
from sizing.search.machines import Machine
from sizing.units import GIB

_WEIGHTS_SLACK = 0.94  # file sizes of GGUF mixes and published checkpoints stand up to 5 % under the formula
_KV_SLACK = 0.8  # the probes' least KV; pages of hybrid caches differ a little more between layouts
_READ_SLACK = 0.6  # input embeddings are not read; correlated routing touches fewer experts
_COMPUTE_SLACK = 0.5


@dataclass(frozen=True, slots=True)
class Need:
    """What a workload needs at least: weights in bytes by format, KV of everything in flight by (local, KV format), and rates.

    `active_share` of the weights is read for one token; `prompt_flop` multiplies one prompt. `tokens_per_step` above 1 is speculation.
    """

    weights_bytes: Mapping[str, float]
    kv_bytes: Mapping[tuple[bool, str | None], float]
    active_share: float
    prompt_flop: float
    tokens_per_step: float = 1.0
    tokens_s_per_user: float | None = None
    ttft_s: float | None = None


def format_bytes(model: Architecture, name: str) -> float:
    """Bytes of the weights in a format."""
    return weights_bytes(model, resolve_format(name))


def needed_bytes(setup: Setup, need: Need, data: int) -> float:
    """Least bytes of one replica: its weights and its share of the KV cache."""
    kv = need.kv_bytes.get((setup.local, setup.kv_cache), 0.0)
    return need.weights_bytes[setup.weights] * _WEIGHTS_SLACK + kv * _KV_SLACK / data


def may_fit(candidate: Candidate, need: Need) -> bool:
    """Whether one replica could fit if all its devices' memory were one."""
    return needed_bytes(candidate.setup, need, candidate.data) <= memory_bytes(candidate.machine) * candidate.replica


@lru_cache(maxsize=2048)
def memory_bytes(machine: Machine) -> float:
    """All that an engine sees of one device."""
    seen, _ = visible_gib(machine.accelerator, machine.memory_gb)
    return (seen or 0.0) * GIB


def may_reach(candidate: Candidate, need: Need) -> bool:
    """Whether one user's rate and the first token could be reached if nothing but reading and multiplying took time."""
    return _may_decode(candidate, need) and _may_prefill(candidate, need)


def _may_decode(candidate: Candidate, need: Need) -> bool:
    device = candidate.machine.accelerator
    rate = device.bandwidth_for(candidate.machine.memory_gb)
    if not need.tokens_s_per_user or not rate:
        return True
    read = need.weights_bytes[candidate.setup.weights] * need.active_share * _READ_SLACK
    return rate * 1e9 * candidate.tensor * need.tokens_per_step / read >= need.tokens_s_per_user


def _may_prefill(candidate: Candidate, need: Need) -> bool:
    peak = peak_flop_s(candidate.machine.accelerator)
    if not need.ttft_s or not peak:
        return True
    return need.prompt_flop * _COMPUTE_SLACK / (peak * candidate.replica) <= need.ttft_s


@lru_cache(maxsize=512)
def peak_flop_s(device: Accelerator) -> float:
    """The highest dense peak of any number format."""
    rates = [device.peak_tflops(name) for name in ("fp32", "fp16", "bf16", "fp8", "int8", "fp4")]
    return max((rate for rate in rates if rate), default=0.0) * 1e12
