"""A service with retrieval in words: import, embedding, index, search and answers, apart and together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.answer import Alternative, AssumptionView
from bot.compose import headline as verdicts
from bot.compose import queueing
from bot.compose.assumptions import assumption_view, assumption_views
from bot.compose.draft import Draft
from bot.compose.labels import option_label
from bot.compose.options import chart, options_table
from bot.compose.prices import price_cell
from bot.compose.recommended import Options, options_for
from bot.compose.work import add_times, hours_as_seconds, say, say_index, span_time
from bot.explain import cite_devices
from bot.reply import names
from bot.sized import Sized, plain_spec, size
from bot.thread import Spec
from sizing.defaults import Defaults
from sizing.devices import Device, expand
from sizing.errors import UserError
from sizing.estimate import Assumption
from sizing.spec import HardwareRef, WorkloadSpec, parse_spec
from sizing.work.rag import PASSAGES, generation_spec, stages

# What answers where no model is named: a current multilingual model of 24 billion parameters that one card of 48 GB serves in FP8.
_CHAT_MODEL: Final = "mistralai/Mistral-Small-3.2-24B-Instruct-2506"
_CHAT_WEIGHTS: Final = "fp8"
_OTHER_MODELS: Final = ("openai/gpt-oss-20b", "Qwen/Qwen3-32B", "meta-llama/Llama-3.3-70B-Instruct")
# Below this, growth is no news to anybody.
_TOLD_INDEX_GIB: Final = 2.0
_REFERENCE_CARD: Final = "nvidia-l40s"


def write(draft: Draft, spec: Spec, defaults: Defaults) -> bool:
    """The whole service; False where the spec cannot be read."""
    try:
        asked = parse_spec({**_named(spec), "task": "rag"} | _language_model(spec))
    except UserError:
        return False
    generation = plain_spec(generation_spec(asked))
    options = Options() if asked.hardware else options_for(generation, defaults)
    best = size(generation, defaults) if asked.hardware else (options.good[0] if options.good else None)
    if best is not None and not best.estimate.ok:
        return False  # what is wrong with the deployment is said where any other is sized
    work = stages(asked, _device(asked, best))
    draft.intent = "rag"
    _write(draft, asked, best, list(options.good), work)
    if best is not None:
        _say_waits(draft, best, defaults)
    draft.assumptions = (*_assumed(draft, spec, asked, work), *draft.assumptions)
    return True


def _say_waits(draft: Draft, best: Sized, defaults: Defaults) -> None:
    """How long people wait for the language model under the load that is said; first where that is asked."""
    question = draft.sources.query
    waits = queueing.headline(draft, best, question)
    queueing.say(draft, best, question, defaults)
    if waits is not None:
        draft.headline, draft.lead = waits, f"{draft.headline} {draft.lead}".strip()


def _assumed(draft: Draft, spec: Spec, asked: WorkloadSpec, work: Mapping[str, Any]) -> list[AssumptionView]:
    """The chat model where none was named, with others to choose, and what was taken for the corpus."""
    words, found = draft.words, [Assumption.model_validate(one) for one in work["assumed"]]
    views = [assumption_view(one, words) for one in found]
    taken = asked.model.id if asked.model else None
    if taken != _CHAT_MODEL or (spec.get("model") or {}).get("id") == _CHAT_MODEL:
        return views
    usual = Assumption(field="model", value=_CHAT_MODEL, code="usual_chat_model")
    others = tuple(Alternative(label=names.model(name), delta={"model": {"id": name}}) for name in _OTHER_MODELS)
    return [assumption_view(usual, words).model_copy(update={"alternatives": others}), *views]


def _named(spec: Spec) -> Spec:
    """Without hardware that nobody named: "how big must that card be" asks for it."""
    hardware = [entry for entry in spec.get("hardware") or () if entry.get("accelerator") or entry.get("memory_gb")]
    rest = {key: value for key, value in spec.items() if key != "hardware"}
    return {**rest, "hardware": hardware} if hardware else rest


def _language_model(spec: Spec) -> Spec:
    """The chat model: the one named unless it only embeds, else a usual one."""
    from sizing.catalogue.load import catalogue

    named = (spec.get("model") or {}).get("id")
    entry = catalogue().models.get(str(named)) if named else None
    if entry is not None and entry.modality in ("embedding", "reranker"):
        return {
            "model": {"id": _CHAT_MODEL},
            "weights": _CHAT_WEIGHTS,
            "work": {**(spec.get("work") or {}), "embedder": {"id": named}},
        }
    return {} if spec.get("model") else {"model": {"id": _CHAT_MODEL}, "weights": _CHAT_WEIGHTS}


def _device(asked: WorkloadSpec, best: Sized | None) -> Device:
    hardware = asked.hardware or (best.parsed.hardware if best is not None and best.parsed else ())
    return expand(hardware or (HardwareRef(accelerator=_REFERENCE_CARD),))[0]


def _write(
    draft: Draft, asked: WorkloadSpec, best: Sized | None, options: list[Sized], work: Mapping[str, Any]
) -> None:
    words = draft.words
    draft.material.add_data(work)
    hours = hours_as_seconds(work["embedding"].get("hours") or {"low": 0.0, "expected": 0.0, "high": 0.0})
    add_times(draft, hours)
    index = work["index"]
    draft.material.add(index["ram_gib"] * 2**30, "bytes")
    pages = work["pages"] == work["documents"]
    amount = words.text("amount", "pages" if pages else "documents", documents=work["documents"], pages=work["pages"])
    draft.material.add_data({"documents": work["documents"], "pages": work["pages"]})
    params = {"amount": amount, "ram": index["ram_gib"], "time": span_time(hours, words)}
    if best is None:
        draft.headline = words.text("headline", "rag_no_hardware", **params)
    else:
        draft.sized, draft.options = [best], options
        draft.headline = words.text(
            "headline", "rag", hardware=option_label(best, words), model=best.figures["model"], **params
        )
        draft.lead = verdicts.lead(best, words)
        if not options:  # hardware was named: whether it will do is the question
            draft.headline, draft.lead = verdicts.verdict_headline(best, words), f"{draft.lead} {draft.headline}"
        elif not asked.work.documents and not asked.work.chunks:  # what to take is asked, of a corpus that we assume
            price = price_cell(best.estimate.cost or {}, words)
            bought = {"hardware": option_label(best, words), "model": best.figures["model"], "price": price}
            key = "rag_within" if asked.targets.budget else "rag_take"
            draft.lead = f"{words.text('headline', 'rag_corpus', **params)} {draft.lead}"
            draft.headline = words.text("headline", key, **bought)
        draft.table = options_table(options, words)
        draft.chart = chart([best, *[one for one in options if one.hardware != best.hardware]], words)
        draft.assumptions = assumption_views(best, words)
        cite_devices([best], draft.sources)
    _say_stages(draft, work, hours, best)
    draft.actions = ("why", "compare", "cheaper", "export") if best else ()


def _say_stages(draft: Draft, work: Mapping[str, Any], hours: Mapping[str, float], best: Sized | None) -> None:
    words, index = draft.words, work["index"]
    imported, embedding, retrieval = work["import"], work["embedding"], work["retrieval"]
    for value in (imported["hours"], imported["ocr_hours"]):
        draft.material.add(value * 3600, "time")
    say(
        draft,
        "import",
        "rag",
        words.text(
            "work",
            "import",
            pages=work["pages"],
            hours=imported["hours"] * 3600,
            cores=imported["cores"],
            ocr=imported["ocr_hours"] * 3600,
        ),
    )
    draft.material.add_names([names.model(embedding["model"]), names.model(retrieval["reranker"])])
    draft.material.add(embedding["memory_gib"] * 2**30, "bytes")
    say(
        draft,
        "embedding",
        "embedding",
        words.text(
            "work",
            "embedding",
            chunks=work["chunks"],
            tokens=work["chunk_tokens"],
            model=names.model(embedding["model"]),
            time=span_time(hours, words),
            memory=embedding["memory_gib"],
        ),
    )
    say_index(draft, index)
    draft.material.add(work["growth_per_year"], "share")
    draft.material.add(work["index_later_gib"] * 2**30, "bytes")
    if work["index_later_gib"] >= _TOLD_INDEX_GIB:
        say(
            draft,
            "growth",
            "vector_index",
            words.text(
                "work",
                "index_growth",
                growth=work["growth_per_year"],
                later=work["index_later_gib"],
                years=work["years"],
            ),
        )
    if ranges := retrieval.get("rerank_ms"):
        add_times(draft, {name: value / 1000 for name, value in ranges.items()})
        draft.material.add(retrieval["search_ms"] / 1000, "time")
        say(
            draft,
            "retrieval",
            "reranking",
            words.text(
                "work",
                "retrieval",
                search=retrieval["search_ms"],
                candidates=retrieval["candidates"],
                rerank=ranges,
                memory=retrieval["reranker_gib"],
            ),
        )
    if best is not None:
        draft.material.add(PASSAGES)
        say(
            draft,
            "generation",
            "rag",
            words.text(
                "work",
                "generation",
                concurrency=best.figures.get("concurrency", 1),
                context=best.figures.get("context", work["context_tokens"]),
                passages=PASSAGES,
            ),
            words.text("work", "generation_context"),
        )
