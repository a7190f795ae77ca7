"""How the figures of a training estimate come about, step by step."""

from __future__ import annotations

from sizing.estimate import DerivationStep
from sizing.memory.plan import DevicePlan
from sizing.memory.training.activations import layer_bytes_per_token, logits_bytes_per_token
from sizing.memory.training.run import Run
from sizing.memory.training.states import lora_params, model_share, states
from sizing.units import gib

_ZERO = "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models (arXiv:1910.02054)"
_KORTHIKANTI = "Reducing Activation Recomputation in Large Transformer Models (arXiv:2205.05198)"
_LORA = "LoRA (arXiv:2106.09685), QLoRA (arXiv:2305.14314)"


def training_steps(run: Run, device: DevicePlan) -> tuple[DerivationStep, ...]:
    """The parts of one device, in the order they are added up."""
    held, model = states(run), run.architecture
    params = model.params_total if run.method == "full" else lora_params(run)
    deepest = max(layer_bytes_per_token(run, model, layer) for layer in model.layers) if model.layers else 0.0
    return (
        DerivationStep(
            quantity="trainable_params", formula="all parameters" if run.method == "full" else "rank x (inputs + outputs), summed",
            inputs={"method": run.method, "rank": run.rank}, value=params, unit="parameters", sources=(_LORA,),
        ),
        DerivationStep(
            quantity="weights_gib", formula="base weights x share of this device / shards + adapters",
            inputs={"share": model_share(run), "sharding": run.sharding, "data_ranks": run.data, "format": run.weights.id},
            value=gib(held.weights), unit="GiB", sources=(_ZERO,),
        ),
        DerivationStep(
            quantity="gradients_gib", formula="trainable parameters x bytes each / shards",
            inputs={"precision": run.precision}, value=gib(held.gradients), unit="GiB", sources=(_ZERO,),
        ),
        DerivationStep(
            quantity="optimizer_gib", formula="trainable parameters x bytes of moments and master copy / shards",
            inputs={"optimizer": run.optimizer, "precision": run.precision}, value=gib(held.optimizer), unit="GiB", sources=(_ZERO,),
        ),
        DerivationStep(
            quantity="activations_gib", formula="tokens x (kept layers + live layer + logits)",
            inputs={
                "tokens": run.tokens, "layers": len(model.layers), "checkpointing": run.checkpointing,
                "bytes_per_token_and_layer": deepest, "logits_bytes_per_token": logits_bytes_per_token(run),
            },
            value=gib(device.activations_bytes), unit="GiB", sources=(_KORTHIKANTI,),
        ),
        DerivationStep(
            quantity="total_gib", formula="weights + gradients + optimizer + activations + overhead",
            inputs={"overhead_gib": gib(device.overhead_bytes)}, value=gib(device.total_bytes), unit="GiB",
        ),
    )  # fmt: skip
