"""Words in names that carry a rule of their own."""

import re

from sizing.catalogue.text import plain

__all__ = [
    "BACKENDS",
    "FORM_WORDS",
    "MAKERS",
    "OTHER_MODEL_WORDS",
    "SIZE_WORDS",
    "TOOL_WORDS",
    "VARIANT_WORDS",
    "kv_key",
]

FORM_WORDS = frozenset({"sxm", "sxm2", "sxm4", "sxm5", "sxm6", "pcie", "oam"})
BACKENDS = ("vulkan", "rocm", "cuda", "metal", "sycl", "cann")

# same architecture, so same size
VARIANT_WORDS = frozenset(
    [
        "instruct",
        "chat",
        "base",
        "it",
        "hf",
        "thinking",
        "preview",
        "latest",
        "reasoning",
        "dpo",
        "sft",
        "mpo",
        "text",
        "finetune",
        "finetuned",
        "tuned",
        "fine",
        "tune",
        "class",
        "model",
        "original",
        "uncensored",
        "abliterated",
        "heretic",
        "merge",
        "merged",
        "unnamed",
        "mopd",
        "dense",
        "variant",
        "card",
        "moe",
    ]
)
TOOL_WORDS = frozenset(
    [
        "gguf",
        "mtp",
        "unsloth",
        "autoround",
        "compressed",
        "tensors",
        "mlx",
        "lora",
        "dflash",
        "dflash2",
        "dspark",
        "eagle3",
        "speculator",
        "pruned",
        "sym",
        "onnx",
        "safetensors",
        "128k",
        "1m",
        "community",
        "v1",
        "hybrid",
        "mixed",
    ]
)
# another model: never a mere fine-tune of the family that the name holds
OTHER_MODEL_WORDS = frozenset(
    [
        "draft",
        "adapter",
        "vision",
        "vl",
        "omni",
        "audio",
        "ocr",
        "nemotron",
        "cascade",
        "distill",
        "mini",
        "coder",
        "embedding",
        "embed",
        "reranker",
        "guard",
        "llava",
        "internvl",
        "mamba",
        "eagle",
        "speculator",
        "switch",
    ]
)
# who made a model, said before its name ("Microsoft Phi-4", "Mistral AI Mistral Small")
MAKERS = frozenset((
    "microsoft", "mistral", "mistral ai", "moonshot", "moonshot ai", "cohere", "cohere labs", "zhipu", "zhipu ai",
    "z ai", "zai", "tencent", "arcee", "arcee ai", "alibaba", "baidu", "xiaomi", "stepfun", "lg", "lg ai", "upstage",
    "naver", "google", "google deepmind", "deepmind", "meta", "facebook", "openai", "open ai", "nvidia", "ibm",
    "apple", "deepseek ai", "hugging face", "huggingface", "ai2", "allen ai", "allenai", "ai21", "ai21 labs",
    "databricks", "snowflake", "tii", "tiiuae", "minimax", "bytedance", "swiss ai", "aleph alpha", "nous",
    "nous research", "servicenow", "prime intellect", "primeintellect", "jetbrains", "stability", "stability ai",
    "black forest labs", "xai", "x ai", "ant", "ant group", "inclusion ai", "inclusionai", "shanghai ai lab",
    "opengvlab", "liquid", "liquid ai", "sk", "skt", "sk telecom", "kakao", "ntt", "sarvam", "essential ai",
    "thinking machines", "poolside", "reka", "zyphra", "huawei", "sber", "sberbank",
    "technology innovation institute",
))  # fmt: skip
SIZE_WORDS = re.compile(r"[\d.]+|b|v")

_KV_FILLER = re.compile(r"\b(?:kv|k|v|cache|type|dtype|format|quant)\b")
_KV_SEPARATOR = re.compile(r"[\s_-]+")


def kv_key(name: str) -> str:
    """The form in which KV formats are compared: "kv fp8", "fp8 KV cache" and "kv-fp8" are all "fp8"."""
    return " ".join(_KV_FILLER.sub(" ", _KV_SEPARATOR.sub(" ", plain(name))).split())
