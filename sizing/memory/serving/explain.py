"""Every sum of a serving plan with formula, inputs and sources."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from sizing.architecture.types import Architecture
from sizing.estimate import DerivationStep
from sizing.memory.serving.activations import activations_of, sampler_bytes
from sizing.memory.serving.besides import draft_bytes
from sizing.memory.serving.pages import PagedCache
from sizing.memory.serving.work import (
    Rank,
    Serving,
    blocks_in,
    loaded_format,
    need_bytes,
    sequences_in,
)
from sizing.memory.weights import weights_by_class
from sizing.units import gib

_VLLM_KV = "https://github.com/vllm-project/vllm/blob/main/vllm/v1/core/kv_cache_utils.py"
_CASES = "sizing/data/measured_memory.json"
_PAPER_MLA = "https://arxiv.org/abs/2405.04434"


def derivation(serving: Serving) -> tuple[DerivationStep, ...]:
    """Every figure of the tightest device, step by step."""
    if not serving.ranks:
        return ()
    return tuple(_steps(serving, serving.tightest))


def _steps(serving: Serving, rank: Rank) -> Iterator[DerivationStep]:
    yield _weights_step(serving, rank)
    yield _token_step(serving, rank)
    yield _need_step(serving, rank)
    yield _activations_step(serving, rank)
    yield _step(
        "overhead_gib",
        "context + libraries + communication buffers",
        {"tensor": serving.layout.tensor},
        gib(rank.non_torch_bytes),
    )
    if rank.graphs.taken_bytes:
        inputs = {
            "sizes": rank.graphs.sizes,
            "layers": len(serving.resolved.architecture.layers),
            "inside_budget": rank.graphs.inside,
        }
        yield _step(
            "graphs_gib", "layers x captured sizes x GiB per layer and size", inputs, gib(rank.graphs.taken_bytes)
        )
    yield from _budget_steps(serving, rank)


def _weights_step(serving: Serving, rank: Rank) -> DerivationStep:
    resolved = serving.resolved
    classes = weights_by_class(resolved.architecture, loaded_format(resolved))
    inputs: dict[str, Any] = {f"{name}_gib": round(gib(size), 3) for name, size in classes.items() if size > 0}
    inputs |= {"format": resolved.weights.id, "tensor": serving.layout.tensor, "pipeline": serving.layout.pipeline}
    inputs |= {"expert_degree": serving.layout.expert_degree, "stage": rank.stage}
    extras = {
        "draft_gib": round(gib(draft_bytes(resolved, serving.layout, serving.settings)), 3),
        "spare_experts": serving.layout.spare_experts,
        "offloaded_gib": round(gib(rank.loading.offloaded_bytes), 3),
    }
    inputs |= {name: value for name, value in extras.items() if value}
    formula = "sum over classes of parameters x bits / 8 / degree of the class; routers, norms and latent down-projections repeat"
    return _step("weights_gib", formula, inputs, gib(rank.weights_bytes), _sources(resolved.architecture))


def _sources(model: Architecture) -> tuple[str, ...]:
    found = model.raw.get("sources")
    return tuple(str(source) for source in found) if isinstance(found, list | tuple) else ()


def _token_step(serving: Serving, rank: Rank) -> DerivationStep:
    model = serving.resolved.architecture
    inputs: dict[str, Any] = {
        "layers": sum(1 for layer in model.layers if layer.kv_elements_per_token),
        "kv_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "bytes": serving.resolved.kv_k.bytes_per_element,
        "tensor": serving.layout.attention_tensor,
    }
    formula, source = "layers x (keys + values) x max(1, kv_heads / tensor) x head_dim x bytes", _VLLM_KV
    if model.mla is not None:
        inputs["latent_elements"] = model.mla.latent_elements
        formula, source = "layers x latent elements x bytes, the same on every rank", _PAPER_MLA
    return DerivationStep(
        quantity="kv_bytes_per_token_and_device",
        formula=formula,
        inputs=inputs,
        value=rank.cache.token_bytes,
        unit="B",
        sources=(source,),
    )


def _need_step(serving: Serving, rank: Rank) -> DerivationStep:
    context, sequences = serving.resolved.context_tokens, serving.sequences_per_replica
    inputs: dict[str, Any] = {
        "context_tokens": context,
        "sequences": sequences,
        "blocks_per_sequence": rank.cache.blocks(context),
    }
    inputs |= {"block_tokens": rank.cache.block_tokens, "block_bytes": rank.cache.block_bytes}
    if isinstance(rank.cache, PagedCache):
        inputs["groups"] = {part.kind: part.groups for part in rank.cache.parts}
    formula = "sequences x blocks per sequence x bytes of a block"
    return _step("kv_cache_gib", formula, inputs, gib(need_bytes(rank, context, sequences)), (_VLLM_KV,))


def _activations_step(serving: Serving, rank: Rank) -> DerivationStep:
    settings, parts = serving.settings, activations_of(serving.resolved, serving.layout, serving.settings)
    inputs = {
        "max_num_batched_tokens": settings.step_tokens,
        "max_num_seqs": settings.sequences,
        "vocabulary": serving.resolved.architecture.vocab_size,
        "sampler_bytes": sampler_bytes(serving.resolved, settings),
        "sampler_gib": round(gib(parts.sampler_bytes), 3),
        "layer_gib": round(gib(parts.layer_bytes), 3),
        "workspace_gib": round(gib(parts.workspace_bytes), 3),
        "vision_gib": round(gib(parts.vision_bytes), 3),
    }
    return _step(
        "activations_gib",
        "max(sampler, layer, vision) + workspace of the experts",
        inputs,
        gib(rank.activations_bytes),
        (_CASES,),
    )


def _budget_steps(serving: Serving, rank: Rank) -> Iterator[DerivationStep]:
    if rank.budget.usable_bytes is None or rank.pool_bytes is None:
        return
    visible = rank.device.visible_gib
    inputs: dict[str, Any] = {
        "visible_gib": visible,
        "in_use_gib": rank.device.in_use_gib,
        "utilization": serving.settings.utilization,
    }
    yield _step(
        "usable_gib",
        "share x memory the engine sees, at most what is free",
        inputs,
        gib(rank.budget.usable_bytes),
        (_CASES,),
    )
    inputs = {
        "usable_gib": gib(rank.budget.usable_bytes),
        "weights_gib": gib(rank.weights_bytes),
        "activations_gib": gib(rank.activations_bytes),
        "overhead_gib": gib(rank.non_torch_bytes),
        "graphs_reserved_gib": gib(rank.graphs.reserved_bytes),
        "beside_gib": gib(rank.beside_bytes),
    }
    yield _step(
        "kv_pool_gib", _POOL_FORMULAS.get(serving.resolved.engine.name, _POOL_FORMULA), inputs, gib(rank.pool_bytes)
    )
    context = serving.resolved.context_tokens
    if not math.isfinite(sequences_in(rank, context)):
        return  # nothing grows with the context: the pool limits nobody
    inputs = {
        "blocks": blocks_in(rank),
        "blocks_per_sequence": rank.cache.blocks(context),
    }
    value = sequences_in(rank, context)
    yield DerivationStep(
        quantity="max_concurrency_at_context",
        formula="blocks in the pool / blocks per sequence",
        inputs=inputs,
        value=value,
        unit="sequences",
        sources=(_VLLM_KV,),
    )


_POOL_FORMULA = "usable - weights - activations - overhead - graphs reserved - others beside"
_POOL_FORMULAS = {
    "sglang": "fraction x free memory before loading - weights",
    "tensorrt-llm": "0.9 x (free - weights - activations - overhead)",
    "tgi": "0.9 x card - in use by others - weights - activations - overhead",
    "lmdeploy": "0.8 x (free - weights - activations - overhead)",
}


def _step(
    quantity: str, formula: str, inputs: dict[str, Any], value: float, sources: tuple[str, ...] = ()
) -> DerivationStep:
    return DerivationStep(
        quantity=quantity, formula=formula, inputs=inputs, value=value, unit="GiB", sources=sources or (_CASES,)
    )
