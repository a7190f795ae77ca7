"""A diagnosis in words: what a pasted log or plain figures show, against the estimate where there is one."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.compose import failed_start, leading, room
from bot.compose.draft import Draft
from bot.explain import with_mark
from bot.heard import Heard
from bot.reply.wording import Wording
from bot.sized import Sized, size
from bot.specs import merged
from bot.thread import Spec, ThreadState
from bot.understand.logs.reader import is_bench, observe
from sizing.defaults import Defaults
from sizing.diagnose import Compared, Diagnosis, Finding, diagnose
from sizing.observation import Observation

# Plain percentages ask for a diagnosis only where the message asks for a cause; a pasted log always does.
_ASKS_WHY: Final = re.compile(
    r"\b(?:why|warum|wieso|weshalb|woran|slow|langsam|bottleneck|engpass|flaschenhals|normal|limit\w*|"
    r"bremst?|wrong|falsch|what now|was tun|"
    r"hilft|help|improve|schneller|faster)\b",
    re.IGNORECASE,
)
_SHARES: Final = frozenset({"gpu_share", "kv_usage", "gpu", "vram", "cpu", "share"})
_MOST_HELP = 4
_KNOWN_SERVERS: Final = frozenset({"vllm", "sglang"})


def write(draft: Draft, heard: Heard, text: str, thread: ThreadState, defaults: Defaults) -> bool:
    """Fills the draft from a log or from figures of a monitor; False where the message holds none."""
    seen = observe(text)
    if seen is None and leading.asks_of_failed_start(heard, text):
        sized = _sized(heard, thread, defaults)
        told = Observation(sources=("figures",), fault="out_of_memory")
        return _is_server(sized) and failed_start.write(draft, sized, told, defaults)
    if room.is_asked(heard, seen, text):
        return False
    if seen is None or (seen.sources == ("figures",) and not _ASKS_WHY.search(text)):
        return False
    sized = _at_load(_sized(heard, thread, defaults), seen, defaults)
    if failed_start.write(draft, sized, seen, defaults):
        return True
    found = diagnose(_comparable(seen), sized.estimate if sized else None)
    draft.intent = "explain"
    draft.sized = [sized] if sized else []
    _add_material(draft, seen, found)
    draft.headline = _headline(found, draft.words)
    topic = "diagnosis"
    findings = " ".join(finding_text(one, draft.words) for one in found.findings)
    draft.say("diagnosis", with_mark(findings, draft.sources.topic(topic, findings)), draft.title("diagnosis"))
    _say_compared(draft, found, sized if is_bench(seen) else None)
    notes = [finding_text(one, draft.words) for one in found.notes]
    if not found.sure:
        notes.append(draft.words.text("finding", "low_proves_nothing"))
    draft.say("note", " ".join(notes))
    draft.say("note", _sentence(draft.words.text("next", found.next_measurement)), draft.title("next"))
    for code in (found.next_measurement, *found.changes[:_MOST_HELP]):
        section = "next" if code == found.next_measurement else "help"
        draft.material.add_text(draft.words.text(section, code))
    if found.changes:
        helps = draft.words.listed((draft.words.text("help", code) for code in found.changes[:_MOST_HELP]), "or")
        draft.say("note", _sentence(helps), draft.title("helps"))
    return True


def _comparable(seen: Observation) -> Observation:
    """Prompts that a server read on average are those that came, not what it can read: nothing to hold against an estimate."""
    serving = seen.running is not None and not is_bench(seen)
    return seen.model_copy(update={"prefill_tok_s": None}) if serving else seen


def _is_server(sized: Sized | None) -> bool:
    """Cards of one kind under an engine whose start-up settings are known."""
    if sized is None or sized.resolved is None or len(sized.spec["hardware"]) != 1:
        return False
    return sized.resolved.engine.name in _KNOWN_SERVERS


def _sized(heard: Heard, thread: ThreadState, defaults: Defaults) -> Sized | None:
    """The deployment that the figures are from: of the message, else of the thread."""
    last = thread.last_sized
    specs: tuple[Spec, ...] = heard.specs or (last.specs if last else ())
    sizable = [spec for spec in specs if spec.get("model") and spec.get("hardware")]
    found = size(sizable[0], defaults) if sizable else None
    return found if found is not None and found.estimate.ok else None


def _at_load(sized: Sized | None, seen: Observation, defaults: Defaults) -> Sized | None:
    """The deployment under the load that was measured: what a bench shows is held against the estimate for that very load."""
    if sized is None or not is_bench(seen):
        return _as_serving(sized, seen, defaults) if sized is not None and seen.running else sized
    requests = 1.0 if "ollama" in seen.sources else seen.concurrency
    measured = {
        "concurrency": requests and max(1, round(requests)),
        "input_tokens": seen.input_tokens and round(seen.input_tokens),
        "output_tokens": seen.output_tokens and round(seen.output_tokens),
    }
    load: Spec = {name: value for name, value in measured.items() if value}
    if "concurrency" in load and "users" in sized.spec:
        load |= {"users": None, "active_share": None}
    longest = load.get("input_tokens", 0) + load.get("output_tokens", 0)
    if longest > (sized.figures.get("context") or 0):
        load["context_tokens"] = longest
    again = size(merged(sized.spec, load), defaults) if load else sized
    return again if again.estimate.ok else sized


def _as_serving(sized: Sized, seen: Observation, defaults: Defaults) -> Sized:
    """As many requests as a server's log shows running, each as long as its share of the cache that they fill."""
    load: Spec = {"concurrency": seen.running, "users": None, "active_share": None}
    capacity = sized.figures.get("capacity_tokens")
    if capacity and seen.kv_usage and seen.running:
        each = int(capacity * seen.kv_usage / seen.running)
        load["context_tokens"] = max(1, min(each, int(sized.figures["context"])))
    again = size(merged(sized.spec, load), defaults)
    return again if again.estimate.ok else sized


def _load_text(sized: Sized, words: Wording) -> str:
    """What load the comparison is for."""
    speed = sized.estimate.speed
    if speed is None or not speed.input_tokens or not speed.output_tokens:
        return ""
    return words.text(
        "commands", "expect_load", concurrency=sized.figures.get("concurrency", 1), given=speed.input_tokens, written=speed.output_tokens
    )  # fmt: skip


def _headline(found: Diagnosis, words: Wording) -> str:
    slow = any(one.judgement == "below" and one.unit != "GiB" for one in found.compared)
    key = "diagnosis_slow_unknown" if found.bottleneck == "unknown" and slow else f"diagnosis_{found.bottleneck}"
    return words.text("headline", key)


def finding_text(finding: Finding, words: Wording) -> str:
    """A finding with its figures; texts exist for fewer figures where a log did not show all."""
    params = finding.params
    key = finding.code
    if key in ("out_of_memory", "cache_too_small") and params.get("missing_gib") is not None:
        key = f"{key}_gib"
    elif key == "cache_full_and_waiting" and not {"kv_usage", "waiting"} <= params.keys():
        key = "preempted"
    elif key == "started_well" and "kv_capacity_tokens" in params:
        key = "started_with_concurrency" if "max_concurrency" in params else "started_with_capacity"
    elif key == "cpu_busy_gpu_waits":
        params = {"gpu": 0.0, **params}
    return words.text("finding", key, **params)


def _say_compared(draft: Draft, found: Diagnosis, under_load: Sized | None) -> None:
    rows = [_row(one, draft.words) for one in found.compared if one.expected is not None]
    told = _sentence("; ".join(rows))
    if told and under_load is not None and (load := _load_text(under_load, draft.words)):
        told = f"{told} {load}"
    draft.say("diagnosis", told, draft.title("expected"))


def _row(one: Compared, words: Wording) -> str:
    label = words.text("compared", one.quantity)
    observed, expected = _value(one, one.observed, words), ""
    if one.expected is None:
        return words.text("compared", "row_alone", label=label, observed=observed)
    if one.unit == "ms":
        expected = words.span_seconds(one.expected)
    elif one.unit == "GiB":
        expected = words.gib(one.expected.expected)
    else:
        expected = words.span(one.expected)
    return words.text("compared", "row", label=label, observed=observed, expected=expected)


def _value(one: Compared, value: float, words: Wording) -> str:
    return words.ms(value) if one.unit == "ms" else words.gib(value) if one.unit == "GiB" else words.number(value)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _add_material(draft: Draft, seen: Observation, found: Diagnosis) -> None:
    material = draft.material
    material.add_data(seen.seen())
    for finding in (*found.findings, *found.notes):
        for name, value in finding.params.items():
            _add(draft, name, value)
    for one in found.compared:
        for value in (
            one.observed,
            *((one.expected.low, one.expected.expected, one.expected.high) if one.expected else ()),
        ):
            _add(draft, one.quantity, value)


def _add(draft: Draft, name: str, value: Any) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return
    if name in _SHARES:
        draft.material.add(float(value), "share")
    else:
        draft.material.add_data({name: value})
        draft.material.add(float(value), "rate")
