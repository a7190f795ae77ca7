"""Options for a workload: what would do, what almost would, and where there is nothing at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.compose.labels import option_label
from bot.reply.wording import Wording
from bot.sized import Sized, plain_spec, size_parsed
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.errors import UserError
from sizing.estimate import Failure
from sizing.recommend import Nearest, Option, recommend
from sizing.spec import WorkloadSpec, parse_spec

# A recommendation looks for hardware: what a spec says of its layout on other hardware does not bind it.
_BOUND_TO_HARDWARE = ("hardware", "parallel", "host")


@dataclass(frozen=True)
class Options:
    """Options as `sizing.recommend` ranks them, with the parsed specs at hand."""

    good: tuple[Sized, ...] = ()
    almost: tuple[tuple[Sized, tuple[Mapping[str, Any], ...]], ...] = ()
    searched: int = 0
    error: Failure | None = None
    why: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    notes: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    nearest: tuple[tuple[Nearest, Sized], ...] = ()
    tiers: Mapping[str, int] = field(default_factory=dict)


def options_for(spec: Spec, defaults: Defaults) -> Options:
    """What to take for a workload, whatever hardware its spec names."""
    free = {key: value for key, value in spec.items() if key not in _BOUND_TO_HARDWARE}
    try:
        parsed = parse_spec(free)
    except UserError:
        return Options()
    found = recommend(parsed, defaults)
    good = tuple(_sized(option, defaults) for option in found.options)
    return Options(
        good,
        tuple((_sized(option, defaults), option.why) for option in found.almost),
        found.searched,
        found.error,
        tuple(option.why for option in found.options),
        tuple(option.notes for option in found.options),
        tuple((near, _sized(near.option, defaults)) for near in found.nearest),
        found.tiers,
    )


def _sized(option: Option, defaults: Defaults) -> Sized:
    parsed: WorkloadSpec = parse_spec(option.spec)
    return size_parsed(parsed, defaults, plain_spec(parsed), option.estimate)


def almost_text(options: Options, asked: Sized, words: Wording) -> str:
    """The cheapest that almost works, and what it lacks; what was asked about is told already."""
    sentences = []
    others = [(option, lacks) for option, lacks in options.almost if option.hardware != asked.hardware]
    for option, lacks in others[:1]:
        lacking = words.listed([text for one in lacks if (text := lack_text(one, words))])
        if lacking:
            sentences.append(words.text("almost", "sentence", label=option_label(option, words), lacking=lacking))
    return " ".join(sentences)


def lack_text(lack: Mapping[str, Any], words: Wording) -> str:
    """What an option lacks, by the code that `sizing.recommend` gives; a code without a text is not told."""
    params: dict[str, Any] = dict(lack.get("params", {}))
    code = str(lack["code"])
    if code == "target_missed":
        return words.text("lack", f"target_{params['target']}", **params)
    if code == "over_budget":
        params |= {name: words.money(params[name], params["currency"], 0) for name in ("amount", "limit")}
        params["period"] = words.text("nearest", f"period_{params['period']}")
    return words.text("lack", code, **params) if words.has("lack", code) else ""


def lack_facts(lack: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a lack under names that tell their dimension: a wished rate in tokens/s, a time in seconds or ms."""
    params: dict[str, Any] = dict(lack.get("params", {}))
    if lack["code"] != "target_missed":
        return params
    target = str(params["target"])
    return {target: params["wanted"], "ttft_ms" if target == "ttft_s" else f"got_{target}": params["got"]}


def strictly_better(options: Sequence[Sized], asked: Sized) -> list[Sized]:
    """Options other than the one that was asked about."""
    return [option for option in options if option.hardware != asked.hardware]
