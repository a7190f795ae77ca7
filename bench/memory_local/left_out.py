"""Which rules of the local engines only one source speaks for, and what is predicted for that source without them.

No constant of these formulas is a regression, so a source is left out by leaving out what only it taught: a rule that moves the
figures of one source alone is switched off for that source, and the general rule takes its place. Rules that several sources speak
for stay, as they would have been found without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sizing.memory.local import compute, layers, llama, settings

_MOVES = 0.005  # relative change of a figure from which on a rule counts as speaking


@dataclass(frozen=True, slots=True)
class Rule:
    """A part of the formulas and what stands in its place when it is not known."""

    name: str
    owner: Any
    attribute: str
    without: Any


RULES: tuple[Rule, ...] = (
    Rule("per-layer embeddings live twice", compute, "_per_layer_elements", lambda *_: 0.0),
    Rule("scores of the indexer", compute, "_indexer", lambda *_: 0.0),
    Rule("masks are cast", compute, "_masks", lambda *_: 0.0),
    Rule("masks lie beside the feed-forward block", compute, "_mask_bytes_per_cell", lambda *_: 0.0),
    Rule("experts in RAM are uploaded", compute, "_uploads_experts", lambda *_: False),
    Rule("latent attention", compute, "_latent_attention", lambda *_: 0.0),
    Rule(
        "widths differ by block", llama, "dense_widths", lambda key: (_mean_width(key.model),) * len(key.model.layers)
    ),
    Rule("inputs are copied for pipelining", llama, "_PIPELINING", frozenset()),
    Rule("graphs of ik_llama.cpp", settings.LlamaSettings, "is_ik", property(lambda _: False)),
    Rule("only wanted outputs are kept", settings, "_outputs_limited", lambda *_: False),
    Rule("windows are trimmed", settings, "_window_full", lambda *_: True),
    Rule(
        "a convolution keeps the inputs before the current one",
        layers,
        "_state_bytes",
        lambda layer: _whole_state(layer),
    ),
)


def _mean_width(model: Any) -> float:
    total = sum(layer.params.get("mlp", 0) for layer in model.layers)
    return float(model.intermediate_size or total / (3 * model.hidden_size * max(1, len(model.layers))))


def _whole_state(layer: Any) -> float:
    return 0.0 if layer.linear is None else 4.0 * (layer.linear.state_elements + layer.linear.conv_elements)


@contextmanager
def without(rules: Sequence[Rule]) -> Iterator[None]:
    """The engine without these rules."""
    before = [(rule, getattr(rule.owner, rule.attribute)) for rule in rules]
    _forget()
    try:
        for rule in rules:
            setattr(rule.owner, rule.attribute, rule.without)
        yield
    finally:
        for rule, known in before:
            setattr(rule.owner, rule.attribute, known)
        _forget()


def _forget() -> None:
    layers._cache_table.cache_clear()  # its shapes were made with the rules of before


def own_rules(sources: Sequence[str], predict: Callable[[], Sequence[float | None]]) -> dict[str, list[Rule]]:
    """The rules that one source alone speaks for, by source. `predict` gives one figure for every entry of `sources`."""
    known = predict()
    found: dict[str, list[Rule]] = {}
    for rule in RULES:
        with without([rule]):
            other = predict()
        moved = {source for source, one, two in zip(sources, known, other, strict=True) if _differ(one, two)}
        if len(moved) == 1:
            found.setdefault(moved.pop(), []).append(rule)
    return found


def _differ(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is not two
    return abs(one - two) > _MOVES * max(abs(one), abs(two))
