"""Settings that a spec makes for another kind of engine than the one it names: they change nothing there, and that is said."""

from __future__ import annotations

from collections.abc import Iterator

from sizing.engines import LLAMA_FAMILY
from sizing.estimate import Warning_
from sizing.resolve import Resolved

_OF_LLAMA = (
    "batch_tokens", "gpu_layers", "cpu_moe_layers", "tensor_overrides", "split_mode", "tensor_split", "attention_max_mib", "mla",
    "swa_full", "total_context_tokens",
)  # fmt: skip
_OF_SERVERS = (
    "gpu_memory_utilization", "kv_cache_memory_gib", "max_num_batched_tokens", "data_parallel_attention", "redundant_experts",
    "kv_offload_gib", "cpu_offload_gib", "quantize_on_load", "enforce_eager", "mode",
)  # fmt: skip


def unused_settings(resolved: Resolved) -> Iterator[Warning_]:
    """One warning that names them all; a setting that is off is none."""
    engine, asked = resolved.engine, resolved.spec.engine
    of_others = [*(() if engine.name in LLAMA_FAMILY else _OF_LLAMA), *(() if engine.kind == "server" else _OF_SERVERS)]
    named = [name for name in of_others if getattr(asked, name)]
    if named:
        listed = ", ".join(named)
        yield Warning_(
            code="setting_unused",
            params={"settings": named, "engine": engine.name},
            message=f"{engine.name} has no such setting: {listed}; it is not counted",
        )
