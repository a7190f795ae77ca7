"""llama.cpp and its kin: buffers at start, layers on the GPU, timings at the end."""

from __future__ import annotations

import re
from typing import Final

from bot.understand.logs.figures import gib, last, total, value, whole
from sizing.observation import Fault, Observation

_MARK: Final = re.compile(
    r"load_tensors:|llm_load_tensors|llama_(?:kv_cache|context|new_context_with_model|perf_context_print|print_timings)|ggml_backend_cuda|"
    r"print_info:|llama_model_load|common_perf_print|ggml_cuda_init|prompt eval time"
)
_N = r"([\d.,]*\d)"
_NAME: Final = re.compile(r"general\.name\s+(?:str\s+)?=\s*([^\n]+)")
_LAYERS: Final = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_GPU: Final = re.compile(
    rf"(?:CUDA|ROCm|Vulkan|SYCL|Metal|MTL|CANN|HIP)\S*(?: model)? buffer size\s*=\s*{_N} (MiB|GiB)"
)
_HOST: Final = re.compile(
    rf"(?:CPU|CPU_Mapped|CPU_REPACK|CPU_AARCH64|CUDA_Host)(?: model)? buffer size\s*=\s*{_N} (MiB|GiB)"
)
_KV: Final = re.compile(rf"(?:KV self size\s*=|KV buffer size\s*=|llama_kv_cache\S*:\s+size\s*=)\s*{_N} (MiB|GiB)")
_COMPUTE: Final = re.compile(rf"(?:CUDA|ROCm|Vulkan|SYCL|Metal|MTL)\d* compute buffer size\s*=\s*{_N} (MiB|GiB)")
_FILE: Final = re.compile(rf"(?:model size|file size)\s*=\s*{_N} (GiB|MiB)")
_CONTEXT: Final = re.compile(r"n_ctx\s*=\s*(\d+)")
_PROMPT: Final = re.compile(rf"prompt eval time\s*=\s*{_N} ms\s*/\s*{_N} tokens.*?{_N} tokens per second", re.DOTALL)
_EVAL: Final = re.compile(
    rf"(?<!prompt )eval time\s*=\s*{_N} ms\s*/\s*{_N} (?:runs|tokens).*?{_N} tokens per second", re.DOTALL
)
_LOAD: Final = re.compile(rf"load time\s*=\s*{_N} ms")
_OOM: Final = re.compile(
    r"(?:cudaMalloc failed|CUDA error|ErrorOutOfDeviceMemory|failed to allocate).{0,80}memory|out of memory"
)
_ASKED: Final = re.compile(rf"allocating {_N} (MiB|GiB) on device")
_DEVICE: Final = re.compile(r"Device \d+: ([^,\n]+), compute capability")


def read(text: str) -> Observation | None:
    """What a llama.cpp log says; None where the text is no such log."""
    if not _MARK.search(text):
        return None
    layers, load = last(_LAYERS, text), last(_LOAD, text)
    prompt, written = last(_PROMPT, text), last(_EVAL, text)
    seen = Observation(
        sources=("llama.cpp",),
        engine="llama.cpp",
        model=_named(text),
        layers_on_gpu=whole(layers),
        layers_total=whole(layers, 2),
        weights_gib=_weights(text),
        host_weights_gib=total(_HOST, _model_lines(text)),
        kv_cache_gib=_kv(text),
        buffers_gib=total(_COMPUTE, text),
        file_gib=_sized(_FILE, text),
        context_tokens=whole(last(_CONTEXT, text)),
        prefill_tok_s=value(prompt, 3),
        input_tokens=value(prompt, 2),
        ttft_ms=value(prompt, 1),
        decode_tok_s=value(written, 3),
        output_tokens=value(written, 2),
        fault=_fault(text),
        missing_gib=_asked(text),
        load_seconds=None if load is None else (value(load) or 0.0) / 1000,
    )
    return seen if len(seen.seen()) > 2 else None


def _named(text: str) -> str | None:
    match = _NAME.search(text)
    return match[1].strip() if match else None


def _model_lines(text: str) -> str:
    """Only the lines on weights: KV and compute buffers are named alike."""
    return "\n".join(line for line in text.splitlines() if "load_tensors" in line)


def _weights(text: str) -> float | None:
    return total(_GPU, _model_lines(text))


def _kv(text: str) -> float | None:
    sizes = list(_KV.finditer(text))
    whole_cache = [match for match in sizes if "self size" in match[0] or ": size" in match[0].replace("  ", " ")]
    return sum(gib(match[1], match[2]) for match in whole_cache or sizes) if sizes else None


def _sized(pattern: re.Pattern[str], text: str) -> float | None:
    match = last(pattern, text)
    return gib(match[1], match[2]) if match else None


def _fault(text: str) -> Fault | None:
    return "out_of_memory" if _OOM.search(text) else None


def _asked(text: str) -> float | None:
    match = _ASKED.search(text)
    return gib(match[1], match[2]) if match else None
