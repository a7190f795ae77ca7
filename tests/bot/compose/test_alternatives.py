"""Options are compared able to do the work: with as many cards as it takes, and each engine in a format that fits."""

from __future__ import annotations

import pytest

from bot.testing import Conversation
from sizing.resolve import resolve_format


def counts(talk: Conversation, text: str) -> list[int]:
    answer = talk.say(text).answer
    assert answer.intent == "compare"
    assert answer.unverified_numbers == ()
    return [int(spec["hardware"][0]["count"]) for spec in answer.specs]


@pytest.mark.parametrize(
    "text",
    [
        "which is cheaper for 500 internal users of Qwen3-32B: renting H100s or buying L40S?",
        "H100 oder L40S für 500 interne Nutzer mit Qwen3-32B?",
        "MI300X vs H200 for DeepSeek R1, 50 concurrent",
    ],
)
def test_cards_without_a_number_are_as_many_as_the_load_needs(text: str) -> None:
    talk = Conversation()
    found = counts(talk, text)
    assert min(found) > 1
    answer = (
        talk.say(text).expect(r"it takes at least|braucht es mindestens").never("does not fit", "passt nicht").answer
    )
    assert all(estimate["fits"] for estimate in answer.estimates)
    assert answer.table is not None
    assert all(f"{count} × " in row[0] for count, row in zip(found, answer.table.rows, strict=True))


def test_a_number_that_was_said_stays_and_more_people_take_more_cards() -> None:
    talk = Conversation()
    assert counts(talk, "one H100 or 2x L40S for 500 users of Qwen3-32B?") == [1, 2]
    few = counts(Conversation(), "H100 oder L40S für 200 Nutzer mit Qwen3-32B?")
    many = counts(Conversation(), "H100 oder L40S für 800 Nutzer mit Qwen3-32B?")
    assert all(more > fewer for more, fewer in zip(many, few, strict=True))


def test_where_no_machine_takes_enough_of_them_what_is_missing_is_told_of_the_most() -> None:
    said = Conversation().say("renting H100 or buying L40S for 5000 internal users of Llama 3.3 70B, what is cheaper?")
    said.expect("16 × H100", r"8 × L40S.* short on each card", r"What would flip it:.*8 × L40S")
    assert said.answer.unverified_numbers == ()


def test_what_is_said_later_counts_anew() -> None:
    talk = Conversation()
    before = counts(talk, "H100 oder L40S für 200 Nutzer mit Qwen3-32B?")
    assert sum(counts(talk, "und für 800 Nutzer?")) > sum(before)


def test_one_card_that_does_is_compared_as_it_stands() -> None:
    answer = Conversation().say("L40S vs H200 for Qwen3-32B fp8").answer
    assert [spec["hardware"][0].get("count", 1) for spec in answer.specs] == [1, 1]


@pytest.mark.parametrize(
    ("text", "engines"),
    [
        ("vllm or llama.cpp for 5 users on a single 3090 with Qwen3-14B?", ["vLLM", "llama.cpp"]),
        ("Ollama oder vLLM für 20 Nutzer auf einer 4090 mit Llama 3.1 8B?", ["Ollama", "vLLM"]),
        ("compare SGLang and vLLM for Qwen3-32B on 2x L40S with 16 concurrent requests", ["SGLang", "vLLM"]),
    ],
)
def test_engines_stand_side_by_side_each_in_a_format_that_fits(text: str, engines: list[str]) -> None:
    answer = Conversation().say(text).answer
    assert answer.intent == "compare"
    assert answer.table is not None
    assert [row[0].split(",")[0] for row in answer.table.rows] == engines
    assert all(estimate["fits"] for estimate in answer.estimates)
    assert all(spec["weights"] for spec in answer.specs)
    assert any(engine in answer.headline for engine in engines)
    assert answer.unverified_numbers == ()


def test_a_number_that_was_said_is_compared_in_a_format_that_costs_next_to_nothing() -> None:
    text = "renting H100s vs buying 4x L40S for 500 internal users of Qwen3-32B"
    answer = Conversation().say(text).expect("L40S costs less", "H100.* is faster").answer
    assert answer.specs[1]["hardware"][0]["count"] == 4
    assert [spec["weights"] for spec in answer.specs] == ["fp8", "fp8"]


def test_an_engine_that_was_only_refused_is_not_compared() -> None:
    answer = Conversation().say("Qwen3-14B on a 3090 with llama.cpp instead of vLLM").answer
    assert len(answer.specs) == 1


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        (
            "8x MI300X oder 8x H200 für DeepSeek R1, 60 gleichzeitige Anfragen mit 32k Kontext?",
            [
                r"Was es kippt:.*8 × MI300X: Mit KV-Cache in FP8",
                r"8 × H200 SXM 141 GB: Mit Attention-Datenparallelität",
            ],
        ),
        (
            "2x RTX 3090 vs 2x RTX 4090 for Llama 3.3 70B in fp8 with 32k context",
            [r"What would flip it:.*2 × RTX 3090: .*4 × RTX 3090", r"2 × RTX 4090: .*4 × RTX 4090"],
        ),
    ],
)
def test_where_nothing_fits_each_option_says_what_turns_it(text: str, turns: list[str]) -> None:
    answer = Conversation().say(text).expect(*turns).answer
    assert not any(estimate["fits"] for estimate in answer.estimates)
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    "text",
    [
        "70B on H100 vs 32B on L40S for 20 users, 16k context?",
        "Llama 3.3 70B auf H100 oder Qwen3 32B auf L40S für 20 Nutzer?",
    ],
)
def test_sides_with_models_of_their_own_take_as_many_cards_as_they_need(text: str) -> None:
    answer = Conversation().say(text).never("does not fit", "passt nicht").answer
    assert all(estimate["fits"] for estimate in answer.estimates)
    assert len({str(spec["model"]) for spec in answer.specs}) == 2
    assert answer.unverified_numbers == ()


@pytest.mark.parametrize(
    "text",
    [
        "vLLM oder llama.cpp oder SGLang für Qwen3 32B auf 2x RTX 3090, 10 Nutzer?",
        "vLLM vs llama.cpp for Qwen3 32B on one RTX 4090",
        "llama.cpp gegen vLLM für Mistral Small 24B auf einer RTX 5090",
    ],
)
def test_engines_are_compared_in_one_width(text: str) -> None:
    answer = Conversation().say(text).answer
    widths = [resolve_format(spec["weights"]).bits_per_weight or 0.0 for spec in answer.specs]
    assert max(widths) - min(widths) <= 1.2


def test_layouts_stay_what_was_asked_about() -> None:
    answer = Conversation().say("TP 2 or two replicas of Llama 3.1 8B on 2x RTX 4090 for 30 concurrent users?").answer
    assert [(one["parallel"]["tensor"], one["parallel"]["data"]) for one in answer.specs] == [(2, 1), (1, 2)]
    assert len({one.get("weights") for one in answer.specs}) == 1
    assert all(estimate["fits"] for estimate in answer.estimates)


@pytest.mark.parametrize(
    "text",
    [
        "Mac Studio M3 Ultra oder PC mit 2x RTX 5090 für Qwen3 32B, ein Nutzer?",
        "Mac Studio M3 Ultra vs one H100 for Qwen3 14B, single user",
    ],
)
def test_a_customary_file_of_four_bits_is_no_match_for_eight(text: str) -> None:
    answer = Conversation().say(text).answer
    widths = [resolve_format(spec.get("weights") or "bf16").bits_per_weight or 0.0 for spec in answer.specs]
    assert min(widths) >= 8
