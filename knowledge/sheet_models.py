"""The sheets of models and model families, from the catalogue and the same sums as the engine."""

from collections.abc import Iterator, Sequence

from knowledge.analyse import Language
from knowledge.sheet_writing import Writer, number, remark
from sizing.architecture.lookup import architecture
from sizing.catalogue.entries import Model
from sizing.catalogue.load import catalogue
from sizing.memory.weights import weights_bytes
from sizing.units import GIB, MIB

_FORMATS = (("BF16", "bf16"), ("FP8", "fp8-pertensor"), ("Q8_0", "gguf-q8_0"), ("Q4_K_M", "gguf-q4_k_m"))
_REQUEST_TOKENS = 8192
_BYTES_PER_ELEMENT = 2
_BYTES_PER_STATE_ELEMENT = 4
_BILLION = 1e9
# Pipelines of several networks: a format applies to one of them, so only 16 bits are stated for the whole
_PIPELINES = ("diffusion", "video", "tts", "asr")


def write(entry: Model, lang: Language) -> str:
    """Text of a model's sheet: one line a subject, no empty lines."""
    sheet = Writer(lang)
    sheet.line("what", _what(entry, sheet))
    sheet.line("parameters", _parameters(entry, sheet))
    sheet.line("weights", _weights(entry, sheet))
    sheet.line("shape", _shape(entry, sheet))
    sheet.line("experts", _experts(entry, sheet))
    sheet.line("cache", _cache(entry, sheet))
    sheet.line("context", _context(entry, sheet))
    sheet.line("parts", _parts(entry, sheet))
    sheet.line("licence", [sheet.say("model", "licence", licence=entry.license)] if entry.license else [])
    sheet.line("doubts", list(_doubts(entry, sheet)) or [sheet.say("model", "sure")])
    return sheet.text()


def write_family(family: str, members: Sequence[Model], lang: Language) -> str:
    """Text of a family's sheet: what it is, then a line for each model."""
    sheet = Writer(lang)
    key = "what_one" if len(members) == 1 else "what"
    sheet.line("what", [sheet.say("family", key, family=family, count=len(members))])
    sheet.line("members", [f"{'; '.join(_member(model, sheet) for model in members)}."])
    return sheet.text()


def weights_gib(entry: Model, format_id: str) -> float:
    """GiB of the weights in a format, as the engine counts them."""
    return weights_bytes(architecture(entry.id), catalogue().formats[format_id]) / GIB


def _what(entry: Model, sheet: Writer) -> Iterator[str]:
    yield sheet.say(
        "model",
        "what",
        name=entry.name,
        family=entry.family,
        modality=sheet.word("modality", entry.modality),
        architecture=entry.architecture,
    )
    if entry.released:
        yield sheet.say("model", "released", month=entry.released)


def _parameters(entry: Model, sheet: Writer) -> Iterator[str]:
    exact = number(entry.params_total, sheet.lang, 0)
    small = entry.params_total < _BILLION
    scale = 1e6 if small else _BILLION
    yield sheet.say("model", "total_small" if small else "total", count=entry.params_total / scale, exact=exact)
    if entry.params_active:
        yield sheet.say("model", "active", count=entry.params_active / _BILLION)
    if entry.params_active_stated:
        yield sheet.say("model", "stated", count=entry.params_active_stated / _BILLION)
    if entry.vision and entry.vision.get("params"):
        yield sheet.say("model", "tower", count=number(entry.vision["params"] / 1e6, sheet.lang, 0))


def _weights(entry: Model, sheet: Writer) -> Iterator[str]:
    formats = _FORMATS[:1] if entry.modality in _PIPELINES else _FORMATS
    sizes = [
        sheet.say("model", "size", format=name, gib=_size(weights_gib(entry, ident), sheet)) for name, ident in formats
    ]
    yield sheet.say("model", "weights", sizes=", ".join(sizes))
    if entry.native_dtype:
        yield sheet.say("model", "native", dtype=entry.native_dtype.upper())
    if entry.checkpoint_gb:
        yield sheet.say("model", "checkpoint", gb=entry.checkpoint_gb)


def _size(gib: float, sheet: Writer) -> str:
    return number(gib, sheet.lang, 1 if gib >= 10 else 2)


def _shape(entry: Model, sheet: Writer) -> Iterator[str]:
    if entry.num_hidden_layers and entry.hidden_size and entry.num_attention_heads and entry.num_key_value_heads:
        yield sheet.say(
            "model",
            "shape",
            layers=entry.num_hidden_layers,
            hidden=entry.hidden_size,
            heads=entry.num_attention_heads,
            kv_heads=entry.num_key_value_heads,
        )
    layers = (entry.attention or {}).get("layers") or {}
    if len(layers) > 1:
        kinds = (sheet.say("model", "kind", count=n, kind=sheet.word("layer", kind)) for kind, n in layers.items())
        yield sheet.say("model", "kinds", kinds=", ".join(kinds))


def _experts(entry: Model, sheet: Writer) -> list[str]:
    moe = entry.moe or {}
    if not moe.get("num_experts") or not moe.get("experts_per_token"):
        return []
    return [sheet.say("model", "experts", count=moe["num_experts"], picked=moe["experts_per_token"])]


def _cache(entry: Model, sheet: Writer) -> list[str]:
    if entry.modality in ("embedding", "reranker", "diffusion", "video", "asr"):
        return [sheet.say("model", "cache_none")] if entry.kv_cache is None else _cache_figures(entry, sheet)
    return _cache_figures(entry, sheet) or [sheet.say("model", "cache_unknown")]


def _cache_figures(entry: Model, sheet: Writer) -> list[str]:
    cache = entry.kv_cache or {}
    full = cache.get("full_elements_per_token", 0) + cache.get("index_elements_per_token", 0)
    sliding, window = cache.get("sliding_elements_per_token", 0), cache.get("sliding_window", 0)
    state = cache.get("linear_state_elements_per_seq", 0) + cache.get("linear_conv_elements_per_seq", 0)
    parts = []
    if full:
        parts.append(sheet.say("model", "cache_token", count=full * _BYTES_PER_ELEMENT))
    if sliding:
        parts.append(sheet.say("model", "cache_window", count=sliding * _BYTES_PER_ELEMENT, window=window))
    if state:
        mib = number(state * _BYTES_PER_STATE_ELEMENT / MIB, sheet.lang, 1)
        parts.append(sheet.say("model", "cache_state", mib=mib))
    if not parts:
        return []
    elements = full * _REQUEST_TOKENS + sliding * min(_REQUEST_TOKENS, window or _REQUEST_TOKENS)
    gib = (elements * _BYTES_PER_ELEMENT + state * _BYTES_PER_STATE_ELEMENT) / GIB
    return [f"{', '.join(parts)}.", sheet.say("model", "cache_request", gib=number(gib, sheet.lang, 2))]


def _context(entry: Model, sheet: Writer) -> list[str]:
    tokens = entry.max_position_embeddings
    return [sheet.say("model", "context", count=tokens)] if tokens else []


def _parts(entry: Model, sheet: Writer) -> list[str]:
    named = [part for part in entry.components or () if part.get("name")]
    written = [
        sheet.say("model", "part", name=part["name"], count=number(params / _BILLION, sheet.lang, 2))
        if (params := part.get("params"))
        else sheet.say("model", "part_unknown", name=part["name"])
        for part in named
    ]
    return [f"{'; '.join(written).removesuffix('.')}."] if written else []


def _doubts(entry: Model, sheet: Writer) -> Iterator[str]:
    if entry.mtp and entry.mtp.get("params"):
        yield sheet.say("model", "draft", count=number(entry.mtp["params"] / _BILLION, sheet.lang, 2))
    if entry.params_total_basis:
        yield sheet.say("model", "basis", basis=entry.params_total_basis)
    if entry.params_hf_reported:
        yield sheet.say("model", "reported", count=number(entry.params_hf_reported, sheet.lang, 0))
    if entry.notes:
        yield sheet.say("accelerator", "note", note=remark(entry.notes))


def _member(entry: Model, sheet: Writer) -> str:
    small = entry.params_total < _BILLION
    scale = 1e6 if small else _BILLION
    text = sheet.say(
        "family",
        "member_small" if small else "member",
        name=entry.name,
        count=entry.params_total / scale,
        gib=_size(weights_gib(entry, "bf16"), sheet),
    )
    if entry.params_active:
        text = sheet.say("family", "member_active", member=text, active=entry.params_active / _BILLION)
    if entry.max_position_embeddings:
        text = sheet.say("family", "member_context", member=text, tokens=entry.max_position_embeddings)
    return text
