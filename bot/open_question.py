"""The one question that an answer may ask back: a fact about the workload that was assumed and on which the verdict hangs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bot.answer import Alternative, AssumptionView
from bot.sized import Sized
from bot.specs import merged
from sizing.defaults import Defaults
from sizing.errors import UserError
from sizing.sensitivity import turning
from sizing.spec import WorkloadSpec, parse_spec

# Only facts that the asker knows, the weightiest first; a format or an engine is a choice, offered as a button.
_ASKED = ("model", "hardware", "context_tokens", "concurrency")
# A figure is asked where so many times what was assumed would turn the verdict; far more is another workload.
_WITHIN = {"context_tokens": 4.0, "concurrency": 10.0}


def open_question(sized: Sized, views: Sequence[AssumptionView], defaults: Defaults) -> AssumptionView | None:
    """The assumption that one of its own alternatives would turn the verdict of; None where the answer stands either way."""
    if sized.parsed is None or sized.estimate.fits is None:
        return None
    by_field = {view.field: view for view in views}
    for field in _ASKED:
        view = by_field.get(field)
        if view and turning(sized.estimate, _specs(sized, _near(sized, field, view.alternatives)), defaults):
            return view
    return None


def _near(sized: Sized, field: str, alternatives: Iterable[Alternative]) -> list[dict[str, Any]]:
    """The changes that are near enough to what was assumed."""
    most = _WITHIN.get(field)
    taken = _taken(sized, field) if most else None
    return [
        other.delta for other in alternatives if most is None or (taken is not None and other.delta[field] <= most * taken)
    ]  # fmt: skip


def _taken(sized: Sized, field: str) -> float | None:
    found = next((one.value for one in sized.estimate.assumptions if one.field == field), None)
    return float(found) if isinstance(found, (int, float)) else None


def _specs(sized: Sized, deltas: Iterable[dict[str, Any]]) -> Iterable[WorkloadSpec]:
    for delta in deltas:
        try:
            yield parse_spec(merged(sized.spec, delta))
        except UserError:
            continue
