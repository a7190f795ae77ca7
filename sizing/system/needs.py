"""What a deployment asks of the machine around its devices, gathered from a spec and its Estimate."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.devices import Device, expand
from sizing.estimate import Estimate
from sizing.spec import Host, Task, WorkloadSpec
from sizing.units import GB, GIB

# People who read along at once beside the requests that compute; planning figure for the network only.
_TOKENS_S_READ = 50.0


@dataclass(frozen=True, slots=True)
class Needs:
    """Sizes in the unit of their names. `model_file_gb` is one copy of the model as stored; `host_gib` what the engine keeps in RAM
    (offloaded weights, cache, optimizer states); `streams` requests in flight; `tokens_s` what all of them write together."""

    devices: tuple[Device, ...]
    host: Host
    task: Task
    model_file_gb: float = 0.0
    host_gib: float = 0.0
    index_gib: float = 0.0
    streams: int = 1
    users: int | None = None
    tokens_s: float = 0.0
    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    checkpoint_gb: float = 0.0
    document_gb: float = 0.0

    @property
    def trains(self) -> bool:
        return self.task == "training"

    @property
    def gpus(self) -> tuple[Device, ...]:
        """Devices that sit in slots or sockets of the machine; none where the device is itself a machine or a processor."""
        return tuple(
            d
            for d in self.devices
            if d.accelerator is None or d.accelerator.kind not in ("soc", "apu", "laptop", "cpu")
        )


def needs_of(spec: WorkloadSpec, estimate: Estimate | None = None, *, tensor: int | None = None) -> Needs:
    """The needs of a spec; without an Estimate only what its hardware says.

    Raises:
        UserError: unknown hardware.
    """
    devices = expand(spec.hardware)
    data = spec.parallel.data or 1
    streams = spec.concurrency or 1
    return Needs(
        devices=devices,
        host=spec.host,
        task=spec.task,
        model_file_gb=_model_file_gb(estimate, data),
        host_gib=estimate.memory.host.total_gib if estimate and estimate.memory else 0.0,
        streams=streams,
        users=spec.users,
        tokens_s=_tokens_s(estimate, spec.users or streams),
        tensor=tensor or spec.parallel.tensor or 1,
        pipeline=spec.parallel.pipeline or 1,
        data=data,
        checkpoint_gb=_checkpoint_gb(estimate),
    )


def _model_file_gb(estimate: Estimate | None, copies: int) -> float:
    if estimate is None or estimate.memory is None:
        return 0.0
    on_devices = sum(device.weights_gib for device in estimate.memory.per_device) / copies
    return (on_devices + estimate.memory.host.weights_gib) * GIB / GB


def _tokens_s(estimate: Estimate | None, readers: int) -> float:
    speed = estimate.speed if estimate else None
    if speed is not None and speed.output_tok_s_total is not None:
        return speed.output_tok_s_total.high
    return readers * _TOKENS_S_READ


def _checkpoint_gb(estimate: Estimate | None) -> float:
    found = (estimate.training or {}).get("checkpoint_gb") if estimate else None
    return float(found["resumable"]) if found else 0.0
