"""What is asked beside the model itself: drafted tokens, LoRA adapters."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.memory.serving.besides import HEAD_BYTES, adapter_bytes, eagle_params
from sizing.memory.weights import weights_bytes
from sizing.resolve import Resolved
from sizing.spec import Speculative

ACCEPTED = 0.7  # share of drafted tokens that the model confirms, where nobody measured it
_PROPOSED = 3
_MOST_PROPOSED = 64
# Methods that draft without reading weights: they look the continuation up in the text.
_LOOKED_UP = ("ngram", "n-gram", "lookup", "suffix")
# Adapters of different requests in one batch: 2 ms a token for the 32 blocks of Llama 2 7B on an A100 (Punica, arXiv:2310.18547).
_ADAPTER_BLOCK_US = 2000.0 / 32


@dataclass(frozen=True, slots=True)
class Drafts:
    """Speculative decoding: `proposed` tokens a step, each of which reads `bytes_each` of a draft in `blocks_each` blocks.

    `gained` are the tokens a sequence gets a step: 1 + a + a^2 + … with a the share accepted, up to all proposed.
    """

    proposed: int = 0
    gained: float = 1.0
    bytes_each: float = 0.0
    blocks_each: float = 0.0


@dataclass(frozen=True, slots=True)
class Adapters:
    """LoRA adapters served side by side: how many, bytes of one, microseconds their kernels add to a block."""

    count: int = 0
    bytes_each: float = 0.0
    block_us: float = 0.0


def drafts(resolved: Resolved) -> Drafts:
    """Of the spec: a draft model reads itself for each token, a head (EAGLE, MTP) about one block, a lookup in the text nothing."""
    asked = resolved.spec.engine.speculative
    if asked is None:
        return Drafts()
    method, proposed = (
        (asked.method, asked.tokens or _PROPOSED) if isinstance(asked, Speculative) else (asked, _number_in(asked))
    )
    gained = (1 - ACCEPTED ** (proposed + 1)) / (1 - ACCEPTED)
    if any(word in method.lower() for word in _LOOKED_UP):
        return Drafts(proposed, gained)
    model = next((entry for entry in resolved.beside if entry.role == "draft"), None)
    if model is not None and model.architecture is not None:
        size = weights_bytes(model.architecture, model.weights)
        return Drafts(proposed, gained, size, float(len(model.architecture.layers)))
    own = resolved.architecture
    if "mtp" in method.lower():
        return Drafts(proposed, gained, weights_bytes(own, resolved.weights) / max(1, len(own.layers)), 1.0)
    return Drafts(proposed, gained, eagle_params(own, third="eagle3" in method.lower()) * HEAD_BYTES, 1.0)


def _number_in(text: str) -> int:
    digits = "".join(sign if sign.isdigit() else " " for sign in text).split()
    return min(_MOST_PROPOSED, int(digits[-1])) if digits else _PROPOSED


def adapters(resolved: Resolved) -> Adapters:
    """Of the spec; none without a `beside` of that role."""
    found = [entry for entry in resolved.beside if entry.role == "lora"]
    count = sum(entry.count for entry in found)
    if not count:
        return Adapters()
    size = sum(entry.count * adapter_bytes(resolved, entry) for entry in found) / count
    return Adapters(count, size, _ADAPTER_BLOCK_US)
