"""What leads an answer is what was asked: threads in both languages, each with what its last headline says and never says."""

from __future__ import annotations

import pytest

from bot.testing import Conversation, Said

SMI = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.10              Driver Version: 570.86.10      CUDA Version: 12.8     |
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   34C    P0             72W /  400W |   61422MiB /  81920MiB |      0%      Default |
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:0F:00.0 Off |                    0 |
| N/A   31C    P0             65W /  400W |   {second}MiB /  81920MiB |      0%      Default |
+-----------------------------------------------------------------------------------------+
"""
IDLE, FULL = SMI.format(second="4"), SMI.format(second="61422")
TOO_LONG = (
    "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger "
    "than the available KV cache memory (4.71 GiB). Based on the available memory, the estimated maximum model length is 38592.\n"
    "Llama 3.1 8B, RTX 3090. "
)
THREE = "compare renting 1x H200 vs 2x H100 vs 4x L40S for Qwen2.5-72B fp8, 20 concurrent users 16k context"
DREI = "vergleiche 1x H200, 2x H100 und 4x L40S gemietet für Qwen2.5-72B fp8, 20 gleichzeitige Nutzer, 16k Kontext"


def last(turns: tuple[str, ...]) -> Said:
    talk = Conversation()
    return [talk.say(turn) for turn in turns][-1]


CASES = [
    ((f"{IDLE}can I still fit a Qwen2.5-72B AWQ next to what's running?",), r"^Yes", r"busy"),
    ((f"{IDLE}Passt Qwen2.5-72B AWQ noch daneben?",), r"^Ja", r"ausgelastet"),
    ((f"{FULL}can I still fit a Qwen2.5-72B AWQ next to what's running?",), r"^(?:No|On the edge)", r"^Yes"),
    ((f"{IDLE}why is my Qwen2.5-72B AWQ so slow?",), r"figures", r"^Yes"),
    ((f"{TOO_LONG}What do I set?",), r"^Start it with --max-model-len 38592", r"43008"),
    ((f"{TOO_LONG}Was stelle ich ein?",), r"^Mit --max-model-len 38592 starten", r"43008"),
    ((THREE,), r"^None of them fits", r"€"),
    ((THREE, "what does each option cost per month?"), r"^Rented .*H200.*€.*L40S.*€.*H100.*€", r"fits"),
    ((DREI, "was kostet jede Option im Monat?"), r"gemietet, im Monat: .*H200.*€.*L40S.*€.*H100.*€", r"passt"),
    (
        ("Strix Halo 128GB vs DGX Spark for gpt-oss-120b - which is faster for prompt processing and decode?",),
        r"^DGX Spark.* reads prompts faster.*(?:faster|equally fast)",
        r"a month",
    ),
    (
        ("Strix Halo 128GB oder DGX Spark für gpt-oss-120b: was ist bei Prompt-Verarbeitung schneller?",),
        r"^DGX Spark.* liest Prompts schneller",
        r"im Monat",
    ),
    (("RAG with Qwen3-14B, bge-m3 and bge-reranker-v2-m3 on one L40S, 50 users",), r"^No: about", r"documents"),
]


@pytest.mark.parametrize(("turns", "wanted", "never"), CASES)
def test_the_first_sentence_answers(turns: tuple[str, ...], wanted: str, never: str) -> None:
    answer = last(turns).answer
    headline = Said(answer.model_copy(update={"lead": "", "paragraphs": (), "table": None, "chart": None}))
    assert not answer.unverified_numbers
    Said(headline.answer.model_copy(update={"commands": (), "citations": (), "assumptions": ()})).expect(wanted).never(
        never
    )


def test_a_servers_log_is_held_against_the_requests_it_runs() -> None:
    log = (
        "INFO 11-28 14:02:11 [loggers.py:127] Engine 000: Avg prompt throughput: 412.3 tokens/s, Avg generation throughput: 96.4 tokens/s, "
        "Running: 6 reqs, Waiting: 41 reqs, GPU KV cache usage: 98.7%, Prefix cache hit rate: 3.1%"
    )
    said = last((f"why is vLLM so slow?\n{log}\nQwen2.5-32B-Instruct-AWQ on an L40S, --max-model-len 32768",))
    assert said.spec["concurrency"] == 6
    assert said.spec["context_tokens"] < 32768
    said.expect(r"in total 96\.4 \(expected").never("of prompt")


@pytest.mark.parametrize(
    "first",
    [
        "I have $3000 to spend on a home rig for 70B models. What should I get?",
        "M2 with 16 GB RAM, what LLM can I run?",
        "Was kann ich auf einer 4090 laufen lassen?",
        "Welche Hardware für Qwen3-32B?",
    ],
)
def test_why_after_a_proposal_explains_what_was_proposed(first: str) -> None:
    talk = Conversation()
    proposed = talk.say(first).answer.options[0]
    why = talk.say("why?")
    assert len(why.answer.paragraphs) > 2
    assert why.spec["hardware"] == proposed["spec"]["hardware"]


@pytest.mark.parametrize(
    ("turns", "params_b"),
    [
        (("M2 with 16 GB RAM, what LLM can I run?", "why not a 14B?"), 14),
        (("M2 mit 16 GB RAM, welches LLM?", "warum kein 32B?"), 32),
    ],
)
def test_why_not_sizes_what_it_names(turns: tuple[str, ...], params_b: float) -> None:
    assert last(turns).spec["model"]["params_b"] == params_b


@pytest.mark.parametrize(
    "text",
    [
        "RAG over 80k PDFs with bge-m3 and Qwen3-14B for 50 staff, what hardware do we need?",
        "RAG über 80.000 PDFs mit bge-m3 und Qwen3-14B für 50 Leute, welche Hardware brauchen wir?",
    ],
)
def test_the_model_named_beside_an_embedder_answers(text: str) -> None:
    said = last((text,)).expect("Qwen3-14B", "bge-m3").never("Mistral")
    assert said.spec["model"]["id"] == "Qwen/Qwen3-14B"
