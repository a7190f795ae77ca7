"""What a serving engine does with the memory of a card, explained with its figures: the share it sets aside, the concurrency it logs,
a full cache, graphs that no longer fit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from bot.compose.draft import Draft
from bot.compose.launching import launch_commands
from bot.explain import with_mark
from bot.heard import Heard
from bot.sized import Sized, size
from bot.thread import Spec, ThreadState
from bot.understand.logs.reader import observe
from bot.understand.planning import folded_text
from sizing.defaults import Defaults

_LONGEST: Final = 300  # what is longer is a pasted log, which `bot.compose.diagnosis` reads
_OTHER_ENGINES: Final = re.compile(
    r"ollama|llama\.?cpp|lm ?studio|\bmlx\b|exllama|train|lora|fine-?tun|unsloth|axolotl"
)
_SERVER: Final = re.compile(r"\bvllm\b|\bsglang\b|nvidia-?smi|gpu[_-]memory[_-]utili[sz]ation")
_ASKS_WHY: Final = re.compile(
    r"\b(?:why|warum|wieso|weshalb|although|though|obwohl|trotz(?:dem)?|despite|dabei|normal|but|aber)\b"
)
# How busy a card is is no matter of what it holds.
_BUSY: Final = re.compile(
    r"\bausgelastet\b|\bgpu[- ]?(?:auslastung|util(?:i[sz]ation)?)\b|\b(?:busy|idle|utili[sz]ed)\b"
)
_AMOUNT: Final = re.compile(r"(\d{1,3}(?:[.,]\d+)?) ?(g(?:i?b)?|%|percent|prozent)(?![a-z])")
_CONCURRENCY: Final = re.compile(
    r"max(?:imum|imale?)?[ _](?:concurrency|nebenlaeufigkeit)(?: for ([\d,.]+) tokens)?.{0,60}?(\d+(?:[.,]\d+)?) ?x(?![a-z0-9])"
)
_USAGE: Final = re.compile(r"\bkv[- ]?cache\S*(?: \S+){0,3}? \(?(\d{1,3}(?:[.,]\d+)?) ?(?:%|percent|prozent)")
_GRAPHS: Final = re.compile(
    r"(?:out of memory|\boom\b|speicher).{0,80}?(?:captur|graph)|(?:captur|graph).{0,80}?(?:out of memory|\boom\b|speicher\w* voll)"
)
_FULL: Final = 0.9
_STEP: Final = 0.05
# An example where nothing is named: a small model that everybody knows on a card that many have.
_EXAMPLE: Final[Spec] = {"model": {"id": "meta-llama/Llama-3.1-8B-Instruct"}, "weights": "fp8"}
_EXAMPLE_CARD: Final[Spec] = {"accelerator": "nvidia-rtx-4090", "count": 1}
_CARDS_GB: Final = (8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 180, 192)
_NEAR: Final = 0.04
_DEFAULT_SHARES: Final = (0.92, 0.9)


def write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    """Fills the draft where a short message asks about one of these; False for anything else."""
    folded = folded_text(text)
    if len(text) > _LONGEST or text.count("\n") > 2 or _OTHER_ENGINES.search(folded):
        return False
    seen = observe(text)
    if seen is not None and seen.running is not None:  # a line of a serving log is a case for a diagnosis
        return False
    asked = _Asked(heard, text, folded, thread, defaults)
    return any(explain(draft, asked) for explain in _KINDS)


@dataclass(frozen=True, slots=True)
class _Asked:
    heard: Heard
    text: str
    folded: str
    thread: ThreadState
    defaults: Defaults


@dataclass(frozen=True, slots=True)
class _Named:
    """What of a deployment was said: nothing (an example), or a card known by what it shows alone."""

    is_example: bool = False
    observed_gb: float | None = None
    memory_gb: float | None = None


def _concurrency(draft: Draft, asked: _Asked) -> bool:
    """The line "Maximum concurrency for 32,768 tokens per request: 1.73x"."""
    match = _CONCURRENCY.search(asked.folded)
    if match is None:
        return False
    words, factor = draft.words, _number(match[2])
    context = int(re.sub(r"[.,]", "", match[1])) if match[1] else None
    for value in (factor, 2 * factor, *((context, context * factor) if context else ())):
        draft.material.add(value)
    sums = (
        words.text("budget", "concurrency_sum", tokens=context * factor, context=context, factor=factor)
        if context
        else ""
    )
    lead = words.text("budget", "concurrency_parts", twice=2 * factor)
    key = "concurrency" if factor >= 1 else "concurrency_short"
    draft.headline = words.text("budget", key, factor=factor)
    _explained(draft, lead, sums, topic="kv_cache")
    draft.say("note", words.text("budget", "concurrency_more", twice=2 * factor), draft.title("helps_more"))
    draft.say("note", words.text("budget", "next_concurrency"), draft.title("next"))
    return True


def _usage(draft: Draft, asked: _Asked) -> bool:
    """A share of the KV cache in use."""
    match, seen = _USAGE.search(asked.folded), observe(asked.text)
    if match is None or (seen is not None and seen.waiting):  # with requests in the queue it is a case for a diagnosis
        return False
    words, share = draft.words, _number(match[1]) / 100
    draft.material.add(share, "share")
    draft.headline = words.text("budget", "usage_full" if share >= _FULL else "usage_some", share=share)
    _explained(draft, words.text("budget", "usage_parts"), topic="kv_cache")
    if share >= _FULL:
        draft.say("note", words.text("budget", "usage_more"), draft.title("helps"))
    draft.say("note", words.text("budget", "next_usage"), draft.title("next"))
    return True


def _graphs(draft: Draft, asked: _Asked) -> bool:
    """Out of memory while graphs are captured."""
    if not _GRAPHS.search(asked.folded):
        return False
    sized, named = _deployment(asked)
    device, visible = next(iter(sized.devices), None), _visible_gib(sized)
    if device is None or not device.usable_gib or not visible:
        return False
    words, lower = draft.words, _lower(device.usable_gib / visible)
    params = {
        "share": device.usable_gib / visible, "visible": visible, "budget": device.usable_gib, "graphs": device.graphs_gib or 0.0,
        "outside": visible - device.usable_gib, "model": sized.figures["model"], "hardware": sized.hardware,
    }  # fmt: skip
    _trace(draft, sized, params)
    draft.material.add_text(_flag(lower))
    draft.headline = words.text("budget", "graphs")
    example = words.text("budget", "example", **params) if named.is_example else ""
    _explained(draft, words.text("budget", "graphs_parts", **params), example, topic="cuda_graphs")
    draft.say("note", words.text("budget", "graphs_more", flag=_flag(lower)), draft.title("helps"))
    _command(draft, sized, lower, "command_graphs", asked.defaults, example=named.is_example)
    draft.say("note", words.text("budget", "next_graphs"), draft.title("next"))
    return True


def _reserved(draft: Draft, asked: _Asked) -> bool:
    """ "Why does vLLM use 22 GB for a 1.5B model": a full card is the budget, not the need."""
    if _BUSY.search(asked.folded) or not all(cue.search(asked.folded) for cue in (_SERVER, _ASKS_WHY, _AMOUNT)):
        return False
    sized, named = _deployment(asked)
    device, visible = next(iter(sized.devices), None), _visible_gib(sized)
    if device is None or not device.usable_gib or not visible or not device.kv_pool_gib:
        return False
    words, figures = draft.words, sized.figures
    parts = {"budget_gib": device.usable_gib, "weights_gib": device.weights_gib, "kv_pool_gib": device.kv_pool_gib}
    rest = draft.work_out("activations_and_overhead", "budget_gib - weights_gib - kv_pool_gib", "GiB", **parts)
    params = {
        **figures, "share": device.usable_gib / visible, "visible": visible, "budget": device.usable_gib, "format": figures["weights"],
        "weights": device.weights_gib, "pool": device.kv_pool_gib, "tokens": figures.get("capacity_tokens", 0.0),
        "rest": rest, "observed": named.observed_gb, "memory": named.memory_gb,
    }  # fmt: skip
    _trace(draft, sized, params)
    headline = words.text("budget", "reserved" if _names_engine(asked.folded) else "reserved_if", **params)
    draft.headline = with_mark(headline, draft.sources.topic("gpu_memory_utilization", headline))
    told = [words.text("budget", "inferred", **params)] if named.memory_gb and named.observed_gb else []
    told += [words.text("budget", "example", **params)] if named.is_example else []
    _explained(draft, words.text("budget", "parts", **params), *told, topic="gpu_memory_utilization")
    _say_less(draft, sized, visible, asked.defaults, example=named.is_example)
    draft.say("note", words.text("budget", "next_reserved"), draft.title("next"))
    return True


_KINDS: Final[tuple[Callable[[Draft, _Asked], bool], ...]] = (
    _concurrency, _graphs, _usage, _reserved,
)  # fmt: skip


def _deployment(asked: _Asked) -> tuple[Sized, _Named]:
    """The deployment asked about on a serving engine; what was not named is taken from the figure shown, else from an example."""
    last = asked.thread.last_sized
    specs = (*asked.heard.specs, *(last.specs if last else ()))
    said: Spec = next((spec for spec in specs if spec.get("model") or spec.get("hardware")), {})
    observed = _observed_gb(asked.folded)
    memory = None if said.get("hardware") else _card_gb(observed)
    hardware = said.get("hardware") or [{"memory_gb": memory, "count": 1} if memory else dict(_EXAMPLE_CARD)]
    model = {} if said.get("model") else dict(_EXAMPLE)
    server = {"name": "sglang" if "sglang" in asked.folded else "vllm"}
    engine = {**server, **(said.get("engine") or {})}
    is_example = not said.get("model") or not (said.get("hardware") or memory)
    sized = size({**said, **model, "hardware": hardware, "engine": engine, "task": "inference"}, asked.defaults)
    return sized, _Named(is_example, observed if memory else None, memory)


def _observed_gb(folded: str) -> float | None:
    return next((_number(match[1]) for match in _AMOUNT.finditer(folded) if match[2].startswith("g")), None)


def _card_gb(observed_gb: float | None) -> int | None:
    """The card whose default budget is what was seen: 22 GB are 0.92 of 24."""
    if observed_gb is None:
        return None
    near = [
        (abs(share * memory / observed_gb - 1), memory)
        for memory in _CARDS_GB
        for share in _DEFAULT_SHARES
        if abs(share * memory / observed_gb - 1) <= _NEAR
    ]
    return min(near)[1] if near else None


def _names_engine(folded: str) -> bool:
    return "vllm" in folded or "sglang" in folded


def _visible_gib(sized: Sized) -> float | None:
    return sized.resolved.devices[0].visible_gib if sized.resolved and sized.resolved.devices else None


def _say_less(draft: Draft, sized: Sized, visible: float, defaults: Defaults, *, example: bool) -> None:
    """The share that the need itself would take, with the line that sets it."""
    if sized.figures.get("engine") != draft.words.engine("vllm"):
        return
    need = sized.devices[0].total_gib
    share = math.ceil(need / visible / _STEP + 0.5) * _STEP
    if share >= (sized.devices[0].usable_gib or 0.0) / visible:
        return
    draft.material.add_text(_flag(share))
    figures = sized.figures
    text = draft.words.text(
        "budget", "less", requests=figures["concurrency"], context=figures["context"], need=need, flag=_flag(share)
    )
    draft.say("note", f"{text} {draft.words.text('budget', 'default_share')}", draft.title("saves"))
    _command(draft, sized, share, "command", defaults, example=example)


def _command(draft: Draft, sized: Sized, share: float, title: str, defaults: Defaults, *, example: bool) -> None:
    """The launch line with another share; none for a model that was only an example or has no name to load."""
    if example or not (sized.spec.get("model") or {}).get("id"):
        return
    engine_said = {**(sized.spec.get("engine") or {}), "gpu_memory_utilization": round(share, 2)}
    changed = size({**sized.spec, "engine": engine_said}, defaults)
    commands = launch_commands(changed, draft.words, defaults) if changed.estimate.ok else ()
    draft.commands = tuple(one.model_copy(update={"title": draft.words.text("budget", title)}) for one in commands[-1:])


def _flag(share: float) -> str:
    """As the option takes it in every language."""
    return f"{share:.2f}"


def _lower(share: float) -> float:
    return round(share - _STEP, 2)


def _explained(draft: Draft, *sentences: str, topic: str) -> None:
    lead = " ".join(_said(sentences))
    draft.intent = "explain"
    draft.lead = with_mark(lead, draft.sources.topic(topic, lead))


def _said(sentences: tuple[str, ...]) -> Iterator[str]:
    return (sentence for sentence in sentences if sentence)


def _trace(draft: Draft, sized: Sized, params: dict[str, object]) -> None:
    draft.sized = [sized]
    for name, value in params.items():
        if isinstance(value, (int, float)):
            dimension = "share" if name == "share" else "bytes" if name != "tokens" else "any"
            scale = (
                2**30
                if dimension == "bytes" and name not in ("observed", "memory")
                else 1e9
                if dimension == "bytes"
                else 1
            )
            draft.material.add(float(value) * scale, dimension)


def _number(written: str) -> float:
    return float(written.replace(",", "."))
