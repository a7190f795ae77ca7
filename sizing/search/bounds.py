"""Optimistic bounds that let most candidates go without an estimate.

Memory: weights and KV cache spread perfectly over all the memory the devices have, no overhead, no reserve of the engine. Decode: the
bytes every token must read, at the full bandwidth of the group that reads them together. First token: the multiplications of the
prompt at the dense peak of the operands that the format is multiplied in. Each bound is loosened further by a slack, so that what is
dropped cannot pass a full estimate (a property test draws workloads and holds the two against each other).

A full estimate then teaches how far devices of an architecture stay above their bound with an engine and a format; others of the kind do
not come much nearer to theirs, so what would miss a target by a third even so is not estimated (`Learned`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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
_COMPUTE_SLACK = 0.7  # embeddings multiply nothing, the head only the last token
_CERTAIN_MISS = 4 / 3
_Kind = tuple[str, str, str, str]
_Least = Callable[[Candidate, "Need"], float]


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
    tokens_s_total: float | None = None
    concurrency: int = 1


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
    """Whether one user's rate, that of all and the first token could be reached if nothing but reading and multiplying took time."""
    return all(least(candidate, need) <= allowed for allowed, least in _targets(need))


def _targets(need: Need) -> Iterator[tuple[float, _Least]]:
    """(seconds allowed, seconds at least) for each target: of a first token, of one user's token, of a token of all users."""
    if need.ttft_s:
        yield need.ttft_s, least_ttft_s
    if need.tokens_s_per_user:
        yield 1 / need.tokens_s_per_user, least_token_s
    if need.tokens_s_total:
        yield need.concurrency / need.tokens_s_total, least_token_s


def shortfall(need: Need, ttft_s: float | None, token_s: float | None) -> float:
    """How many times longer than allowed an estimate takes, by its worst target; 0 where there is no target."""
    taken = ((ttft_s if least is least_ttft_s else token_s) or 0.0 for _, least in _targets(need))
    return max((got / allowed for got, (allowed, _) in zip(taken, _targets(need), strict=True)), default=0.0)


def quickest(candidate: Candidate, need: Need) -> float:
    """The share of the time allowed that a candidate takes at least, by its worst target: what might be fast comes first."""
    return max((least(candidate, need) / allowed for allowed, least in _targets(need)), default=0.0)


def least_token_s(candidate: Candidate, need: Need) -> float:
    """The shortest time between two tokens of one user; 0 where nothing is known."""
    rate = candidate.machine.accelerator.bandwidth_for(candidate.machine.memory_gb)
    read = need.weights_bytes[candidate.setup.weights] * need.active_share * _READ_SLACK
    return read / (rate * 1e9 * candidate.tensor * need.tokens_per_step) if rate else 0.0


def least_ttft_s(candidate: Candidate, need: Need) -> float:
    """The shortest time to a first token; 0 where nothing is known."""
    peak = compute_flop_s(candidate.machine.accelerator, candidate.setup.weights)
    return need.prompt_flop * _COMPUTE_SLACK / (peak * candidate.replica) if peak else 0.0


class Learned:
    """How far full estimates stayed above the bounds, by architecture, engine and format, and by layout.

    More devices to a matrix lose more to their links, more requests to a copy wait for each other: what was learned of fewer of both
    holds at least.
    """

    def __init__(self) -> None:
        self._known: dict[_Least, dict[_Kind, dict[tuple[int, int], float]]] = {least_ttft_s: {}, least_token_s: {}}

    def add(self, candidate: Candidate, need: Need, ttft_s: float | None, token_s: float | None) -> None:
        """One estimate; the nearest to its bound counts."""
        for least, actual in ((least_ttft_s, ttft_s), (least_token_s, token_s)):
            bound = least(candidate, need)
            if actual and bound:
                ratios = self._known[least].setdefault(_kind(candidate), {})
                place = candidate.tensor, _batch(candidate, need)
                ratios[place] = min(ratios.get(place, float("inf")), actual / bound)

    def may_reach(self, candidate: Candidate, need: Need) -> bool:
        """Whether a candidate could come near its targets as the estimates of its kind go; True where none is known."""
        return all(
            least(candidate, need) * self._ratio(candidate, need, least) <= allowed * _CERTAIN_MISS
            for allowed, least in _targets(need)
        )

    def _ratio(self, candidate: Candidate, need: Need, least: _Least) -> float:
        batch = _batch(candidate, need)
        ratios = self._known[least].get(_kind(candidate), {})
        return max(
            (ratio for (tensor, n), ratio in ratios.items() if tensor <= candidate.tensor and n <= batch), default=1.0
        )


def _batch(candidate: Candidate, need: Need) -> int:
    """Requests at once that a copy of the model works on; stages of a pipeline take turns with parts of them."""
    stages = 1 if candidate.setup.local else candidate.pipeline
    return -(-need.concurrency // (candidate.data * stages))


def _kind(candidate: Candidate) -> _Kind:
    device = candidate.machine.accelerator
    return device.architecture or device.id, device.kind, candidate.setup.engine, candidate.setup.weights


@lru_cache(maxsize=4096)
def compute_flop_s(device: Accelerator, name: str) -> float:
    """Dense peak of the operands that a format is multiplied in, as `Drivers.operand` chooses them: 16 bit unless the
    format computes narrower and the device can."""
    wide = device.tflops.get("fp16")
    sums = (wide.get("fp16_acc") or 0.0) if isinstance(wide, Mapping) else 0.0
    narrow = _OPERANDS.get(resolve_format(name).kind, ())
    wide_rates = (device.peak_tflops("bf16"), device.peak_tflops("fp16"), device.peak_tflops("fp32"))
    rates = (*wide_rates, *(device.peak_tflops(one) for one in narrow))
    return max(sums, *(rate or 0.0 for rate in rates)) * 1e12


_Peak = Literal["fp8", "int8", "fp4"]
_OPERANDS: Mapping[str, tuple[_Peak, ...]] = {
    "fp8": ("fp8",), "int8": ("int8",), "nvfp4": ("fp4", "fp8"), "mxfp4": ("fp4",),
}  # fmt: skip
