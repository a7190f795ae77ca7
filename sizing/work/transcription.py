"""Transcription: hours for an archive and live streams a device, from measured real-time factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sizing.architecture.types import Architecture
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.devices import Device
from sizing.estimate import Assumption, DerivationStep, Estimate
from sizing.memory.weights import weights_bytes
from sizing.reasons import ReasonCode, Topic, reason
from sizing.resolve import resolve_format, resolve_model
from sizing.spec import WorkloadSpec
from sizing.units import GIB, gib
from sizing.work.outcome import Parts, devices_of, outcome, ranged

# Times real time of one recording at a time (faster-whisper, FP16, beam 5). Long files on an RTX 2080 Ti: large-v3 15, turbo 41, distil
# 30 (https://github.com/SYSTRAN/faster-whisper/issues/1030); the leaderboard's A100 has 19, 40, 44, medium 24, small 34, base 39, tiny 49
# (hf.co/datasets/Steveeeeeeen/whisper-leaderboard-evals, 24 Jan 2025). The pace hangs on latency, hardly on the card.
_SEQUENTIAL: dict[str, float] = {
    "large-v3-turbo": 40.0, "distil-large-v3": 36.0, "large-v3": 17.0, "large": 15.0, "medium": 24.0, "small": 34.0, "base": 39.0,
    "tiny": 49.0, "parakeet": 150.0, "canary": 90.0,
}  # fmt: skip
# Batches of 8 from one file: 63 s become 17 s on an RTX 3070 Ti (faster-whisper README); newer cards and engines reach more: turbo 117 and
# Parakeet 451 on an RTX 5090 (hf.co/spaces/witcheer/sovereign-asr-bench).
_BATCHED = (2.0, 3.7, 6.0)
# A live stream reads its last seconds again and again. Whisper turbo with local agreement kept an H100 busy with 3.3 streams' worth
# (factor 0.30, WhisperLiveKit, benchmarks/h100_scatter) where files run at 40: twelve times the work. Half of that is usual.
_LIVE_REREADS = (12.0, 6.0, 1.6)
_CPU_SHARE = 0.12  # an 8-core desktop processor against a card, small models: planning figure
# Peaks of faster-whisper over the weights: 4.5 GB for 2.9 GiB of weights (large-v3), 2.5 GB for 1.5 (turbo): about 1.2 GiB.
_WORK_GIB, _BATCH_GIB = 1.2, 1.6


@dataclass(frozen=True, slots=True)
class Pace:
    """Times real time of a device: one file, batches, and live streams, each (low, expected, high)."""

    sequential: tuple[float, float, float]
    batched: tuple[float, float, float]
    live_streams: tuple[float, float, float]


def pace(model: Architecture, device: Device | None) -> Pace:
    """The pace of a model on a device."""
    base = _base(model) * (_CPU_SHARE if _is_cpu(device) else 1.0)
    sequential = (0.6 * base, base, 1.4 * base)
    batched = tuple(base * factor for factor in _BATCHED)
    live = (sequential[0] / _LIVE_REREADS[0], sequential[1] / _LIVE_REREADS[1], batched[2] / (_LIVE_REREADS[2] * 5))
    return Pace(sequential, (batched[0], batched[1], batched[2]), (live[0], live[1], max(live)))


def _base(model: Architecture) -> float:
    name = model.id.lower()
    known = next((value for key, value in _SEQUENTIAL.items() if key in name), None)
    return known or 15.0 * (1.54e9 / max(model.params_total, 1e8)) ** 0.5


def _is_cpu(device: Device | None) -> bool:
    return device is not None and device.accelerator is not None and device.accelerator.kind == "cpu"


def estimate_transcription(spec: WorkloadSpec, defaults: Defaults, derivation: bool) -> Estimate:
    """The Estimate of transcribing on named hardware.

    Raises:
        UserError: model or hardware is missing or unknown.
    """
    model, _ = resolve_model(spec.model)
    devices = devices_of(spec)
    assumed: list[Assumption] = []
    weights = resolve_format(spec.weights) if spec.weights else catalogue().formats["fp16"]
    if not spec.weights:
        assumed.append(Assumption(field="weights", value=weights.id, code="usual_for_encoders"))
    parts = Parts(weights_bytes(model, weights), (_WORK_GIB + _BATCH_GIB) * GIB, 0.3 * GIB)
    return outcome(
        spec, devices, parts, _work(spec, pace(model, devices[0]), len(devices)), defaults, assumptions=tuple(assumed),
        reasons=(reason(Topic.TRANSCRIPTION, ReasonCode.LIVE_IS_NOT_BATCH),),
        derivation=_steps(parts, model) if derivation else (),
    )  # fmt: skip


def _steps(parts: Parts, model: Architecture) -> tuple[DerivationStep, ...]:
    return (
        DerivationStep(
            quantity="total_gib", formula="weights + one batch of 30-second windows + context",
            inputs={"params_m": model.params_total / 1e6, "weights_gib": gib(parts.weights)}, value=gib(parts.total), unit="GiB",
            sources=("https://github.com/SYSTRAN/faster-whisper/issues/1030",),
        ),
    )  # fmt: skip


def _work(spec: WorkloadSpec, found: Pace, devices: int) -> dict[str, Any]:
    work: dict[str, Any] = {
        "task": "transcription",
        "real_time": ranged(*(value * devices for value in found.sequential)),
        "real_time_batched": ranged(*(value * devices for value in found.batched)),
        "live_streams": ranged(*(float(int(value * devices)) for value in found.live_streams)),
    }
    if hours := spec.work.audio_hours:
        low, expected, high = found.batched
        work |= {
            "audio_hours": hours,
            "hours": ranged(hours / (high * devices), hours / (expected * devices), hours / (low * devices)),
        }
    wanted = spec.work.live_streams or spec.concurrency
    if wanted:
        work |= {"wanted_streams": wanted, "devices_for_streams": -(-wanted // max(1, int(found.live_streams[1])))}
    return work
