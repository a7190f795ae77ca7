"""Other work than text in words: corpora, vector indexes, services with retrieval, speech, pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.compose import pictures
from bot.compose.assumptions import assumption_views
from bot.compose.common import say_warnings
from bot.compose.draft import Draft
from bot.explain import cite_devices, with_mark
from bot.reply import names
from bot.reply.wording import Wording
from bot.sized import Sized, capacity_gib
from bot.written import literal
from sizing.defaults import Defaults
from sizing.work.vectors import Index

# What pipelines are published in, the widest first.
_MOST_WAYS: Final = 2
Range = Mapping[str, float]


def span_time(seconds: Range, words: Wording) -> str:
    """A range of times in one unit: `1.8–6.2 h`, `12–40 s`."""
    low, high = float(seconds["low"]), float(seconds["high"])
    for unit_s, unit in (
        (86_400.0, words.label("words", "days")),
        (3600.0, "h"),
        (60.0, "min"),
        (1.0, "s"),
        (1e-3, "ms"),
    ):
        if high >= 1.5 * unit_s:
            return f"{words.span({'low': low / unit_s, 'high': high / unit_s})} {unit}"
    return f"{words.span({'low': low * 1000, 'high': high * 1000})} ms"


def add_times(draft: Draft, seconds: Range) -> None:
    """Makes both ends of a range of times known to the guard."""
    for value in seconds.values():
        draft.material.add(float(value), "time")


def hours_as_seconds(hours: Range) -> dict[str, float]:
    return {name: value * 3600 for name, value in hours.items()}


def say(draft: Draft, title: str, topic: str, *sentences: str) -> None:
    """A paragraph whose first sentence's topic is cited."""
    text = " ".join(sentence for sentence in sentences if sentence)
    if text:
        draft.say("note", with_mark(text, draft.sources.topic(topic, text)), draft.title(title))


def write(draft: Draft, sized: Sized, defaults: Defaults) -> bool:
    """The answer of a task that has `work`; False for other estimates."""
    work = sized.estimate.work
    if not sized.estimate.ok or work is None or work.get("task") not in _BY_TASK:
        return False
    draft.sized = [sized]
    draft.material.add_data(work)
    _BY_TASK[str(work["task"])](draft, sized, work)
    if sized.estimate.fits is not False:  # what does not fit even in turns needs no word on turns
        say_warnings(draft, sized)
    if work["task"] in ("image", "video") and sized.verdict == "no":
        _say_ways(draft, sized, defaults)
    draft.assumptions = assumption_views(sized, draft.words)
    cite_devices([sized], draft.sources)
    draft.actions = ("why", "export")
    return True


def _model(sized: Sized) -> str:
    written = (sized.spec.get("model") or {}).get("id") or sized.figures.get("model") or ""
    return names.model(str(written))


def _encode(draft: Draft, sized: Sized, work: Mapping[str, Any]) -> None:
    words, model = draft.words, _model(sized)
    draft.material.add_names([model])
    rates = {"rate": work["tokens_s"], "texts": work["texts_s"]}
    _add_rates(draft, *rates.values())
    if work.get("hours"):
        seconds = hours_as_seconds(work["hours"])
        add_times(draft, seconds)
        draft.headline = words.text(
            "headline",
            "embed",
            chunks=work["chunks"],
            time=span_time(seconds, words),
            hardware=sized.hardware,
            model=model,
        )
    elif work.get("search_ms"):
        draft.headline = words.text(
            "headline",
            "rerank",
            model=model,
            candidates=work["candidates"],
            time=work["search_ms"],
            hardware=sized.hardware,
        )
    else:
        draft.headline = words.text("headline", "embed_rate", model=model, hardware=sized.hardware, **rates)
    say(
        draft,
        "speed",
        "embedding",
        words.text("work", "rates", tokens=rates["rate"], texts=rates["texts"]),
        _measured(draft, work),
        words.text("work", "embedding_normal"),
    )
    if index := work.get("index"):
        say_index(draft, index)


_RATE: Final = re.compile(
    r"(\d+(?:[.,]\d+)?)\s?(?:chunks?|texts?|docs?|documents?|sentences?|s\w+tze|dokumente|abschnitte)\s?(?:/|per |pro )s",
    re.IGNORECASE,
)


def _measured(draft: Draft, work: Mapping[str, Any]) -> str:
    """A rate that the message measured, as a share of the low end."""
    match = _RATE.search(draft.sources.query)
    if match is None:
        return ""
    observed = float(match[1].replace(",", "."))
    share = observed / work["texts_s"]["low"]
    draft.material.add(share, "share")
    draft.material.add(observed)
    return draft.words.text("work", "measured_rate", observed=observed, share=share)


def say_index(draft: Draft, index: Mapping[str, Any], headline: bool = False) -> None:
    """RAM and disk of the vector index, and what other kinds would take."""
    words = draft.words
    draft.material.add_data(dict(index))
    draft.material.add(1.5)
    kind = words.text("work", f"index_kind_{index['kind']}")
    if headline:
        draft.headline = words.text(
            "headline",
            "index",
            vectors=index["vectors"],
            dimensions=index["dimensions"],
            ram=index["ram_gib"],
            kind=kind,
        )
    for value in (index["ram_gib"], index["disk_gib"], *index["others_gib"].values()):
        draft.material.add(value * 2**30, "bytes")
    others = [
        words.text("work", "index_other", ram=index["others_gib"][name], kind=words.text("work", f"index_kind_{name}"))
        for name in ("hnsw-int8", "hnsw-binary", "flat")
        if name in index["others_gib"]
    ]
    formula = words.text(
        "work",
        "index_formula",
        vectors=index["vectors"],
        dimensions=index["dimensions"],
        bytes=index["bytes_per_value"],
    )
    lead = (
        ""
        if headline
        else words.text(
            "headline",
            "index",
            vectors=index["vectors"],
            dimensions=index["dimensions"],
            ram=index["ram_gib"],
            kind=kind,
        )
    )
    say(
        draft,
        "index",
        "vector_index",
        lead,
        formula if index["kind"] == "hnsw" and headline else "",
        words.text("work", "index_others", others=words.listed(others, "or")) if headline else "",
        words.text("work", "index_disk", disk=index["disk_gib"]),
        words.text("work", "index_where") if headline else "",
    )
    if not headline:
        rest = [formula] if index["kind"] == "hnsw" else []
        rest.append(words.text("work", "index_others", others=words.listed(others, "or")))
        draft.detail("note", " ".join(rest), draft.title("index"))


def write_index(draft: Draft, index: Index) -> None:
    """An answer about a vector index alone."""
    say_index(draft, index.data(), headline=True)


def _transcribe(draft: Draft, sized: Sized, work: Mapping[str, Any]) -> None:
    words, model = draft.words, _model(sized)
    draft.material.add_names([model])
    common = {"hardware": sized.hardware, "model": model}
    streams = words.text("work", "live_about", **work["live_streams"])
    if work.get("hours"):
        seconds = hours_as_seconds(work["hours"])
        add_times(draft, seconds)
        draft.material.add(work["audio_hours"])
        told = words.text(
            "headline", "transcribe_hours", hours=work["audio_hours"], time=span_time(seconds, words), **common
        )
        draft.headline = f"{_keeps_up(draft, work['hours'])} {told}".strip()
    elif work.get("wanted_streams"):
        told = words.text("headline", "transcribe_live", streams=streams, **common)
        draft.headline = f"{_carries(words, work)} {told}"
    else:
        draft.headline = words.text("headline", "transcribe", pace=work["real_time_batched"], **common)
    say(
        draft,
        "speed",
        "transcription",
        words.text("work", "batched", pace=work["real_time_batched"], single=work["real_time"]),
    )
    if work.get("wanted_streams"):
        live = words.text(
            "work", "live", streams=streams, wanted=work["wanted_streams"], devices=work["devices_for_streams"]
        )
    else:
        live = words.text("work", "live_plain", streams=streams)
    say(draft, "live", "transcription", words.text("reason", "live_is_not_batch"), live)


# Hours in which as much speech comes again, by the word for it.
_AGAIN: Final = (
    (re.compile(r"(?:per|a|pro|je|am|an?|each|every) (?:day|tag)\b|daily|täglich", re.IGNORECASE), 24.0),
    (re.compile(r"(?:per|a|pro|je|in der|die|each|every) (?:week|woche)\b|weekly|wöchentlich", re.IGNORECASE), 168.0),
    (re.compile(r"(?:per|a|pro|je|im|each|every) (?:month|monat)\b|monthly|monatlich", re.IGNORECASE), 730.0),
)


def _keeps_up(draft: Draft, hours: Range) -> str:
    """Whether an archive that grows by so much in a time is done within it: yes, barely or no; nothing where no time is named."""
    limit = next((period for pattern, period in _AGAIN if pattern.search(draft.sources.query)), None)
    if limit is None:
        return ""
    return draft.words.text("leads", "yes" if hours["high"] <= limit else "perhaps" if hours["low"] <= limit else "no")


def _carries(words: Wording, work: Mapping[str, Any]) -> str:
    """Whether the device carries the streams that are wanted."""
    found, wanted = work["live_streams"], work["wanted_streams"]
    return words.text("leads", "yes" if found["expected"] >= wanted else "perhaps" if found["high"] >= wanted else "no")


def _picture(draft: Draft, sized: Sized, work: Mapping[str, Any]) -> None:
    words, model = draft.words, _model(sized)
    draft.material.add_names([model])
    usable = _usable_gib(sized)
    offload = work["placement"] == "offload"
    key = "picture_no" if sized.verdict == "no" else "picture_offload" if offload else "picture"
    need = work["offload_gib"] if offload else work["resident_gib"]
    draft.headline = words.text(
        "headline", key, model=model, hardware=sized.hardware, need=need, resident=work["resident_gib"], usable=usable
    )
    parts = [
        words.text("work", "component", name=_role(name, words), size=size_gib)
        for name, size_gib in work["components_gib"].items()
    ]
    for size_gib in (*work["components_gib"].values(), need, work["resident_gib"]):
        draft.material.add(size_gib * 2**30, "bytes")
    say(
        draft,
        "images",
        "image_video",
        words.text("work", "components", parts=words.listed(parts)),
        words.text("reason", "parts_take_turns"),
    )
    if (seconds := work.get("seconds")) and sized.verdict != "no":
        add_times(draft, seconds)
        key = "video_time" if work["frames"] > 1 else "picture_time"
        say(
            draft,
            "speed",
            "image_video",
            words.text(
                "work",
                key,
                width=work["width"],
                height=work["height"],
                steps=work["steps"],
                frames=work["frames"],
                time=span_time(seconds, words),
            ),
        )
        draft.detail("note", words.text("work", "together"), draft.title("speed"))


def _say_ways(draft: Draft, sized: Sized, defaults: Defaults) -> None:
    """Formats in which a pipeline that does not fit does run there; the first leads where no format was said."""
    words, found = draft.words, pictures.ways(sized, defaults)
    if found and not sized.spec.get("weights"):
        draft.headline = pictures.narrower_headline(draft, sized, found[0], _model(sized), _usable_gib(sized))
    shown = [pictures.way_text(one, draft) for one in found[:_MOST_WAYS]]
    text = words.text("work", "ways" if shown else "ways_none", ways=words.listed(shown, "or"))
    draft.say("flip", text[:1].upper() + text[1:], draft.title("ways"))


def _usable_gib(sized: Sized) -> float:
    return min((room for device in sized.devices if (room := capacity_gib(device))), default=0.0)


def _role(name: str, words: Wording) -> str:
    role, _, number = name.rpartition("_") if name[-1].isdigit() else (name, "", "")
    label = words.label("work", f"role_{role}") if words.has("work", f"role_{role}") else role
    return literal(f"{label} {number}".strip())


def _add_rates(draft: Draft, *rates: Range) -> None:
    for rate in rates:
        for value in rate.values():
            draft.material.add(float(value), "rate")


_BY_TASK: Final[Mapping[str, Callable[[Draft, Sized, Mapping[str, Any]], None]]] = {
    "embedding": _encode,
    "reranking": _encode,
    "transcription": _transcribe,
    "image": _picture,
    "video": _picture,
}
