"""Other work than text: public measurements, worked numbers, laws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.engine import estimate_data
from sizing.spec import parse_spec
from sizing.work.corpus import corpus_of
from sizing.work.pipeline_training import pipeline_training
from sizing.work.rag import generation_spec, index_only, stages
from sizing.work.several import arrange
from sizing.work.vectors import KINDS, after_years, index_of
from sizing.work.vision import image_tokens, pages_per_second

ROWS = [
    json.loads(line) for line in (Path(__file__).parents[3] / "bench/work/rows.jsonl").read_text("utf-8").splitlines()
]


def work(task: str, model: str, accelerator: str, **more: Any) -> dict[str, Any]:
    found = estimate_data({"task": task, "model": model, "hardware": [{"accelerator": accelerator}], **more})
    assert found.ok, found.error
    assert found.work is not None
    return found.work


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["kind"] == "encoder"],
    ids=lambda row: f"{row['model']}-{row['accelerator']}-{row['note']}",
)
def test_encoders_against_public_rates(row: dict[str, Any]) -> None:
    rate = work("embedding", row["model"], row["accelerator"], weights=row["weights"], input_tokens=row["tokens"])[
        "tokens_s"
    ]
    assert rate["low"] <= row["tokens_s"] <= rate["high"]
    assert rate["expected"] == pytest.approx(row["tokens_s"], rel=0.25)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["kind"] == "picture"], ids=lambda row: f"{row['weights']}-{row['placement']}"
)
def test_pipelines_against_public_peaks(row: dict[str, Any]) -> None:
    found = work("image", row["model"], row["accelerator"], weights=row["weights"])
    assert found[f"{row['placement']}_gib"] == pytest.approx(row["peak_gib"], rel=0.06)


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["kind"] == "transcription"],
    ids=lambda row: f"{row['model']}-{row['accelerator']}",
)
def test_speech_against_public_paces(row: dict[str, Any]) -> None:
    pace = work("transcription", row["model"], row["accelerator"])["real_time"]
    assert pace["low"] <= row["real_time"] <= pace["high"]


def test_a_corpus_takes_hours_and_an_index() -> None:
    found = work("embedding", "bge-m3", "RTX 4070 Ti Super", work={"chunks": 1_200_000, "chunk_tokens": 300})
    assert found["corpus_tokens"] == 360_000_000
    assert found["hours"]["expected"] == pytest.approx(360e6 / found["tokens_s"]["expected"] / 3600)
    assert found["index"]["ram_gib"] == pytest.approx(1.2e6 * 1024 * 4 * 1.5 / 2**30)


@pytest.mark.parametrize(
    ("said", "chunks", "assumed"),
    [
        ({"documents": 50_000, "pages_per_document": 20}, 1_470_589, {"work.tokens_per_page"}),
        ({"documents": 50_000}, 367_648, {"work.pages_per_document", "work.tokens_per_page"}),
        ({"documents": 50_000, "chunk_tokens": 500}, 50_000, set()),
        ({"chunks": 50_000}, 50_000, set()),
    ],
)
def test_documents_are_cut_into_chunks_by_their_pages(said: dict[str, Any], chunks: int, assumed: set[str]) -> None:
    spec = {"task": "embedding", "model": "bge-m3", "hardware": [{"accelerator": "L4"}], "work": said}
    found = estimate_data(spec)
    assert found.work is not None
    assert found.work["chunks"] == chunks
    assert {one.field for one in found.assumptions} & {"work.pages_per_document", "work.tokens_per_page"} == assumed


def test_reranking_reads_every_candidate() -> None:
    few, many = (work("reranking", "bge-reranker-v2-m3", "L4", work={"candidates": count}) for count in (10, 50))
    assert many["search_ms"]["expected"] == pytest.approx(5 * few["search_ms"]["expected"])


def test_twenty_million_halves_need_forty_three_gib() -> None:
    index = index_of(20_000_000, 768, 2.0)
    assert index.ram_gib == pytest.approx(42.9, abs=0.1)
    assert index.others_gib["hnsw-int8"] < index.others_gib["flat"] < index.ram_gib


@given(
    st.integers(1, 10**9), st.integers(1, 8192), st.sampled_from([2.0, 4.0]), st.sampled_from(KINDS), st.integers(1, 5)
)
def test_index_grows_with_everything(vectors: int, dimensions: int, size: float, kind: Any, replicas: int) -> None:
    found = index_of(vectors, dimensions, size, kind, replicas)
    assert found.ram_gib <= index_of(vectors + 1, dimensions, size, kind, replicas).ram_gib
    assert found.ram_gib == pytest.approx(replicas * index_of(vectors, dimensions, size, kind).ram_gib)
    assert set(found.others_gib) == set(KINDS) - {kind}


def test_growth_over_years() -> None:
    assert after_years(100, 0.2, 3) == pytest.approx(172.8)


def test_stages_of_a_service_apart_and_together() -> None:
    spec = parse_spec(
        {
            "task": "rag",
            "model": "Mistral Small 3.2 24B",
            "users": 500,
            "work": {"documents": 80_000},
            "hardware": [{"accelerator": "L40S"}],
        }
    )
    found = stages(spec, None)
    assert {"import", "embedding", "index", "retrieval"} <= found.keys()
    assert found["pages"] == 400_000
    generation = generation_spec(spec)
    assert (generation.task, generation.context_tokens, [one.role for one in generation.beside]) == (
        "inference",
        8192,
        ["embedding", "reranker"],
    )
    together = estimate_data(spec.model_dump(mode="json", exclude_none=True))
    alone = estimate_data({**generation.model_dump(mode="json", exclude_none=True), "beside": []})
    assert together.ok and together.memory and alone.memory
    assert together.memory.per_device[0].total_gib - alone.memory.per_device[0].total_gib > 2


def test_what_is_not_said_of_a_store_is_assumed() -> None:
    said, assumed = corpus_of(parse_spec({"work": {"chunks": 1000, "chunk_tokens": 300}}).work)
    assert (said.chunks, assumed) == (1000, ())
    assert {one.field for one in corpus_of(parse_spec({}).work)[1]} == {"work.documents", "work.pages_per_document"}


def test_vectors_alone() -> None:
    index = index_only(parse_spec({"work": {"chunks": 20_000_000, "dimensions": 768, "vector_bytes": 2}}).work)
    assert index is not None and index.ram_gib == pytest.approx(42.9, abs=0.1)
    assert index_only(parse_spec({"work": {"chunks": 20_000_000}}).work) is None


def test_live_speech_is_not_batch() -> None:
    found = work("transcription", "whisper-large-v3", "RTX 4090", work={"audio_hours": 1000, "live_streams": 20})
    assert found["live_streams"]["expected"] < found["real_time"]["expected"]
    assert found["hours"]["expected"] == pytest.approx(1000 / found["real_time_batched"]["expected"])
    assert found["devices_for_streams"] * found["live_streams"]["expected"] >= 20


def test_parts_of_a_video_take_turns() -> None:
    found = work("video", "Wan2.2-T2V-A14B", "RTX 5090")
    assert found["placement"] == "offload"
    assert {"transformer", "transformer_2", "text_encoder", "vae"} == set(found["components_gib"])
    assert found["offload_gib"] < found["resident_gib"]


@settings(max_examples=25, deadline=None)
@given(st.integers(256, 2048), st.integers(256, 2048))
def test_larger_pictures_need_more(width: int, height: int) -> None:
    small = work("image", "FLUX.1-dev", "H100", work={"width": width, "height": height})
    large = work("image", "FLUX.1-dev", "H100", work={"width": width + 64, "height": height})
    assert large["resident_gib"] > small["resident_gib"]
    assert large["seconds"]["expected"] > small["seconds"]["expected"]


def test_training_a_pipeline_trains_the_part_that_draws() -> None:
    from sizing.architecture.lookup import architecture

    found = pipeline_training(architecture("black-forest-labs/FLUX.1-dev"))
    assert found is not None
    assert (found.role, found.params) == ("transformer", 11_901_408_320)
    assert found.mixed_bytes > found.pure_bytes > found.small_bytes > found.lora_bytes
    assert pipeline_training(architecture("meta-llama/Llama-3.1-8B-Instruct")) is None


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        ("Qwen/Qwen2.5-VL-7B-Instruct", 1920, 1080, 2691),
        ("google/gemma-3-12b-it", 4000, 3000, 256),
        ("OpenGVLab/InternVL3-8B", 896, 448, 768),
        ("Qwen/Qwen2-VL-7B-Instruct", 10, 10, 4),
        ("Qwen/Qwen2-VL-7B-Instruct", 10_000, 10_000, 16_384),
    ],
)
def test_image_tokens(model: str, width: int, height: int, tokens: int) -> None:
    assert image_tokens(model, width, height).tokens == tokens


def test_pages_are_read_and_written() -> None:
    assert pages_per_second(5000, 1000, 2500, 500) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("needs", "devices", "arrangement", "places"),
    [
        ([20, 2, 2], [48], "together", (0, 0, 0)),
        ([20, 20], [24, 24], "one_each", (0, 1)),
        ([20, 20, 20], [24, 24], "turns", (None, None, None)),
        ([60], [24, 24], "too_large", (None,)),
    ],
)
def test_several_models_share_or_take_turns(
    needs: list[float], devices: list[float], arrangement: str, places: tuple[int | None, ...]
) -> None:
    found = arrange(needs, devices)
    assert (found.arrangement, found.device_of) == (arrangement, places)
    assert (found.swap_s is not None) == (arrangement == "turns")


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=8), st.lists(st.floats(1, 200), min_size=1, max_size=4))
def test_no_device_holds_more_than_it_has(needs: list[float], devices: list[float]) -> None:
    found = arrange(needs, devices)
    for device, room in enumerate(devices):
        held = sum(need for need, place in zip(needs, found.device_of, strict=True) if place == device)
        assert held <= room + 1e-6


@pytest.mark.parametrize("task", ["embedding", "image", "transcription"])
def test_nothing_is_made_up_without_hardware(task: str) -> None:
    model = {"embedding": "bge-m3", "image": "FLUX.1-dev", "transcription": "whisper-large-v3"}[task]
    found = estimate_data({"task": task, "model": model})
    assert not found.ok
    assert found.error is not None and found.error.field == "hardware"
