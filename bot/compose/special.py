"""Turns that are about something else than a model on a card: logs, the machine, corpora, services, training from scratch."""

from __future__ import annotations

import re
from typing import Final

from bot.compose import (
    advice,
    best_model,
    budget,
    costs,
    diagnosis,
    energy,
    focus,
    headline,
    nvlink,
    ram_need,
    service,
    singles,
    slow,
    system,
    training_time,
    variants,
    work,
)
from bot.compose.assumptions import assumption_views
from bot.compose.draft import Draft
from bot.compose.quantity import quantity_of
from bot.explain import with_mark
from bot.heard import Heard
from bot.reply import names
from bot.sized import Sized, hardware_label, is_machine, size
from bot.thread import Spec, ThreadState
from bot.understand.planning import topic_of
from sizing.architecture.types import Architecture
from sizing.catalogue.load import catalogue
from sizing.defaults import Defaults
from sizing.ecosystems import ecosystem_of
from sizing.errors import UserError
from sizing.memory.weights import bits_per_weight, weights_bytes
from sizing.resolve import resolve_format, resolve_model
from sizing.spec import ModelRef, WorkloadSpec, parse_spec
from sizing.system.links import network_of
from sizing.system.needs import Needs
from sizing.system.ram import SERVICES_GB, channels, ram_bound_tokens_s, ram_of
from sizing.units import GB, GIB
from sizing.work.pipeline_training import pipeline_training
from sizing.work.rag import index_only

_WORK_TASKS: Final = frozenset({"embedding", "reranking", "transcription", "image", "video"})
_FROM_SCRATCH: Final = re.compile(
    r"\b(?:von (?:null|grund auf)|from scratch|from zero|pre-?train\w*|vortrainier\w*)", re.IGNORECASE
)
_SCRATCH_PARAMS_B: Final = 7.0
_CHINCHILLA: Final = 20.0
_SHORT_OF: Final = 1.03  # RAM that is short by less holds what is memory-mapped
_EXAMPLE_CORES: Final = 8
_EXAMPLE_MODEL, _EXAMPLE_FORMAT = "meta-llama/Llama-3.1-8B-Instruct", "q4_k_m"


def write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    """Fills the draft where the turn is one of these; the first that fits."""
    if heard.clicked or heard.wish or not heard.in_scope:
        return False
    try:
        return _write(draft, heard, text, thread, defaults)
    except UserError:
        return False  # a name in it is unknown: the ordinary way says which, and what would work


def _write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    spec: Spec = heard.specs[0] if heard.specs else {}
    return (
        budget.write(draft, heard, text, thread, defaults)
        or diagnosis.write(draft, heard, text, thread, defaults)
        or slow.write(draft, heard, text, thread, defaults)
        or singles.write(draft, heard, text, defaults)
        or nvlink.write(draft, heard, defaults)
        or best_model.write(draft, heard, text, defaults)
        or _write_work(draft, spec, heard, defaults)
        or _write_training(draft, spec, heard, text)
        or training_time.write(draft, spec, heard, defaults)
        or _write_service(draft, spec, heard, text, defaults)
        or energy.write(draft, text, defaults)
        or variants.write(draft, heard, text, defaults)
        or (heard.intent == "cost" and _write_cost(draft, spec, heard, defaults))
        or _write_ecosystem(draft, spec, text)
        or advice.write(draft, spec, text)
        or ram_need.write(draft, spec, heard, text, defaults)
        or _write_machine(draft, spec, heard, text, defaults)
    )


def say_beside(draft: Draft, sized: Sized, heard: Heard) -> None:
    """What these rooms add to a verdict: prices named, what fits a training run."""
    from bot.compose import fitting

    if heard.asks("cost"):
        costs.say_prices(draft, sized, heard)
    if sized.parsed is not None and sized.parsed.task == "training":
        fitting.say_fitting(draft, sized)
    elif heard.asks("power", "system") or (sized.parsed is not None and sized.parsed.host.power_limit_w):
        system.say_parts(draft, sized, heard, draft.sources.query)


def say_ecosystem(draft: Draft, sized: Sized) -> None:
    """What a chip that is no GPU binds one to, wherever such a chip is sized."""
    for device in {one.accelerator for one in sized.devices if one.accelerator}:
        family = ecosystem_of(catalogue().accelerators[device]).family
        if family in _BINDING:
            text = draft.words.text("ecosystem", family)
            if all(text not in paragraph.text for paragraph in draft.paragraphs):
                draft.say("note", with_mark(text, draft.sources.topic("tpu_npu", text)), draft.title("ecosystem"))


_BINDING: Final = frozenset({"tpu", "neuron", "gaudi", "npu_server", "wafer", "other"})
_CHIPS: Final = (
    ("npu_client", re.compile(r"\bnpus?\b", re.IGNORECASE)),
    ("tpu", re.compile(r"\btpus?\b", re.IGNORECASE)),
    ("neuron", re.compile(r"\b(?:inferentia|trainium|neuron)\b", re.IGNORECASE)),
    ("gaudi", re.compile(r"\bgaudi\b", re.IGNORECASE)),
    ("npu_server", re.compile(r"\bascend\b", re.IGNORECASE)),
)


def _write_ecosystem(draft: Draft, spec: Spec, text: str) -> bool:
    """A kind of chip without a model of chip: what it binds one to, and when not to take it."""
    named = any(entry.get("accelerator") or entry.get("memory_gb") for entry in spec.get("hardware") or ())
    kinds = [kind for kind, pattern in _CHIPS if pattern.search(text)]
    if named or not kinds:
        return False
    first, *rest = (draft.words.text("ecosystem", kind) for kind in kinds)
    draft.headline = with_mark(first, draft.sources.topic("tpu_npu", first))
    for sentence in (*rest, draft.words.text("ecosystem", "gpu")):
        draft.say("note", sentence, draft.title("ecosystem"))
    return True


def _write_cost(draft: Draft, spec: Spec, heard: Heard, defaults: Defaults) -> bool:
    return costs.write_unnamed(draft, spec, heard, defaults) or costs.write_flat(draft, spec, heard, defaults)


def _write_work(draft: Draft, spec: Spec, heard: Heard, defaults: Defaults) -> bool:
    if (
        len(heard.specs) != 1
        or spec.get("task") not in _WORK_TASKS
        or not spec.get("model")
        or not spec.get("hardware")
    ):
        return False
    return work.write(draft, size(spec, defaults), defaults)


def _write_service(draft: Draft, spec: Spec, heard: Heard, text: str, defaults: Defaults) -> bool:
    if heard.intent != "rag" and not (heard.asks("rag") and spec.get("work")):
        return False
    parsed = _parsed(spec)
    index = index_only(parsed.work) if parsed is not None and not spec.get("model") else None
    if index is not None:
        work.write_index(draft, index)
        return True
    if not (spec.get("work") or spec.get("users") or _whole_service(text)):
        return False
    return service.write(draft, spec, defaults)


_SERVICE_WORDS: Final = re.compile(r"rerank|parsing|ragflow|\brag\b|embedd|dokument|document", re.IGNORECASE)


def _whole_service(text: str) -> bool:
    """At least two stages of a service named: an explanation of RAG alone is none of ours."""
    return len({match[0].lower() for match in _SERVICE_WORDS.finditer(text)}) >= 2


def _parsed(spec: Spec) -> WorkloadSpec | None:
    try:
        return parse_spec(spec)
    except UserError:
        return None


def _write_machine(draft: Draft, spec: Spec, heard: Heard, text: str, defaults: Defaults) -> bool:
    parsed = _parsed(_with_services(spec, text))
    if parsed is None:
        return False
    if not (
        heard.intent in ("power", "system") or _names_machine(spec, heard, text) or _asks_of_limit(parsed, heard, text)
    ):
        return False
    if spec.get("hardware") and not spec.get("model"):
        probe = Sized(spec, parsed, size({**spec, "model": {"id": "Qwen/Qwen3-8B"}}, defaults).estimate, None)
        return probe.estimate.ok and system.write_machine(draft, probe, heard, text)
    if spec.get("hardware"):
        return _write_machine_of(draft, spec, parsed, heard, text, defaults)
    asked = focus.focuses(text)
    if "network" in asked:
        return _write_network(draft, parsed)
    if spec.get("model") and {"cpu", "ram"} & set(asked):
        return _write_channels(draft, parsed)
    threads = focus.threads(text) or (heard.request.get("other") or {}).get("cpu_cores")
    return bool(threads) and not spec.get("model") and _write_cpu_only(draft, float(threads or 0))


def _names_machine(spec: Spec, heard: Heard, text: str) -> bool:
    """A part of the machine is what is asked about, whatever else the words may mean."""
    if _about_ram(spec, text) or _about_the_machine(spec, text):
        return True
    if spec.get("hardware") and quantity_of(text) == "ram":
        return True
    bare = not spec.get("model") and not _MODELS.search(text)
    return heard.asks("power", "system") and bare and bool(focus.focuses(text))


# What is asked beside the machine takes a verdict.
_OTHER_INTENTS: Final = ("fits", "size", "compare", "cost", "finetune")


def _write_machine_of(
    draft: Draft, spec: Spec, parsed: WorkloadSpec, heard: Heard, text: str, defaults: Defaults
) -> bool:
    """Power, RAM or machine of a deployment with its model: whether the model fits is only said where it does not."""
    ram = quantity_of(text) == "ram"
    capped = _asks_of_limit(parsed, heard, text)
    if not (ram or capped) and (heard.intent not in ("power", "system") or heard.asks(*_OTHER_INTENTS)):
        return False
    sized = size(spec, defaults)
    if not sized.estimate.ok or len(heard.specs) != 1 or (ram and is_machine(sized)):
        return False
    probe = Sized(spec, parsed, sized.estimate, sized.resolved)
    if not system.write_machine(draft, probe, heard, text, sized.estimate):
        return False
    if capped:
        _say_beside_limit(draft, sized)
    elif sized.estimate.fits is False:
        draft.say("warning", headline.verdict_headline(sized, draft.words), draft.title("warning"))
    return True


def _say_beside_limit(draft: Draft, sized: Sized) -> None:
    """The verdict on memory stands second where the pace under a limit was asked; what to do is to measure both."""
    draft.asks_back = False
    draft.say("note", headline.verdict_headline(sized, draft.words), draft.title("memory_verdict"))
    limit = sized.parsed.host.power_limit_w if sized.parsed else None
    draft.say("note", draft.words.text("machine", "limit_next", limit=limit), draft.title("next_step"))
    draft.assumptions = assumption_views(sized, draft.words)


def _asks_of_limit(parsed: WorkloadSpec, heard: Heard, text: str) -> bool:
    """What a power limit does to the pace is asked for, by a question of power or of speed."""
    of_pace = heard.intent in ("throughput", "explain", "system") and _SLOWER.search(text) is not None
    return bool(parsed.host.power_limit_w) and "limit" in focus.focuses(text) and (heard.intent == "power" or of_pace)


_SLOWER: Final = re.compile(
    r"slow|faster|langsam|schneller|los(?:e|ing|s)\b|verlier|verlust|kostet|\bcosts?\b|impact|effect|auswirk|bleibt|left|"
    r"wie viel|how much|lohnt|worth",
    re.IGNORECASE,
)


def _with_services(spec: Spec, text: str) -> Spec:
    """A database, a workflow tool or a proxy named beside the card takes its share of RAM."""
    found = topic_of(text)
    if found is None or found[0] != "services":
        return spec
    return {**spec, "host": {"services_gb": SERVICES_GB, **(spec.get("host") or {})}}


def _about_ram(spec: Spec, text: str) -> bool:
    """ "Are 16 GB of RAM enough for a server with …": RAM is named, a card is, a model is not."""
    return bool((spec.get("host") or {}).get("ram_gb")) and not spec.get("model") and "ram" in focus.focuses(text)


def _about_the_machine(spec: Spec, text: str) -> bool:
    """Heat, supply, circuit or energy of a card named without a model, where no model is asked for."""
    asked = focus.focuses(text)[:1]
    return (
        bool(spec.get("hardware"))
        and not spec.get("model")
        and asked != ()
        and asked[0] in _POWER
        and not _MODELS.search(text)
    )


_POWER: Final = frozenset({"heat", "supply", "circuit", "energy", "limit", "ram"})
_MODELS: Final = re.compile(r"model", re.IGNORECASE)


def _write_network(draft: Draft, parsed: WorkloadSpec) -> bool:
    """The line between people and a server whose cards nobody named."""
    words = draft.words
    streams = parsed.concurrency or parsed.users or 1
    network = network_of(
        Needs(devices=(), host=parsed.host, task=parsed.task, streams=streams, tokens_s=streams * 50.0)
    )
    sizes = {"size_gb": system.EXAMPLE_GB, "line_gb_s": network.line_gb_s}
    seconds = draft.work_out("copy", "size_gb / line_gb_s", "s", **sizes)
    draft.material.add_data({"streams": streams, "text": network.text_mbit_s, "line": network.line_gbit, **sizes})
    draft.material.add(network.share_of_line, "share")
    draft.headline = words.text(
        "machine",
        f"network_{network.verdict}",
        streams=streams,
        text=network.text_mbit_s,
        share=network.share_of_line,
        line=network.line_gbit,
    )
    more = words.text("machine", "network_more", time=seconds, line=network.line_gbit)
    draft.say("note", with_mark(more, draft.sources.topic("network", more)), draft.title("network"))
    draft.say("note", words.text("machine", "network_vpn"))
    return True


def _write_channels(draft: Draft, parsed: WorkloadSpec) -> bool:
    """A model whose experts lie in RAM: what each token reads, and how fast which socket is at best."""
    model, _ = resolve_model(parsed.model)
    chosen = resolve_format(parsed.weights or "q4_k_m")
    words, bits = draft.words, bits_per_weight(chosen)
    in_ram = model.expert_params * bits / 8 if model.moe is not None else weights_bytes(model, chosen)
    read = _read_per_token(model, bits)
    draft.material.add(in_ram, "bytes")
    draft.material.add(read, "bytes")
    draft.headline = words.text(
        "headline",
        "channels",
        model=names.model(model.id),
        weights=names.weight_format(chosen.id),
        ram=in_ram / GIB,
        read=read / GB,
    )
    draft.material.add_names([names.model(model.id), names.weight_format(chosen.id)])
    ram = ram_of(Needs(devices=(), host=parsed.host, task=parsed.task, host_gib=in_ram / GIB))
    has = parsed.host.ram_gb
    holds = ""
    if has is not None and ram is not None:
        draft.material.add_data({"has_gb": has, "proposed_gb": ram.proposed_gb})
        key = "ram_holds" if has * GB * _SHORT_OF >= in_ram else "ram_holds_not"
        holds = words.text("machine", key, has=has, need=in_ram / GIB, proposed=ram.proposed_gb)
    text = words.text("machine", "cpu_channels", rates=_rates(draft, read))
    draft.say("note", with_mark(text, draft.sources.topic("moe_offload", text)), draft.title("cpu"))
    draft.say("note", holds, draft.title("ram"))
    return True


def _read_per_token(model: Architecture, bits: float) -> float:
    """Bytes of experts that one token reads; of all weights where there are none."""
    if model.moe is None:
        return model.params_active * bits / 8
    return model.expert_params * model.moe.experts_per_token / model.moe.experts * bits / 8


def _rates(draft: Draft, read_bytes: float) -> str:
    words = draft.words
    shown = []
    for platform, rate in channels():
        tokens = ram_bound_tokens_s(read_bytes, rate)
        draft.material.add(tokens, "rate")
        draft.material.add_names([platform])
        shown.append(words.text("machine", "cpu_channel", rate=tokens, platform=platform))
    return words.listed(shown)


def _write_cpu_only(draft: Draft, threads: float) -> bool:
    words = draft.words
    read = weights_bytes(resolve_model(ModelRef(id=_EXAMPLE_MODEL))[0], resolve_format(_EXAMPLE_FORMAT))
    draft.material.add(threads)
    draft.material.add(read, "bytes")
    draft.material.add(_EXAMPLE_CORES)
    draft.material.add_names(["8B", "Q4_K_M", "8 GB"])
    draft.headline = words.text("headline", "cpu_only", threads=threads)
    text = words.text("machine", "cpu_example", read=read / GB, rates=_rates(draft, read))
    draft.say("note", with_mark(text, draft.sources.topic("cpu", text)), draft.title("cpu"))
    draft.say("note", words.text("machine", "cpu_threads", threads=threads, cores=_EXAMPLE_CORES))
    return True


def _write_training(draft: Draft, spec: Spec, heard: Heard, text: str) -> bool:
    if heard.intent != "finetune":
        return False
    parsed = _parsed(spec)
    if parsed is None:
        return False
    if _FROM_SCRATCH.search(text) and parsed.hardware:
        return _write_scratch(draft, parsed)
    return _write_pipeline(draft, parsed)


def _write_scratch(draft: Draft, parsed: WorkloadSpec) -> bool:
    """A model of its own from nothing: the time that 20 tokens a parameter take on these cards."""
    params = (parsed.model.params_b if parsed.model else None) or _SCRATCH_PARAMS_B
    tokens = _CHINCHILLA * params
    training = {"method": "full", "dataset_tokens": tokens * 1e9, "sharding": "zero3", "sequence_tokens": 4096}
    plain = {
        "task": "training",
        "model": {"params_b": params},
        "training": training,
        "hardware": [entry.model_dump(exclude_none=True) for entry in parsed.hardware],
    }
    sized = size(plain, Defaults())
    hours = (sized.estimate.training or {}).get("hours")
    if not hours:
        return False
    words = draft.words
    draft.sized = [sized]
    seconds = work.hours_as_seconds(hours)
    work.add_times(draft, seconds)
    draft.material.add_data({"params": params, "tokens": tokens, "each": _CHINCHILLA})
    draft.headline = words.text(
        "headline", "scratch", params=params, time=work.span_time(seconds, words), hardware=hardware_label(parsed)
    )
    draft.lead = words.text("fitting", "scratch", tokens=tokens)
    need = max(device.total_gib for device in sized.devices)
    sentence = words.text("fitting", "scratch_memory", params=params, need=need)
    draft.say("note", with_mark(sentence, draft.sources.topic("training_time", sentence)), draft.title("training"))
    return True


def _write_pipeline(draft: Draft, parsed: WorkloadSpec) -> bool:
    """Training an image or video model: states by method on the part that draws."""
    entry = catalogue().models.get(str(parsed.model.id)) if parsed.model else None
    if entry is None or not entry.components:
        return False
    model, _ = resolve_model(parsed.model)
    found = pipeline_training(model)
    if found is None:
        return False
    words, lora = draft.words, bool(parsed.training and parsed.training.method in ("lora", "qlora"))
    activations = found.activations_bytes
    need, pure = (
        draft.work_out(
            name, "states_bytes + activations_bytes", "bytes", states_bytes=states, activations_bytes=activations
        )
        for name, states in (
            ("need", found.lora_bytes if lora else found.mixed_bytes),
            ("need_in_16_bit", found.pure_bytes),
        )
    )
    for value in (
        found.mixed_bytes,
        found.pure_bytes,
        found.small_bytes,
        found.lora_bytes,
        found.frozen_bytes,
        activations,
    ):
        draft.material.add(value, "bytes")
    draft.material.add(found.params)
    name = names.model(model.id)
    draft.material.add_names([name])
    draft.headline = words.text(
        "headline",
        "pipeline_lora" if lora else "pipeline",
        model=name,
        need=need / GIB,
        pure=pure / GIB,
    )
    sentence = words.text(
        "fitting",
        "pipeline",
        role=words.text("work", f"role_{found.role}"),
        params=found.params / 1e9,
        mixed=found.mixed_bytes / GIB,
        pure=found.pure_bytes / GIB,
        small=found.small_bytes / GIB,
        lora=found.lora_bytes / GIB,
        frozen=found.frozen_bytes / GIB,
    )
    draft.say("note", with_mark(sentence, draft.sources.topic("training_memory", sentence)), draft.title("training"))
    draft.say("note", words.text("fitting", "pipeline_activations", act=activations / GIB))
    return True
