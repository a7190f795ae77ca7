"""What was asked stands first: a cause, a pace, a target, a need, what a failure leaves, how a figure came about; in both languages."""

from __future__ import annotations

import re

import pytest

from bot.answer import Answer
from bot.conversation import respond
from bot.reply.plain import text
from bot.thread import Context, ThreadState


def ask(*turns: str) -> Answer:
    state = ThreadState()
    for turn in turns:
        answer, state = respond(turn, state, Context())
    return answer


L4 = "Wie viele L4 für Llama 3.1 8B, 40 parallel, 4k?"
FIRST = [
    # a cause; what is slow runs, so that a format that would not is not what is told first
    (("why is my qwen3 32b on 2x 4090 with vllm slow. pcie?",), r"^Memory bandwidth sets the pace: .* in FP8"),
    (("warum ist mein qwen3 32b auf 2x 4090 mit vllm so langsam?",), r"^Die Speicherbandbreite bestimmt das Tempo: .* in FP8"),
    (("Unser gemma 3 27b auf der L40S macht bei 25 Leuten gleichzeitig nur noch 6 tok/s, ist das normal?",), r"^6 Tokens/s sind weniger"),
    # a turn that changes nothing
    (("Passt Qwen3-32B FP8 auf eine L40S mit 10 Nutzern?", "und mit fp8?"), r"^Unverändert, so war es schon gerechnet"),
    (("Which card for Mistral Small 24B with 8 people?", "and used?"), r"^Unchanged: “and used” is nothing I can set"),
    (("Welche Karte für Mistral Small 24B mit 8 Leuten?", "und gebraucht?"), r"^Unverändert: „und gebraucht“ kann ich"),
    # what to take, with a corpus that nobody named behind it
    (("Wir haben 20.000 Euro und 60 Mitarbeiter, was kaufen wir für einen internen Chatbot mit RAG?",), r"^In diesem Budget: .* \S+ €"),
    (("We have 20,000 euros and 60 people, what do we buy for an internal chatbot with RAG?",), r"^Within this budget: "),
    # a card as busy as it says is no card that is full
    (("Die A100 80GB ist laut nvidia-smi zu 35 % ausgelastet, trotzdem warten die Leute. Llama 3.1 70B AWQ, vLLM",), r"erstes Token"),
    # a comparison of what falls short
    (("Vergleich 4x 3090 und 2x 4090 für Qwen2.5-VL 72B in AWQ?",), r"^Am ehesten 4 × RTX 3090, aber auch dort reicht es"),
    (("2x L4, llama 3.1 8B on ollama, OLLAMA_NUM_PARALLEL=3: does it load the model twice?",), r"^The weights \(\S+ GiB\) are loaded once"),
    (("Was ist der Unterschied zw. total params und active params? Qwen3-235B-A22B auf 4x H200",), r"^Alle 235 Milliarden Parameter"),
    (("LoRA on Gemma 3 12B, one H100 80GB, sequence 120k: where does the memory go?",), r"^No: .* \d\d% of the need is activations"),
    (("GLM-4.6 auf 512GB M3 Ultra, 30k Prompt", "warum so lang bis was kommt?"), r"^Das Lesen der Eingabe bestimmt die Wartezeit"),
    (("Mixtral 8x7B q4 on an M3 Max 64GB, 16k", "why so slow at writing?"), r"^Memory bandwidth sets the pace"),
    (("Qwen3 30B-A3B needs 20+GB although only 3B are active, why?",), r"^All 30\.5 billion parameters lie in memory"),
    # fewer than named
    (("does gpt-oss-120b need two DGX Sparks or is one enough?",), r"^One is enough: gpt-oss-120b fits on DGX Spark"),
    (("Braucht Llama 3.1 8B zwei L40S oder reicht eine?",), r"^Eine reicht: Llama 3.1 8B passt auf L40S"),
    # what stands in the way of a start or a run
    (("llama 3.2 3b won't start in vllm on a 16gb gpu, why?",), r"^By the estimate it fits"),
    (("lora on Llama-3.1-8B, cutoff 4096, bs 1 runs out of memory on an L40, why?",), r"^It should fit"),
    (("2x3090: is an NVLink bridge worth it?",), r"tokens/s per user with the bridge"),
    (("Wir transkribieren 300 Stunden Audio pro Woche mit Whisper large-v3. Reicht eine T4?",), r"^Ja: 300 Stunden Ton"),
    # a pace, with the fit before it only where that is asked too
    (("Passt Qwen3 8B auf eine 3090 und wie schnell ist das?",), r"^Ja: .* Rund \S+ Tokens/s je Nutzer"),
    (("How fast is Qwen3 8B on a 4090 and does it fit?",), r"^Yes: .* About \S+ tokens/s per user"),
    (("Wie schnell läuft Qwen3 8B auf einer 3090?",), r"^Rund \S+ Tokens/s je Nutzer"),
    # targets
    (("Mistral Small 3.2 fp8 on one H100, 12 concurrent chats, at least 25 tok/s each, ok?",), r"The targets are met: \S+ tokens/s"),
    (("Reicht eine L4 für Llama 3.1 8B FP8, mindestens 60 Tokens/s je Nutzer?",), r"Zu langsam: \S+ statt 60 Tokens/s"),
    # a need without hardware
    (("How much VRAM does Qwen3 32B need?",), r"^Qwen3-32B needs GPU memory of about \S+ GiB in INT4.*, \S+ GiB in FP8 or \S+ GiB in BF16"),
    (("Wie viel Speicher braucht ein 7B?",), r"^7B braucht an Grafikspeicher rund \S+ GiB in INT4"),
    (("VRAM requirements for gpt-oss-120b?",), r"^gpt-oss-120b in MXFP4 needs about"),
    (("Volles Finetuning eines 7B: wie viel Speicher brauche ich?",), r"^7B zu trainieren \(vollständig\) braucht rund"),
    (("Which GPU do I need for Qwen3 32B?",), r" will (?:just about )?do for Qwen3-32B"),
    # other work than text without hardware: a card whose pace for it is known
    (("Which GPU for FLUX.1-dev?",), r"^RTX \S+.* will do for FLUX.1-dev: \d+–\d+ s for 1,024 × 1,024"),
    (("Whisper large-v3, 10 Meetings live parallel, welche Karte?",), r" reicht für whisper-large-v3: rund \d+ \(\d+–\d+\) Live-Streams"),
    (("whats the vram minimum for flux dev?",), r"^FLUX.1-dev in BF16 needs"),
    # what a failure leaves, whatever count its words name
    (("Llama 3.1 405B fp8 on 8xH100, 32k, 6 concurrent", "what if one gpu dies?"), r"^If one card fails, Llama 3.1 405B stops"),
    (("4x H100, Qwen3 32B, 20 users: what still runs when one GPU dies?",), r"can be started again on 2 × H100"),
    (("Qwen3 8B auf einer 4090. Und wenn die Karte ausfällt?",), r"^Fällt die einzige Karte aus"),
    ((L4, "mit Redundanz bitte"), r"braucht es 8 × L4: 2 Kopien"),
    # a number found holds for the thread
    ((L4, "und mit 8k?"), r"passt auf 4 × L4"),
    ((L4, "mit Redundanz bitte", "danke!"), r"^Gern geschehen"),
    # where a figure comes from
    (("300 users, 20% peak, llama 3.3 70b fp8, 6k in 500 out", "how did you get 60?"), r"^60 requests at once are 300 people with 20%"),
    (("100 Leute, Qwen3 32B auf 2x L40S, 16k", "woher kommen die 15?"), r"^15 Anfragen zugleich kommen von 100 Leuten"),
    # a wish in a word is answered in its language
    (("Does Qwen3 8B fit on a 4090?", "warum?"), r"^Der Grund"),
    (("Passt Qwen3 8B auf eine 4090?", "why?"), r"^The reasons"),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "first"), FIRST, ids=[" | ".join(turns)[-60:] for turns, _ in FIRST])
def test_the_first_sentence_answers_what_was_asked(turns: tuple[str, ...], first: str) -> None:
    answer = ask(*turns)
    assert re.search(first, answer.headline.replace("\N{NO-BREAK SPACE}", " ")), answer.headline
    assert answer.unverified_numbers == ()


CHANGES = [
    (("gpt-oss-20b auf einer 4090, was kostet das?", "0,30 €/kWh, 3 Jahre"), "Preis je kWh: 0,30"),
    (("gpt-oss-20b on a 4090, cost per million tokens?", "at 5% utilisation"), "utilisation: 5%"),
    (("Qwen3 32B fp8 on an H100", "TTFT under 4s?"), "first token within: 4 s"),
]


@pytest.mark.parametrize(("turns", "told"), CHANGES, ids=[turns[1] for turns, _ in CHANGES])
def test_a_change_is_told_in_words(turns: tuple[str, ...], told: str) -> None:
    change = next(paragraph.text for paragraph in ask(*turns).paragraphs if paragraph.kind == "change")
    assert told in change.replace("\N{NO-BREAK SPACE}", " ")
    assert "usage." not in change and "currency" not in change


def test_the_machine_of_an_earlier_turn_is_not_told_again() -> None:
    titles = [paragraph.title for paragraph in ask(L4, "mit Redundanz bitte", "und AWS-Preis dafür?").paragraphs]
    assert "Kosten:" in titles and "Prozessor:" not in titles and "Netzwerk:" not in titles


def test_hardware_that_fits_needs_no_other_unless_it_is_asked_for() -> None:
    assert ask("Command R+ (104B) in 4 Bit, 32k, 8 parallel. Passt das auf 2x RTX PRO 6000?").options == ()
    assert ask("Passt Qwen3 8B auf eine H100, oder was ginge günstiger?").options != ()


def test_a_cause_is_no_wish_for_a_list_of_models() -> None:
    answer = ask(
        "vier A100 mit tensor_parallel_size 4 und es ist halb so schnell wie eine einzelne Karte. Wie kann das sein? (vLLM)"
    )
    assert answer.table is None


def test_a_bridge_is_an_assumption_with_the_other_choice() -> None:
    view = next(one for one in ask("Llama 3.3 70B AWQ on 2x 3090").assumptions if one.field == "host.nvlink")
    assert [choice.delta for choice in view.alternatives] == [{"host": {"nvlink": True}}]
    assert all(one.field != "host.nvlink" for one in ask("Llama 3.3 70B AWQ on 2x H100 SXM").assumptions)


def test_a_narrow_terminal_folds_no_cell_and_old_prices_have_a_legend() -> None:
    answer = ask("Is an L40S enough for Qwen3-32B fp8 at 16k with 8 users at once?")
    assert answer.table is not None
    narrow, wide = text(answer, width=80), text(answer, width=200)
    assert all(f" {row[0]}\n" in narrow for row in answer.table.rows)
    assert " ".join(answer.table.columns[:2]) in " ".join(wide.split())
    old = any(", old)" in cell for row in answer.table.rows for cell in row)
    assert not old or "marked “old”" in wide
