"""Request → WorkloadSpecs: one for each alternative compared, in the engine's terms."""

import re
from typing import Any

from bot.understand.device_details import MOST_DEVICES
from bot.understand.payment import asks_both_ways, payment, ways_of
from bot.understand.request import Device, Request
from bot.understand.sides import requests_of
from sizing.catalogue.load import catalogue
from sizing.catalogue.names import find

_TASKS = {
    "transcription": "transcription",
    "image": "image",
    "diffusion": "image",
    "video": "video",
    "embedding": "embedding",
    "reranking": "reranking",
}
_HOST = {
    "ram_gb": "ram_gb", "cpu": "cpu", "psu_w": "psu_w", "power_limit_w": "power_limit_w", "circuit_v": "line_v", "circuit_a": "line_a",
    "network_gbit": "network_gbit", "bandwidth_gb_s": "host_bandwidth_gb_s", "quiet": "quiet",
}  # fmt: skip
_PIECES = re.compile(
    r"chunk|abs(?:ä|ae)tz|abschnitt|paragraph|passage|sentence|s(?:ä|ae)tze|vector|vektor|stücke|snippet", re.IGNORECASE
)
_PAGES_EACH = re.compile(
    r"\b(?:je|jeweils|mit je|à|a|each|of|with|mit|zu)\s+(?:etwa |ca\.? |rund |about |around |~)?(\d{1,4})[- ]?(?:seiten?|pages?)\b|"
    r"\b(\d{1,4})[- ]?(?:seiten?|pages?)\s*(?:each|apiece|je\b|pro\b|per\b)|\b(\d{1,4})(?:-seitige\w*|-page)\b",
    re.IGNORECASE,
)
# "200.000 PDF-Seiten" and "30,000 pages" count pages; "5,000 PDFs of 20 pages" counts documents.
_PAGES = re.compile(r"\d[\s\u202f]*(?:[^\W\d]+[- ])?(?:seiten|pages)\b", re.IGNORECASE)
_AFTER_EVIDENCE = 16
_EVERY_LAYER = 999  # more than any model has: all of them, as with llama.cpp's own `-ngl 99`
_HALF = re.compile(r"\b(?:fp16|float16|bf16|half)\b")
_SOUND = re.compile(
    r"\b(?:audio|aufnahme\w*|recording\w*|transcri\w*|transkri\w*|whisper|podcast\w*|anrufe|calls|meeting\w*)\b"
)
_LARGEST = {"context_tokens": 1e9, "input_tokens": 1e9, "output_tokens": 1e9, "concurrency": 1e7, "users": 1e7}


def specs_of(request: Request) -> list[dict[str, Any]]:
    """The specs a Request leads to; empty where nothing is asked that can be sized. Impossible values are left out."""
    if not request.in_scope:
        return []
    if sides := request.other.get("sides"):
        whole = request.model_copy(update={"other": {**request.other, "sides": None}})
        return [spec for one in requests_of(whole, sides) for spec in specs_of(one)]
    engines = request.other.get("engines_compared") or ()
    if engines and request.hardware:
        whole = request.model_copy(update={"other": {**request.other, "engines_compared": None}})
        return [spec for name in engines for spec in specs_of(whole.model_copy(update={"engine": name}))]
    common = _common(request)
    machines = _machines(request)
    models, parts = _service_parts(_models(request), request)
    if parts:
        common["work"] = {**common.get("work", {}), **parts}
    if not models and not machines and not any(common.get(name) for name in ("concurrency", "users", "work")):
        return []
    if layouts := request.other.get("layouts"):
        return [
            _one(common | payment(request.other, machine, None, 1) | {"parallel": layout}, model, machine, request)
            for model in models or [None]
            for machine in machines or [()]
            for layout in layouts
        ]
    ways = ways_of(request.text, len(machines))
    if len(machines) < 2 and asks_both_ways(request.text):
        common["constraints"] = {
            name: value for name, value in common.get("constraints", {}).items() if name != "cloud"
        }
    return [
        _one(_joined(common, payment(request.other, machine, way, len(machines))), model, machine, request)
        for model in models or [None]
        for machine, way in zip(machines or [()], ways or [None], strict=True)
    ]


def _joined(common: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What all machines share with what holds for one; both may name constraints."""
    constraints = {**common.get("constraints", {}), **own.get("constraints", {})}
    joined = {name: part for name, part in (common | own).items() if name != "constraints"}
    return joined | ({"constraints": constraints} if constraints else {})


def _common(request: Request) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    for name, largest in _LARGEST.items():
        value = getattr(request, name)
        if value is not None and 0 < value <= largest and value == int(value):
            spec[name] = int(value)
    if request.active_share and 0 < request.active_share <= 1:
        spec["active_share"] = request.active_share
    for name in ("weights", "kv_cache"):
        value = getattr(request, name)
        if value:
            spec[name] = value
    if spec.get("context_tokens") and spec.get("input_tokens", 0) > spec["context_tokens"]:
        del spec["context_tokens"]
    spec |= _surroundings(request)
    return spec


def _surroundings(request: Request) -> dict[str, Any]:
    other = request.other
    engine: dict[str, Any] = {"name": request.engine} if request.engine else {}
    if other.get("speculative"):
        engine["speculative"] = other["speculative"]
    if other.get("offload") == "experts_to_cpu" and not other.get("ram_gb"):
        engine["cpu_moe_layers"] = _EVERY_LAYER  # where RAM is named, the engine moves as few as it must
    engine |= _pasted_flags(request)
    degrees = {"tensor": "parallel_tp", "pipeline": "parallel_pp", "data": "parallel_dp", "expert": "parallel_ep"}
    parallel = {name: int(other[key]) for name, key in degrees.items() if other.get(key, 0) >= 1}
    host = {name: other[key] for name, key in _HOST.items() if other.get(key)}
    if isinstance(other.get("nvlink"), bool):
        host["nvlink"] = other["nvlink"]
    parts = {
        "engine": engine, "parallel": parallel, "host": host, "targets": _targets(request), "constraints": _constraints(other),
        "load": _load(request), "training": _training(request), "work": _work(request),
    }  # fmt: skip
    return {name: part for name, part in parts.items() if part}


def _pasted_flags(request: Request) -> dict[str, Any]:
    """Settings of a pasted command line; a split for other cards than those named is left out."""
    flags = dict(request.other.get("engine_flags") or {})
    if len(flags.get("tensor_split", ())) != sum(device.count or 1 for device in request.hardware):
        flags.pop("tensor_split", None)
    return flags


def _work(request: Request) -> dict[str, Any]:
    """The corpus, the vectors or the recordings of a message; pieces of text are counted as such where it says so."""
    other = request.other
    words = request.evidence.get("documents", "") or request.text
    pieces = other.get("documents")
    out: dict[str, Any] = {}
    if pieces and 1 <= pieces <= 1e7 and not _PIECES.search(words):
        out["documents"] = int(pieces)
        if each := _PAGES_EACH.search(request.text):
            out["pages_per_document"] = float(next(number for number in each.groups() if number))
        elif _PAGES.search(_with_next_word(words, request.text)):
            out["pages_per_document"] = 1.0
    elif pieces and 1 <= pieces <= 1e12:
        out["chunks"] = int(pieces)
    if other.get("dims") and 1 <= other["dims"] <= 65536:
        out["dimensions"] = int(other["dims"])
        out |= {"vector_bytes": 2.0} if _HALF.search(request.text.lower()) else {}
    length = request.context_tokens or request.input_tokens
    if out and length and 0 < length <= 1e9:
        out["chunk_tokens"] = int(length)
    if other.get("hours") and _SOUND.search(request.text.lower()):
        out["audio_hours"] = other["hours"]
    return out


def _with_next_word(words: str, text: str) -> str:
    """The words that a count was read from and what follows them: "200.000 PDF" goes on with "-Seiten"."""
    start = text.find(words)
    return words if start < 0 else text[start : start + len(words) + _AFTER_EVIDENCE]


def _targets(request: Request) -> dict[str, Any]:
    out: dict[str, Any] = {
        name: value for name, value in request.targets.model_dump(exclude_none=True).items() if value > 0
    }
    if request.budget:
        out |= {
            "budget": request.budget.amount,
            "budget_currency": request.budget.currency,
            "budget_period": request.budget.period,
        }
        if request.other.get("tax"):
            out["budget_gross"] = request.other["tax"] == "gross"
    if request.other.get("power_limit_w"):
        out["power_w"] = request.other["power_limit_w"]
    return out


def _constraints(other: Any) -> dict[str, Any]:
    names = ("vendor", "exclude_vendor", "max_devices", "location", "form", "card_power_w", "min_bits")
    out = {name: other[name] for name in names if other.get(name)}
    owned = [_hardware(Device(**device)) for device in other.get("owned", ()) if device["accelerator"] != "unknown"]
    if owned:
        out["owned"] = owned
    if isinstance(other.get("cloud"), bool):
        out["cloud"] = other["cloud"]
    if isinstance(other.get("nvlink"), bool):
        out["nvlink"] = other["nvlink"]
    return out


def _load(request: Request) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if request.other.get("offline_batch"):
        out["pattern"] = "offline"
    prefix = request.other.get("system_prompt_tokens")
    if prefix and 0 < prefix <= 1e9:
        out["shared_prefix_tokens"] = int(prefix)
    daily = request.other.get("requests_per_day")
    if daily and 0 < daily <= 1e12:
        out["requests_per_day"] = float(daily)
    rate = request.other.get("rate_rps")
    if rate and 0 < rate <= 1e9:
        out["rate_rps"] = float(rate)
    return out


def _training(request: Request) -> dict[str, Any]:
    if "finetune" not in request.intents and request.intent != "finetune":
        return {}
    other = request.other
    recipe = other.get("recipe") if other.get("recipe") in ("dpo", "grpo", "ppo") else None
    out: dict[str, Any] = {"method": recipe or request.method or "lora"}
    if recipe and request.method in ("lora", "qlora"):
        out["lora_rank"] = 16  # tells the engine that a preference run trains an adapter
    length = request.context_tokens or request.input_tokens
    if length and 0 < length <= 1e9:
        out["sequence_tokens"] = int(length)
    if other.get("batch_size"):
        out["micro_batch"] = int(other["batch_size"])
    if other.get("lora_rank"):
        out["lora_rank"] = int(other["lora_rank"])
    if other.get("epochs"):
        out["epochs"] = other["epochs"]
    if other.get("dataset_tokens"):
        out["dataset_tokens"] = other["dataset_tokens"]
    elif other.get("samples") and length:
        out["dataset_tokens"] = other["samples"] * length
    if other.get("offload"):
        out["offload"] = True
    return out


def _machines(request: Request) -> list[tuple[Device, ...]]:
    """The machines to size on; none where a count is one that cannot be."""
    if not request.hardware or any(d.count is not None and not 1 <= d.count <= MOST_DEVICES for d in request.hardware):
        return []
    if request.layout == "alternatives":
        return [(_as_counted(device, request),) for device in request.hardware]
    named = tuple(_as_counted(device, request) for device in request.hardware)
    return [named, *((device,) for device in request.alternatives)]


def _as_counted(device: Device, request: Request) -> Device:
    """Cards set against each other without a number are as many as the load needs: the spec leaves the count open."""
    open_count = device.count == 1 and device.accelerator in request.other.get("uncounted", ())
    return device.model_copy(update={"count": None}) if open_count else device


def _models(request: Request) -> list[dict[str, Any] | None]:
    out: list[dict[str, Any] | None] = []
    for name in request.models:
        match = find(name, "model", False)
        out.append({"id": match.id or name})
    if request.params_b and 0 < request.params_b <= 1e6:
        out.append({"params_b": request.params_b})
    return out


_PARTS = {"embedding": "embedder", "reranking": "reranker"}


def _service_parts(
    models: list[dict[str, Any] | None], request: Request
) -> tuple[list[dict[str, Any] | None], dict[str, Any]]:
    """Encoders named beside the one model that answers are parts of its service, not alternatives to it."""
    roles = [_PARTS.get(_task(model, request), "") for model in models]
    named = [role for role in roles if role]
    if "rag" not in request.intents or roles.count("") != 1 or not named or len(set(named)) < len(named):
        return models, {}
    parts = {role: model for role, model in zip(roles, models, strict=True) if role}
    return [model for role, model in zip(roles, models, strict=True) if not role], parts


def _one(
    common: dict[str, Any], model: dict[str, Any] | None, machine: tuple[Device, ...], request: Request
) -> dict[str, Any]:
    spec = {"task": _task(model, request), **common}
    if model:
        spec["model"] = model
    hardware = [_hardware(device) for device in machine]
    if len(hardware) == 1 and request.other.get("laptop"):
        hardware = [_mobile(hardware[0])]
    if hardware:
        spec["hardware"] = hardware
    return spec


def _mobile(device: dict[str, Any]) -> dict[str, Any]:
    """The laptop's part of that name where the catalogue knows one: a 3060 has half the memory there, all have half the power or less."""
    parts = catalogue().accelerators
    ident = re.sub(r"-\d+gb$", "", str(device.get("accelerator"))) + "-laptop"
    if (
        ident not in parts
        or device.get("memory_gb") not in (None, parts[ident].memory_gb)
        or device.get("count", 1) != 1
    ):
        return device
    return {**device, "accelerator": ident}


def _task(model: dict[str, Any] | None, request: Request) -> str:
    if request.intent == "finetune" or ("finetune" in request.intents and request.method):
        return "training"
    entry = catalogue().models.get(str(model.get("id"))) if model else None
    modality = str(getattr(entry, "modality", "") or "")
    tasks = {
        "embedding": "embedding",
        "reranker": "reranking",
        "asr": "transcription",
        "speech-to-text": "transcription",
        "image": "image",
        "diffusion": "image",
        "video": "video",
        "text-to-image": "image",
        "text-to-video": "video",
    }
    return tasks.get(modality, "inference")


def _hardware(device: Device) -> dict[str, Any]:
    """A device by its catalogue id where name and memory give one; an unnamed card by its memory."""
    out: dict[str, Any] = {}
    if device.accelerator != "unknown":
        written = f"{device.accelerator} {device.memory_gb:g}GB" if device.memory_gb else device.accelerator
        match = find(written, "accelerator", False)
        plain = find(device.accelerator, "accelerator", False)
        out["accelerator"] = match.id if match.id and not match.memory_differs else plain.id or device.accelerator
    if device.memory_gb and device.memory_gb > 0:
        out["memory_gb"] = device.memory_gb
    if device.count and device.count >= 1 and device.count == int(device.count):
        out["count"] = int(device.count)
    return out
