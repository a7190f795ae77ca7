"""Why an estimate is as it is: topics (each covered by a note of `knowledge`) and codes (each worded by the bot)."""

from __future__ import annotations

from enum import StrEnum

from sizing.estimate import Reason


class Topic(StrEnum):
    """What a reason is about; knowledge is asked under this key."""

    WEIGHTS = "weights"
    FORMATS = "formats"
    KV_CACHE = "kv_cache"
    KV_MLA = "kv_mla"
    SLIDING_WINDOW = "sliding_window"
    HYBRID_STATE = "hybrid_state"
    CONTEXT = "context"
    CONCURRENCY = "concurrency"
    OVERHEAD = "overhead"
    ACTIVATIONS = "activations"
    GPU_MEMORY_UTILIZATION = "gpu_memory_utilization"
    USABLE_MEMORY = "usable_memory"
    TENSOR_PARALLEL = "tensor_parallel"
    LAYER_SPLIT = "layer_split"
    REPLICAS = "replicas"
    OFFLOAD = "offload"
    MOE_OFFLOAD = "moe_offload"
    UNIFIED_MEMORY = "unified_memory"
    BANDWIDTH = "bandwidth"
    PREFILL = "prefill"
    DECODE = "decode"
    MOE = "moe"
    BATCHING = "batching"
    COMPATIBILITY = "compatibility"
    TRAINING_MEMORY = "training_memory"
    OPTIMIZER_STATES = "optimizer_states"
    LORA = "lora"
    QLORA = "qlora"
    CHECKPOINTING = "checkpointing"
    ZERO_FSDP = "zero_fsdp"
    RAG = "rag"
    EMBEDDING = "embedding"
    TRANSCRIPTION = "transcription"
    IMAGE_VIDEO = "image_video"
    COST_BUY = "cost_buy"
    COST_RENT = "cost_rent"
    ELECTRICITY = "electricity"
    POWER_SUPPLY = "power_supply"
    QUANTIZATION_QUALITY = "quantization_quality"


class ReasonCode(StrEnum):
    """What is said under a topic; `bot.reply` words each in German and English."""

    WEIGHTS_DOMINATE = "weights_dominate"
    KV_DOMINATES = "kv_dominates"
    ACTIVATIONS_DOMINATE = "activations_dominate"
    REST_DOMINATES = "rest_dominates"
    MLA_LATENT = "mla_latent"
    SLIDING_CAPS_KV = "sliding_caps_kv"
    STATE_PER_SEQUENCE = "state_per_sequence"
    KV_PER_TOKEN = "kv_per_token"
    BUDGET_OF_ENGINE = "budget_of_engine"
    MOE_ALL_IN_MEMORY = "moe_all_in_memory"
    CARDS_ARE_NOT_ONE_MEMORY = "cards_are_not_one_memory"
    LAYERS_SPLIT = "layers_split"
    REPLICAS_SERVE = "replicas_serve"
    UNIFIED_SHARED = "unified_shared"
    DECODE_BANDWIDTH_BOUND = "decode_bandwidth_bound"
    PREFILL_COMPUTE_BOUND = "prefill_compute_bound"
    OPTIMIZER_DOMINATES = "optimizer_dominates"
    ADAPTER_ONLY_TRAINED = "adapter_only_trained"
    CANNOT_RUN = "cannot_run"
    OFFLOADED_TO_HOST = "offloaded_to_host"
    READS_ONLY = "reads_only"
    LIVE_IS_NOT_BATCH = "live_is_not_batch"
    PARTS_TAKE_TURNS = "parts_take_turns"


def reason(topic: Topic, code: ReasonCode, **params: object) -> Reason:
    """A Reason of these codes."""
    return Reason(topic=topic.value, code=code.value, params=params)
