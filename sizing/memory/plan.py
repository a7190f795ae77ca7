"""MemoryPlan: where every byte of a deployment lies, before it is put into an Estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sizing.devices import Device
from sizing.estimate import DerivationStep, Warning_


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """One device's share, in bytes.

    `kv_bytes` is what the workload needs there; engines that print the state of recurrent layers apart (llama.cpp and its kin)
    have it in `state_bytes`, servers hold it in `kv_bytes`. `graphs_outside` says that captured graphs lie outside
    the engine's own budget. `usable_bytes` is what the engine may use (its budget, e.g. utilization x visible memory), None for an
    unnamed card; `pool_bytes` what remains for KV there after everything else. `free_bytes` is what is left on the device beside
    `total_bytes`, negative where it is short; None means `usable_bytes` less `total_bytes`.
    """

    device: Device
    weights_bytes: float
    kv_bytes: float
    activations_bytes: float
    overhead_bytes: float
    graphs_bytes: float = 0.0
    beside_bytes: float = 0.0
    gradients_bytes: float | None = None
    optimizer_bytes: float | None = None
    usable_bytes: float | None = None
    pool_bytes: float | None = None
    state_bytes: float = 0.0
    free_bytes: float | None = None

    @property
    def left_bytes(self) -> float | None:
        """What is left on the device, or missing; None on an unnamed card."""
        if self.free_bytes is not None or self.usable_bytes is None:
            return self.free_bytes
        return self.usable_bytes - self.total_bytes

    @property
    def total_bytes(self) -> float:
        """Everything on the device."""
        return (
            self.weights_bytes + self.kv_bytes + self.state_bytes + self.activations_bytes + self.overhead_bytes + self.graphs_bytes
            + self.beside_bytes + (self.gradients_bytes or 0.0) + (self.optimizer_bytes or 0.0)
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostPlan:
    """What is kept in the host's RAM, in bytes."""

    weights_bytes: float = 0.0
    kv_bytes: float = 0.0
    activations_bytes: float = 0.0
    optimizer_bytes: float = 0.0
    state_bytes: float = 0.0

    @property
    def total_bytes(self) -> float:
        """Everything in RAM."""
        return self.weights_bytes + self.kv_bytes + self.state_bytes + self.activations_bytes + self.optimizer_bytes


@dataclass(frozen=True, slots=True)
class Blocker:
    """Why it cannot run at all, whatever the memory: "cannot run" is said before "fits"."""

    code: str
    params: Mapping[str, object]
    message: str


@dataclass(frozen=True, slots=True)
class Slack:
    """What settings left at the engine's defaults would still give on the tightest device.

    `utilization` is the share of the card to ask for, `max_num_seqs` the sequences a step may hold, `context_tokens` the length that then
    fits; None where unchanged.
    """

    bytes: float = 0.0
    utilization: float | None = None
    max_num_seqs: int | None = None
    context_tokens: int | None = None


def no_steps() -> tuple[DerivationStep, ...]:
    """No derivation."""
    return ()


@dataclass(frozen=True)
class MemoryPlan:
    """The whole deployment. `margin_bytes` (low, expected, high) is what is left, or missing, on the tightest device."""

    devices: tuple[DevicePlan, ...]
    host: HostPlan = HostPlan()
    margin_bytes: tuple[float, float, float] | None = None
    slack: Slack = Slack()
    kv_bytes_per_token: float | None = None
    kv_bytes_per_sequence: float | None = None
    kv_capacity_tokens: float | None = None
    max_concurrency_at_context: float | None = None
    blockers: tuple[Blocker, ...] = ()
    warnings: tuple[Warning_, ...] = ()
    derivation: Callable[[], tuple[DerivationStep, ...]] = field(default=no_steps, compare=False)
