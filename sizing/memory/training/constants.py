"""What differs between training frameworks, each with the measurements behind it. Fitted by `bench/training` on public peaks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Constants:
    """`logits_bytes` per token and vocabulary entry: 16-bit logits, fp32 copy and both gradients are 12, a fused loss keeps about 1.
    `live_layers`: activations and gradients of the layer being recomputed, in layers' worth. `selective_share` of a layer's
    activations survives selective checkpointing. `adapter_inputs`: copies of a projection's input kept for its adapter.
    `overhead_gib`: context, kernels and workspace as far as the framework's own figure counts them. `gathered_layers`: unsharded
    16-bit layers alive under FSDP. `fragmentation`: reserved over allocated. `upcasts_wide`: PEFT's preparation for k-bit training
    casts what stays unquantized to fp32. `pure_16bit`: full training keeps 16-bit weights and moments unless told otherwise."""

    logits_bytes: float = 12.0
    live_layers: float = 1.5
    selective_share: float = 0.45
    adapter_inputs: float = 0.5
    overhead_gib: float = 1.2
    gathered_layers: float = 2.0
    fragmentation: float = 1.03
    upcasts_wide: bool = False
    pure_16bit: bool = False
    sequence_parallel: bool = False


_DEFAULT = Constants()
_FUSED_LOSS = replace(_DEFAULT, logits_bytes=1.5)
_BY_FRAMEWORK: dict[str, Constants] = {
    "axolotl": _FUSED_LOSS,
    "unsloth": replace(_FUSED_LOSS, live_layers=1.25, overhead_gib=1.4),
    "torchtune": replace(_DEFAULT, logits_bytes=6.0, overhead_gib=0.4, live_layers=1.0),
    "torchtitan": replace(_DEFAULT, overhead_gib=0.5, sequence_parallel=True),
    "litgpt": replace(_DEFAULT, logits_bytes=8.0, overhead_gib=0.3),
    "fsdp_qlora": replace(_DEFAULT, logits_bytes=10.0, live_layers=1.0, overhead_gib=0.3),
    "megatron": replace(_DEFAULT, logits_bytes=8.0, overhead_gib=4.0),
    "ms-swift": replace(_DEFAULT, logits_bytes=6.0, pure_16bit=True),
    "llama-factory": replace(_DEFAULT, upcasts_wide=True),
    "qwen": replace(_DEFAULT, upcasts_wide=True),
    "peft": replace(_DEFAULT, upcasts_wide=True),
    "transformers": replace(_DEFAULT, upcasts_wide=True),
}


@lru_cache(maxsize=64)
def constants_of(framework: str) -> Constants:
    """The constants of a framework, by the first known name in it; the default elsewhere."""
    return next((known for name, known in _BY_FRAMEWORK.items() if name in framework), _DEFAULT)
