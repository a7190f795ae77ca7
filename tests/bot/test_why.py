""" "Why?" again and again: every level says what the ones before did not, in both languages, and the last one says that it is."""

import re
from typing import Any

import pytest

from bot.answer import Lang
from bot.explain import DEEPEST
from bot.reply.wording import catalogue, wording
from bot.testing import Conversation
from bot.thread import Context
from knowledge.service import Knowledge
from knowledge.settings import Settings
from sizing.engine import estimate_data

MARK = re.compile(r"\s*\[\d+\]")
QUESTIONS = {
    "en": ("Does Llama 3.3 70B in FP8 fit on 2 x H100 with vLLM, 8k, 4 requests?", "why?"),
    "de": ("Passt Qwen3 14B in Q4_K_M auf eine RTX 4090?", "warum?"),
}
TRAINED = {"task": "training", "model": {"id": "Qwen/Qwen3-8B"}, "hardware": [{"accelerator": "RTX 4090", "count": 1}]}
SPECS: dict[str, dict[str, Any]] = {
    "vllm": {"weights": "fp8", "engine": {"name": "vllm"}, "hardware": [{"accelerator": "H100", "count": 2}]},
    "llama.cpp": {"weights": "q4_k_m", "engine": {"name": "llama.cpp"}, "hardware": [{"accelerator": "RTX 3090", "count": 2}]},
    "in RAM": {
        "model": {"id": "Qwen/Qwen3-30B-A3B"}, "weights": "q4_k_m", "engine": {"name": "llama.cpp", "cpu_moe_layers": 20},
        "hardware": [{"accelerator": "RTX 4090", "count": 1}],
    },
    "MLA": {
        "model": {"id": "deepseek-ai/DeepSeek-R1"}, "engine": {"name": "vllm"}, "hardware": [{"accelerator": "H200", "count": 8}],
        "parallel": {"tensor": 8},
    },
    "training": {**TRAINED, "training": {"method": "lora"}},
    "full": {**TRAINED, "training": {"method": "full"}},
    "embedding": {"task": "embedding", "model": {"id": "BAAI/bge-m3"}},
    "transcription": {"task": "transcription", "model": {"id": "openai/whisper-large-v3"}},
    "image": {"task": "image", "model": {"id": "black-forest-labs/FLUX.1-dev"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def notes_only(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    data = tmp_path_factory.mktemp("knowledge")
    return Knowledge(Settings(data, f"sqlite:///{data / 'knowledge.db'}", embeddings="off"))


@pytest.mark.parametrize("lang", ["de", "en"])
def test_every_level_says_something_new_and_the_end_is_told(lang: Lang, notes_only: Knowledge) -> None:
    question, why = QUESTIONS[lang]
    talk = Conversation(Context(knowledge=notes_only))
    said = [talk.say(question).answer, *(talk.say(why).answer for _ in range(DEEPEST))]
    shown = [{MARK.sub("", p.text) for p in answer.paragraphs} for answer in said[1:DEEPEST]]
    assert all(len(level) >= 3 for level in shown)
    assert all(not here & there for n, here in enumerate(shown) for there in shown[:n])
    assert len({answer.headline for answer in said}) == len(said)
    assert all(not answer.unverified_numbers for answer in said)
    end = said[-1]
    assert (end.paragraphs, end.actions) == ((), ())
    assert ("why" in said[1].actions, "why" in said[DEEPEST - 1].actions) == (True, False)
    assert talk.say(why).answer.headline == end.headline


def test_each_level_is_of_its_kind(notes_only: Knowledge) -> None:
    talk = Conversation(Context(knowledge=notes_only))
    talk.say(QUESTIONS["en"][0])
    talk.say("why?").expect(r"whatever the context.* \[1\]")
    talk.say("why?").expect(r"formula by formula", r"layers × .* = \d+ KiB").never(r"KV heads = ")
    talk.say("why?").expect(r"KV heads = 8", r"bandwidth in GB/s = 3,350").never(r"github\.com")
    talk.say("why?").expect(r"kv_cache_utils\.py \[1\]", r"public start-up logs")
    talk.say("why?").expect(r"It goes no deeper", r"measurement")


@pytest.mark.parametrize("name", SPECS)
def test_every_formula_and_quantity_is_worded_in_both_languages(name: str) -> None:
    spec = {
        "task": "inference",
        "model": {"id": "meta-llama/Llama-3.3-70B-Instruct"},
        "hardware": [{"accelerator": "L4", "count": 1}],
    }
    steps = estimate_data({**spec, **SPECS[name]}).derivation
    keys = {step.quantity for step in steps} | {
        key
        for step in steps
        for key, value in step.inputs.items()
        if value is not None and not isinstance(value, dict | list | tuple)
    }
    assert steps
    for lang in ("de", "en"):
        assert keys - set(catalogue(lang)["quantity"]) == set(), lang
    german = wording("de")
    assert [s.formula for s in steps if german.formula(s.formula) == wording("en").formula(s.formula)] == []
