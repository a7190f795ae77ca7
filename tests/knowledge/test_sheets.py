"""Sheets: complete in both languages, free of holes, and with the figures of the catalogue and the engine."""

import re
import string
from typing import Any

import pytest

from knowledge.analyse import Language
from knowledge.sheet_writing import number, packaged
from knowledge.sheets import accelerator_sheet, engine_sheet, families, family_sheet, model_sheet, sheet
from sizing.catalogue.load import catalogue
from sizing.engine import estimate_data
from sizing.engines import KINDS

LANGUAGES: tuple[Language, ...] = ("de", "en")
HOLE = re.compile(r"\bNone\b|\bnull\b|\bnan\b|\{\w*\}|: *$|\.\.(?!\d)", re.MULTILINE)


def assert_whole(text: str) -> None:
    assert not HOLE.findall(text)
    assert all(line.strip() for line in text.split("\n"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_accelerator_has_a_whole_sheet(lang: Language) -> None:
    for ident, entry in catalogue().accelerators.items():
        made = accelerator_sheet(ident, lang)
        assert_whole(made.text)
        assert made.sources == entry.sources
        assert entry.name in made.title and entry.name in made.text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_model_and_family_has_a_whole_sheet(lang: Language) -> None:
    for ident, entry in catalogue().models.items():
        made = model_sheet(ident, lang)
        assert_whole(made.text)
        assert number(entry.params_total, lang, 0) in made.text
    for family in families():
        assert_whole(family_sheet(family, lang).text)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_engine_of_the_engine_room_has_a_sheet(name: str, lang: Language) -> None:
    made = engine_sheet(name, lang)
    assert_whole(made.text)
    assert made.sources


def test_figures_of_an_accelerator_in_both_countries_ways() -> None:
    german, english = (accelerator_sheet("nvidia-rtx-4090", lang).text for lang in LANGUAGES)
    assert "Speicherbandbreite: 1.008 GB/s." in german and "Memory bandwidth: 1,008 GB/s." in english
    assert "Die Engine sieht 23,52 GiB" in german and "The engine sees 23.52 GiB" in english
    assert "BF16 165,2 TFLOPS" in german and "BF16 165.2 TFLOPS" in english
    assert "vLLM verlangt 7.5 und läuft." in german
    assert "ECC, Netzteilempfehlung" in german and "ECC, supply recommendation" in english


@pytest.mark.parametrize(
    ("ident", "sentence"),
    [
        ("nvidia-p40", "vLLM asks for 7.5 and does not run."),
        ("nvidia-v100-sxm2-32gb", "versions up to 0.14 still run."),
        ("nvidia-p40", "Neither BF16 nor FP8 in hardware."),
        ("apple-m4-max-40c", "By default Metal lets the GPU use 96 GiB"),
        ("amd-epyc-genoa", "Up to 6,144 GB DDR5 RDIMM, as fitted."),
        ("amd-radeon-780m", "the size depends on the configuration"),
        ("nvidia-h100-sxm-80gb", "NVLink, 900 GB/s in both directions together. Up to 8 devices in one domain."),
    ],
)
def test_what_a_sheet_says_of_special_devices(ident: str, sentence: str) -> None:
    assert sentence in accelerator_sheet(ident, "en").text


@pytest.mark.parametrize("ident", ["meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-30B-A3B-Instruct-2507"])
def test_sheet_and_sum_agree(ident: str) -> None:
    spec = {
        "task": "inference",
        "model": {"id": ident},
        "weights": "bf16",
        "engine": {"name": "vllm"},
        "context_tokens": 8192,
        "concurrency": 1,
        "hardware": [{"accelerator": "nvidia-h200-sxm-141gb", "count": 1}],
    }
    memory = estimate_data(spec).memory
    assert memory is not None and memory.kv_bytes_per_token is not None
    text = model_sheet(ident, "en").text
    assert f"{number(memory.kv_bytes_per_token, 'en', 0)} bytes per token in 16 bit" in text
    assert f"BF16 {number(memory.per_device[0].weights_gib, 'en', 1)} GiB" in text


@pytest.mark.parametrize(
    ("ident", "title"),
    [
        ("nvidia-l4", "Datenblatt NVIDIA L4"),
        ("BAAI/bge-m3", "Datenblatt bge-m3"),
        ("Gemma 3", "Datenblatt Gemma 3"),
        ("vllm", "Datenblatt vLLM"),
    ],
)
def test_a_sheet_is_fetched_by_its_id(ident: str, title: str) -> None:
    found = sheet(ident, "de")
    assert found is not None
    assert (found.id, found.title, found.kind, found.lang) == (ident, title, "sheet", "de")


@pytest.mark.parametrize("ident", ["L4", "nvidia-l5", "", "gemma", "VLLM"])
def test_no_sheet_by_similarity(ident: str) -> None:
    assert sheet(ident, "en") is None


def test_both_languages_fill_the_same_places() -> None:
    def places(template: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(template) if name}

    def texts(node: Any, path: str) -> list[tuple[str, dict[str, str]]]:
        if set(node) == {"de", "en"}:
            return [(path, node)]
        return [found for key, inner in node.items() for found in texts(inner, f"{path}.{key}")]

    for path, both in texts(packaged("sheet_text.yaml"), ""):
        assert places(both["de"]) == places(both["en"]), path
        assert both["de"] and both["en"], path
