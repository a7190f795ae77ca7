"""Where a model lies that writes much slower than it should: what part of it, computed from RAM, would give that speed.

A token's time is the sum over layers: with a share x in RAM (1 - x) / card + x / processor seconds, both rates the engine's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sizing.defaults import ENGINE_DEFAULTS, Defaults
from sizing.devices import is_cpu, is_unified
from sizing.engine import estimate
from sizing.errors import UserError
from sizing.estimate import Range
from sizing.resolve import resolve
from sizing.spec import WorkloadSpec

_AS_GOOD_AS_ALL = 0.9  # what lies between is less than how far the rates of processors scatter


@dataclass(frozen=True, slots=True)
class InRam:
    """`share` of the model in RAM that explains a speed (1: all of it); `processor` tokens/s with no layer on the card."""

    share: float
    processor: Range

    @property
    def whole(self) -> bool:
        """Whether the card computes nothing, by this."""
        return self.share >= 1


def share_in_ram(spec: WorkloadSpec, observed_tok_s: float, defaults: Defaults = ENGINE_DEFAULTS) -> InRam | None:
    """The share of the model in RAM that explains `observed_tok_s` of one request; None where the engine computes nothing there.

    Raises:
        UserError: the spec cannot be resolved.
    """
    resolved = resolve(spec, defaults)
    device = resolved.devices[0].accelerator if resolved.devices else None
    if not resolved.is_llama_family or is_unified(device) or is_cpu(device) or observed_tok_s <= 0:
        return None
    card, processor = (_rate(spec, layers, defaults) for layers in (None, 0))
    if card is None or processor is None or processor.expected >= card.expected:
        return None
    slower = 1 / observed_tok_s - 1 / card.expected
    share = slower / (1 / processor.expected - 1 / card.expected)
    return InRam(1.0 if share >= _AS_GOOD_AS_ALL else max(0.0, share), processor)


def _rate(spec: WorkloadSpec, gpu_layers: int | None, defaults: Defaults) -> Range | None:
    layers = {} if gpu_layers is None else {"gpu_layers": gpu_layers}
    try:
        found = estimate(
            spec.model_copy(update={"engine": spec.engine.model_copy(update=layers)}), defaults, derivation=False
        )
    except UserError:
        return None
    return found.speed.decode_tok_s_per_user if found.speed else None
