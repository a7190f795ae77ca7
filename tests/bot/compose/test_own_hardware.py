"""Hardware that is named comes first: what runs on it where the workload as asked does not, and what it costs where it does."""

from __future__ import annotations

import pytest

from bot.answer import Answer
from bot.testing import Conversation
from bot.thread import Context


def asked(text: str) -> Answer:
    answer = Conversation(Context()).say(text).answer
    assert answer.unverified_numbers == ()
    return answer


def rows(answer: Answer) -> list[str]:
    assert answer.table is not None
    return [row[0] for row in answer.table.rows]


@pytest.mark.parametrize(
    ("text", "headline", "first", "flag"),
    [
        ("Passt Qwen3-32B auf eine L40S für 10 Leute?", r"In BF16 nicht (es fehlen", "L40S, FP8", "--quantization fp8"),
        ("Does Qwen3-32B fit on an L40S for 10 users?", "Not in BF16 (", "L40S, FP8", "--quantization fp8"),
    ],
)
def test_a_format_that_nobody_asked_for_gives_way_first(text: str, headline: str, first: str, flag: str) -> None:
    answer = asked(text)
    assert answer.headline.startswith(headline)
    assert "FP8" in answer.headline
    assert rows(answer)[0] == first
    assert [command for command in answer.commands if flag in command.code and first in command.title]


def test_beside_a_format_that_barely_fits_stands_one_that_does_with_ease() -> None:
    assert rows(asked("Does Qwen3-32B fit on an L40S for 10 users?"))[:2] == ["L40S, FP8", "L40S, INT4 (AWQ)"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("8x H200 für DeepSeek R1, 60 gleichzeitige Anfragen mit 32k Kontext?", "8 × H200 SXM 141 GB, FP8 (block-wise), DP-Attention"),
        ("Does Qwen3-32B in fp8 fit on an L40S with 32k context for 10 concurrent users?", "L40S, INT4 (AWQ), KV FP8, 16k context"),
        ("Llama 3.1 8B bf16 on an L4 with 16k context for 10 concurrent users?", "L4, "),
    ],
)  # fmt: skip
def test_where_the_work_must_be_cut_the_same_hardware_comes_before_anything_to_buy(text: str, first: str) -> None:
    answer = asked(text)
    assert answer.headline.startswith(("No: ", "Nein: "))
    assert rows(answer)[0].startswith(first)
    assert answer.estimates[0]["fits"] is False


def test_where_nothing_runs_on_it_only_other_hardware_stands_in_the_table() -> None:
    answer = asked("Does Llama 3.1 405B in fp16 fit on a 4090?")
    assert not any(label.startswith("RTX 4090") for label in rows(answer))
    assert answer.commands == ()


def test_after_a_no_the_launch_line_is_for_the_same_hardware() -> None:
    talk = Conversation()
    talk.say("Does Qwen3-32B fit on an L40S for 10 users?")
    answer = talk.say("launch command").answer
    assert answer.specs[0]["hardware"][0]["accelerator"] == "nvidia-l40s"
    assert answer.estimates[0]["fits"]


@pytest.mark.parametrize(
    ("text", "first", "mark"),
    [
        ("Is an H100 enough for Qwen3-32B bf16 for 2 users, or what would be cheaper?", "H100 SXM 80 GB, BF16", "lower precision"),
        ("Reicht eine H100 für Qwen3-32B in bf16 für 2 Leute, oder was wäre günstiger?", "H100 SXM 80 GB, BF16", "geringere Präzision"),
    ],
)  # fmt: skip
def test_what_was_asked_about_heads_the_table_of_alternatives_with_its_cost(text: str, first: str, mark: str) -> None:
    answer = asked(text)
    assert rows(answer)[0] == first
    assert answer.table is not None
    assert "€" in answer.table.rows[0][-1]
    assert mark not in rows(answer)[0]


def test_lower_precision_is_called_so() -> None:
    talk = Conversation()
    talk.say("Llama 3.1 8B on an L40S for 4 users")
    labels = rows(talk.say("cheaper").answer)
    assert labels[0] == "L40S, BF16"
    marked = [label for label in labels if "lower precision" in label]
    assert marked and all("BF16" not in label for label in marked)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Ich will zuhause ein Modell nutzen, habe einen Laptop mit 16 GB RAM und RTX 4060 8GB, was geht?", "auf RTX 4060 Laptop GPU"),
        ("I want to run a model at home, laptop with 16 GB RAM and RTX 4060 8GB, what is possible?", "on RTX 4060 Laptop GPU"),
        ("Läuft Qwen3 8B auf meinem Laptop mit RTX 3060?", "auf RTX 3060 Laptop GPU"),
        ("Does Qwen3 8B run on my PC with an RTX 3060?", "on RTX 3060 12 GB"),
    ],
)  # fmt: skip
def test_a_laptop_has_the_laptops_card_and_what_it_holds_is_no_question_on_ram(text: str, first: str) -> None:
    assert first in asked(text).headline
