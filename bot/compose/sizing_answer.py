"""The answer to a turn that led to one spec: which kind of answer it gets, and what all kinds share."""

from __future__ import annotations

from bot.compose import hardware_only, memory_need, recommendation, verdict
from bot.compose.common import write_fault
from bot.compose.draft import Draft
from bot.heard import Heard
from bot.sized import Sized
from sizing.defaults import Defaults


def write_single(draft: Draft, sized: Sized, heard: Heard, question: str, defaults: Defaults) -> None:
    """A verdict on named hardware, a recommendation without, or what the hardware alone can do."""
    if not sized.spec.get("model"):
        hardware_only.write(draft, sized, heard, question, defaults)
    elif not sized.spec.get("hardware") and (
        memory_need.write(draft, sized.spec, heard, question, defaults)
        or memory_need.write_cause(draft, sized.spec, heard, question, defaults)
    ):
        return
    elif not sized.spec.get("hardware"):
        recommendation.write(draft, sized, heard, question, defaults)
    elif not sized.estimate.ok:
        write_fault(draft, sized)
    else:
        verdict.write(draft, sized, heard, question, defaults)
