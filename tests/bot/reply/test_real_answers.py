"""Every kind of answer of the real pipeline, in both languages, within Slack's limits; and the views over random data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.answer import Answer, Lang
from bot.conversation import act, respond
from bot.form import Fields
from bot.reply import limits, views
from bot.reply.blocks import as_text, render
from bot.thread import Context, TeamDefaults, ThreadState
from playground.blocks import check_blocks, check_view, text_size

MODELS = ("Llama 3.3 70B", "Qwen3-32B", "gpt-oss-120b", "DeepSeek R1", "Llama 3.1 8B", "Gemma 3 27B")
HARDWARE = ("", "on an RTX 4090", "on 2x L40S", "on 8x H100", "on a Mac Studio with 128 GB", "on a Raspberry Pi 5")
FORMATS = ("", "in fp8", "in q4_k_m", "in bf16")
KINDS = {
    "fits": "Reicht eine RTX 4090 für Llama 3.3 70B mit 32k Kontext für 10 Leute?",
    "recommend": "Which GPU for Qwen3-32B in FP8, 50 concurrent users with 8k?",
    "compare": "Compare an L40S with an RTX 4090 for Qwen3-32B in fp8",
    "training": "QLoRA on Llama 3.1 8B with a 24 GB card?",
    "what runs": "Was läuft auf einem Mac Studio mit 128 GB?",
    "cost": "What does Llama 3.3 70B for 20 users cost a month?",
    "refusal": "What is the weather in Berlin?",
    "unknown": "Reicht eine RTX 9999 für Foo 12B?",
    "empty": " ",
    "help": "help",
}
CLICKS = ("why", "compare", "cheaper", "launch", "loadtest", "export", "undo")


def _sound(answer: Answer) -> None:
    """Blocks as Slack takes them, privately and shared; the text for when it does not; a chart that is described."""
    for private in (False, True):
        for message in render(answer, private=private, said_before="<@U1> asked").messages:
            assert check_blocks(list(message.blocks)) == []
            assert len(message.blocks) <= limits.MESSAGE_BLOCKS
            assert text_size(message.blocks) <= 13_200
            assert message.text.strip()
    tables = [block for message in render(answer).messages for block in message.blocks if block["type"] == "table"]
    assert len(tables) <= 1
    assert all(cell["text"].strip() for table in tables for row in table["rows"] for cell in row)
    assert all(0 < len(part) <= 4_000 for part in as_text(answer))
    assert answer.chart is None or answer.chart.alt_text.strip()


@pytest.mark.parametrize("lang", ["de", "en"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_answer_is_sound_in_both_languages(kind: str, lang: Lang) -> None:
    answer, _ = respond(KINDS[kind], ThreadState(), Context(lang=lang))
    assert answer.lang == lang
    _sound(answer)


@pytest.mark.parametrize("lang", ["de", "en"])
def test_every_click_is_answered_soundly_in_both_languages(lang: Lang) -> None:
    context = Context(lang=lang)
    _, thread = respond("Llama 3.1 8B in fp8 on an RTX 4090, 8k, 4 users", ThreadState(), context)
    for click in CLICKS:
        answer, _ = act(click, {}, thread, context)
        _sound(answer)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(MODELS), st.sampled_from(HARDWARE), st.sampled_from(FORMATS), st.integers(512, 200_000), st.integers(1, 500),
    st.sampled_from(["de", "en"]),
)  # fmt: skip
def test_answers_to_random_specs_are_sound(
    model: str, hardware: str, weights: str, context: int, users: int, lang: Lang
) -> None:
    text = f"Does {model} {weights} run {hardware} with context {context} for {users} concurrent requests?"
    answer, _ = respond(text, ThreadState(), Context(lang=lang))
    _sound(answer)


_texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=3_000)
_defaults = st.builds(
    TeamDefaults, lang=st.sampled_from([None, "de", "en"]), currency=st.sampled_from(["EUR", "USD"]),
    cloud=st.sampled_from([None, True, False]), electricity_per_kwh=st.none() | st.floats(0.01, 9),
    reserve_share=st.floats(0, 0.6), min_bits=st.floats(1, 32),
    owned=st.lists(st.just({"accelerator": "nvidia-rtx-4090", "count": 2}), max_size=60).map(tuple),
    strict_channels=st.lists(st.just("C1"), max_size=5).map(tuple),
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(_defaults, st.lists(_texts, max_size=5), st.builds(Fields, *[_texts] * 7), st.sampled_from(["de", "en"]))
def test_views_are_sound(defaults: TeamDefaults, recent: list[str], fields: Fields, lang: Lang) -> None:
    made: list[dict[str, Any]] = [
        views.home(lang, defaults, tuple(text for text in recent if text.strip())),
        views.defaults_form(lang, defaults),
        views.size_form(lang, fields, "{}"),
        views.compare_form(lang, "{}"),
        views.loading(lang, "form_title"),
    ]
    assert [check_view(view) for view in made] == [[]] * len(made)
