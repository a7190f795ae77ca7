"""read: a message → Request. The rules propose, the best reading of every word stands, and each value keeps its words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.understand.correction import corrected
from bot.understand.daily import requests_per_day
from bot.understand.device_details import MOST_DEVICES, DeviceMention
from bot.understand.devices import read_devices
from bot.understand.engine_flags import read_engine_flags
from bot.understand.engines import (
    EngineMention,
    MethodReading,
    choose_engine,
    compared_engines,
    read_engines,
    read_method,
    serves_adapters,
    trains,
)
from bot.understand.figures import Figures, pick, read_figures
from bot.understand.follow_up import FollowUp, read_follow_up
from bot.understand.formats import FormatMention, choose, read_formats
from bot.understand.hardware import Machines, machines
from bot.understand.intents import cues, slash_word
from bot.understand.judge import intents_of, open_points
from bot.understand.language import Lang, language
from bot.understand.lexicon import other_versions
from bot.understand.models import ModelMention, SizeMention, read_models
from bot.understand.refused import refused
from bot.understand.remarks import read_remarks
from bot.understand.request import Assumption, Budget, Clarify, Overruled, Period, Request, Wishes
from bot.understand.scope import Scope, read_scope
from bot.understand.sides import with_sides
from bot.understand.targets import Money
from bot.understand.text import Spans, Text, fold
from bot.understand.thread import apply
from bot.understand.usage import read_usage
from sizing.catalogue.names import find


@dataclass(slots=True)
class Draft:
    """The fields of one message while they are being filled."""

    values: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, str] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=dict)
    derived: list[str] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Found:
    """Everything the readers found in one message."""

    text: Text
    lang: Lang
    models: list[ModelMention]
    sizes: list[SizeMention]
    devices: list[DeviceMention]
    formats: list[FormatMention]
    engines: list[EngineMention]
    method: MethodReading
    figures: Figures
    machines: Machines
    scope: Scope
    training: bool
    follow_up: FollowUp
    in_thread: bool


def read(text: str, *, thread: Sequence[Request] = ()) -> Request:
    """Read one message; with the turns before it, the Request holds the whole spec after this turn."""
    found = _find(text, thread[-1] if thread else None)
    alone = corrected(found.text, found.figures, found.follow_up, _request(found, bool(thread)), thread)
    alone = with_sides(alone, read)
    return apply(thread, alone, found.follow_up) if thread else alone


def read_thread(turns: Sequence[str]) -> list[Request]:
    """Read the turns of a thread, each with the whole spec after it."""
    done: list[Request] = []
    for turn in turns:
        done.append(read(turn, thread=done))
    return done


def _find(raw: str, before: Request | None) -> Found:
    in_thread = before is not None
    default: Lang = before.lang if before else "en"
    text = fold(raw)
    slash = slash_word(text) is not None
    lang = language(text.folded, any(c in "äöüÄÖÜß" for c in raw), default)
    models, sizes = read_models(text)
    devices = read_devices(text, [(m.start, m.end) for m in models], slash)
    formats = read_formats(text)
    engines = read_engines(text)
    weights = choose(formats, "weights")
    method = read_method(text, weights.value if weights else "")
    goes_on = before is not None and before.intent == "finetune" and _only_values(text)
    training = goes_on or trains(text) or (bool(method.methods) and not serves_adapters(text))
    taken = [(m.start, m.end) for m in models] + [(d.start, max(d.end, d.span_end)) for d in devices]
    taken += (
        [(f.start, f.end) for f in formats] + [(s.start, s.end) for s in sizes] + [(e.start, e.end) for e in engines]
    )
    figures = read_figures(text, lang, Spans(taken), slash, training)
    return Found(
        text,
        lang,
        models,
        sizes,
        devices,
        formats,
        engines,
        method,
        figures,
        machines(text, devices, figures.pairs, slash),
        read_scope(text),
        training,
        read_follow_up(text, in_thread),
        in_thread,
    )


_ASKS_ELSE = re.compile(r"\b(?:inferen\w*|serv\w*|betrieb\w*|chat\w*|nutzer|users?|antwort\w*|deploy\w*)\b")


def _only_values(text: Text) -> bool:
    """A short turn of a training thread that speaks of nothing else is about the training too."""
    return len(text.folded) < 60 and not _ASKS_ELSE.search(text.folded)


def _request(found: Found, in_thread: bool) -> Request:
    draft = Draft()
    _fill_models(found, draft)
    _fill_formats(found, draft)
    _fill_figures(found, draft)
    _fill_hardware(found, draft)
    _fill_engine(found, draft)
    _fill_money(found, draft)
    draft.other |= read_remarks(found.text)
    if flags := read_engine_flags(found.text):
        draft.other["engine_flags"] = flags
    daily = requests_per_day(found.text.folded, draft.values.get("users"))
    if daily:
        draft.other["requests_per_day"] = daily
    usage = read_usage(found.text.folded, draft.other)
    if usage:
        draft.other["usage"] = usage
    _fill_scope_flags(found, draft)
    weights = cues(found.text)
    verdict = intents_of(
        found.scope,
        weights,
        draft.values,
        found.training,
        found.machines,
        found.follow_up,
        found.text,
        in_thread,
        draft.other,
    )
    if not verdict.in_scope and not in_thread:
        return Request(
            text=found.text.raw,
            lang=found.lang,
            in_scope=False,
            intent="out_of_scope",
            intents=("out_of_scope",),
            other=draft.other,
            follow_up=found.follow_up.kind,
        )
    impossible = _once_each((*found.figures.impossible, *_impossible_counts(found), *refused(found.text)))
    missing, clarify = open_points(verdict.intent, draft.values, draft.other, impossible, found.text, in_thread)
    draft.assumptions += [*_customary_names(found), *_customary_devices(found)]
    return Request(
        text=found.text.raw,
        lang=found.lang,
        in_scope=verdict.in_scope,
        intent=verdict.intent,
        intents=verdict.intents,
        other=draft.other,
        evidence=draft.evidence,
        derived=tuple(draft.derived),
        missing=missing,
        clarify=clarify,
        assumptions=tuple(draft.assumptions),
        overruled=_overruled(found),
        unread=tuple(found.text.quote(a, b) for a, b in found.figures.unread),
        said=tuple(draft.values),
        follow_up=found.follow_up.kind,
        **draft.values,
    )


def _impossible_counts(found: Found) -> list[tuple[str, str]]:
    """No card at all, or more cards than any hall holds, be it as a power ("10^9 H100")."""
    counted = [(m.count, m.start, max(m.end, m.span_end)) for m in found.devices if m.count is not None]
    text = found.text
    refused_here = [("devices", text.quote(a, b)) for n, a, b in counted if not 1 <= n <= MOST_DEVICES]
    powers = ((_POWER_BEFORE.search(text.folded, max(0, a - 20), a), b) for _, a, b in counted)
    return refused_here + [("devices", text.quote(power.start(), b)) for power, b in powers if power]


_POWER_BEFORE = re.compile(r"\d{1,9}\^\Z")


def _once_each(impossible: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The first reason to ask for each field: "--max-num-seqs -4" is one, whoever reads it."""
    return tuple({field: (field, words) for field, words in reversed(impossible)}.values())[::-1]


def _put(draft: Draft, found: Found, name: str, value: Any, *spans: tuple[int, int]) -> None:
    draft.values[name] = value
    words = [found.text.quote(start, end) for start, end in spans]
    draft.evidence[name] = words[0] if words else ""
    if len(words) > 1:
        low, high = min(a for a, _ in spans), max(b for _, b in spans)
        draft.evidence[name] = found.text.quote(low, high)


def _fill_models(found: Found, draft: Draft) -> None:
    standing = [m for m in found.models if not m.why_not]
    names = tuple(dict.fromkeys(m.name for m in standing))
    if names:
        _put(draft, found, "models", names, *((m.start, m.end) for m in standing))
    sizes = [s for s in found.sizes if not s.why_not]
    if sizes:
        chosen = (
            sizes[-1]
            if len(sizes) > 1 and _RETRACTED_SIZE.search(found.text.folded[sizes[-2].end : sizes[-1].start])
            else max(sizes, key=lambda s: s.params_b)
        )
        _put(draft, found, "params_b", chosen.params_b, (chosen.start, chosen.end))
    else:
        spelt = next((q for q, _ in found.figures.pairs if q.unit == "params"), None)
        named = _BILLIONS.search(found.text.folded) if not spelt and not names else None
        if named:
            _put(draft, found, "params_b", float(named.group(1).replace(",", ".")), named.span())


# A run of digits is entered at its start only: tried at each of 40,000 digits it would take minutes.
_BILLIONS = re.compile(r"(?<![\d.,])(\d{1,6}(?:[.,]\d{1,4})?)\s?(?:milliarden|mrd\.?|billion)(?:\s?-?param\w*)?")
_PER_SHIFT = re.compile(r"\b(?:pro|je|per|each|every|a) (?:schicht|shift)\b|\bof each shift\b")
_RETRACTED_SIZE = re.compile(r"\b(?:nein|no|nee|sorry|eher|rather|actually|doch|lieber|quatsch)\b")


_FORMAT_FIELDS: tuple[Literal["weights", "kv_cache"], ...] = ("weights", "kv_cache")


def _fill_formats(found: Found, draft: Draft) -> None:
    for name in _FORMAT_FIELDS:
        chosen = choose(found.formats, name)
        if chosen and not (name == "kv_cache" and chosen.wished and not found.in_thread):
            _put(draft, found, name, chosen.value, (chosen.start, chosen.end))
    denied = [f.value for f in found.formats if f.role == "denied"]
    if denied:
        draft.other["formats_denied"] = denied
    weighed = list(dict.fromkeys(f.value for f in found.formats if f.role == "weights"))
    if len(weighed) > 1:
        draft.other["formats_named"] = weighed


_PLAIN_FIELDS = ("context_tokens", "input_tokens", "output_tokens", "concurrency", "users", "active_share")
_OTHER_FIELDS = (
    "observed_context",
    "native_context",
    "reported_tokens",
    "batch_size",
    "observed_concurrency",
    "utilization",
    "e2e_s",
    "documents",
    "samples",
    "epochs",
    "images",
    "cpu_cores",
    "line_v",
    "line_a",
    "horizon_years",
    "dims",
    "hours",
    "ram_gb",
    "psu_w",
    "power_limit_w",
    "watts",
    "network_gbit",
    "bandwidth_gb_s",
    "host_bandwidth_gb_s",
    "lora_rank",
    "parallel_tp",
    "parallel_pp",
    "parallel_dp",
    "parallel_ep",
    "system_prompt_tokens",
)


def _fill_figures(found: Found, draft: Draft) -> None:
    for name in _PLAIN_FIELDS:
        chosen, rivals = pick(found.figures, name)
        if chosen is None:
            continue
        value = (
            chosen.value / 100
            if chosen.rule.startswith("share") and isinstance(chosen.value, float) and name == "active_share"
            else chosen.value
        )
        _put(draft, found, name, value, (chosen.start, chosen.end))
        others = list(dict.fromkeys(r.value for r in rivals if r.value != chosen.value))
        if others and name in found.figures.retracted:
            draft.other.setdefault("contradictory", {})[name] = [*others, chosen.value]
    for name in _OTHER_FIELDS:
        chosen, _ = pick(found.figures, name)
        if chosen is not None:
            draft.other[name] = (
                chosen.value / 100 if name == "utilization" and isinstance(chosen.value, float) else chosen.value
            )
    _fill_speeds(found, draft)
    _add_up(found, draft)


def _fill_speeds(found: Found, draft: Draft) -> None:
    wishes: dict[str, float] = {}
    spans = []
    for name in ("ttft_s", "tokens_s_per_user", "tokens_s_total"):
        chosen, _ = pick(found.figures, name)
        if chosen is not None and isinstance(chosen.value, float):
            wishes[name] = chosen.value
            spans.append((chosen.start, chosen.end))
    if wishes:
        _put(draft, found, "targets", Wishes(**wishes), *spans)
    for kind in ("observed", "claimed"):
        seen = {
            r.field.removeprefix(f"{kind}_"): r.value
            for r in found.figures.readings
            if r.field in (f"{kind}_tok_s", f"{kind}_prefill_tok_s", f"{kind}_ttft_s", f"{kind}_s", f"{kind}_gb")
        }
        if seen:
            draft.other[kind] = seen


def _add_up(found: Found, draft: Draft) -> None:
    """What two stated values imply: people times share, shifts times people, system prompt plus question."""
    values, other = draft.values, draft.other
    shifts = next((q.value for q, r in found.figures.pairs if r.field == "shifts"), None)
    people = values.get("users")
    if shifts and people and shifts <= 6:
        other["users_per_shift"], values["users"] = people, people * shifts
        draft.derived.append("users")
    share = values.get("active_share")
    if shifts and share and people and _PER_SHIFT.search(found.text.folded):
        values["concurrency"] = float(-(-people * share // 1))
        draft.evidence["concurrency"] = draft.evidence["active_share"]
        draft.derived.append("concurrency")
        return
    people = values.get("users")
    if share and people and "concurrency" not in values:
        values["concurrency"] = (
            float(-(-people * share // 1)) if people * share % 1 > 1e-9 else round(people * share, 6)
        )
        draft.evidence["concurrency"] = draft.evidence["active_share"]
        draft.derived.append("concurrency")
    system = other.get("system_prompt_tokens")
    if system:
        values["input_tokens"] = system + values.get("input_tokens", 0.0)
        draft.evidence.setdefault(
            "input_tokens",
            next(found.text.quote(r.start, r.end) for r in found.figures.readings if r.field == "system_prompt_tokens"),
        )
        draft.derived.append("input_tokens")


def _fill_hardware(found: Found, draft: Draft) -> None:
    named = found.machines
    if named.hardware:
        _put(draft, found, "hardware", named.hardware, *named.spans)
        draft.values["layout"] = named.layout
    if named.alternatives:
        draft.values["alternatives"] = named.alternatives
    if named.owned:
        draft.other["owned"] = [device.model_dump(exclude_none=True) for device in named.owned]
    if named.uncounted:
        draft.other["uncounted"] = list(named.uncounted)
    if named.processor:
        draft.other["cpu"] = named.processor
    if named.ram_gb:
        draft.other.setdefault("ram_gb", named.ram_gb)


def _fill_engine(found: Found, draft: Draft) -> None:
    chosen = choose_engine(found.engines, found.in_thread)
    if chosen:
        _put(draft, found, "engine", chosen.name, (chosen.start, chosen.end))
    proposed = [m.name for m in found.engines if m.why_not in ("proposed", "denied")]
    if proposed:
        draft.other["engines_weighed"] = proposed
    compared = compared_engines(found.text, found.engines)
    if len(compared) > 1 and not found.training:
        draft.other["engines_compared"] = compared
    if found.method.method and found.training:
        _put(draft, found, "method", found.method.method, (found.method.start, found.method.end))
    if len(found.method.methods) > 1:
        draft.other["methods"] = list(found.method.methods)
    if found.method.recipe:
        draft.other["recipe"] = found.method.recipe


_CURRENCY: dict[Lang, str] = {"de": "EUR", "en": "USD"}
_PERIODS: dict[str, Period] = {"hour": "hour", "day": "day", "month": "month", "year": "year"}


def _fill_money(found: Found, draft: Draft) -> None:
    prices: list[dict[str, Any]] = []
    for reading in found.figures.readings:
        if not isinstance(reading.value, Money):
            continue
        money = reading.value
        if reading.field == "budget":
            if "budget" in draft.values and "budget" not in found.figures.retracted:
                continue  # "40k once, plus 500 a month for power": the first limit is the one on the purchase
            currency = money.currency or _CURRENCY[found.lang]
            if not money.currency:
                others = tuple(other for other in _CURRENCY.values() if other != currency)
                draft.assumptions.append(
                    Assumption(field="budget", value=currency, why="currency_of_language", others=others)
                )
            budget = Budget(amount=money.amount, currency=currency, period=_PERIODS.get(money.period, "once"))
            _put(draft, found, "budget", budget, (reading.start, reading.end))
        else:
            prices.append(
                {
                    "amount": money.amount,
                    "currency": money.currency,
                    "per": money.period,
                    "words": found.text.quote(reading.start, reading.end),
                }
            )
    if "budget" not in draft.values and not found.devices and _is_spent(found, prices):
        (price,) = prices
        place = found.text.raw.find(price["words"])
        draft.values["budget"] = Budget(amount=price["amount"], currency=price["currency"], period="once")
        draft.evidence["budget"] = found.text.raw[place : place + len(price["words"])]
        return
    if prices:
        draft.other["prices"] = prices


_SPENT = re.compile(
    r"\b(?:which|what|best\w*|beste\w*|welche[rsnm]?|was)\b[^?!]*\b(?:fuer|for|um die|um|around|about|rund|circa|ca\.?)\s?(?:us)?[$€]?\s?$"
)


def _is_spent(found: Found, prices: Sequence[dict[str, Any]]) -> bool:
    """ "Which card for 500 EUR": a sum once, where hardware is asked for and none is named, is what may be spent."""
    if len(prices) != 1 or prices[0]["per"] != "once":
        return False
    place = found.text.folded.find(str(prices[0]["words"]).lower())
    return place >= 0 and _SPENT.search(found.text.folded[:place]) is not None


def _fill_scope_flags(found: Found, draft: Draft) -> None:
    if found.scope.injection:
        draft.other["injection"] = True
    if found.scope.secret:
        draft.other["secret"] = True
    if found.scope.topic:
        draft.other["topic"] = found.scope.topic


def _customary_names(found: Found) -> list[Assumption]:
    """Names that may mean several models: what was taken, and the others."""
    out = []
    for mention in found.models:
        if mention.why_not or not mention.id:
            continue
        written = " ".join(found.text.quote(mention.start, mention.end).split())
        others = tuple(c for c in mention.candidates if c != mention.id) or other_versions(written, mention.id)
        if others:
            out.append(Assumption(field="models", value=mention.id, why="customary_default", others=others))
    return out


def _customary_devices(found: Found) -> list[Assumption]:
    """A card sold in several versions where the message does not say which: "A100", "H100"."""
    devices = found.machines.hardware
    if len(devices) != 1 or devices[0].accelerator == "unknown":
        return []
    written = devices[0].accelerator + (f" {devices[0].memory_gb:g}GB" if devices[0].memory_gb else "")
    match = find(written, "accelerator", False)
    others = tuple(other for other in match.candidates if other != match.id)
    return (
        [Assumption(field="hardware", value=match.id, why="customary_default", others=others)]
        if match.id and others
        else []
    )


def _overruled(found: Found) -> tuple[Overruled, ...]:
    text = found.text
    return tuple(
        Overruled(
            field=loser.field,
            value=str(loser.value),
            words=text.quote(loser.start, loser.end),
            rule=loser.rule,
            by=winner.rule,
        )
        for loser, winner in found.figures.lost[:40]
    )


__all__ = ["Clarify", "read", "read_thread"]
