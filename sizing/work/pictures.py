"""Image and video generation: memory by component with and without moving parts to RAM, and seconds a picture.

Peaks follow a public table of FLUX.1-dev at 1024 x 1024 (hf.co/datasets/derekl35/diffusers-quantization-benchmarks): 31.4 GiB loaded and
36.2 at peak with all parts resident; 23.3 with model offload, where only the part at work is on the card (transformer 22.2 + 1.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sizing.architecture.types import Architecture
from sizing.catalogue.entries import Format
from sizing.defaults import Defaults
from sizing.devices import Device
from sizing.errors import UserError
from sizing.estimate import Assumption, DerivationStep, Estimate, Warning_
from sizing.memory.weights import bits_per_weight
from sizing.reasons import ReasonCode, Topic, reason
from sizing.resolve import native_format, resolve_format, resolve_model
from sizing.spec import WorkloadSpec
from sizing.speed.machine import device_class, peaks
from sizing.units import GIB, gib
from sizing.work.outcome import Parts, devices_of, outcome, ranged

Placement = Literal["resident", "offload"]

_DECODE_GIB_PER_MPIXEL = 4.5  # 36.2 - 31.4 GiB: the decoder's buffers for one megapixel without tiling
_TRANSFORMER_GIB_PER_MPIXEL = 1.1  # 23.3 - 22.2 GiB
# Video keeps latents of all frames: Wan 2.1 14B in 8 bit (13.3 GiB) at 480p and 81 frames just runs in 24 GB. Planning figure.
_GIB_PER_MPIXEL_FRAME = 0.25
_OVERHEAD_GIB = 0.5
_WIDE_BITS = 16.0
_MPIXEL = 1024 * 1024
# Share of the 16-bit peak: FLUX.1-dev needs 119 TFLOP a step (hf.co/datasets/diffusers/benchmarks) and 0.43 s of an H100 for it: 0.28.
# GeForce cards reach more of their smaller peak: planning figure.
_SHARE = {"datacenter": (0.2, 0.28, 0.4), "other": (0.3, 0.5, 0.75)}
_SIXTEENTH = 16 * 16  # pixels behind one latent token: 8x decoder, patches of 2
_VIDEO_TIME = 4  # frames behind one latent frame
_ONE_PASS = (
    "flux",
    "z-image",
    "turbo",
    "schnell",
)  # guidance is distilled into the weights; others run every step twice


@dataclass(frozen=True, slots=True)
class Size:
    """What is drawn."""

    width: int
    height: int
    frames: int
    steps: int

    @property
    def megapixels(self) -> float:
        return self.width * self.height / _MPIXEL


def estimate_pictures(spec: WorkloadSpec, defaults: Defaults, derivation: bool) -> Estimate:
    """The Estimate of generating images or video; parts move to RAM where they do not fit together.

    Raises:
        UserError: model or hardware is missing or unknown, or the model is no pipeline of components.
    """
    model, _ = resolve_model(spec.model)
    if not model.components:
        raise UserError("model.id", model.id, f"{model.id} is no image or video pipeline that the catalogue knows")
    devices = devices_of(spec)
    assumed: list[Assumption] = []
    weights = _weights(spec, model, assumed)
    size = _size(spec, model, assumed)
    components = component_bytes(model, weights)
    placements = {place: peak_bytes(components, size, place) for place in ("resident", "offload")}
    fits = _usable(devices) >= placements["resident"]
    placement: Placement = "resident" if fits else "offload"
    parts = _parts(components, placements[placement], placement)
    return outcome(
        spec, devices, parts, _work(components, placements, placement, size, model, devices[0]), defaults,
        assumptions=tuple(assumed), warnings=() if fits else (_moved(placements),),
        reasons=(reason(Topic.IMAGE_VIDEO, ReasonCode.PARTS_TAKE_TURNS, placement=placement),),
        derivation=_steps_of(components, placements, placement, size) if derivation else (),
    )  # fmt: skip


def _steps_of(
    components: Mapping[str, float], placements: Mapping[str, float], placement: Placement, size: Size
) -> tuple[DerivationStep, ...]:
    return (
        DerivationStep(
            quantity="total_gib",
            formula="all parts + decoder buffers" if placement == "resident" else "largest of the parts, each with its buffers",
            inputs={"megapixels": size.megapixels, "frames": size.frames}
            | {f"{name}_gib": gib(value) for name, value in components.items()},
            value=gib(placements[placement]), unit="GiB", sources=("hf.co/datasets/derekl35/diffusers-quantization-benchmarks",),
        ),
    )  # fmt: skip


def _weights(spec: WorkloadSpec, model: Architecture, assumed: list[Assumption]) -> Format:
    if spec.weights:
        chosen = resolve_format(spec.weights)
        return chosen if chosen.bits_per_weight else resolve_format("nf4" if chosen.nominal_bits == 4 else "fp8")
    found = native_format(model)
    assumed.append(
        Assumption(field="weights", value=found.id, code="customary_weights", params={"engine": "diffusers"})
    )
    return found


def _size(spec: WorkloadSpec, model: Architecture, assumed: list[Assumption]) -> Size:
    video = model.modality == "video"
    work = spec.work
    width, height = work.width or (832 if video else 1024), work.height or (480 if video else 1024)
    if not work.width:
        assumed.append(Assumption(field="work.width", value=f"{width} x {height}", code="usual_picture"))
    frames = (work.frames or 81) if video else 1
    return Size(width, height, frames, work.steps or _steps(model.id.lower(), video))


def _steps(name: str, video: bool) -> int:
    return 4 if "schnell" in name else 8 if "turbo" in name else 50 if video else 28


def component_bytes(model: Architecture, weights: Format) -> Mapping[str, float]:
    """Bytes of each part; only transformers and large text encoders are quantised, decoders stay in 16 bit."""
    found: dict[str, float] = {}
    for part in model.components:
        params, role = part.get("params"), str(part.get("role"))
        if not isinstance(params, int):
            continue
        wide = role == "vae" or params < 1e9
        count = part.get("count")
        for _ in range(count if isinstance(count, int) else 1):
            same = sum(name == role or name.startswith(f"{role}_") for name in found)
            found[role if not same else f"{role}_{same + 1}"] = (
                params * 2.0 if wide else _quantised_bytes(part, params, weights)
            )
    return found


def _quantised_bytes(part: Mapping[str, object], params: int, weights: Format) -> float:
    """Loaders quantise linear layers only: embeddings stay in 16 bit, save in GGUF files. bitsandbytes also keeps in 32 bit what
    transformers marks so, the feed-forward output projections (`wo`) of T5: 3.75 GiB, 3.2 more than in 4 bit (pypi:transformers,
    `T5PreTrainedModel._keep_in_fp32_modules`); with FLUX.1-dev in NF4 that makes 12.5 of the 12.6 GiB measured after loading."""
    bits = bits_per_weight(weights)
    if weights.id.startswith("gguf") or bits >= _WIDE_BITS:
        return params * bits / 8
    kept = _int(part, "embedding_params")
    single = _int(part, "feed_forward_out_params") if weights.id.startswith("bnb") else 0
    return ((params - kept - single) * bits + kept * 16.0 + single * 32.0) / 8


def _int(part: Mapping[str, object], name: str) -> int:
    value = part.get(name)
    return value if isinstance(value, int) else 0


def peak_bytes(components: Mapping[str, float], size: Size, placement: Placement) -> float:
    """Most that lies on the card at a time."""
    frames = size.megapixels * size.frames
    decode = (
        _DECODE_GIB_PER_MPIXEL * size.megapixels + (_GIB_PER_MPIXEL_FRAME * frames if size.frames > 1 else 0.0)
    ) * GIB
    step = (
        _TRANSFORMER_GIB_PER_MPIXEL * size.megapixels + (_GIB_PER_MPIXEL_FRAME * frames if size.frames > 1 else 0.0)
    ) * GIB
    if placement == "resident":
        return sum(components.values()) + max(decode, step)
    at_work = [
        value + (decode if name.startswith("vae") else step if _draws(name) else 0.3 * GIB)
        for name, value in components.items()
    ]
    return max(at_work)


def _draws(role: str) -> bool:
    return role.startswith(("transformer", "unet"))


def _usable(devices: tuple[Device, ...]) -> float:
    return min(((device.visible_gib or 0.0) - device.in_use_gib) * GIB for device in devices) - _OVERHEAD_GIB * GIB


def _parts(components: Mapping[str, float], peak: float, placement: Placement) -> Parts:
    if placement == "resident":
        weights = sum(components.values())
        return Parts(weights, peak - weights, _OVERHEAD_GIB * GIB)
    largest = max(components.values())
    return Parts(largest, max(0.0, peak - largest), _OVERHEAD_GIB * GIB, host=sum(components.values()))


def _moved(placements: Mapping[str, float]) -> Warning_:
    return Warning_(
        code="parts_move_to_ram", params={"resident_gib": gib(placements["resident"]), "offload_gib": gib(placements["offload"])},
        message="The parts do not fit together; each moves to the card for its turn, which costs seconds a picture.",
    )  # fmt: skip


def _work(
    components: Mapping[str, float],
    placements: Mapping[str, float],
    placement: Placement,
    size: Size,
    model: Architecture,
    device: Device,
) -> dict[str, Any]:
    return {
        "task": "video" if size.frames > 1 else "image", "placement": placement, "width": size.width, "height": size.height,
        "frames": size.frames, "steps": size.steps, "components_gib": {name: gib(value) for name, value in components.items()},
        "resident_gib": gib(placements["resident"]), "offload_gib": gib(placements["offload"]),
        "seconds": _seconds(components, placement, size, model, device),
    }  # fmt: skip


def flops_per_step(model: Architecture, size: Size) -> float:
    """2 x parameters x latent tokens: 110 TFLOP for FLUX.1-dev at 1024 x 1024 with 512 text tokens (119 counted with attention)."""
    draws = max((_params(part) for part in model.components if _draws(str(part.get("role")))), default=0)
    frames = 1 if size.frames == 1 else 1 + (size.frames - 1) // _VIDEO_TIME
    tokens = size.width * size.height / _SIXTEENTH * frames + 512
    passes = 1 if any(word in model.id.lower() for word in _ONE_PASS) else 2
    return 2.0 * draws * tokens * passes


def _params(part: Mapping[str, object]) -> int:
    return _int(part, "params")


def _seconds(
    components: Mapping[str, float], placement: Placement, size: Size, model: Architecture, device: Device
) -> dict[str, float] | None:
    accelerator = device.accelerator
    if accelerator is None or not accelerator.bandwidth_gb_s:
        return None
    peak = peaks(accelerator, device_class(accelerator), accelerator.bandwidth_gb_s)["16bit"] * 1e12
    work = flops_per_step(model, size) * size.steps
    low, expected, high = _SHARE["datacenter" if accelerator.kind == "datacenter" else "other"]
    moved = (
        sum(components.values()) / 12e9 if placement == "offload" else 0.0
    )  # each part crosses PCIe once at about 12 GB/s
    return ranged(work / (peak * high) + moved, work / (peak * expected) + moved, work / (peak * low) + moved)
