"""First roofline of prefill and decode for a resolved spec."""

from __future__ import annotations

from sizing.estimate import Range, Speed
from sizing.memory.plan import MemoryPlan
from sizing.memory.weights import weights_bytes
from sizing.resolve import Resolved


def predict(resolved: Resolved, plan: MemoryPlan) -> Speed | None:
    """Rates of the deployment; None where bandwidth or compute of the device is unknown."""
    device = resolved.devices[0].accelerator if resolved.devices else None
    if device is None or not device.bandwidth_gb_s:
        return None
    model = resolved.architecture
    active = model.params_active / model.params_total
    read = weights_bytes(model, resolved.weights) * active
    users = max(1, resolved.concurrency // resolved.data)
    kv = (plan.kv_bytes_per_token or 0.0) * resolved.context_tokens / 2
    bandwidth = device.bandwidth_gb_s * 1e9 * 0.7 * (1 if resolved.engine.kind == "local" else resolved.tensor)
    step_s = (read + users * kv) / bandwidth + model.params_active * 0 + len(model.layers) * 60e-6
    per_user = 1 / step_s
    total = per_user * resolved.concurrency
    return Speed(
        decode_tok_s_per_user=_range(per_user, 1.5),
        output_tok_s_total=_range(total, 1.6),
        tpot_ms=_range(1000 * step_s, 1.5),
        bound_by="bandwidth",
    )


def _range(expected: float, spread: float) -> Range:
    return Range(low=expected / spread, expected=expected, high=expected * spread)
