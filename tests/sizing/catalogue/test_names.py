"""Names that people, engines and benchmark tables write, and the entries they mean."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.catalogue.load import catalogue, generated
from sizing.catalogue.match import Match
from sizing.catalogue.names import find, known_names
from sizing.catalogue.text import Kind, format_key, name_key, plain

TABLE = Path(__file__).with_name("written_names.jsonl")
KINDS: tuple[Kind, ...] = get_args(Kind)
GEFORCE = sorted(ident for ident, device in catalogue().accelerators.items() if "GeForce" in device.name)
REPOSITORIES = sorted(model for model in catalogue().models if "/" in model)


def stated(match: Match) -> dict[str, Any]:
    """The match without what it does not say and without suggestions, as the table writes it."""
    content = {name: value for name, value in asdict(match).items() if value not in (None, (), False)}
    content.pop("suggestions", None)
    if match.parts:
        content["parts"] = [stated(part) for part in match.parts]
    plain_content: dict[str, Any] = json.loads(json.dumps({"name": match.name, **content}))
    return plain_content


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("expected", rows(), ids=lambda row: f"{row['kind']}:{row['name']}")
def test_written_name(expected: dict[str, Any]) -> None:
    assert stated(find(expected["name"], expected["kind"])) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_known_name_finds_its_entry(kind: Kind) -> None:
    ambiguous = generated()["names"][kind]["ambiguous"]
    for name, ident in known_names(kind):
        match = find(name, kind, suggest=False)
        assert match.id, name
        assert ident in (match.id, *match.candidates), name
        if match.id != ident:
            assert match.candidates or name_key(name, kind) in ambiguous, name


def test_names_of_two_entries_are_exactly_the_documented_ones() -> None:
    """The generator refuses every other clash; here the customary default of each is what a look-up gives."""
    names = generated()["names"]
    for kind in KINDS:
        for name, ids in names[kind]["ambiguous"].items():
            match = find(name, kind, suggest=False)
            assert match.id == ids[0], name


@settings(deadline=None)
@given(st.sampled_from(REPOSITORIES), st.sampled_from([str.upper, str.lower, str.title, lambda n: f"  {n}  "]))
def test_case_and_outer_space_never_matter(name: str, write: Any) -> None:
    assert find(write(name), "model").id == name


@settings(deadline=None)
@given(st.sampled_from(REPOSITORIES), st.sampled_from([("-", " "), ("-", "_"), ("_", "-")]))
def test_separators_never_lead_to_another_size(name: str, change: tuple[str, str]) -> None:
    match = find(name.replace(*change), "model")
    if match.id:
        entries = catalogue().models
        own = entries[name].params_total
        assert any(entries[ident].params_total == own for ident in (match.id, *match.candidates))


@settings(deadline=None)
@given(
    st.sampled_from(REPOSITORIES),
    st.sampled_from(
        [
            ("-AWQ", "awq-int4-g128"),
            ("-GPTQ-Int4", "gptq-int4-g128"),
            ("-FP8", "fp8-pertensor"),
            ("-Q4_K_M.gguf", "gguf-q4_k_m"),
        ]
    ),
)
def test_a_format_at_the_end_sets_the_format_and_keeps_the_model(name: str, suffix: tuple[str, str]) -> None:
    match = find(name + suffix[0], "model")
    own_format_in_name = find(name, "model").format or name_key(name, "model").endswith(("fp 8", "bf 16", "fp 16"))
    if match.via in ("suffix", "family") and not own_format_in_name:
        assert name in (match.id, *match.candidates)
        assert match.format == suffix[1]


@settings(deadline=None)
@given(st.sampled_from(GEFORCE), st.sampled_from(["{} laptop", "{} Ti", "{} Super", "{} Max-Q", "{} D"]))
def test_a_card_is_never_taken_for_its_namesake(ident: str, form: str) -> None:
    written = form.format(catalogue().accelerators[ident].name)
    match = find(written, "accelerator")
    if match.id:
        known = catalogue().accelerators[match.id]
        mark = name_key(written, "accelerator").split()[-1]
        assert mark in name_key(" ".join((known.name, *known.aliases)), "accelerator").split()


@settings(deadline=None)
@given(st.text(max_size=60), st.sampled_from(KINDS))
def test_any_text_is_answered(text: str, kind: Kind) -> None:
    match = find(text, kind)
    assert match.name == text
    assert len(match.suggestions) <= 3
    assert not (match.id and match.suggestions)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_too_long_for_a_name_is_nothing(kind: Kind) -> None:
    text = "llama 8b " * 1500
    assert find(text, kind) == Match(name=text, kind=kind)


@pytest.mark.parametrize(
    ("name", "kind", "first"),
    [
        ("lama 3.1 8b", "model", "meta-llama/Llama-3.1-8B-Instruct"),
        ("mixtrall 8x7b", "model", "mistralai/Mixtral-8x7B-Instruct-v0.1"),
        ("Qwenn3 32B", "model", "Qwen/Qwen3-32B"),
        ("RTX 4900", "accelerator", "nvidia-rtx-4090"),
        ("H1000", "accelerator", "nvidia-h100-sxm-80gb"),
        ("q4_k_n", "format", "gguf-q4_k_s"),
        ("q8_1", "kv_format", "kv-q8_0"),
    ],
)
def test_near_misses_get_a_suggestion(name: str, kind: Kind, first: str) -> None:
    match = find(name, kind)
    assert (match.id, match.suggestions[:1]) == (None, (first,))


def test_a_size_is_never_moved_to_the_nearest_known_one() -> None:
    assert find("Qwen4-900B", "model") == Match(name="Qwen4-900B", kind="model")
    assert find("Llama 3.1 9B", "model").id is None


@pytest.mark.parametrize(
    ("name", "ident", "candidates"),
    [
        ("fp8", "kv-fp8-e4m3", 0),
        ("FP8 KV cache", "kv-fp8-e4m3", 0),
        ("fp8_e4m3", "kv-fp8-e4m3", 0),
        ("fp8_e5m2", "kv-fp8-e5m2", 0),
        ("bf16", "kv-bf16", 0),
        ("bfloat16", "kv-bf16", 0),
        ("f16", "kv-fp16", 0),
        ("q8_0", "kv-q8_0", 0),
        ("cache-type-k q8_0", "kv-q8_0", 0),
        ("kv q4_0", "kv-q4_0", 0),
        ("int8", "kv-int8", 0),
        ("int4", "kv-int4", 0),
        ("nvfp4", "kv-fp4", 0),
        ("turboquant_3bit_nc", "kv-turboquant-3bit", 0),
        ("turboquant", "kv-turboquant-4bit", 0),
        ("fp8_ds_mla", "kv-fp8-ds-mla", 0),
        ("8bit", "kv-fp8-e4m3", 5),
        ("4-bit", "kv-q4_0", 5),
        ("16bit", "kv-bf16", 2),
        ("auto", None, 0),
        ("fp9", None, 0),
    ],
)
def test_kv_formats(name: str, ident: str | None, candidates: int) -> None:
    match = find(name, "kv_format")
    assert (match.id, len(match.candidates)) == (ident, candidates)


@pytest.mark.parametrize(
    ("written", "kind", "key"),
    [
        ("NVIDIA GeForce RTX4090 (FE)", "accelerator", "rtx 4090"),
        ("RTX 4090 Max-Q", "accelerator", "rtx 4090 maxq"),
        ("GeForce RTX 4090 Mobile", "accelerator", "rtx 4090 laptop"),
        ("Qwen/Qwen3-0.6B", "model", "qwen 3 0.6 b"),
        ("Llama-3_3-70B", "model", "llama 3.3 70 b"),
        ("Command R+", "model", "command r plus"),
        ("GPU", "accelerator", "gpu"),
    ],
)
def test_keys(written: str, kind: Kind, key: str) -> None:
    assert name_key(written, kind) == key


def test_format_keys_have_one_separator() -> None:
    assert format_key("EXL2  4.0bpw") == format_key("exl2-4bpw") == "exl2-4bpw"
    assert format_key("MLX_4bit (g32)") == "mlx-4bit-g32"
    assert plain("Intel® Arc(TM)  A770") == "intel arc a770"
