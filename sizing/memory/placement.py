"""Hybrid placement for callers outside the local rooms: what must go to RAM so that the rest fits the cards."""

from __future__ import annotations

from sizing.memory.local.fit import LayerFit, fit_layers

__all__ = ["LayerFit", "fit_layers"]
