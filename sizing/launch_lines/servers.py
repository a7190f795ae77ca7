"""Launch lines of serving engines: vLLM, SGLang, TensorRT-LLM, TGI, LMDeploy."""

from __future__ import annotations

import json
from collections.abc import Callable

from sizing.launch_lines.command import LaunchCommand, Words, start
from sizing.resolve import Resolved
from sizing.spec import Speculative
from sizing.units import GIB

_VLLM_KV = {
    "kv-fp8-e4m3": "fp8", "kv-fp8-e5m2": "fp8_e5m2", "kv-fp8-ds-mla": "fp8_ds_mla", "kv-fp16": "auto", "kv-bf16": "auto",
    "kv-turboquant-k8v4": "turboquant_k8v4", "kv-turboquant-4bit": "turboquant_4bit_nc", "kv-turboquant-k3v4": "turboquant_k3v4_nc",
    "kv-turboquant-3bit": "turboquant_3bit_nc", "kv-fp4": "nvfp4", "kv-int8": "int8_per_token_head",
    "kv-int4": "int4_per_token_head",
}  # fmt: skip
_SGLANG_KV = {"kv-fp8-e4m3": "fp8_e4m3", "kv-fp8-e5m2": "fp8_e5m2", "kv-fp4": "fp4_e2m1"}
_QUANTIZE_ON_LOAD = {"fp8-pertensor": "fp8", "bnb-nf4": "bitsandbytes", "bnb-int8": "bitsandbytes"}
_TGI_QUANTIZE = {"fp8-pertensor": "fp8", "bnb-nf4": "bitsandbytes-nf4", "bnb-int8": "bitsandbytes"}
_LMDEPLOY_POLICY = {"kv-int8": "int8", "kv-int4": "int4", "kv-fp8-e4m3": "fp8", "kv-fp8-e5m2": "fp8_e5m2"}
_VLLM_LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
_SGLANG_DRAFTS = {"mtp": "NEXTN", "draft": "STANDALONE"}
# Options that changed: version of vLLM from which on the newer form is read.
_SPECULATIVE_AS_JSON = (0, 8)
_LIMITS_AS_JSON = (0, 9)


def quantized_checkpoint_note(resolved: Resolved) -> tuple[str, ...]:
    """A code where the named repository holds other weights than the sum was made for."""
    ident, native = resolved.weights.id, resolved.architecture.native_dtype.lower()
    if ident in ("bf16", "fp16", "fp32") or ident in _QUANTIZE_ON_LOAD or ident.split("-")[0] in native:
        return ()
    return ("use_checkpoint_in_this_format",)


def vllm(resolved: Resolved) -> LaunchCommand:
    """`vllm serve` with everything that the estimate rests on."""
    asked, model = resolved.spec.engine, resolved.architecture.id
    words = start("vllm", "serve", model).option("--max-model-len", resolved.context_tokens)
    words.option("--max-num-seqs", asked.max_num_seqs or max(1, resolved.concurrency // max(1, resolved.data)))
    if asked.kv_cache_memory_gib is None:
        words.option("--gpu-memory-utilization", asked.gpu_memory_utilization)
    else:
        words.option("--kv-cache-memory-bytes", round(asked.kv_cache_memory_gib * GIB))
    words.degree("--tensor-parallel-size", resolved.tensor).degree("--pipeline-parallel-size", resolved.pipeline)
    words.degree("--data-parallel-size", resolved.data).flag("--enable-expert-parallel", resolved.expert > 1)
    words.degree("--decode-context-parallel-size", resolved.context_parallel)
    kv = _VLLM_KV.get(resolved.kv_k.id)
    words.option("--kv-cache-dtype", kv if kv != "auto" else None)
    words.option("--quantization", _on_load(resolved)).option("--max-num-batched-tokens", asked.max_num_batched_tokens)
    words.flag("--enforce-eager", asked.enforce_eager)
    _vllm_extras(resolved, words)
    return LaunchCommand("vllm", "serve", tuple(words.words), notes=quantized_checkpoint_note(resolved))


def _vllm_extras(resolved: Resolved, words: Words) -> None:
    asked = resolved.spec.engine
    words.option("--cpu-offload-gb", asked.cpu_offload_gib).option("--kv-offloading-size", asked.kv_offload_gib)
    if asked.redundant_experts:
        words.flag("--enable-eplb", True)
        words.option("--eplb-config", json.dumps({"num_redundant_experts": asked.redundant_experts}))
    _vllm_speculative(resolved, words)
    images = resolved.spec.images_per_request
    if images is not None and resolved.architecture.params.get("vision"):
        as_json = _is_since(resolved, _LIMITS_AS_JSON)
        words.option("--limit-mm-per-prompt", json.dumps({"image": images}) if as_json else f"image={images}")
    if any(entry.role == "lora" for entry in resolved.beside):
        adapters = [entry for entry in resolved.beside if entry.role == "lora"]
        words.flag("--enable-lora", True).option("--max-loras", sum(entry.count for entry in adapters))
        wanted = max(entry.rank or 16 for entry in adapters)
        words.option("--max-lora-rank", next((rank for rank in _VLLM_LORA_RANKS if rank >= wanted), wanted))


def _is_since(resolved: Resolved, version: tuple[int, int]) -> bool:
    """Whether the engine is of that version or later; an unknown one counts as current."""
    return resolved.engine.era is None or resolved.engine.era >= version


def _vllm_speculative(resolved: Resolved, words: Words) -> None:
    speculative = _speculative(resolved)
    if speculative is None:
        return
    method, tokens, draft = speculative
    if not _is_since(resolved, _SPECULATIVE_AS_JSON):
        words.option("--speculative-model", draft or f"[{method}]").option("--num-speculative-tokens", tokens)
        return
    named = {} if method == "draft" else {"method": method}  # a draft model is recognised by itself
    config = named | {"num_speculative_tokens": tokens} | ({"model": draft} if draft else {})
    words.option("--speculative-config", json.dumps(config))


def _on_load(resolved: Resolved) -> str | None:
    """What the engine quantizes to while loading, where the published checkpoint is wider."""
    if resolved.weights.id == "fp8-pertensor" and "fp8" in resolved.architecture.native_dtype.lower():
        return None
    return _QUANTIZE_ON_LOAD.get(resolved.weights.id)


def _speculative(resolved: Resolved) -> tuple[str, int, str | None] | None:
    """(method, tokens, draft model) of speculative decoding; text forms say it like "mtp k=2"."""
    asked = resolved.spec.engine.speculative
    if asked is None:
        return None
    if isinstance(asked, Speculative):
        return asked.method.lower(), asked.tokens or 1, asked.model
    digits = "".join(c if c.isdigit() else " " for c in asked).split()
    return asked.lower().split()[0], int(digits[0]) if digits else 1, None


def sglang(resolved: Resolved) -> LaunchCommand:
    """`python -m sglang.launch_server`."""
    asked = resolved.spec.engine
    words = start("python", "-m", "sglang.launch_server", "--model-path", resolved.architecture.id)
    words.option("--context-length", resolved.context_tokens)
    words.option("--max-running-requests", asked.max_num_seqs or resolved.concurrency)
    words.option("--mem-fraction-static", asked.gpu_memory_utilization)
    group = resolved.tensor * (resolved.data if asked.data_parallel_attention else 1)  # attention ranks lie inside it
    words.degree("--tp-size", group).degree("--pp-size", resolved.pipeline).degree("--dp-size", resolved.data)
    words.degree("--ep-size", resolved.expert).flag("--enable-dp-attention", asked.data_parallel_attention)
    words.option("--kv-cache-dtype", _SGLANG_KV.get(resolved.kv_k.id)).option("--quantization", _on_load(resolved))
    words.option("--chunked-prefill-size", asked.max_num_batched_tokens).flag(
        "--disable-cuda-graph", asked.enforce_eager
    )
    _sglang_speculative(resolved, words)
    return LaunchCommand("sglang", "serve", tuple(words.words), notes=quantized_checkpoint_note(resolved))


def _sglang_speculative(resolved: Resolved, words: Words) -> None:
    """A chain of drafts: steps, one candidate each, and the token after the last draft; SGLang takes all three or none."""
    speculative = _speculative(resolved)
    if speculative is None:
        return
    method, tokens, draft = speculative
    words.option("--speculative-algorithm", _SGLANG_DRAFTS.get(method, method.upper()))
    if method == "ngram":
        words.option("--speculative-num-draft-tokens", tokens)
        return
    words.option("--speculative-num-steps", tokens).option("--speculative-eagle-topk", 1)
    words.option("--speculative-num-draft-tokens", tokens + 1).option("--speculative-draft-model-path", draft)


def tensorrt_llm(resolved: Resolved) -> LaunchCommand:
    """`trtllm-serve`; the KV format goes through a file of options."""
    asked = resolved.spec.engine
    words = start("trtllm-serve", resolved.architecture.id).option("--max_seq_len", resolved.context_tokens)
    words.option("--max_batch_size", asked.max_num_seqs or resolved.concurrency)
    words.option("--max_num_tokens", asked.max_num_batched_tokens)
    apart = bool(asked.data_parallel_attention) and resolved.data > 1
    words.degree("--tp_size", resolved.tensor * (resolved.data if apart else 1)).degree("--pp_size", resolved.pipeline)
    words.degree("--ep_size", resolved.expert)
    words.option("--kv_cache_free_gpu_memory_fraction", asked.gpu_memory_utilization)
    options = "enable_attention_dp: true\n" if apart else ""
    if resolved.kv_k.id in ("kv-fp8-e4m3", "kv-fp4"):
        options += f"kv_cache_config:\n  dtype: {'fp8' if resolved.kv_k.id == 'kv-fp8-e4m3' else 'nvfp4'}\n"
    files = (("extra_llm_api_options.yaml", options),) if options else ()
    if files:
        words.option("--extra_llm_api_options", files[0][0])
    return LaunchCommand(
        "tensorrt-llm", "serve", tuple(words.words), files=files, notes=quantized_checkpoint_note(resolved)
    )


def tgi(resolved: Resolved) -> LaunchCommand:
    """`text-generation-launcher`."""
    words = start("text-generation-launcher", "--model-id", resolved.architecture.id)
    words.option("--max-total-tokens", resolved.context_tokens)
    words.option("--max-input-tokens", resolved.input_tokens).option("--max-concurrent-requests", resolved.concurrency)
    words.degree("--num-shard", resolved.tensor).option(
        "--cuda-memory-fraction", resolved.spec.engine.gpu_memory_utilization
    )
    quantize = _TGI_QUANTIZE.get(resolved.weights.id) if _on_load(resolved) else None
    words.option("--quantize", quantize)
    words.option("--kv-cache-dtype", {"kv-fp8-e4m3": "fp8_e4m3fn", "kv-fp8-e5m2": "fp8_e5m2"}.get(resolved.kv_k.id))
    return LaunchCommand("tgi", "serve", tuple(words.words), notes=quantized_checkpoint_note(resolved))


def lmdeploy(resolved: Resolved) -> LaunchCommand:
    """`lmdeploy serve api_server`."""
    words = start("lmdeploy", "serve", "api_server", resolved.architecture.id)
    words.option("--session-len", resolved.context_tokens).option("--max-batch-size", resolved.concurrency)
    words.degree("--tp", resolved.tensor).option("--cache-max-entry-count", resolved.spec.engine.gpu_memory_utilization)
    words.option("--quant-policy", _LMDEPLOY_POLICY.get(resolved.kv_k.id))
    return LaunchCommand("lmdeploy", "serve", tuple(words.words), notes=quantized_checkpoint_note(resolved))


SERVERS: dict[str, Callable[[Resolved], LaunchCommand]] = {
    "vllm": vllm, "sglang": sglang, "tensorrt-llm": tensorrt_llm, "tgi": tgi, "lmdeploy": lmdeploy,
}  # fmt: skip
