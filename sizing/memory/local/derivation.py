"""How the figures of a local plan came about, step by step, built only when asked for."""

from __future__ import annotations

from sizing.estimate import DerivationStep
from sizing.memory.local.llama import Layout, mask_cells
from sizing.memory.local.tensors import TensorShares
from sizing.resolve import Resolved
from sizing.units import gib

_GGML = "llama.cpp, ggml/src/ggml-common.h (block sizes) and src/llama-quant.cpp (file mixes)"
_CACHE = "llama.cpp, src/llama-kv-cache.cpp and src/llama-kv-cache-iswa.cpp"
_LOGS = "start-up logs of llama.cpp and ik_llama.cpp (bench/memory_local)"


def llama_steps(layout: Layout) -> tuple[DerivationStep, ...]:
    """Weights, cache, state, compute buffer of a llama.cpp-like plan."""
    return (*_weights(layout), *_cache(layout), *_buffers(layout))


def _weights(layout: Layout) -> list[DerivationStep]:
    file, resolved = layout.file, layout.resolved
    given = resolved.spec.engine.file_size_gib
    total = DerivationStep(
        quantity="file_gib",
        formula="given size of the file" if given else "sum over tensors: elements x bits of its block type / 8",
        inputs={"format": resolved.weights.id, "params_b": resolved.architecture.params_total / 1e9},
        value=gib(file.total_bytes),
        unit="GiB",
        sources=(_GGML,),
    )
    on_devices = DerivationStep(
        quantity="weights_gib",
        formula="layers on devices + output layer (a copy of the embedding when tied); the token embedding stays in RAM",
        inputs={
            "layers_gib": gib(file.layers_bytes), "output_gib": gib(file.output_on_device_bytes),
            "token_embedding_gib": gib(file.token_embedding_bytes), "per_layer_embedding_gib": gib(file.per_layer_embedding_bytes),
            "layers_on_devices": layout.placement.layers_on_devices, "layers": layout.layers,
            "host_gib": gib(layout.on_host.weights),
        },
        value=gib(sum(part.weights for part in layout.on_device)),
        unit="GiB",
        sources=(_GGML, _LOGS),
    )  # fmt: skip
    return [total, on_devices]


def _cache(layout: Layout) -> list[DerivationStep]:
    settings, caches = layout.settings, layout.caches
    counted = [(shape, counts[-1]) for shape, counts in zip(caches.shapes, caches.before, strict=True) if shape.keys]
    full = sum(count for shape, count in counted if shape.window_tokens is None)
    windowed = sum(count for shape, count in counted if shape.window_tokens is not None)
    step = DerivationStep(
        quantity="kv_cache_gib",
        formula="sum over layers: cells x (key elements x bytes + value elements x bytes)",
        inputs={
            "cells": settings.cells, "full_layers": full, "windowed_layers": windowed,
            "mask_cells": mask_cells(settings, caches), "slots": settings.slots, "latent": settings.latent,
            "bytes_k": layout.resolved.kv_k.bytes_per_element, "bytes_v": layout.resolved.kv_v.bytes_per_element,
        },
        value=gib(layout.kv_bytes),
        unit="GiB",
        sources=(_CACHE,),
    )  # fmt: skip
    if not layout.state_per_sequence:
        return [step]
    state = DerivationStep(
        quantity="state_gib",
        formula="f32 state of recurrent layers x slots x (1 + drafted tokens)",
        inputs={"bytes_per_sequence": layout.state_per_sequence, "slots": settings.slots, "drafts": settings.drafts},
        value=gib(layout.state_per_sequence * settings.slots),
        unit="GiB",
        sources=(_CACHE, _LOGS),
    )
    return [step, state]


def _buffers(layout: Layout) -> list[DerivationStep]:
    settings, model = layout.settings, layout.resolved.architecture
    compute = DerivationStep(
        quantity="activations_gib",
        formula="per device the largest stage: output 4 ub (V + E), attention 4 ub (H C + C + 2 H D + 2 E) or feed-forward",
        inputs={
            "ubatch_tokens": settings.ubatch_tokens, "vocabulary": model.vocab_size, "hidden": model.hidden_size,
            "heads": model.heads, "cells": settings.cells, "flash_attention": settings.flash,
            "logits_in_buffer": settings.logits_in_buffer, "devices": len(layout.devices),
        },
        value=gib(sum(part.compute for part in layout.on_device)),
        unit="GiB",
        sources=(_LOGS,),
    )  # fmt: skip
    return [compute]


def tensor_steps(resolved: Resolved, held: TensorShares) -> tuple[DerivationStep, ...]:
    """Weights, cache and working memory of an engine without GGUF files."""
    rows = (
        ("weights_gib", "sum over tensor classes: parameters x bits / 8", held.weights),
        ("kv_cache_gib", "sequences x layers x tokens x elements x bytes", held.kv),
        (
            "activations_gib",
            "tokens of a prompt chunk x (3 feed-forward widths + 6 hidden sizes) x bytes",
            held.activations,
        ),
    )
    inputs = {
        "format": resolved.weights.id, "context_tokens": resolved.context_tokens, "sequences": resolved.concurrency,
        "bytes_k": resolved.kv_k.bytes_per_element,
    }  # fmt: skip
    return tuple(
        DerivationStep(quantity=name, formula=formula, inputs=inputs, value=gib(value), unit="GiB")
        for name, formula, value in rows
    )
