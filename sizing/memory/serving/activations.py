"""What a server sets aside for one step: the peak of its profiling run."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.architecture.parameters import UNGATED_MLP
from sizing.architecture.types import Architecture
from sizing.memory.serving import constants as c
from sizing.memory.serving.layout import Layout
from sizing.memory.serving.settings import Settings
from sizing.resolve import Resolved
from sizing.units import GIB

_BYTES = 2.0


@dataclass(frozen=True, slots=True)
class Activations:
    """Peak in bytes and its parts; the sampler and the layers do not peak together, workspace stays."""

    sampler_bytes: float
    layer_bytes: float
    workspace_bytes: float
    vision_bytes: float

    @property
    def peak_bytes(self) -> float:
        """The profiled peak."""
        return max(self.sampler_bytes, self.layer_bytes, self.vision_bytes) + self.workspace_bytes + c.FLOOR_GIB * GIB


def activations_of(resolved: Resolved, layout: Layout, settings: Settings) -> Activations:
    """The peak of one rank."""
    model = resolved.architecture
    step = settings.step_tokens
    hidden = step * model.hidden_size * _hyper_connections(model) * _BYTES
    copies = c.HIDDEN_COPIES_AT_SAMPLER if settings.v1 else c.HIDDEN_COPIES_AT_SAMPLER_V0
    sampler = settings.sequences * model.vocab_size * sampler_bytes(resolved, settings) + copies * hidden
    layer = _layer(model, layout, step) + c.HIDDEN_COPIES * hidden
    if resolved.engine.name == "tgi":
        sampler = step * model.vocab_size * c.TGI_PROMPT_BYTES + c.TGI_WARM_UP_GIB * GIB
    return Activations(
        sampler_bytes=sampler,
        layer_bytes=layer,
        workspace_bytes=_experts(resolved, layout, step),
        vision_bytes=max(_encoder(model, settings), _vision(model, settings, layer) if settings.images else 0.0),
    )


def sampler_bytes(resolved: Resolved, settings: Settings) -> float:
    """Bytes per sequence and vocabulary entry: V0 and V1 before 0.16 sort the whole vocabulary, Ascend's plugin profiles logits alone."""
    first = resolved.devices[0].accelerator if resolved.devices else None
    if first is not None and first.vendor == "huawei":
        return _BYTES
    if not settings.v1 or settings.release < c.SORTING_UNTIL:
        return c.SAMPLER_BYTES_SORTING
    if settings.release >= c.IN_PLACE_FROM and not resolved.architecture.is_moe:
        return c.SAMPLER_BYTES_IN_PLACE
    return c.SAMPLER_BYTES


def _hyper_connections(model: Architecture) -> int:
    attention = model.raw.get("attention")
    return int(attention.get("hc_mult") or 1) if isinstance(attention, dict) else 1


def _layer(model: Architecture, layout: Layout, step: int) -> float:
    matrices, copies = (2, c.MLP_COPIES_UNGATED) if model.name in UNGATED_MLP else (3, c.MLP_COPIES)
    # blocks may differ in width: 425,984 at most in Nemotron Ultra, whose mean is 34,000
    widest = max((layer.params.get("mlp", 0) for layer in model.layers), default=0) / max(
        1, matrices * model.hidden_size
    )
    dense = 0.0 if model.is_moe else copies * widest / layout.tensor * step * _BYTES
    if model.mla is None:
        return dense
    heads = model.heads / layout.attention_tensor
    return max(dense, c.MLA_PREFILL_TOKENS * heads * (model.mla.qk_nope_head_dim + model.mla.v_head_dim) * _BYTES)


def _experts(resolved: Resolved, layout: Layout, step: int) -> float:
    """Workspace of the fused expert kernels, kept between steps; gpt-oss's MXFP4 kernels keep none (2 cases)."""
    model = resolved.architecture
    if model.moe is None or model.name == "gpt_oss":
        return 0.0
    width = model.moe.intermediate_size / layout.tensor
    elements = max(2 * width, model.hidden_size) + max(width, model.hidden_size)
    return step * model.moe.experts_per_token * elements * _BYTES


def _vision(model: Architecture, settings: Settings, layer: float) -> float:
    family = model.family.lower()
    fixed, per_hidden = _profile_of(family)
    if not settings.v1:
        open_ended = per_hidden > 0 or "omni" in family
        return _vision_v0(settings.step_tokens) if open_ended else c.VISION_PROFILE_V0_GIB * GIB + layer
    least = fixed + per_hidden * model.hidden_size / 1024
    if family.startswith("gemma 4"):
        heard = c.AUDIO_PROFILE_GEMMA4_GIB if model.outside.get("per_layer_embedding") else 0.0
        least = max(least, heard, settings.step_tokens * c.VISION_GIB_PER_STEP_TOKEN_GEMMA4)
    return least * GIB


def _vision_v0(tokens: int) -> float:
    image = min(tokens, c.VISION_V0_IMAGE_TOKENS)
    return tokens * c.VISION_V0_PIXEL_BYTES + max(image, tokens - image) * c.VISION_V0_ENCODER_BYTES


def _profile_of(family: str) -> tuple[float, float]:
    """(GiB, GiB per 1,024 of hidden size) that a family's towers take in the profile."""
    for name, fixed_gib, per_hidden_gib in c.VISION_PROFILE_BY_FAMILY_GIB:
        if family.startswith(name):
            return fixed_gib, per_hidden_gib
    return c.VISION_PROFILE_GIB, 0.0


def _encoder(model: Architecture, settings: Settings) -> float:
    """Encoder-decoder models of V0: every sequence of the profile brings an encoder input of full length."""
    crossed = model.attention_type == "cross" or any(layer.kind == "cross" for layer in model.layers)
    if settings.v1 or not crossed:
        return 0.0
    attention = model.raw.get("attention")
    positions = attention.get("encoder_positions") if isinstance(attention, dict) else None
    if positions:
        return c.ENCODER_COPIES * settings.sequences * int(positions) * model.hidden_size * _BYTES
    return c.ENCODER_ELEMENTS_IMAGE * settings.sequences * c.ENCODER_POSITIONS_IMAGE * _BYTES
