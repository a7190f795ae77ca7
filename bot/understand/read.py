"""read: a message → Request. The rules propose, the best reading of every word stands, and each value keeps its words."""

import re
from collections.abc import Sequence

from bot.understand.correction import corrected
from bot.understand.daily import impossible_rates, rate_rps, requests_per_day
from bot.understand.devices import read_devices
from bot.understand.engine_flags import read_engine_flags
from bot.understand.engines import (
    read_engines,
    read_method,
    serves_adapters,
    trains,
)
from bot.understand.figures import read_figures
from bot.understand.fill import (
    fill_engine,
    fill_figures,
    fill_formats,
    fill_hardware,
    fill_models,
    fill_money,
    fill_scope_flags,
)
from bot.understand.follow_up import read_follow_up
from bot.understand.formats import attached, choose, read_formats
from bot.understand.found import Draft, Found
from bot.understand.hardware import machines
from bot.understand.impossible import impossible_cards
from bot.understand.intents import cues, slash_word
from bot.understand.judge import intents_of, open_points
from bot.understand.language import Lang, language
from bot.understand.lexicon import other_versions
from bot.understand.models import read_models
from bot.understand.refused import refused
from bot.understand.remarks import read_remarks
from bot.understand.request import Assumption, Clarify, Overruled, Request
from bot.understand.scope import read_scope
from bot.understand.sides import with_sides
from bot.understand.text import Spans, Text, fold
from bot.understand.thread import apply
from bot.understand.usage import read_usage
from sizing.catalogue.names import find


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
    formats = attached(read_formats(text), text.folded, ((m.start, m.end) for m in models if not m.why_not))
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
    fill_models(found, draft)
    fill_formats(found, draft)
    fill_figures(found, draft)
    fill_hardware(found, draft)
    fill_engine(found, draft)
    fill_money(found, draft)
    draft.other |= read_remarks(found.text)
    if flags := read_engine_flags(found.text):
        draft.other["engine_flags"] = flags
    daily = requests_per_day(found.text.folded, draft.values.get("users"))
    if daily:
        draft.other["requests_per_day"] = daily
    if arriving := rate_rps(found.text.folded):
        draft.other["rate_rps"] = arriving
    usage = read_usage(found.text.folded, draft.other)
    if usage:
        draft.other["usage"] = usage
    fill_scope_flags(found, draft)
    weights = cues(found.text, Spans((d.start, max(d.end, d.span_end)) for d in found.devices))
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
    impossible = _once_each(
        (
            *found.figures.impossible,
            *impossible_rates(found.text),
            *impossible_cards(found.text, found.devices),
            *refused(found.text),
        )
    )
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


def _once_each(impossible: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The first reason to ask for each field: "--max-num-seqs -4" is one, whoever reads it."""
    return tuple({field: (field, words) for field, words in reversed(impossible)}.values())[::-1]


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
