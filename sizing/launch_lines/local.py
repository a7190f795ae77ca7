"""Launch lines of local engines: llama-server, Ollama, LM Studio, MLX, TabbyAPI (ExLlama), MLC."""

from __future__ import annotations

import math
from collections.abc import Callable

from sizing.estimate import Estimate, Warning_
from sizing.launch_lines.command import LaunchCommand, Words, start
from sizing.memory.local.compute import LATENT_PIECE_BYTES
from sizing.memory.local.layers import override_texts
from sizing.memory.local.settings import LlamaSettings, llama_settings, since
from sizing.resolve import Resolved
from sizing.units import MIB

_KV_NAMES = {
    "kv-fp16": "f16", "kv-bf16": "bf16", "kv-fp32": "f32", "kv-q8_0": "q8_0", "kv-q5_1": "q5_1", "kv-q5_0": "q5_0",
    "kv-q4_1": "q4_1", "kv-q4_0": "q4_0", "kv-iq4_nl": "iq4_nl",
}  # fmt: skip
_DEFAULT_KV = ("f16", "bf16")
_COUNTS_MOE_LAYERS = ("2025-08", 6076)  # --n-cpu-moe, in llama.cpp and ik_llama.cpp alike
_MLX_KV_BITS = {"kv-mlx-8bit": 8, "kv-q8_0": 8, "kv-mlx-4bit": 4, "kv-q4_0": 4}
_TABBY_CACHE = {"kv-q8_0": "Q8", "kv-q4_0": "Q4", "kv-exl3-4bit": "4,4", "kv-exl3-6bit": "6,6", "kv-exl3-8bit": "8,8"}


def file_name(resolved: Resolved) -> str:
    """The customary name of the GGUF file: Llama-3.3-70B-Instruct-Q4_K_M.gguf."""
    quant = resolved.weights.id.removeprefix("gguf-type-").removeprefix("gguf-").removeprefix("ik-").upper()
    return f"{resolved.architecture.id.rpartition('/')[2]}-{quant}.gguf"


def placement(resolved: Resolved, estimate: Estimate, words: Words, *, is_bench: bool = False) -> None:
    """The options that put layers and experts where the estimate has them, or where it says that they would fit.

    `llama-bench` reads a comma as "and another run", so that its lists have separators of their own.
    """
    asked = resolved.spec.engine
    found = _warning(estimate, "offloaded_to_ram") or _warning(estimate, "offload_would_fit")
    params = found.params if found else {}
    layers = len(resolved.architecture.layers) + 1
    words.option("-ngl", asked.gpu_layers if asked.gpu_layers is not None else params.get("gpu_layers", layers))
    overrides = [*override_texts(asked.tensor_overrides)]
    moe_layers = min(asked.cpu_moe_layers or params.get("cpu_moe_layers") or 0, layers - 1)
    if moe_layers and not since(resolved.engine, *_COUNTS_MOE_LAYERS):
        overrides.append(rf"blk\.({'|'.join(map(str, range(moe_layers)))})\.ffn_.*_exps=CPU")
    else:
        words.option("--n-cpu-moe", moe_layers or None)
    words.option("-sm", asked.split_mode)
    for text in [";".join(overrides)] if is_bench and overrides else overrides:
        words.option("-ot", text)
    uneven = _warning(estimate, "uneven_split_needed")
    parts = asked.tensor_split or (uneven.params if uneven else params).get("layers_per_device")
    if parts:
        words.option("-ts", ("/" if is_bench else ",").join(f"{part:g}" for part in parts))


def _warning(estimate: Estimate, code: str) -> Warning_ | None:
    return next((warning for warning in estimate.warnings if warning.code == code), None)


def cache_formats(resolved: Resolved, words: Words, keys: str = "-ctk", values: str = "-ctv") -> None:
    """Formats of keys and values where they are not the 16-bit default."""
    k, v = _KV_NAMES.get(resolved.kv_k.id), _KV_NAMES.get(resolved.kv_v.id)
    if k not in _DEFAULT_KV or v not in _DEFAULT_KV:
        words.option(keys, k).option(values, v)


def llama_server(resolved: Resolved, estimate: Estimate) -> LaunchCommand:
    """`llama-server`; `-c` is the total over the slots."""
    settings, asked = llama_settings(resolved), resolved.spec.engine
    words = start("llama-server", "-m", file_name(resolved)).option("-c", _total_context(resolved))
    words.option("-np", settings.slots)
    placement(resolved, estimate, words)
    _flash(resolved, settings, words)
    cache_formats(resolved, words)
    words.option("-b", asked.batch_tokens).option("-ub", asked.ubatch_tokens).flag("--swa-full", asked.swa_full)
    if settings.is_ik and resolved.architecture.mla is not None:
        words.option("-mla", settings.latent_mode).option(
            "-amb", asked.attention_max_mib or round(LATENT_PIECE_BYTES / MIB)
        )
    if settings.drafts and settings.is_ik:
        words.option("--spec-type", f"mtp:n_max={settings.drafts}")
    elif settings.drafts:
        words.option("--spec-type", "draft-mtp").option("--spec-draft-n-max", settings.drafts)
    return LaunchCommand(resolved.engine.name, "serve", tuple(words.words), notes=("name_your_file",))


def _total_context(resolved: Resolved) -> int:
    return resolved.spec.engine.total_context_tokens or resolved.context_tokens * resolved.concurrency


def _flash(resolved: Resolved, settings: LlamaSettings, words: Words) -> None:
    """A bare flag once, a choice since September 2025 in llama.cpp and November 2025 in ik_llama.cpp."""
    choice = since(resolved.engine, "2025-11", 10**6) if settings.is_ik else since(resolved.engine, "2025-09", 6325)
    if choice:
        words.option("-fa", "on" if settings.flash else "off")
    else:
        words.flag("-fa", settings.flash)


def ollama(resolved: Resolved) -> tuple[LaunchCommand, ...]:
    """The server with its environment, and a model made from a file with its context length."""
    settings = llama_settings(resolved)
    env = [
        ("OLLAMA_CONTEXT_LENGTH", str(resolved.context_tokens)), ("OLLAMA_NUM_PARALLEL", str(settings.slots)),
        ("OLLAMA_FLASH_ATTENTION", "1" if settings.flash else "0"),
    ]  # fmt: skip
    kv = _KV_NAMES.get(resolved.kv_k.id)
    if kv is not None and kv not in _DEFAULT_KV:
        env.append(("OLLAMA_KV_CACHE_TYPE", kv))
    rows = [f"FROM ./{file_name(resolved)}", f"PARAMETER num_ctx {resolved.context_tokens}"]
    if resolved.spec.engine.gpu_layers is not None:
        rows.append(f"PARAMETER num_gpu {resolved.spec.engine.gpu_layers}")
    name = resolved.architecture.id.rpartition("/")[2].lower()
    create = LaunchCommand(
        "ollama", "prepare", ("ollama", "create", name, "-f", "Modelfile"), files=(("Modelfile", "\n".join(rows) + "\n"),),
        notes=("name_your_file",),
    )  # fmt: skip
    return LaunchCommand("ollama", "serve", ("ollama", "serve"), env=tuple(env)), create


def lm_studio(resolved: Resolved) -> LaunchCommand:
    """`lms load`; the share of layers on the GPU as a number between 0 and 1."""
    layers = resolved.spec.engine.gpu_layers
    share = "max" if layers is None else f"{min(1.0, layers / (len(resolved.architecture.layers) + 1)):.2f}"
    name = resolved.architecture.id.rpartition("/")[2].lower()
    words = start("lms", "load", name).option("--context-length", _total_context(resolved)).option("--gpu", share)
    return LaunchCommand("lm-studio", "serve", tuple(words.words))


def mlx(resolved: Resolved, estimate: Estimate) -> tuple[LaunchCommand, ...]:
    """`mlx_lm.server`, preceded by a higher wired limit where the default would not hold the model."""
    words = start("mlx_lm.server", "--model", resolved.architecture.id)
    words.option("--max-tokens", resolved.output_tokens or resolved.context_tokens)
    bits = _MLX_KV_BITS.get(resolved.kv_k.id)
    if bits is not None:
        words = start("mlx_lm.generate", "--model", resolved.architecture.id)
        words.option("--max-kv-size", resolved.context_tokens).option("--kv-bits", bits)
    serve = LaunchCommand("mlx", "serve", tuple(words.words), notes=("use_checkpoint_in_this_format",))
    limit = _wired_limit_mb(resolved, estimate)
    if limit is None:
        return (serve,)
    raise_limit = LaunchCommand(
        "mlx", "prepare", ("sudo", "sysctl", f"iogpu.wired_limit_mb={limit}"), notes=("leaves_less_for_macos",)
    )
    return raise_limit, serve


def _wired_limit_mb(resolved: Resolved, estimate: Estimate) -> int | None:
    """MiB to allow the GPU, where the default limit is too small but the machine's memory is not (8 GiB stay for macOS)."""
    device = resolved.devices[0] if resolved.devices else None
    if device is None or device.memory_gib is None or device.visible_gib is None or estimate.memory is None:
        return None
    needed = estimate.memory.per_device[0].total_gib
    if needed <= device.visible_gib or needed > device.memory_gib - 8:
        return None
    return math.ceil((needed + 1) * 1024)


def tabby(resolved: Resolved) -> LaunchCommand:
    """TabbyAPI, the usual server of ExLlama."""
    words = start("python", "main.py", "--model-name", resolved.architecture.id.rpartition("/")[2])
    words.option("--max-seq-len", resolved.context_tokens)
    words.option("--cache-size", math.ceil(_total_context(resolved) / 256) * 256)
    words.option("--cache-mode", _TABBY_CACHE.get(resolved.kv_k.id)).option("--max-batch-size", resolved.concurrency)
    return LaunchCommand(resolved.engine.name, "serve", tuple(words.words), notes=("use_checkpoint_in_this_format",))


def mlc(resolved: Resolved) -> LaunchCommand:
    """`mlc_llm serve`."""
    parts = [f"context_window_size={resolved.context_tokens}", f"max_num_sequence={resolved.concurrency}"]
    if len(resolved.devices) > 1:
        parts.append(f"tensor_parallel_shards={len(resolved.devices)}")
    words = start("mlc_llm", "serve", f"HF://{resolved.architecture.id}").option("--overrides", ";".join(parts))
    return LaunchCommand("mlc-llm", "serve", tuple(words.words), notes=("use_checkpoint_in_this_format",))


_PLACED: dict[str, Callable[[Resolved, Estimate], LaunchCommand | tuple[LaunchCommand, ...]]] = {
    "llama.cpp": llama_server, "ik_llama.cpp": llama_server, "mlx": mlx,
}  # fmt: skip
_PLAIN: dict[str, Callable[[Resolved], LaunchCommand | tuple[LaunchCommand, ...]]] = {
    "ollama": ollama, "lm-studio": lm_studio, "exllamav2": tabby, "exllamav3": tabby, "mlc-llm": mlc,
}  # fmt: skip


def local_lines(resolved: Resolved, estimate: Estimate) -> tuple[LaunchCommand, ...]:
    """The lines of a local engine; empty for one without a command line of its own."""
    name = resolved.engine.name
    if name in _PLACED:
        made = _PLACED[name](resolved, estimate)
    elif name in _PLAIN:
        made = _PLAIN[name](resolved)
    else:
        return ()
    return made if isinstance(made, tuple) else (made,)
