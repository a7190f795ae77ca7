"""The catalogue's names in the shape in which messages are searched for them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from bot.understand.text import word_set
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find, known_names

_PART = re.compile(
    r"(?P<moe>\d{1,2}\s?x\s?\d+(?:[.,]\d+)?b)(?![a-z0-9])"
    r"|(?P<size>\d+(?:[.,_]\d+)?\s?[bmt])(?![a-z0-9])"
    r"|(?P<active>(?<![a-z0-9])[ae]\d+(?:\.\d+)?b(?![a-z0-9]))"
    r"|(?P<number>\d++(?:[._](?=\d)\d++)*+)"
    r"|(?P<word>[a-z]+)"
    r"|(?P<plus>\+)"
)
_BRANDS = word_set("meta nvidia the model models ai modell modelle google openai microsoft ibm alibaba mistralai")
VARIANTS = word_set(
    "instruct chat base it hf thinking preview latest reasoning sft text finetune finetuned tuned class "
    "original uncensored abliterated gguf "
    "unsloth mlx safetensors awq gptq qat mtp dwq inst version variant dense moe distilled quantized autoround"
) - {"distilled"}
_CAREFUL = word_set(
    "solar canary scout maverick viking inkling dia nomic spark command seed step marco hermes trinity "
    "magic dream north laguna falcon "
    "opt bert t small large medium tiny base turbo flash mini nano pro v l r e k m phi yi wan ling ring "
    "bloom tower dots star code "
    "sesame nemo aya olmo dolly poro emu orion baichuan pythia stable sd mt cpm kat"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a possible name: its comparable form, kind and place."""

    text: str
    kind: str
    start: int
    end: int


def parts(folded: str, start: int = 0, end: int | None = None) -> Iterator[Part]:
    """Words, numbers and sizes of a stretch, in order."""
    for found in _PART.finditer(folded, start, len(folded) if end is None else end):
        kind = found.lastgroup or "word"
        text = found.group().replace(" ", "").replace(",", ".").replace("_", ".")
        yield Part(text, kind, found.start(), found.end())


def model_key(pieces: tuple[Part, ...] | list[Part]) -> tuple[str, ...]:
    """The order-free key of a model name: "llama 70b 3.3" and "Llama-3.3-70B-Instruct" agree."""
    words = [p for p in pieces if not (p.kind == "word" and (p.text in VARIANTS or p.text in _BRANDS))]
    kept = [
        p.text
        for n, p in enumerate(words)
        if not (p.text == "v" and n + 1 < len(words) and words[n + 1].kind == "number")
    ]
    return tuple(sorted("plus" if text == "+" else text for text in kept))


@dataclass(frozen=True, slots=True)
class ModelLexicon:
    """`ids` by key, `versions` by key without version numbers; `words` in names, `heads` that begin one, `families` alone."""

    ids: dict[tuple[str, ...], tuple[str, ...]]
    versions: dict[tuple[str, ...], tuple[str, ...]]
    words: frozenset[str]
    heads: frozenset[str]


_MORE_NAMES = {
    "405b": "llama 3.1 405b", "oss 20b": "gpt-oss-20b", "oss 120b": "gpt-oss-120b", "large v3": "whisper-large-v3",
    "large v2": "whisper-large-v2",
    "large v3 turbo": "whisper-large-v3-turbo",
}  # fmt: skip


@lru_cache(maxsize=1)
def model_lexicon() -> ModelLexicon:
    """Built once from every name the catalogue knows for a model."""
    ids: dict[tuple[str, ...], dict[str, None]] = {}
    versions: dict[tuple[str, ...], dict[str, None]] = {}
    words: set[str] = set()
    heads: set[str] = set()
    named = [(alias.lower(), ident) for alias, ident in known_names("model")]
    named += [(alias, str(find(target, "model").id)) for alias, target in _MORE_NAMES.items()]
    for alias, ident in named:
        pieces = list(parts(alias.split("/")[-1]))
        key = model_key(pieces)
        if not key or key in (("v",), ("e",), ("r",)):
            continue
        ids.setdefault(key, {})[ident] = None
        versions.setdefault(model_key([p for n, p in enumerate(pieces) if not _is_version(pieces, n)]), {})[ident] = (
            None
        )
        letters = [p.text for p in pieces if p.kind == "word"]
        words.update(letters)
        heads.update(letters[:1])
        if pieces and pieces[0].kind == "size":
            heads.add(pieces[0].text)
    heads -= VARIANTS | {"all", "v", "multilingual", "a", "an", "the"}
    heads |= {"all", "multilingual"} & words
    return ModelLexicon(_listed(ids), _listed(versions), frozenset(words), frozenset(heads | _FAMILIES))


def _listed(found: dict[tuple[str, ...], dict[str, None]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {key: tuple(idents) for key, idents in found.items()}


def _is_version(pieces: list[Part], place: int) -> bool:
    """A version or date, or the "v" before one."""
    following = pieces[place + 1].kind if place + 1 < len(pieces) else ""
    return pieces[place].kind == "number" or (pieces[place].text == "v" and following == "number")


def other_versions(written: str, ident: str) -> tuple[str, ...]:
    """Other models of the same family and size, where the name was written without a version: "Mistral Small 24B"."""
    pieces = list(parts(written.lower()))
    if any(piece.kind == "number" for piece in pieces) or not any(piece.kind == "size" for piece in pieces):
        return ()
    return tuple(other for other in model_lexicon().versions.get(model_key(pieces), ()) if other != ident)


_FAMILIES = word_set(
    "llama qwen mistral mixtral gemma deepseek kimi glm granite falcon phi flux whisper nemotron minimax "
    "starcoder vicuna internvl llava codestral "
    "devstral magistral ministral pixtral jamba olmo exaone ernie hunyuan smollm sdxl bge minilm "
    "codellama wizardlm mpt alpaca zephyr "
    "openchat tulu orca dolphin bloomz dbrx grok moonshot baichuan chatglm internlm cogvlm aya mamba parakeet bert"
)


def is_family(word: str) -> bool:
    """Whether a word alone names a family of models ("Qwen"), whatever the version."""
    return word in _FAMILIES


def is_careful(word: str) -> bool:
    """Whether a word of a model name is an everyday word too, so that it needs company."""
    return word in _CAREFUL


@lru_cache(maxsize=4096)
def params_b(ident: str) -> float | None:
    """Billions of parameters of a catalogue model."""
    entry = catalogue().models.get(ident)
    total = entry.params_total if entry else None
    return total / 1e9 if total else None
