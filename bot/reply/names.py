"""What things are called in an answer: short names of devices, models, formats and engines."""

from __future__ import annotations

import functools
import re
from typing import Final

_VENDOR_WORDS = re.compile(r"^(?:NVIDIA|AMD|Intel|Google|AWS) (?:GeForce |Instinct |Tesla (?=P100))?")
_REMARK = re.compile(r" \((?:per GPU|per socket|memory upgrade|HGX|mobile|two )[^)]*\)| Generation$|(?<=SXM)[45]\b")
_MEMORY = re.compile(r"(?<=\d)GB\b")
_MODEL_TAIL = re.compile(r"-Instruct(?=-\d{4}$)|-(?:Instruct(?:-hf)?|instruct|it|chat-hf|chat|Chat|hf|BF16)$")
_LLAMA = re.compile(r"^(?:Meta-)?Llama-")
_ENGINES: Final = {
    "vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM", "trt-llm": "TensorRT-LLM", "tgi": "TGI",
    "lmdeploy": "LMDeploy", "ollama": "Ollama", "lm-studio": "LM Studio", "mlx": "MLX", "exllamav2": "ExLlamaV2",
    "exllamav3": "ExLlamaV3", "transformers": "Transformers", "ktransformers": "KTransformers", "unsloth": "Unsloth",
    "axolotl": "Axolotl", "trl": "TRL", "megatron": "Megatron-LM", "deepspeed": "DeepSpeed", "mlc-llm": "MLC LLM", "llama.cpp": "llama.cpp",
    "torchtune": "torchtune", "llama-factory": "LLaMA-Factory",
}  # fmt: skip
_FORMATS: Final = {
    "fp8-pertensor": "FP8", "fp8-mlp": "FP8 (MLP)", "fp8-block128": "FP8 (block-wise)", "int8-w8a8": "INT8 (W8A8)",
    "bnb-int8": "INT8 (bitsandbytes)",
    "bnb-nf4": "NF4 (bitsandbytes)", "bnb-nf4-dq": "NF4 (bitsandbytes)", "gptq-int4-g128": "INT4 (GPTQ)",
    "gptq-int4-g32": "INT4 (GPTQ, g32)", "awq-int4-g128": "INT4 (AWQ)", "awq-int4-g32": "INT4 (AWQ, g32)",
    "gptq-int8-g128": "INT8 (GPTQ)", "16bit": "16-bit", "8bit": "8-bit", "6bit": "6-bit", "5bit": "5-bit", "4bit": "4-bit",
    "3bit": "3-bit", "2bit": "2-bit", "nf4": "NF4", "awq-int4": "INT4 (AWQ)", "gptq-int4": "INT4 (GPTQ)",
    "fp8-e4m3": "FP8", "fp8-e5m2": "FP8 (E5M2)", "bnb-4bit": "NF4 (bitsandbytes)",
}  # fmt: skip
_KEPT_LOWER = re.compile(r"^(exl[23])-(.+)$")
_MLX = re.compile(r"^mlx-(\d)bit-g\d+$")
_HQQ = re.compile(r"^hqq-(\d)bit-g\d+$")


@functools.lru_cache(maxsize=1024)
def device(accelerator: str) -> str:
    """`nvidia-rtx-4090` → `RTX 4090`; what the catalogue lacks stays as written."""
    from sizing.catalogue.load import catalogue

    entry = catalogue().accelerators.get(accelerator)
    if entry is None:
        return accelerator
    return _MEMORY.sub(" GB", _REMARK.sub("", _VENDOR_WORDS.sub("", entry.name)))


@functools.lru_cache(maxsize=1024)
def model(name: str) -> str:
    """`meta-llama/Llama-3.3-70B-Instruct` → `Llama 3.3 70B`."""
    short = _MODEL_TAIL.sub("", name.rpartition("/")[2])
    return _LLAMA.sub("Llama ", short).replace("-", " ") if _LLAMA.match(short) else short


@functools.lru_cache(maxsize=1024)
def weight_format(name: str) -> str:
    """`gguf-q4_k_m` → `Q4_K_M`, `awq-int4-g128` → `INT4 (AWQ)`; also for KV formats."""
    key = name.lower().removeprefix("kv-")
    if key in _FORMATS:
        return _FORMATS[key]
    if match := _MLX.match(key):
        return f"MLX {match[1]}-bit"
    if match := _HQQ.match(key):
        return f"HQQ {match[1]}-bit"
    if match := _KEPT_LOWER.match(key):
        return f"{match[1].upper()} {match[2]}"
    return key.removeprefix("gguf-type-").removeprefix("gguf-").removeprefix("ik-").upper()


def engine(name: str) -> str:
    return _ENGINES.get(name.lower(), name)


def counted(count: int, accelerator: str) -> str:
    """`2 × L40S`; one device goes without a count."""
    return device(accelerator) if count == 1 else f"{count} × {device(accelerator)}"


def device_with_memory(accelerator: str, memory_gb: float | None) -> str:
    """The name with its memory where several versions are sold and the name does not say which: `M3 Ultra 256 GB`."""
    from sizing.catalogue.load import catalogue

    entry = catalogue().accelerators[accelerator]
    name = device(accelerator)
    differs = memory_gb is not None and (bool(entry.memory_options_gb) or memory_gb != entry.memory_gb)
    return f"{name} {memory_gb:g} GB" if differs and f"{memory_gb:g}" not in name else name
