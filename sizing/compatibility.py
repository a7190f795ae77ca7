"""Whether it runs at all, before whether it fits: engine, device, number format, head counts.

Only what certainly fails is a `Blocker`; what runs with a detour (weight-only kernels, a fork, a plugin) is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sizing.catalogue.entries import Accelerator, Format
from sizing.catalogue.load import catalogue
from sizing.estimate import Warning_
from sizing.memory.plan import Blocker
from sizing.resolve import Resolved
from sizing.unused_settings import unused_settings

_ONLY_NVIDIA = frozenset({"tensorrt-llm"})
_NVIDIA_OR_AMD = frozenset({"exllamav2", "tgi", "sglang", "lmdeploy"})
_SERVERS = frozenset({"vllm", "sglang", "tensorrt-llm", "tgi", "lmdeploy"})
_GGUF_ENGINES = frozenset({"llama.cpp", "ik_llama.cpp", "ollama", "lm-studio"})
# Formats that only their own engine reads, by the beginning of the format's id.
_OWN_ENGINES = (
    ("mlx-", frozenset({"mlx", "lm-studio"})),
    ("mlc-", frozenset({"mlc-llm"})),
    ("exl2", frozenset({"exllamav2"})),
    ("gguf", _GGUF_ENGINES | {"vllm", "sglang", "transformers", "ktransformers", "mlc-llm"}),
    ("ik-", frozenset({"ik_llama.cpp"})),
)
_UNREADABLE = {
    "tensorrt-llm": ("bnb", "hqq"),
    "lmdeploy": ("bnb", "hqq", "nvfp4"),
    "llama.cpp": ("awq", "gptq", "bnb", "exl", "hqq", "fp8", "int8-w8a8"),
    "mlx": ("awq", "gptq", "bnb", "exl", "hqq"),
    "exllamav2": ("awq", "bnb", "hqq", "fp8", "nvfp4"),
}
# Formats of the KV cache that an engine stores, by the beginning of the format's id; 16 and 32 bit go everywhere. Read in the
# options of each engine (tests/sizing/launch_options.yaml names where).
_WIDE_KV = ("kv-bf16", "kv-fp16", "kv-fp32")
_STORED_KV = {
    "vllm": ("kv-fp8", "kv-fp4", "kv-int8", "kv-int4", "kv-turboquant"), "sglang": ("kv-fp8", "kv-fp4"),
    "tensorrt-llm": ("kv-fp8", "kv-fp4", "kv-int8"), "tgi": ("kv-fp8",),
    "lmdeploy": ("kv-fp8", "kv-int8", "kv-int4", "kv-turboquant-4bit"), "llama.cpp": ("kv-q", "kv-iq4"),
    "ik_llama.cpp": ("kv-q", "kv-iq4"), "lm-studio": ("kv-q", "kv-iq4", "kv-mlx"), "ollama": ("kv-q8_0", "kv-q4_0"),
    "mlx": ("kv-mlx", "kv-q8_0", "kv-q4_0"), "exllamav2": ("kv-q", "kv-fp8"), "exllamav3": ("kv-exl3", "kv-q8_0", "kv-q4_0"),
}  # fmt: skip
# vLLM's floor of the compute capability: 7.0 through 0.14, 7.5 since 0.31; the release in between is not known.
_VLLM_FLOOR = 7.0
_FP8_BLOCK = 128
_VLLM_FLOOR_FROM_031 = 7.5
_VLLM_GFX = frozenset({"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201", "gfx1150", "gfx1151"})


def blockers(resolved: Resolved) -> tuple[Blocker, ...]:
    """Every reason why the deployment cannot run, whatever the memory."""
    return tuple(found for check in _CHECKS for found in check(resolved))


def cautions(resolved: Resolved) -> tuple[Warning_, ...]:
    """What runs, but not as one may expect."""
    return tuple(found for check in _CAUTIONS for found in check(resolved))


def _accelerators(resolved: Resolved) -> list[Accelerator]:
    seen: dict[str, Accelerator] = {}
    for device in resolved.devices:
        if device.accelerator is not None:
            seen.setdefault(device.accelerator.id, device.accelerator)
    return list(seen.values())


def _capability(accelerator: Accelerator) -> float | None:
    return float(accelerator.compute_capability) if accelerator.compute_capability else None


def _heads(resolved: Resolved) -> Iterator[Blocker]:
    heads, tensor = resolved.architecture.heads, resolved.tensor
    if resolved.engine.kind != "server" or not heads or heads % tensor == 0:
        return
    works = [degree for degree in (1, 2, 4, 8, 16) if heads % degree == 0]
    yield Blocker(
        "heads_not_divisible",
        {"heads": heads, "tensor": tensor, "works": works},
        f"{heads} attention heads cannot be split over tensor parallelism {tensor}; {', '.join(map(str, works))} would work",
    )


def _device_count(resolved: Resolved) -> Iterator[Blocker]:
    data = resolved.data
    needed = resolved.tensor * resolved.pipeline * data
    if resolved.engine.kind == "server" and len(resolved.devices) < needed:
        yield Blocker(
            "too_few_devices",
            {"needed": needed, "devices": len(resolved.devices)},
            f"tensor {resolved.tensor} x pipeline {resolved.pipeline} x data {data} needs {needed} devices, not {len(resolved.devices)}",
        )


def _engine_device(resolved: Resolved) -> Iterator[Blocker]:
    name = resolved.engine.name
    for accelerator in _accelerators(resolved):
        vendor = accelerator.vendor
        unable = (name in _ONLY_NVIDIA and vendor != "nvidia") or (
            name in _NVIDIA_OR_AMD and vendor in ("apple", "qualcomm")
        )
        unable = unable or (name == "mlx" and vendor not in ("apple", "nvidia"))
        if unable:
            yield Blocker(
                "engine_without_device",
                {"engine": name, "accelerator": accelerator.name},
                f"{name} does not run on {accelerator.name}",
            )


def _capability_floor(resolved: Resolved) -> Iterator[Blocker]:
    if resolved.engine.name != "vllm":
        return
    era = resolved.engine.version or ()
    floor = _VLLM_FLOOR_FROM_031 if era >= (0, 31) else _VLLM_FLOOR
    for accelerator in _accelerators(resolved):
        capability = _capability(accelerator)
        if capability is not None and capability < floor:
            yield Blocker(
                "compute_capability_too_low",
                {"engine": "vllm", "accelerator": accelerator.name, "capability": capability, "needed": floor},
                f"vLLM needs compute capability {floor}; {accelerator.name} has {capability}",
            )


def _engine_format(resolved: Resolved) -> Iterator[Blocker]:
    if resolved.spec.engine.name is None:
        return  # the engine was only assumed: another one may read the format
    name, chosen = resolved.engine.name, resolved.weights.id
    for prefix, engines in _OWN_ENGINES:
        if chosen.startswith(prefix) and name not in engines and resolved.engine.kind != "training" and name != "other":
            yield _format_blocker(name, chosen, sorted(engines))
            return
    key = "llama.cpp" if name in _GGUF_ENGINES else name
    if chosen.startswith(_UNREADABLE.get(key, ("\0",))):
        yield _format_blocker(name, chosen, ["llama.cpp" if chosen.startswith("gguf") else "vllm"])


def _format_blocker(engine: str, chosen: str, works: list[str]) -> Blocker:
    return Blocker(
        "engine_without_format",
        {"engine": engine, "format": chosen, "works": works},
        f"{engine} does not read {chosen}; {' or '.join(works[:3])} would",
    )


def _engine_kv(resolved: Resolved) -> Iterator[Blocker]:
    stored = _STORED_KV.get(resolved.engine.name)
    if stored is None or resolved.spec.kv_cache is None:
        return
    for chosen in dict.fromkeys((resolved.kv_k.id, resolved.kv_v.id)):
        if not chosen.startswith((*stored, *_WIDE_KV)):
            works = [name.removeprefix("kv-") for name in stored if name in catalogue().kv_formats or name == "kv-fp8"]
            name = chosen.removeprefix("kv-")
            yield Blocker(
                "engine_without_kv_format",
                {"engine": resolved.engine.name, "format": name, "works": works or ["fp16"]},
                f"{resolved.engine.name} has no {name} KV cache; {' or '.join(works or ['fp16'])} would work",
            )


def _cut_by_tensors(resolved: Resolved) -> Iterator[Blocker]:
    """llama.cpp's `-sm tensor` refuses models with a latent cache, and runs with flash attention alone
    (`llm_arch_supports_sm_tensor`, https://github.com/ggml-org/llama.cpp/blob/master/docs/multi-gpu.md)."""
    asked = resolved.spec.engine
    if asked.split_mode != "tensor" or resolved.engine.name not in _GGUF_ENGINES or len(resolved.devices) < 2:
        return
    if resolved.architecture.mla is not None or resolved.architecture.attention_type == "mla-compressed":
        yield Blocker(
            "latent_not_cut",
            {"model": resolved.architecture.id},
            f"split_mode tensor does not cut a latent cache as {resolved.architecture.id} has it; layer would work",
        )
    if asked.flash_attention is False:
        yield Blocker(
            "tensors_need_flash",
            {"works": "layer"},
            "split_mode tensor needs flash attention; leave it on, or take split_mode layer",
        )


def _format_kernels(resolved: Resolved) -> Iterator[Blocker]:
    if resolved.engine.name not in _SERVERS:
        return
    for accelerator in _accelerators(resolved):
        capability, floor = _capability(accelerator), format_floor(resolved.weights)
        if accelerator.vendor != "nvidia" or capability is None or floor is None or capability >= floor:
            continue
        if resolved.weights.id == "bf16" and resolved.spec.weights is None:
            continue  # said by nobody: the engine casts to fp16 there
        yield Blocker(
            "format_needs_newer_device",
            {"format": resolved.weights.id, "accelerator": accelerator.name, "capability": capability, "needed": floor},
            f"{resolved.weights.id} needs compute capability {floor}; {accelerator.name} has {capability}"
            + ("; fp16 would work" if resolved.weights.id == "bf16" else ""),
        )


def format_floor(chosen: Format) -> float | None:
    """Lowest NVIDIA compute capability with any kernel for the format, weight-only ones included; None where unknown."""
    hardware = chosen.hardware or {}
    found = [
        value
        for value in (hardware.get("min_compute_capability"), hardware.get("weight_only_min"))
        if value is not None
    ]
    return min(found, default=None)


def _mixed(resolved: Resolved) -> Iterator[Blocker]:
    vendors = sorted({accelerator.vendor for accelerator in _accelerators(resolved)})
    if resolved.engine.kind == "server" and len(vendors) > 1 and resolved.tensor * resolved.pipeline > 1:
        yield Blocker(
            "mixed_vendors", {"vendors": vendors}, f"one replica cannot span devices of {' and '.join(vendors)}"
        )


def _weight_only(resolved: Resolved) -> Iterator[Warning_]:
    native = (resolved.weights.hardware or {}).get("min_compute_capability")
    if resolved.engine.name not in _SERVERS or native is None or (resolved.weights.bits_per_weight or 16) > 9:
        return
    for accelerator in _accelerators(resolved):
        capability = _capability(accelerator)
        if (
            accelerator.vendor == "nvidia"
            and capability is not None
            and (format_floor(resolved.weights) or 0) <= capability < native
        ):
            yield Warning_(
                code="weight_only_kernels",
                params={"format": resolved.weights.id, "accelerator": accelerator.name},
                message=f"{accelerator.name} has no {resolved.weights.id} arithmetic: weights are unpacked on the fly",
            )


def _unlisted_device(resolved: Resolved) -> Iterator[Warning_]:
    if resolved.engine.name != "vllm":
        return
    for accelerator in _accelerators(resolved):
        unlisted = accelerator.vendor == "amd" and accelerator.gfx is not None and accelerator.gfx not in _VLLM_GFX
        if unlisted or accelerator.vendor in ("apple", "huawei", "intel", "google", "aws", "qualcomm"):
            yield Warning_(
                code="engine_needs_plugin",
                params={"engine": "vllm", "accelerator": accelerator.name},
                message=f"vLLM runs on {accelerator.name} only with a plugin or a fork",
            )


def _context_beyond(resolved: Resolved) -> Iterator[Warning_]:
    longest = resolved.architecture.max_position_tokens
    if longest and resolved.context_tokens > longest:
        yield Warning_(
            code="context_beyond_model",
            params={"context_tokens": resolved.context_tokens, "model_maximum_tokens": longest},
            message=f"the model is made for {longest} tokens; {resolved.context_tokens} need its context extension to be switched on",
        )


def _experts_across_blocks(resolved: Resolved) -> Iterator[Warning_]:
    """Block-wise FP8 has one scale for 128 rows of an expert: 1,536 over eight ranks are 192 each, which vLLM and SGLang refuse to load
    (vllm-project/vllm#17569) unless experts stay whole."""
    moe, tensor = resolved.architecture.moe, resolved.tensor
    if moe is None or tensor == 1 or resolved.expert > 1 or resolved.engine.name not in ("vllm", "sglang"):
        return
    width = moe.intermediate_size / tensor
    if resolved.weights.id not in ("fp8-pertensor", "fp8-block128") or width % _FP8_BLOCK == 0:
        return
    works = [n for n in (1, 2, 4, 8, 16) if n < tensor and moe.intermediate_size / n % _FP8_BLOCK == 0]
    yield Warning_(
        code="experts_across_blocks",
        params={"tensor": tensor, "width": width, "works": works[-1:] or [1]},
        message=f"experts cut to {width:g} columns are no whole FP8 blocks of {_FP8_BLOCK}: where the checkpoint is block-wise, use expert "
        f"parallelism or tensor parallelism {(works[-1:] or [1])[0]}",
    )


def _idle_devices(resolved: Resolved) -> Iterator[Warning_]:
    used = resolved.tensor * resolved.pipeline * resolved.data
    if resolved.engine.kind == "server" and len(resolved.devices) > used:
        yield Warning_(
            code="devices_idle",
            params={"devices": len(resolved.devices), "used": used},
            message=f"{len(resolved.devices)} devices are named, the layout uses {used}",
        )


_CHECKS: tuple[Callable[[Resolved], Iterator[Blocker]], ...] = (
    _heads, _device_count, _engine_device, _capability_floor, _engine_format, _engine_kv, _cut_by_tensors, _format_kernels, _mixed,
)  # fmt: skip
_CAUTIONS: tuple[Callable[[Resolved], Iterator[Warning_]], ...] = (
    _weight_only,
    _unlisted_device,
    _context_beyond,
    _idle_devices,
    _experts_across_blocks,
    unused_settings,
)
