"""Questions that are not about the verdict get their own first sentence, in both languages, every number traced."""

from __future__ import annotations

import re

import pytest

from bot.conversation import respond
from bot.thread import Context, ThreadState
from sizing.engine import estimate_data

NVLINK = [
    ("Brauche ich NVLink für 2x RTX PRO 6000 mit einem 70B?", r"^Nein: RTX PRO 6000 Blackwell hat kein NVLink"),
    ("is NVLink worth it for 2x 3090 with 70B q4?", r"with the bridge, \S+ over PCIe \(\+\d+%\)"),
    ("do I need NVLink for 2x A6000 with Llama 3.3 70B Q4_K_M?", r"^No: one RTX A6000 holds Llama 3.3 70B alone"),
    ("brauche ich NVLink für 4x 3090 mit Llama 3.3 70B FP8?", r"^Nicht für 4 Karten: eine Brücke verbindet 2"),
    ("NVLink nötig bei 2x H100 SXM für 70B BF16?", r"hat NVLink schon"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first"), NVLINK, ids=lambda text: text[:40])
def test_the_first_sentence_answers_the_question(question: str, first: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert answer.unverified_numbers == ()


def test_a_bridge_that_is_not_there_costs_speed_and_no_memory() -> None:
    spec = {
        "model": {"params_b": 70.0},
        "weights": "awq-int4",
        "hardware": [{"accelerator": "RTX 3090", "count": 2}],
        "parallel": {"tensor": 2},
    }
    bridged, bare = estimate_data({**spec, "host": {"nvlink": True}}), estimate_data(spec)
    assert bridged.speed and bare.speed and bridged.speed.decode_tok_s_per_user and bare.speed.decode_tok_s_per_user
    assert bare.speed.decode_tok_s_per_user.expected < bridged.speed.decode_tok_s_per_user.expected
    assert bare.memory == bridged.memory
    assert "host.nvlink" in {one.field for one in bare.assumptions} - {one.field for one in bridged.assumptions}


SLOW = [
    ("Warum ist mein Qwen3-30B-A3B auf der 4090 mit Ollama so langsam? nur 12 tok/s",
     r"^12 statt \d+–\d+ Tokens/s: nicht schneller als der Prozessor allein", "ollama ps"),
    ("only 12 tok/s with Qwen3-30B on my 4090, why", r"^12 instead of \d+–\d+ tokens/s", "offloaded 49/49"),
    ("I only get 60 tok/s with Qwen3-30B-A3B on my 4090 in Ollama, is that normal?", r"computed from RAM; about 3\d%", "num_ctx"),
    ("I get 9 tok/s with Llama 3.3 70B AWQ on 2x 3090 in vLLM, why so slow?", r"^9 instead of .* set up wrong", "enforce_eager"),
    ("Warum nur 3 tok/s mit Llama 3.3 70B auf einer 4090 mit Ollama?", r"passt: \S+\sGiB davon werden aus dem RAM", "So erwartet"),
    ("I get 140 tok/s with Llama 3.1 8B AWQ on a 4090, is that normal?", r"^140 tokens/s is normal here", "bandwidth"),
    ("Llama 3.3 70B 4.5bpw on 2x RTX 3090, 16k ctx: prompt speed drops from 1045 to 379 T/s once TP is on. normal?",
     r"^379 tokens/s (?:of reading prompts is a little under the|is slow for reading prompts:) \d+–", "tensor parallelism"),
    ("Qwen3 8B Q4_K_M auf einer 3090: nur 200 t/s Prompt-Verarbeitung, warum?",
     r"^200 Tokens/s sind für das Lesen von Prompts langsam", "Leistung"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first", "beside"), SLOW, ids=lambda text: text[:40])
def test_a_measured_speed_is_held_against_the_expected_one(question: str, first: str, beside: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert beside in " ".join([answer.lead, *(paragraph.text for paragraph in answer.paragraphs)])
    assert answer.unverified_numbers == ()


STARTS = [
    ("My vllm says 'No available memory for the cache blocks', Qwen2.5-14B on a 4090",
     r"^The weights leave no room for the KV cache: Qwen2.5-14B in BF16 takes 27.6", "--quantization fp8"),
    ("vLLM: CUDA out of memory mit Qwen3-32B FP8 auf einer 4090",
     r"^Die Gewichte lassen keinen Platz für den KV-Cache: Qwen3-32B in FP8", "--max-model-len"),
    ("vLLM says 'No available memory for the cache blocks' with Mixtral 8x7B on 2x A6000",
     r"^The weights leave no room for the KV cache", "--gpu-memory-utilization 0.97"),
    ("vLLM says No available memory for the cache blocks, Qwen3-8B on a 4090", r"^By the estimate it fits", "--max-model-len 8192"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first", "flag"), STARTS, ids=lambda text: text[:40])
def test_a_start_that_fails_is_explained_before_it_is_changed(question: str, first: str, flag: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert flag in answer.commands[0].code
    hardware = answer.specs[0]["hardware"]
    assert answer.options and all(option["spec"]["hardware"] == hardware for option in answer.options)
    assert all(option["estimate"]["fits"] for option in answer.options)
    assert answer.unverified_numbers == ()


CAPPED = [
    ("Wie viel langsamer wird 70B Q4 auf 2x3090, wenn ich die Karten auf 250 W begrenze?", r"^Bei 250\sW je Karte .* 97\s%", "statt"),
    ("how much slower is Llama 3.1 8B on a 4090 capped to 250W?", r"^At 250\sW per card .* writing keeps about 93%", "instead of"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first", "rates"), CAPPED, ids=lambda text: text[:40])
def test_what_a_power_limit_leaves_leads_and_memory_stands_second(question: str, first: str, rates: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert answer.lead.count(rates) == 2
    assert any(paragraph.title in ("Memory:", "Speicher:") for paragraph in answer.paragraphs)
    assert answer.unverified_numbers == ()


TRAINING = [
    ("Finetune Llama 3.1 8B with QLoRA on 24GB card, seq len 4096, how long for 10M tokens?",
     r"^That depends on the card.* on RTX 3090, .* on RTX 4090"),
    ("Wie lange dauert QLoRA von Llama 3.1 8B mit 10 Mio. Tokens auf einer Karte mit 24 GB?", r"^Das hängt von der Karte ab"),
    ("how long does QLoRA of Llama 3.1 8B with 10M tokens take on a 4090", r"^Training takes about \S+ h: Llama 3.1 8B on RTX 4090"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first"), TRAINING, ids=lambda text: text[:40])
def test_the_time_of_a_run_leads_where_it_was_asked(question: str, first: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert answer.unverified_numbers == ()


PICTURES = [
    ("Is 16gb vram enough for flux?", r"^Yes, in FP8 with its parts taking turns .* In BF16 FLUX.1-dev does not fit"),
    ("Reicht eine 4060 Ti 16 GB für FLUX.1-dev?", r"^Ja, in FP8, die Teile abwechselnd"),
    ("Läuft FLUX.1-dev in BF16 auf einer 4060 Ti 16 GB?", r"^Nein: FLUX.1-dev"),
    ("Wie viel VRAM braucht FLUX?", r"^FLUX.1-dev in BF16 braucht 23,3\sGiB VRAM"),
    ("How much VRAM does SDXL need?", r"^stable-diffusion-xl-base-1.0 in FP16 needs \S+\sGiB of VRAM"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first"), PICTURES, ids=lambda text: text[:40])
def test_pictures_have_formats_and_no_cache(question: str, first: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    told = " ".join([answer.lead, *(paragraph.text for paragraph in answer.paragraphs)])
    assert "KV" not in told
    assert answer.unverified_numbers == ()


RAM = [
    ("How much RAM do I need to run gpt-oss-120b with a 4090?", r"^\d+ GB of RAM: .* lie there as experts", "--n-cpu-moe"),
    ("Wie viel RAM für Llama 3.3 70B Q4 mit einer 4090?", r"^\d+ GB RAM: .* die übrigen Schichten hält RTX 4090", "-ngl"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first", "flag"), RAM, ids=lambda text: text[:40])
def test_ram_for_what_the_card_does_not_hold_leads(question: str, first: str, flag: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    estimate = estimate_data(answer.specs[0])
    assert estimate.fits and estimate.memory and estimate.memory.host.total_gib > 8
    assert estimate.memory.host.total_gib < float(answer.headline.split()[0]) / 1.0737
    assert "okens/s" in answer.lead and flag in answer.commands[0].code
    assert answer.unverified_numbers == ()


SPEED = [
    ("how fast is Llama 3.3 70B Q4_K_M on 2x 3090?", r"^About \S+ tokens/s per user, first token after .*: Llama 3.3 70B on 2 × RTX 3090"),
    ("Wie schnell läuft Qwen3 32B auf einer 4090?", r"^Rund \S+ Tokens/s je Nutzer"),
    ("M3 Ultra 512GB for DeepSeek R1: how long until the first token with a 16k prompt?", r"first token after \S+\ss: DeepSeek-R1"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "first"), SPEED, ids=lambda text: text[:40])
def test_the_speed_leads_where_it_was_asked_and_the_verdict_follows(question: str, first: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert re.search(r"fits|passt", answer.lead)
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "Can I use tensor parallel on 3x 3090 with Llama 3.3 70B AWQ?",
            r"^No, not with tensor parallelism over 3: the 64 attention heads",
        ),
        ("Llama 3.1 405B BF16 mit vLLM auf 3x 3090?", r"^Nein: Llama 3.1 405B läuft"),
    ],
)
def test_heads_that_do_not_divide_are_named_where_memory_would_do(question: str, first: str) -> None:
    answer, _ = respond(question, ThreadState(), Context())
    assert re.search(first, answer.headline), answer.headline
    assert answer.unverified_numbers == ()


def test_the_rent_of_a_run_leads_where_its_cost_is_asked() -> None:
    answer, _ = respond("What does QLoRA of Llama 3.1 8B on 50M tokens cost, rented?", ThreadState(), Context())
    assert re.search(r"^About €\S+ to €\S+ rented: \S+ h on RTX 4090", answer.headline), answer.headline
    assert answer.unverified_numbers == ()
