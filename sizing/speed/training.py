"""Time to train: tokens a second, hours, energy and checkpoint sizes of a run.

FLOPs a token: 6 N forward and backward with all parameters trained (Kaplan et al. 2020, arXiv:2001.08361), 4 N where the base is frozen
(no weight gradients), plus 2 N where full checkpointing recomputes the forward pass; attention adds 12 L h s. N counts active parameters.
"""

from __future__ import annotations

from typing import Any

from sizing.catalogue.entries import Accelerator
from sizing.memory.training.run import Run
from sizing.memory.training.states import lora_params
from sizing.units import GB

# Model FLOPs utilization (low, expected, high) by class of device: published runs span 0.30-0.55 on data-centre cards with full
# training (Llama 3 report: 0.38-0.43 on H100; torchtitan 8B on H100: about 0.35-0.42); single cards with adapters reach less.
_MFU = {"datacenter": (0.25, 0.38, 0.50), "workstation": (0.20, 0.32, 0.45), "consumer": (0.18, 0.30, 0.42)}
_MFU_OTHER = (0.08, 0.18, 0.30)
_SLOWED_BY_DEQUANTISING = (
    0.75  # QLoRA unpacks every weight in both passes: 0.7-0.8 of LoRA's rate in public comparisons
)


def flops_per_token(run: Run) -> float:
    """Floating-point operations for one trained token."""
    model = run.architecture
    passes = 6.0 if run.method == "full" else 4.0
    if run.checkpointing == "full":
        passes += 2.0
    attention = 12.0 * len(model.layers) * model.hidden_size * run.sequence_tokens / 2
    return passes * model.params_active + attention


def training_summary(run: Run) -> dict[str, Any]:
    """What `Estimate.training` carries: rates, time for the data set where its size is said, energy, and sizes on disk."""
    device = run.devices[0].accelerator if run.devices else None
    rate = _tokens_per_second(run, device)
    asked = run.spec.training
    tokens = asked.dataset_tokens * (asked.epochs or 1) if asked and asked.dataset_tokens else None
    hours = (
        None if rate is None or not tokens else {name: tokens / rate[other] / 3600 for name, other in _OPPOSITE.items()}
    )
    power_w = (device.tdp_w or 0.0) * len(run.devices) if device else 0.0
    return {
        "method": run.method,
        "objective": run.objective,
        "tokens_per_step": run.micro_batch * run.sequence_tokens * run.data * _accumulation(run),
        "trainable_params": run.architecture.params_total if run.method == "full" else lora_params(run),
        "flops_per_token": flops_per_token(run),
        "tokens_per_second": rate,
        "dataset_tokens": tokens,
        "hours": hours,
        "energy_kwh": None
        if not hours or not power_w
        else {name: value * power_w / 1000 for name, value in hours.items()},
        "checkpoint_gb": _checkpoint_gb(run),
        "micro_batch": run.micro_batch,
        "sequence_tokens": run.sequence_tokens,
    }


_OPPOSITE = {"low": "high", "expected": "expected", "high": "low"}


def _accumulation(run: Run) -> int:
    return (run.spec.training.gradient_accumulation or 1) if run.spec.training else 1


def _tokens_per_second(run: Run, device: Accelerator | None) -> dict[str, float] | None:
    peak = device and (device.bf16_tflops or device.fp16_tflops or device.peak_tflops("fp32"))
    if not device or not peak:
        return None
    slowed = _SLOWED_BY_DEQUANTISING if run.method == "qlora" else 1.0
    shares = _MFU.get(device.kind, _MFU_OTHER)
    total = peak * 1e12 * len(run.devices) * slowed / flops_per_token(run)
    return dict(zip(("low", "expected", "high"), (share * total for share in shares), strict=True))


def _checkpoint_gb(run: Run) -> dict[str, float]:
    """Weights alone, and with what resuming needs (fp32 master weights and both moments, or the adapter's)."""
    if run.method == "full":
        return {
            "weights": 2.0 * run.architecture.params_total / GB,
            "resumable": 14.0 * run.architecture.params_total / GB,
        }
    adapter = lora_params(run)
    return {"weights": 2.0 * adapter / GB, "resumable": 14.0 * adapter / GB}
