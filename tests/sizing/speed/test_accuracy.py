"""The shipped model against the measurements it carries: what it must hold, so that a change that loses accuracy shows."""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from bench.speed.accuracy import Scored
from bench.speed.accuracy import scored as scored_rows
from sizing.estimate import Range
from sizing.memory.inference import plan_inference
from sizing.resolve import resolve
from sizing.spec import parse_spec
from sizing.speed.factors import FACTORS, calibration
from sizing.speed.measured import load_rows, spec_of
from sizing.speed.model import predict
from sizing.speed.ranges import ends

FIGURES = ("decode_tok_s_per_user", "output_tok_s_total", "prefill_tok_s", "ttft_ms", "tpot_ms")


@cache
def scored() -> list[Scored]:
    """Every carried figure with what the fits that left it out say of it."""
    return scored_rows()


@cache
def said() -> dict[str, list[tuple[float, Range]]]:
    """(measured, predicted) of every row whose load is fully stated, by scenario and figure."""
    found: dict[str, list[tuple[float, Range]]] = defaultdict(list)
    for row in load_rows():
        if row["stratum"] != "known":
            continue
        resolved = resolve(parse_spec(spec_of(row)))
        speed = predict(resolved, plan_inference(resolved))
        for figure in FIGURES:
            if figure in row["measured"]:
                found[f"{row['scenario']}/{figure}"].append((row["measured"][figure], _range(row, speed, figure)))
    return found


def _range(row: object, speed: object, figure: str) -> Range:
    assert isinstance(row, dict)
    decode_only = figure == "output_tok_s_total" and row.get("basis") == "decode_only"
    value = getattr(speed, "decode_tok_s_per_user" if decode_only else figure)
    assert isinstance(value, Range), (row["id"], figure)
    times = row["concurrency"] if decode_only else 1
    return Range(low=value.low * times, expected=value.expected * times, high=value.high * times)


@pytest.mark.parametrize(
    ("name", "median", "p90", "width"),
    [
        ("single_stream/decode_tok_s_per_user", 0.10, 0.40, 1.6),
        ("prefill/prefill_tok_s", 0.22, 0.80, 2.2),
        ("concurrent/output_tok_s_total", 0.20, 0.80, 2.5),
        ("offline_max/output_tok_s_total", 0.22, 0.90, 2.5),
        ("concurrent/tpot_ms", 0.22, 1.2, 2.6),
        ("concurrent/ttft_ms", 0.45, 2.0, 4),
        ("single_stream/ttft_ms", 0.45, 2.0, 4),
    ],
)
def test_accuracy_on_rows_with_stated_load(name: str, median: float, p90: float, width: float) -> None:
    rows = said()[name]
    errors = sorted(max(range_.expected / truth, truth / range_.expected) - 1 for truth, range_ in rows)
    assert statistics.median(errors) <= median
    assert errors[int(0.9 * len(errors))] <= p90
    assert statistics.median(range_.high / range_.low for _, range_ in rows) <= width
    inside = sum(range_.low <= truth <= range_.high for truth, range_ in rows) / len(rows)
    assert 0.72 <= inside <= 0.92


@pytest.mark.parametrize(
    ("name", "row", "source"),
    [
        ("single_stream/decode_tok_s_per_user", 0.08, 0.15),
        ("prefill/prefill_tok_s", 0.20, 0.28),
        ("concurrent/output_tok_s_total", 0.25, 0.45),
        ("offline_max/output_tok_s_total", 0.22, 0.35),
        ("concurrent/tpot_ms", 0.28, 0.55),
        ("concurrent/ttft_ms", 0.45, 1.5),
    ],
)
def test_what_was_left_out_is_met_nearly_as_well(name: str, row: float, source: float) -> None:
    """The fit's own record (`bench/speed/fit.py`): medians for rows, and for whole sources, that it never saw."""
    scenario, figure = name.split("/")
    left = json.loads(Path("bench/speed/left_out.json").read_text(encoding="utf-8"))
    errors: dict[str, list[float]] = {"row": [], "source": []}
    for measured in load_rows():
        if measured["stratum"] == "known" and measured["scenario"] == scenario and figure in measured["measured"]:
            (by_source, _), _, (by_row, _) = left[measured["id"]][figure]
            truth = measured["measured"][figure]
            errors["row"].append(max(by_row / truth, truth / by_row) - 1)
            errors["source"].append(max(by_source / truth, truth / by_source) - 1)
    assert statistics.median(errors["row"]) <= row
    assert statistics.median(errors["source"]) <= source
    assert statistics.median(errors["row"]) < statistics.median(errors["source"])


def test_every_carried_row_is_answered() -> None:
    assert sum(len(rows) for rows in said().values()) > 500
    assert all(
        math.isfinite(range_.expected) and range_.low <= range_.expected <= range_.high
        for rows in said().values()
        for _, range_ in rows
    )


def test_every_factor_says_what_is_behind_it() -> None:
    for name, entry in calibration()["factors"].items():
        assert name in FACTORS and entry["base"] > 0
        for key, offset in entry["offsets"].items():
            assert key.split(":")[0] in FACTORS[name].axes
            assert offset["rows"] >= 1 and offset["residual"] >= 0 and math.isfinite(offset["log"])


def test_ranges_are_of_scatter_and_of_what_is_unknown() -> None:
    for entry in calibration()["ranges"].values():
        assert entry["low"] < 0 < entry["high"] and entry["rows"] > 0 and entry["scatter"] > 0 and entry["share"] > 0
        near, far = ends(entry, "all", 0.01), ends(entry, "all", 0.09)
        assert far[0] < near[0] < 1 < near[1] < far[1]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("single_stream/decode_tok_s_per_user", 0.72),
        ("prefill/prefill_tok_s", 0.72),
        ("concurrent/output_tok_s_total", 0.72),
        ("offline_max/output_tok_s_total", 0.72),
        ("concurrent/tpot_ms", 0.72),
        ("concurrent/ttft_ms", 0.65),
    ],
)
def test_ranges_hold_for_tables_that_the_fit_never_saw(name: str, source: float) -> None:
    """The range laid around each fit that left a table, a model or a row out: it must widen as much as that fit errs more."""
    found = [one for one in scored() if one.row.known and f"{one.item.scenario}/{one.item.figure}" == name]
    inside, by_row, by_model, by_source = (sum(one.inside(kind) for one in found) / len(found) for kind in range(4))
    assert source <= by_source <= 0.92
    assert 0.68 <= by_model <= 0.92
    assert 0.72 <= by_row <= 0.90
    assert 0.72 <= inside <= 0.92


@pytest.mark.parametrize(
    ("known", "unknown"),
    [
        (
            {"hardware": [{"accelerator": "RTX 4090"}], "engine": {"name": "llama.cpp"}, "weights": "gguf-q4_k_m"},
            {"hardware": [{"accelerator": "RTX 4090"}], "engine": {"name": "mindie"}, "weights": "gguf-q4_k_m"},
        ),
        (
            {
                "hardware": [{"accelerator": "H100 SXM"}],
                "engine": {"name": "vllm"},
                "weights": "bf16",
                "concurrency": 32,
            },
            {
                "hardware": [{"accelerator": "TPU v6e"}],
                "engine": {"name": "vllm"},
                "weights": "bf16",
                "concurrency": 32,
            },
        ),
    ],
    ids=["engine", "class of device"],
)
def test_what_nobody_measured_has_a_wider_range(known: dict[str, object], unknown: dict[str, object]) -> None:
    widths = []
    for spec in (known, unknown):
        resolved = resolve(parse_spec({"model": "Llama 3.1 8B", "context_tokens": 4096, **spec}))
        speed = predict(resolved, plan_inference(resolved))
        assert speed is not None and speed.output_tok_s_total is not None
        widths.append(speed.output_tok_s_total.high / speed.output_tok_s_total.low)
    assert widths[1] - 1 > 1.2 * (widths[0] - 1)


def test_what_lies_in_ram_and_what_is_drafted_is_less_sure() -> None:
    card = {
        "hardware": [{"accelerator": "RTX 4090"}],
        "context_tokens": 4096,
        "model": "gpt-oss-120b",
        "weights": "mxfp4",
    }
    whole = {**card, "model": "gpt-oss-20b"}
    offloaded = {**card, "engine": {"name": "llama.cpp", "cpu_moe_layers": 36}, "host": {"ram_gb": 128}}
    drafted = {**whole, "engine": {"name": "vllm", "speculative": {"method": "eagle3", "tokens": 4}}}
    plain = {**whole, "engine": {"name": "vllm"}}
    assert _width(offloaded) > 1.4 * _width({**whole, "engine": {"name": "llama.cpp"}})
    assert _width(drafted) > 1.2 * _width(plain)


def _width(spec: dict[str, object]) -> float:
    resolved = resolve(parse_spec(spec))
    speed = predict(resolved, plan_inference(resolved))
    assert speed is not None and speed.decode_tok_s_per_user is not None
    return speed.decode_tok_s_per_user.high / speed.decode_tok_s_per_user.low
