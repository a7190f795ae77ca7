"""Questions about something else than a model on a card: each is answered by what it asks for, in its language, every number traced."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.conversation import respond
from bot.testing import Conversation
from bot.thread import Context, ThreadState
from knowledge.service import Knowledge
from knowledge.settings import Settings

LOGS = Path(__file__).parents[1] / "understand/logs/cases"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    folder: Path = tmp_path_factory.mktemp("knowledge")
    return Knowledge(Settings(data=folder, database_url=f"sqlite:///{folder}/k.db", embeddings="off"))


@pytest.fixture
def talk(library: Knowledge) -> Conversation:
    return Conversation(Context(knowledge=library))


POWER = [
    (
        "Reicht ein 1600W Netzteil für 4x 3090 auf 280 W begrenzt an einer 16A-Sicherung?",
        "^Knapp",
        "1,25",
        "Stromkreis:",
        "2.944 W",
        "Leistungsgrenze:",
    ),
    (
        "4x 3090 on one 1600W psu and a 110V 15A line, power limit 280W each. ok?",
        "^No: 4 × RTX 3090 draws",
        "1,320 W",
        "nvidia-smi -pl",
    ),
    ("7x 4090 in one server, epyc 7763. total watts and how many PSUs?", r"2 × 2,400.W", "7 × 16-pin", "Circuit:"),
    ("Wie laut und heiß werden 2x RTX 6000 Ada im Büro?", "zu laut", "BTU/h", "kWh", r"Wärme und Lautstärke:"),
    ("can I cap my 4090 to 300W without losing speed? llama 3.1 8b q4", "Power limit:", "67%", "prompts"),
]
MACHINE = [
    (
        "Brauche ich PCIe 5.0 oder reicht PCIe 3.0 für 2x 3090?",
        "PCIe 3.0 oder x4 reicht",
        "Lanes",
        "NVLink",
    ),
    ("How much RAM and which CPU for a server with 4x RTX 6000 Ada?", "192 GB", "12 cores", "RAM:", "Processor:"),
    (
        "Reicht ein 10 GbE Netzwerk zwischen App-Server und GPU-Server? 100 parallele Chats",
        "^Ja, das reicht",
        "12 Mbit/s",
        "VPN",
    ),
    ("Llama 3.3 70B fp8 on 2x H100: load time from NVMe or over 10 GbE?", "NVMe Gen 4", "10 GbE", "start the engine"),
    (
        "What happens if one GPU dies? 4x L40S, Llama 3.3 70B fp8, we need 99.9 % uptime",
        "Availability:",
        "two sites",
        "started again on [23] × L40S",
    ),
    (
        "DeepSeek-Coder-V2 Q4_K_M, which CPU and how many memory channels, DDR5?",
        "memory channels decide",
        "12ch DDR5",
        "tokens/s with",
    ),
    (
        "LocalAI mit 4 Threads, Antworten dauern Minuten. Wie viele Kerne und Ressourcen?",
        "4 Threads",
        "Speicher",
        "Kerne",
    ),
]
WORK = [
    (
        "Embedding von 1,2 Millionen Absätzen (je ~300 Tokens) mit bge-m3: wie lange auf einer RTX 4070 Ti Super?",
        r"dauern [\d,]+–[\d,]+.h",
        "Vektorindex:",
    ),
    (
        "232,047 chunks w/ all-MiniLM-L6-v2 on a Tesla T4 and I get 1.2 chunks/s. what should it be?",
        "chunks a second",
        "0.2%",
        "batches of one",
    ),
    ("vector DB sizing: 20M chunks, 768 dims fp16, HNSW. RAM?", "42.9.GiB of RAM", "INT8", "separate box"),
    ("bge-reranker-v2-m3 auf einer L4, 50 Kandidaten je Suche, wie schnell?", "ordnet 50 Kandidaten", "ms"),
    (
        "RAG über 80.000 PDFs für 420 Leute, 20 gleichzeitig, on-prem. Welche GPU?",
        "80.000 Dokumente",
        "Import:",
        "Embedding:",
        "Vektorindex:",
        "Suche:",
        "Antworten:",
        "Wachstum:",
    ),
    (
        "Whisper large-v3 auf einer RTX 4090: wie viele Live-Streams, wie lange für 1000 Stunden Aufnahmen?",
        "1.000 Stunden Ton",
        "Live:",
        "Archiv",
    ),
    ("does FLUX.1-dev fit on an RTX 4090?", "parts take turns", "transformer 22.2", "28 steps"),
    ("Wan2.2 T2V A14B auf einer RTX 5090?", "^Ja, in FP8, die Teile abwechselnd", "Textencoder", "Wodurch es passt:"),
]
TRAINING = [
    (
        "fine-tuning gemma-3-12b-it LoRA on one H100 80GB, max_seq 120k but anything over 14k OOMs. where does the rest go?",
        "What fits:",
        "tokens of sequence are the most",
        "activations",
        "then it fits",
    ),
    (
        "Mein Chef will ein eigenes ChatGPT von Null trainieren. Haben 8x H100. Realistisch?",
        "^Höchstens ein kleines",
        "Chinchilla",
        "Tage",
    ),
    (
        "unsloth lora on Llama-3.1-8B-Instruct, cutoff 4096, bs 1, r 8, runs out of memory on an L40",
        "^It should fit",
        "without checkpointing",
        "47",
    ),
    ("Flux komplett feintunen (kein LoRA): wie viel VRAM wirklich?", "206.GiB", "BF16", "Textencoder"),
    (
        "7b Modell, volles GRPO: wie viel Speicher brauch ich da",
        "Erzeugte Antworten:",
        "Referenzmodell",
        "Checkpoint|Fortsetzen",
    ),
    ("Kann ich auf 4x V100 32GB Gemma 3 27B mit LoRA trainieren?", "kein BF16", "FP16", "Nächster Schritt:"),
]
COST = [
    (
        "rent is $1.00/GPU-hr, 4 GPUs, llama 3.3 70b fp8 at ~60% load: $ per million output tokens?",
        "per million output tokens",
        "H100",
        "60%",
    ),
    (
        "rent is $2.50/hour for one H100, llama 3.1 8b fp8: $ per million tokens?",
        "Per million tokens:",
        "32 requests at once",
    ),
    (
        "Miete 1.000 € im Monat für einen Server mit RTX 6000 Ada, Llama 3.3 70B 4 Bit für 15 Leute. "
        "Lohnt das gegen ChatGPT Team mit 25 € pro Kopf?",
        "Gegen den Festpreis:",
        "375",
        "ab 40 Personen",
    ),
]
CHIPS = [
    ("Kann ich die NPU im Laptop für Llama 70B nehmen?", "NPUs in Laptops", "welche ist gemeint"),
    ("Would AWS Inferentia be an option for running Llama 3.1 8B?", "AWS only", "A GPU binds to nothing"),
    ("Llama 3.1 8B on a TPU v5e or a Gaudi 3?", "XLA", "servers of eight"),
]
DIAGNOSIS = [
    (
        "Auslastung bei uns: GPU 60 %, VRAM 99 %, 12 tok/s. Woran liegt das?",
        "^Der Speicher der Karte",
        "Als Nächstes messen:",
        "kürzerer Kontext",
    ),
    (
        "gpu at 20%, cpu at 100%, llama 3.1 8b q4 on a 4090, 12 tok/s. why?",
        "^The processor",
        "12 .expected",
        "larger card would not help",
    ),
]


@pytest.mark.parametrize(
    "case", [*POWER, *MACHINE, *WORK, *TRAINING, *COST, *CHIPS, *DIAGNOSIS], ids=lambda case: case[0][:50]
)
def test_the_answer_speaks_of_what_was_asked(case: tuple[str, ...], talk: Conversation) -> None:
    question, *wanted = case
    reply = talk.say(question)
    reply.expect(*wanted)
    assert reply.answer.unverified_numbers == ()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("ollama_server_four_cards", "44 of 81 layers"),
        ("vllm_too_small", "lacks 0.75.GiB"),
        ("vllm_serving_full", "98% full and 12 requests wait"),
        ("vllm_bench_burst", "first token takes 9.6"),
        ("sglang_decode", "6 requests wait"),
        ("llama_cpp_oom", "out of memory"),
        ("nvidia_smi_query", "busy"),
        ("ollama_ps_shared", "76% on the card"),
    ],
)
def test_a_pasted_log_becomes_a_diagnosis(name: str, wanted: str, talk: Conversation) -> None:
    reply = talk.say(f"{(LOGS / f'{name}.txt').read_text('utf-8')}\nwhat is wrong here?")
    reply.expect(wanted, "Measure next:")
    assert reply.answer.unverified_numbers == ()


def test_a_log_is_held_against_the_deployment_of_its_thread(talk: Conversation) -> None:
    talk.say("Llama 2 7B Q4_0 with llama.cpp on a RTX 3090 Ti, 2k context")
    talk.say((LOGS / "llama_bench_3090_ti.txt").read_text("utf-8")).expect(
        "Against the estimate:", "127 .expected", "normal here"
    )


def test_without_sources_the_same_is_said() -> None:
    answer, _ = respond("7x 4090 in one server: total watts?", ThreadState(), Context())
    assert "RTX 4090" in answer.headline
    assert answer.citations == ()
