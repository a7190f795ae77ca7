"""The serving engine or training framework, and how a model is trained."""

import itertools
import re
from dataclasses import dataclass
from typing import Literal

from bot.understand.text import Text, clause

_ENGINES: tuple[tuple[str, str], ...] = (
    ("ik_llama.cpp", r"ik[_ -]?llama(?:\.?cpp)?"),
    ("llama.cpp", r"llama[ .\-_]?(?:cpp|c\+\+|server|bench|cli)|lcpp|koboldcpp|kobold\.cpp|gpt4all|llamafile"),
    ("ollama", r"ollama(?=\b|_)|\bolama\b"),
    ("vllm", r"v-?llm"),
    ("sglang", r"sg-?lang"),
    ("trt-llm", r"(?:trt|tensor-?rt)[- _]?llm"),
    ("tgi", r"tgi|text[- ]generation[- ]inference"),
    ("lmdeploy", r"lm[- ]?deploy|turbomind"),
    ("exllamav3", r"exllama ?v?3|exl3"),
    ("exllamav2", r"exllama(?: ?v?2)?|exl2|tabby ?api|bpw"),
    ("ktransformers", r"k-?transformers"),
    ("mlx", r"mlx(?:[- _]lm)?"),
    ("lm-studio", r"lm[- ]?studio"),
    ("localai", r"local ?ai"),
    ("fastchat", r"fast ?chat"),
    ("mlc", r"mlc[- ]?llm|mlc"),
    ("transformers", r"hf transformers|huggingface transformers|transformers"),
    ("unsloth", r"unsloth"),
    ("axolotl", r"axolotl"),
    ("llama-factory", r"llama[ \-_]?factory"),
    ("torchtune", r"torch ?tune"),
    ("trl", r"trl"),
    ("deepspeed", r"deep ?speed|zero[- ]?[123](?: offload)?|zero[- ]stage[- ][123]"),
    ("megatron", r"megatron(?:[- ]lm)?"),
    ("nemo", r"nemo framework"),
    ("triton", r"triton(?: inference server)"),
    ("llamafile", r"llamafile"),
    ("faster-whisper", r"faster[- ]whisper"),
    ("whisper.cpp", r"whisper\.cpp"),
    ("comfyui", r"comfy ?ui"),
    ("diffusers", r"diffusers"),
    ("gpustack", r"gpustack"),
    ("tei", r"text[- ]embeddings[- ]inference"),
    ("infinity", r"infinity[- ]emb"),
    ("kohya", r"kohya(?:[- _]?ss)?|sd-scripts"),
    ("powerinfer", r"powerinfer"),
    ("aphrodite", r"aphrodite"),
    ("ds4", r"(?<![a-z])ds4(?![a-z0-9])"),
    ("colibri", r"colibri"),
    ("litellm", r"litellm"),
    ("ray", r"ray serve"),
    ("openvino", r"open ?vino"),
    ("lemonade", r"lemonade"),
    ("mistral.rs", r"mistral\.rs"),
)  # fmt: skip
_ENGINE = re.compile(
    "(?<![a-z0-9])(?:"
    + "|".join(rf"(?P<e{n}>(?:{pattern})(?![a-z0-9]))" for n, (_, pattern) in enumerate(_ENGINES))
    + ")"
)
_MODEL_WORD = re.compile(r"[ \-]?(?:flash|pro)\b")
_FRONT_ENDS = frozenset(("litellm", "gpustack", "ray"))
_OWN_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "vllm",
        re.compile(
            r"max[-_]model[-_]len\w*|gpu[-_]memory[-_]utili[sz]ation|max[-_]num[-_]seqs|"
            r"enforce[-_ ]eager|max[-_]num[-_]batched"
        ),
    ),
    ("ollama", re.compile(r"\bnum_ctx\b|ollama_num_parallel|\bnum_parallel\b|keep_alive")),
    ("sglang", re.compile(r"max[-_]running[-_]requests|mem[-_]fraction[-_]static|--tp-size")),
    (
        "llama.cpp",
        re.compile(
            r"\bllama_(?:new_context|model_load|kv_cache|context|init)\w*|\bggml_\w+|\bngl\b|"
            r"n_gpu_layers|n-gpu-layers|--n-cpu-moe|\bctk\b|\bctv\b|-ot exps|"
            r"\bgguf\b(?=.*\b-c \d)"
        ),
    ),
)
_TO = r"\s(?:to |use |using |with |mit |auf |zu |via |das |the |doch |gleich |lieber |ueber )?$"
_DENIED_ENGINE = re.compile(
    r"\b(?:no|not|kein(?:e[nms]?)?|nicht|without|ohne|instead of|statt|rather than|weg von|"
    r"away from|except|"
    r"nicht mehr|never|than|als mit|wie bei)" + _TO
)
_PROPOSED_ENGINE = re.compile(
    r"\b(?:or|oder|vs\.?|versus|lieber|better|besser|maybe|vielleicht|should i use|soll(?:te)? ich|"
    r"switch(?:ing)? to|wechsel\w* (?:zu|auf)|umstieg auf|move to|moving to|umsteigen auf|try)" + _TO
)
_MANAGES = re.compile(
    r"\s(?:manages|handles it|does it|can do it|schafft (?:es|das)|kann (?:es|das)|is faster|" r"ist schneller)\b"
)


@dataclass(frozen=True, slots=True)
class EngineMention:
    """An engine as named, or read off words only it uses (`own_words`)."""

    name: str
    start: int
    end: int
    own_words: bool = False
    why_not: str = ""


def read_engines(text: Text) -> list[EngineMention]:
    """All engines named, those denied or only proposed marked."""
    out = []
    for found in _ENGINE.finditer(text.folded):
        name = _ENGINES[int(str(found.lastgroup)[1:])][0]
        if found.group() == "bpw" or (
            name == "mlx" and text.folded[found.end() : found.end() + 2] in ("-4", "-8", "-6")
        ):
            continue
        if name == "ds4" and _MODEL_WORD.match(text.folded, found.end()):
            continue
        left, right = clause(text.folded, found.start(), found.end(), 40)
        out.append(EngineMention(name, found.start(), found.end(), why_not=_why_not(name, left, right)))
    if not any(not m.why_not for m in out):
        for name, pattern in _OWN_WORDS:
            own = pattern.search(text.folded)
            if own:
                out.append(EngineMention(name, own.start(), own.end(), own_words=True))
                break
    return out


def _why_not(name: str, left: str, right: str) -> str:
    if name in _FRONT_ENDS:
        return "front end"
    if _DENIED_ENGINE.search(left):
        return "denied"
    if _PROPOSED_ENGINE.search(left):
        return "proposed"
    return "precedent" if _MANAGES.match(right) else ""


def choose_engine(mentions: list[EngineMention], in_thread: bool = False) -> EngineMention | None:
    """The engine in use; exact programs beat front ends and formats. In a thread a proposal ("switch to SGLang") counts."""
    standing = [m for m in mentions if not m.why_not or (in_thread and m.why_not == "proposed")]
    frameworks = [m for m in standing if m.name in ("unsloth", "axolotl", "llama-factory", "torchtune", "megatron")]
    servers = [m for m in standing if m.name not in ("fastchat", "triton", "transformers", "deepspeed")]
    return next(iter(frameworks or servers or standing), None)


# Programs that serve a model, so that two of them can be held against each other on one machine.
_SERVING = frozenset((
    "ik_llama.cpp", "llama.cpp", "ollama", "vllm", "sglang", "trt-llm", "tgi", "lmdeploy", "exllamav3", "exllamav2", "mlx", "lm-studio",
    "transformers",
))  # fmt: skip
_BETWEEN = re.compile(
    r"\s?(?:,|/|\||\bor\b|\boder\b|\bvs\b\.?|\bversus\b|\bgegen(?:ueber)?\b|\bagainst\b|\bcompared (?:to|with)\b|"
    r"\bbesser als\b|\b(?:better|faster|slower) than\b|\b(?:schneller|langsamer) als\b)\s?"
    r"(?:(?:or|oder|rather|better|lieber|doch|eher|besser|with|mit|use|using|the|das|gleich)\s){0,2}"
)
_BOTH = re.compile(r"\s?(?:and|und|&)\s?(?:with |mit )?")
_HELD_AGAINST = re.compile(
    r"\b(?:compar\w*|vergleich\w*|which|welche[rs]?|better|besser|faster|schneller|difference|unterschied\w*)\b"
)


def compared_engines(text: Text, mentions: list[EngineMention]) -> list[str]:
    """Engines held against each other, in the order named; fewer than two where none are."""
    serving = [one for one in mentions if one.name in _SERVING and not one.own_words]
    both = _HELD_AGAINST.search(text.folded) is not None
    found: list[str] = []
    for before, after in itertools.pairwise(serving):
        gap = text.folded[before.end : after.start]
        if _BETWEEN.fullmatch(gap) or (both and _BOTH.fullmatch(gap)):
            found += [before.name, after.name]
    return list(dict.fromkeys(found))


Method = Literal["full", "lora", "qlora"]

FOUR_BIT = frozenset(("4bit", "nf4", "bnb-4bit", "int4", "fp4"))
_QLORA = re.compile(r"(?<![a-z])q-?lora\b")
_LORA = re.compile(
    r"(?<![a-z])(?:(?:rs|do)?lora|loras|peft)\b(?![- ]?adapters? (?:serv|auf|on|at|fuer)|" r"s? gleichzeitig)"
)
_FULL = re.compile(
    r"\b(?:full(?:y)?[- ]?(?:parameter |param |weight |model )?(?:ft|sft|fine-?tun\w*|"
    r"finetun\w*|training|train|grpo|dpo|rlhf|update)|full ft|voll(?:es|staendig\w*|"
    r"e[rs]?)?[- ]?(?:feintun\w*|fine-?tun\w*|finetun\w*|training|trainier\w*|grpo|dpo|sft|"
    r"ft)|komplett\w* (?:feintun\w*|fine-?tun\w*|finetun\w*|trainier\w*|training)|"
    r"(?:continued |continual |domain )?pre-?train\w*|from scratch|von null|von grund auf|"
    r"von scratch|vortrain\w*|fft|train(?:ing)? (?:the |a )?(?:whole|entire|full|complete)|"
    r"das (?:ganze|komplette|volle) modell|all (?:the )?parameters|alle parameter|"
    r"alle gewichte|(?:volle|saemtliche|komplette)n? gewichte|full-?rank|full[- ]?(?:params?|parameters?|"
    r"weights?)\b|train (?:a|the|our)[^.!?;]{0,20} from (?:zero|scratch)|"
    r"volle[sn]? (?:ft|sft))\b"
)
_FULL_ALONE = re.compile(
    r"(?:^|,\s?(?=(?:full|voll|komplett)\s?(?:,|;|$))|\b(?:und|and|or|oder|vs\.?)|"
    r"(?:how|what) about|wie waere(?: es)?(?: mit)?|geht auch|try|/ft|/train|/finetune)\s?(?:full|voll|komplett)\b"
)
_PLACE_NEXT = re.compile(r"\s(?:on|auf|with|mit|instead|stattdessen|then|dann)\b")
_NO = re.compile(
    r"\b(?:no|not|kein(?:e[nms]?)?|nicht|without|ohne|instead of|statt|isn't|rather than|"
    r"drop)\s(?:a |just |only |nur |ein |eine )?$"
)
_ADAPTERS = re.compile(r"\b(?:serv\w*|adapters?|laufzeit|multi-?lora|hot-?swap|inferen\w*|deploy\w*)\b")
_TRAINS = re.compile(
    r"\b(?:fine-?tun\w*|finetun\w*|feintun\w*|fein-?tuning|feinabstimm\w*|trainier\w*|"
    r"training|train(?!ed\b|s\b)|trainable|pre-?train\w*|sft|dpo|grpo|ppo|rlhf|orpo|kto|"
    r"epochs?|epochen?|q-?lora|grad(?:ient)? ?(?:accum\w*|checkpoint\w*)|"
    r"optimizer states?|adamw|fsdp|distill(?:ation|ieren)|anlernen|nachtrainier\w*|"
    r"instruct-?tun\w*|auf (?:eigene|unsere|die|meine)?[nr]? ?(?:firmen|eigene|unsere|"
    r"unternehmens)[nr]?[ -]?(?:daten|texte)\w* (?:anpass\w*|anlern\w*|trimm\w*)|"
    r"continued pretraining|/ft|/train|ft\b)"
)
_NOT_TRAINING = re.compile(
    r"\b(?:trained (?:on|model)|training (?:data cutoff|compute)|a finetune of|our finetune|"
    r"eigenes finetune|own finetune|finetune of|pretrained|instruct-tuned)\b"
)
_RL = {"grpo": "grpo", "ppo": "ppo", "dpo": "dpo", "sft": "sft", "orpo": "orpo", "kto": "kto", "rlhf": "ppo"}
_RL_WORD = re.compile(r"\b(grpo|ppo|dpo|sft|orpo|kto|rlhf)\b")


@dataclass(frozen=True, slots=True)
class MethodReading:
    """How a model is to be trained; `methods` are all that the message weighs, `method` is set where it is only one."""

    method: Method | None
    methods: tuple[Method, ...]
    start: int = 0
    end: int = 0
    recipe: str | None = None


def read_method(text: Text, bits: str) -> MethodReading:
    """LoRA on 4-bit weights is QLoRA; from scratch is full; several weighed are none. `bits` is the weights' format."""
    found, denied = _methods(text)
    word = _RL_WORD.search(text.folded)
    recipe = _RL[word.group()] if word else None
    if not found and "lora" in denied and _TRAINS.search(text.folded):
        place = text.folded.index("lora")
        return MethodReading("full", ("full",), place, place + 4, recipe)
    alone = _FULL_ALONE.search(text.folded)
    ends_so = text.folded.strip(" ?!.").endswith(("voll", "full")) or (
        alone is not None and len(text.folded) < 40 and bool(_PLACE_NEXT.match(text.folded, alone.end()))
    )
    if alone and "full" not in found and (found or ends_so or trains(text)):
        found["full"] = alone
    if "qlora" in found and "lora" in found and not _WEIGHED.search(text.folded):
        del found["lora"]
    methods = tuple(found)
    if len(methods) != 1:
        return MethodReading(None, methods, recipe=recipe)
    method, match = methods[0], found[methods[0]]
    if method == "lora" and bits in FOUR_BIT:
        method = "qlora"
    return MethodReading(method, (method,), match.start(), match.end(), recipe)


def _methods(text: Text) -> tuple[dict[Method, re.Match[str]], set[Method]]:
    """The methods named, with their place, and those denied."""
    found: dict[Method, re.Match[str]] = {}
    denied: set[Method] = set()
    for method, pattern in _PATTERNS:
        for match in pattern.finditer(text.folded):
            left, _ = clause(text.folded, match.start(), match.end(), 30)
            if _NO.search(left):
                denied.add(method)
            else:
                found.setdefault(method, match)
    return found, denied


_WEIGHED = re.compile(
    r"\blora\b[^.?!]{0,24}\b(?:or|oder|vs\.?|/)\W{0,3}q-?lora|q-?lora[^.?!]{0,24}\b(?:or|oder|" r"vs\.?|/)\W{0,3}lora"
)
_PATTERNS: tuple[tuple[Method, re.Pattern[str]], ...] = (("qlora", _QLORA), ("full", _FULL), ("lora", _LORA))


def trains(text: Text) -> bool:
    """Whether the message is about training a model rather than about running one."""
    return _TRAINS.search(_NOT_TRAINING.sub(" ", text.folded)) is not None


def serves_adapters(text: Text) -> bool:
    """Whether LoRA in the message means adapters that are served, not trained."""
    return (
        bool(_LORA.search(text.folded))
        and bool(
            re.search(
                r"(?<![\d.])\b(?:\d+|two|three|four|five|zwei|drei|vier|fuenf|multiple|mehrere|many|"
                r"several|viele) (?:verschiedene |different |kleine |"
                r"small )?(?:lora|adapter)\w*|lora[- ]?adapters?|multi-?lora",
                text.folded,
            )
        )
        and not trains_without_lora(text)
    )


def trains_without_lora(text: Text) -> bool:
    return _TRAINS.search(_LORA.sub(" ", text.folded)) is not None
