"""Warnings and the derivation of a serving plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizing.estimate import DerivationStep, Warning_

if TYPE_CHECKING:
    from sizing.memory.serving.plan import Serving


def warnings(serving: Serving) -> tuple[Warning_, ...]:
    return ()


def derivation(serving: Serving) -> tuple[DerivationStep, ...]:
    return ()
