"""Turns about a machine whose cards nobody named: the line to it, its memory channels, its threads."""

from __future__ import annotations

from typing import Final

from bot.compose.box_told import EXAMPLE_GB
from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.reply import names
from sizing.architecture.types import Architecture
from sizing.memory.weights import bits_per_weight, weights_bytes
from sizing.resolve import resolve_format, resolve_model
from sizing.spec import ModelRef, WorkloadSpec
from sizing.system.links import network_of
from sizing.system.needs import Needs
from sizing.system.ram import channels, ram_bound_tokens_s, ram_of
from sizing.units import GB, GIB

_SHORT_OF: Final = 1.03  # RAM that is short by less holds what is memory-mapped
_EXAMPLE_CORES: Final = 8
_EXAMPLE_MODEL, _EXAMPLE_FORMAT = "meta-llama/Llama-3.1-8B-Instruct", "q4_k_m"


def write_network(draft: Draft, parsed: WorkloadSpec) -> bool:
    """The line between people and a server whose cards nobody named."""
    words = draft.words
    streams = parsed.concurrency or parsed.users or 1
    network = network_of(
        Needs(devices=(), host=parsed.host, task=parsed.task, streams=streams, tokens_s=streams * 50.0)
    )
    sizes = {"size_gb": EXAMPLE_GB, "line_gb_s": network.line_gb_s}
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


def write_channels(draft: Draft, parsed: WorkloadSpec) -> bool:
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


def write_cpu_only(draft: Draft, threads: float) -> bool:
    """Without a card: what a model of everyday size reads for each token, and how fast which memory is."""
    draft.headline = draft.words.text("headline", "cpu_only", threads=threads)
    _say_example(draft)
    draft.material.add(threads)
    draft.material.add(_EXAMPLE_CORES)
    draft.say("note", draft.words.text("machine", "cpu_threads", threads=threads, cores=_EXAMPLE_CORES))
    return True


def write_cores(draft: Draft, cores: float) -> bool:
    """A processor with so many cores and nothing else: memory channels and not cores decide, for one and for many at once."""
    draft.material.add(cores)
    draft.headline = draft.words.text("leads", "cores", cores=cores)
    _say_example(draft)
    shared = draft.words.text("leads", "cores_shared")
    draft.say("note", with_mark(shared, draft.sources.topic("batching", shared)))
    return True


def _say_example(draft: Draft) -> None:
    words = draft.words
    read = weights_bytes(resolve_model(ModelRef(id=_EXAMPLE_MODEL))[0], resolve_format(_EXAMPLE_FORMAT))
    draft.material.add(read, "bytes")
    draft.material.add_names(["8B", "Q4_K_M", "8 GB"])
    text = words.text("machine", "cpu_example", read=read / GB, rates=_rates(draft, read))
    draft.say("note", with_mark(text, draft.sources.topic("cpu", text)), draft.title("cpu"))
