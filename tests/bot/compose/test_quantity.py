"""The quantity asked for is the first sentence, in both languages, and every number is traced."""

from __future__ import annotations

import re

import pytest

from bot.compose.quantity import quantity_of
from bot.conversation import respond
from bot.sized import engine_defaults
from bot.thread import Context, TeamDefaults, ThreadState
from sizing.catalogue.load import catalogue
from sizing.engine import estimate_data
from sizing.reverse import classes_of
from sizing.sensitivity import largest_context, most_concurrent
from sizing.spec import parse_spec

CASES = [
    ("max context for Llama 3.3 70B Q4_K_M on 2x3090 with q8 KV", r"^Up to \d+k of context: .*Q8_0"),
    ("Wie viel Kontext schafft Gemma 3 27B Q4 auf einer 4090?", r"^Bis zu \d+k Kontext"),
    ("how many users can I serve with Qwen3 32B FP8 on 1x H100 at 16k", r"^Up to \d+ requests at once: .* with 16k each"),
    ("Wie viele Nutzer schafft eine H100 mit Qwen3 32B FP8?", r"^Bis zu \d+ Anfragen zugleich"),
    ("How many LoRA adapters fit on one L40S with Llama 3.1 8B", r"^About \d+ LoRA adapters of rank 16"),
    ("Wie viele LoRA-Adapter mit Rang 64 passen neben Qwen3 32B FP8 auf eine H100?", r"^Rund \d+ LoRA-Adapter mit Rang 64"),
    ("how much extra memory does a 1B draft model cost with Llama 3.3 70B fp8 on 2x H100", r"^The draft model 1B costs \S+\sGiB more"),
    ("how long does loading DeepSeek R1 take from NVMe on 8x H200", r"^Loading DeepSeek-R1 .* takes about .* from NVMe"),
    ("Ladezeit von Llama 3.3 70B Q4_K_M?", r"^Laden von Llama 3.3 70B in Q4_K_M"),
    ("wie viel Festplatte brauche ich für Llama 3.3 70B", r"^Llama 3.3 70B belegt in BF16 141\sGB"),
    ("How large is the KV cache of Qwen3 32B per token?", r"^Qwen3-32B caches 256\sKiB per token in BF16: 2\sGiB for a request of 8k\.$"),
    ("Wie viel KV-Cache braucht Qwen3 32B bei 32k, 4 gleichzeitige Anfragen?", r"8\sGiB für eine Anfrage mit 32k, 32\sGiB für 4 zugleich"),
    ("KV cache size of DeepSeek R1 at 16k?", r"^DeepSeek-R1 caches 68[.,]\d\sKiB per token"),
    ("Which GPU for Qwen3 32B, and how large is its KV cache?", r" will do for Qwen3-32B"),
    ("How much VRAM incl. KV cache does Qwen3 32B need?", r"^Qwen3-32B needs GPU memory of about \S+\sGiB in INT4"),
    ("Wie groß sind Gewichte und KV-Cache von Qwen3 32B?", r" reicht für Qwen3-32B"),
    ("How much KV cache is left on one H200 with Qwen3 32B FP8?", r"^(?!Qwen3-32B caches)"),
    ("qwen2.5-coder-32b on 24gb, best quant?", r"^Q\d_K_M: the widest usual format"),
    ("Welche Quantisierung für Qwen3-32B auf einer 4090 mit llama.cpp?", r"^Q\d_K(?:_M)?: das breiteste übliche Format"),
    ("DeepSeek R1 fp8 on 8x H200: what concurrency at 16k?", r"^Up to \d+ requests at once"),
    ("How many H100 for Llama 3.1 405B FP8, 20 users 32k", r"^8 × H100 SXM 80 GB will do"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first"), CASES, ids=lambda text: text[:40])
def test_the_quantity_leads(question: str, first: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert answer.unverified_numbers == ()


def test_a_limit_is_the_engines_own() -> None:
    spec = {
        "model": {"id": "Qwen/Qwen3-32B"},
        "weights": "fp8",
        "hardware": [{"accelerator": "H100"}],
        "context_tokens": 16384,
    }
    most = most_concurrent(parse_spec(spec), engine_defaults(TeamDefaults()))
    answer, _ = respond("How many users can I serve with Qwen3 32B FP8 on one H100 at 16k?", ThreadState(), Context())
    assert f"Up to {most} requests" in answer.headline
    assert answer.specs[0]["concurrency"] == most


def test_the_longest_context_fits_and_the_next_does_not() -> None:
    answer, _ = respond("max context for Llama 3.3 70B Q4_K_M on 2x3090 with q8 KV", ThreadState(), Context())
    told = answer.specs[0]["context_tokens"]
    longest = largest_context(parse_spec({**answer.specs[0], "context_tokens": None}), engine_defaults(TeamDefaults()))
    assert longest is not None and told <= longest < told + 1024
    assert estimate_data(answer.specs[0]).fits


def test_how_many_cards_shows_the_counts_around_the_answer() -> None:
    answer, _ = respond("How many H100 for Llama 3.1 405B FP8, 20 users 32k", ThreadState(), Context())
    assert answer.table is not None
    assert [row[0].split(",")[0] for row in answer.table.rows] == [f"{n} × H100 SXM 80 GB" for n in (4, 8, 16)]
    assert [row[1] for row in answer.table.rows] == ["does not fit", "fits", "fits"]


@pytest.mark.parametrize(
    "text",
    [
        "Reicht eine 4090 für Llama 3.3 70B mit 32k Kontext für 10 Leute?",
        "13B fp16, Kontext 4096, Batch 16. Passt das auf ne A10 24GB?",
        "LoRA on Llama 3.1 8B with a 24 GB card?",
        "compare 2x4090 and L40S for Qwen3-32B",
    ],
)
def test_other_questions_name_no_quantity(text: str) -> None:
    assert quantity_of(text) is None


def test_nobody_is_served_at_a_crawl() -> None:
    """Seventeen requests fit the RAM of this machine; each would get less than a token a second."""
    answer, _ = respond(
        "Mixtral 8x7B q4 in ollama, no gpu, 12 cores, 48GB RAM: how many parallel users?", ThreadState(), Context()
    )
    estimate = estimate_data(answer.specs[0])
    assert estimate.speed is not None and estimate.speed.decode_tok_s_per_user is not None
    assert estimate.speed.decode_tok_s_per_user.expected >= 2.0


BEST = [
    ("Bestes Modell für 24 GB", "^Zuerst .* probieren", 24.0),
    ("which LLM should I run on a 24GB card", "^Try .* first", 24.0),
    ("what is the best model I can run on an M3 Ultra 256GB", "^Try .* first", 256.0),
    ("Was kann ich auf 2x RTX 3090 laufen lassen?", "^Zuerst .* probieren", 48.0),
    ("what can I run on a 4090 with 64GB RAM", "^Try .* first", 24.0),
]


@pytest.mark.parametrize(("question", "first", "memory_gb"), BEST, ids=lambda text: str(text)[:30])
def test_the_best_model_is_named_and_ranked(question: str, first: str, memory_gb: float) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert answer.table is not None and len(answer.table.rows) > 3
    for option in answer.options:
        margin = option["estimate"]["margin_gib"]["expected"]
        assert 0 <= margin <= memory_gb
    assert answer.unverified_numbers == ()


def test_the_classic_of_48_gb_is_among_them_and_8_bit_where_it_fits() -> None:
    answer, _ = respond("Was kann ich auf 2x RTX 3090 laufen lassen?", ThreadState(), Context())
    assert answer.table is not None
    formats = {row[0]: row[2] for row in answer.table.rows}
    assert formats["Llama 3.3 70B"] == "Q4_K_M"
    assert {"Q8_0"} == {formats[name] for name in formats if "gemma-4-31B" in name or name.startswith("Qwen3.6")}


def test_code_asks_for_models_made_for_it_and_ram_for_experts() -> None:
    text = "I have 2x RTX 3090 and 128 GB RAM. What models can I run for 30 developers as code assistant?"
    answer, _ = respond(text, ThreadState(), Context())
    first = answer.options[0]["spec"]["model"]["id"]
    assert "coding" in classes_of(catalogue().models[first]) and "made for code" in answer.headline
    hosts = [option["estimate"]["memory"]["host"]["weights_gib"] for option in answer.options]
    assert max(hosts) > 8 and hosts[0] == 0
    in_ram = [option["spec"]["model"]["id"] for option, host in zip(answer.options, hosts, strict=True) if host > 2]
    assert all(catalogue().models[model].moe is not None for model in in_ram)
    assert answer.unverified_numbers == ()


def test_retrieval_over_pages_assumes_a_model_and_says_so() -> None:
    text = "Wir wollen für 40 Mitarbeiter ein RAG über 200.000 PDF-Seiten, was brauchen wir?"
    answer, _ = respond(text, ThreadState(), Context())
    assert answer.headline.startswith("200.000 Seiten: ")
    model = next(view for view in answer.assumptions if view.field == "model")
    assert len(model.alternatives) >= 2 and model.value.partition(" (")[0] in answer.headline
    titles = [paragraph.title for paragraph in answer.paragraphs]
    assert {"Import:", "Embedding:", "Vektorindex:", "Suche:", "Antworten:"} <= set(titles)
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    "question", ["FLUX.1-dev on an RTX 3060 12GB, possible?", "Läuft FLUX.1-dev auf einer RTX 3060 12 GB?"]
)
def test_a_pipeline_that_does_not_fit_names_formats_that_do(question: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    ways = next(paragraph.text for paragraph in answer.paragraphs if paragraph.kind == "flip")
    assert "Q6_K" in ways and "FP8" not in ways  # 12.2 GiB at peak are more than the card has
    assert answer.unverified_numbers == ()


def test_a_training_ladder_lists_nothing_that_is_short() -> None:
    answer, _ = respond("LoRA fine-tune Llama 3.3 70B on 4090s, how many?", ThreadState(), Context())
    assert answer.table is not None
    assert all(not row[-1].startswith("-") for row in answer.table.rows)


def test_a_power_cap_leads_where_it_is_asked_for() -> None:
    answer, _ = respond(
        "can I cap 4090 to 300W without losing inference speed? running 27B q4 single stream", ThreadState(), Context()
    )
    assert answer.headline.startswith("At 300")
    assert "fits on" not in answer.headline + answer.lead


@pytest.mark.parametrize(
    ("mean", "late"),
    [
        ("Wie viele Nutzer schafft eine H100 mit Qwen3 32B FP8 bei TTFT unter 2 s, 4k Prompt?",
         "Wie viele Nutzer schafft eine H100 mit Qwen3 32B FP8 bei TTFT p95 unter 2 s, 4k Prompt?"),
        ("How many users does an H100 carry with Qwen3 32B FP8 at TTFT below 2 s, 4k prompts?",
         "How many users does an H100 carry with Qwen3 32B FP8 at TTFT p95 below 2 s, 4k prompts?"),
    ],
)  # fmt: skip
def test_nineteen_in_twenty_are_served_in_time_by_fewer_than_the_mean_allows(mean: str, late: str) -> None:
    held = [respond(question, ThreadState(), Context())[0].specs[0]["concurrency"] for question in (mean, late)]
    assert 1 <= held[1] < held[0]
