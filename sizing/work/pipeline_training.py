"""Training an image or video pipeline: bytes of states by method, on the part that draws; text encoders and decoder stay frozen."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.architecture.types import Architecture

# Bytes per trained parameter as in sizing.memory.training.states: FP32 master, gradients and AdamW moments beside 16-bit weights; pure
# 16 bit; 16 bit with an 8-bit optimizer. LoRA keeps the base in 16 bit and adds a few per cent.
_MIXED, _PURE, _SMALL, _LORA = 18.0, 8.0, 6.0, 2.2
# Activations of one megapixel with checkpointing: planning figure after Flux trainers that just run in 24 GB with LoRA over an 8-bit base.
_ACTIVATIONS_BYTES_PER_MPIXEL = 6.0 * 2**30


@dataclass(frozen=True, slots=True)
class PipelineTraining:
    """Bytes by method; `frozen_bytes` of everything that is not trained, in 16 bit; `activations_bytes` of a picture of one megapixel."""

    role: str
    params: int
    mixed_bytes: float
    pure_bytes: float
    small_bytes: float
    lora_bytes: float
    frozen_bytes: float
    activations_bytes: float


def pipeline_training(model: Architecture) -> PipelineTraining | None:
    """None for models that are no pipeline of components."""
    parts = [(str(part.get("role")), part.get("params")) for part in model.components]
    known = [(role, params) for role, params in parts if isinstance(params, int)]
    drawing = [(role, params) for role, params in known if role in ("transformer", "unet")]
    if not drawing:
        return None
    role, params = max(drawing, key=lambda part: part[1])
    frozen = 2.0 * sum(size for name, size in known if name != role)
    states = (_MIXED * params, _PURE * params, _SMALL * params, _LORA * params)
    return PipelineTraining(role, params, *states, frozen, _ACTIVATIONS_BYTES_PER_MPIXEL)
