"""Which room sizes the memory of an inference deployment: servers, or local engines."""

from __future__ import annotations

from sizing.memory.local.plan import plan_local
from sizing.memory.plan import MemoryPlan
from sizing.memory.serving.plan import plan_serving
from sizing.resolve import Resolved


def plan_inference(resolved: Resolved) -> MemoryPlan:
    """The memory plan of a resolved inference spec."""
    if resolved.engine.kind == "local" or resolved.engine.name == "transformers":
        return plan_local(resolved)
    return plan_serving(resolved)
